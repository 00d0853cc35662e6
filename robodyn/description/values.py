"""Checks of values that only programs can give: duplicate names, unknown kinds, NaN."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.description.actuation import Rotor
from robodyn.description.joint import Joint, Limits, Loop, missing_constants, poses_of
from robodyn.description.mechanism import Mechanism
from robodyn.description.pose import Pose
from robodyn.errors import RobodynError, UnknownNameError, UrdfError
from robodyn.force_elements import fields_of, joint_numbers
from robodyn.force_elements.common.link_element import DescribedElement
from robodyn.joints import KINDS
from robodyn.joints.common.kind import JointKind
from robodyn.tolerances import INERTIA_TRIANGLE, PARALLEL_COSINE

#: Numbers beyond this would overflow in the products that the dynamics form.
LARGEST = 1e50


def why_impossible(mass: float, inertia: NDArray[np.float64]) -> str | None:
    """Say why no rigid body has a mass and central inertia, or ``None`` if one can.

    Half the trace minus a principal moment is the integral of a squared distance over the mass, and
    not negative. An inertia without mass, the limit of a large light body, is accepted.

    mass [kg]
    inertia (3, 3) [kg m^2]: About the centre of mass.
    """
    if not (abs(mass) <= LARGEST and (np.abs(inertia) <= LARGEST).all()):
        return f"mass {mass:g} and inertia must be finite numbers, not beyond {LARGEST:g}"
    if mass < 0.0:
        return f"mass {mass:g} kg is negative"
    moments = np.linalg.eigvalsh(inertia)
    # A body of radius 1 um is a point: its moments are rounding errors of other numbers.
    scale = INERTIA_TRIANGLE * np.abs(moments).sum() + mass * 1e-12
    if moments[0] >= -scale and 0.5 * moments.sum() - moments[-1] >= -scale:
        return None
    shown = ", ".join(f"{moment:.4g}" for moment in moments)
    if moments[0] < -scale:
        return f"principal moments of inertia {shown} kg m^2: none can be negative"
    return (
        f"principal moments of inertia {shown} kg m^2: the largest exceeds the sum of the others, "
        "as no distribution of mass does; check units, signs and the order of axes"
    )


#: Kinds of joints that a description can have, in the tree and where loops are closed.
TREE_KINDS = {name: kind for name, kind in KINDS.items() if kind.in_files and kind.in_tree}
LOOP_KINDS = {name: kind for name, kind in KINDS.items() if kind.in_files and kind.closes_loops}


def bad_values(mechanism: Mechanism) -> list[RobodynError]:
    """Errors about all invalid values of a mechanism.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.urdf import bad_values
    >>> bad_values(rd.load("puma560").mechanism)
    []
    """
    found: list[RobodynError] = []
    movers = mechanism.movers
    for items in (mechanism.links, (*movers, *mechanism.couplings)):
        names = Counter(item.name for item in items)
        for item in items:
            if not (isinstance(item.name, str) and item.name):
                found.append(UrdfError("the name is no text", **mechanism.where(item)))
            if names[item.name] > 1:
                names[item.name] = 0  # say it once
                reason = "the name is given twice; rename one"
                found.append(UrdfError(reason, **mechanism.where(item)))
    for link in mechanism.links:
        if link.inertia is not None:
            pose = link.inertia.origin
            if not _numbers(*pose.xyz, *pose.rpy):
                reason = f"the origin of the inertia is {pose}: not finite"
                found.append(UrdfError(reason, **mechanism.where(link)))
    for mover in movers:
        reasons = list(_why_no_joint(mover))
        found += [UrdfError(reason, **mechanism.where(mover)) for reason in reasons]
    parts = [(item.tag, item.name, _why_no_element(item)) for item in mechanism.link_elements]
    parts += [("rotor", rotor.name, _why_no_rotor(rotor)) for rotor in mechanism.rotors]
    for tag, name, why in parts:
        what = f"{tag} {name!r}"
        found += [UrdfError(reason, file=mechanism.file, element=what) for reason in why]
    return found


def refuse_bad_values(mechanism: Mechanism) -> Mechanism:
    """The mechanism, if there are none; otherwise the first of the errors is raised."""
    for error in bad_values(mechanism):
        raise error
    return mechanism


def _why_no_joint(joint: Joint | Loop) -> Iterator[str]:
    kinds = TREE_KINDS if isinstance(joint, Joint) else LOOP_KINDS
    kind = kinds.get(joint.kind)
    if kind is None and getattr(joint, "map", None) is None:
        yield str(UnknownNameError("joint kind", joint.kind, kinds))
    if kind is not None:
        given, known = dict(joint.parameters), [parameter.name for parameter in kind.parameters]
        for name in given.keys() - set(known):
            wanted = ", ".join(known) or "none"
            yield f"a {kind} joint has no parameter {name!r} (it has {wanted})"
        for name in missing_constants(joint):
            yield f"the parameter {name!r} of a {kind} joint is not given"
    values: dict[str, tuple[Any, ...]] = {"pitch": (joint.pitch,)}
    values |= {name: (x,) for name, x in joint.parameters}
    keys = ("origin on the predecessor", "origin on the successor")
    keys = ("origin", "") if isinstance(joint, Joint) else keys
    for key, pose in zip(keys, poses_of(joint), strict=True):
        if isinstance(pose, Pose):
            values[key] = (*pose.xyz, *pose.rpy)
        else:
            yield f"the {key} is {type(pose).__name__}, expected a Pose"
    values["damping"], values["friction"] = (joint.damping,), (joint.friction,)
    values["spring"] = (joint.stiffness, joint.rest)
    values["armature"] = (joint.armature,)
    for key in (*joint_numbers(joint), "armature"):
        value = getattr(joint, key)
        if _numbers(value) and value < 0.0:
            yield f"the {key} is {value}: negative"
    if kind is not None and joint.armature and not _may_have_armature(kind):
        yield (
            f"a {kind} joint has no armature: only joints whose coordinates add, balls and "
            "floating joints have one"
        )
    yield from _why_no_limits(joint.limits)
    if isinstance(joint, Loop):
        values["distance"] = (joint.distance,)
    for key, numbers in values.items():
        if not _numbers(*numbers):
            yield f"the {key} is {numbers}: not finite, or beyond {LARGEST:g}"
    sound = True
    for key, axis in (("axis", joint.axis), ("axis2", joint.axis2)):
        if not (_is_vector(axis) and abs(math.hypot(*axis) - 1.0) < 1e-6):
            sound = False
            yield f"the {key} is {axis}: not a unit vector"
    if sound and kind is not None and len(kind.axes) > 1:
        if abs(sum(a * b for a, b in zip(joint.axis, joint.axis2, strict=True))) > PARALLEL_COSINE:
            yield f"axis and axis2 of a {kind} joint are parallel"


def _may_have_armature(kind: JointKind) -> bool:
    """It is known how an inertia that all speeds feel alike resists them."""
    ball = kind.coordinates.quaternion and kind.nv == 3
    return kind.coordinates.flat or ball or kind.orientation is not None


def _why_no_limits(limits: Limits | None) -> Iterator[str]:
    if limits is None:
        return
    for key in ("lower", "upper", "velocity", "effort"):
        value = getattr(limits, key)
        if not (_numbers(value) or (isinstance(value, float) and math.isinf(value))):
            yield f"the limit {key} is {value!r}, expected a number up to {LARGEST:g} or infinity"
        elif key in ("velocity", "effort") and value < 0.0:
            yield f"the limit {key} is {value:g}: negative"
    if _numbers(limits.lower, limits.upper) and limits.lower > limits.upper:
        yield f"the lower limit {limits.lower:g} is above the upper limit {limits.upper:g}"


def _why_no_element(item: DescribedElement) -> Iterator[str]:
    yield from _why_negative(item, fields_of(type(item), "float"))
    for key in fields_of(type(item), "Vector"):
        if not _is_vector(getattr(item, key)):
            yield f"{key} is {getattr(item, key)!r}, expected three finite numbers"


def _why_no_rotor(rotor: Rotor) -> Iterator[str]:
    if not (_numbers(rotor.inertia) and rotor.inertia > 0.0):
        yield f"inertia is {rotor.inertia!r}, expected a finite positive number"
    if not (_is_vector(rotor.axis) and math.hypot(*rotor.axis) > 0.0):
        yield f"axis is {rotor.axis!r}, expected three numbers that are not all zero"
    yield from _why_negative(rotor, ("damping", "friction"))


def _why_negative(item: Any, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        value = getattr(item, name)
        if not (_numbers(value) and value >= 0.0):
            yield f"{name} is {value!r}, expected a finite number that is not negative"


def _is_vector(x: Any) -> bool:
    try:
        return len(x) == 3 and _numbers(*x)
    except TypeError:
        return False


def _numbers(*values: Any) -> bool:
    """All are finite numbers, and not so large that their products are not."""
    try:
        return all(abs(value) <= LARGEST for value in values)
    except TypeError:
        return False
