"""Models of urdfpy, urchin and yourdfpy, recognised by their attributes; none is imported."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from robodyn.description import (
    Actuator,
    Inertia,
    Joint,
    Limits,
    Link,
    Mechanism,
    Mimic,
    Pose,
    Vector,
)
from robodyn.errors import ShapeError, UrdfError, UrdfWarning
from robodyn.joints.common.kind import JointKind
from robodyn.urdf.common.joint_values import TREE_WORDS, position_limits

Made = TypeVar("Made", Link, Joint)


def is_urdf_object(source: Any) -> bool:
    """Whether an object holds links and joints, itself or (yourdfpy) under ``.robot``."""
    robot = getattr(source, "robot", source)
    return hasattr(robot, "links") and hasattr(robot, "joints")


def from_object(source: Any) -> tuple[Mechanism, list[UrdfWarning]]:
    """Mechanism of a model of urdfpy, urchin or yourdfpy, and warnings about it."""
    robot = getattr(source, "robot", source)
    links = tuple(_with_name_in_errors(_link, link, "link") for link in robot.links)
    joints = tuple(_with_name_in_errors(_joint, joint, "joint") for joint in robot.joints)
    name = str(getattr(robot, "name", None) or "robot")
    mechanism = Mechanism(name, links, joints, actuators=_actuators(robot, joints))
    invented = Inertia(1.0, Pose(), 1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
    names = [link.name for link in links if link.inertia == invented]
    message = (
        f"links {', '.join(names)} have mass 1 and inertia identity: urdfpy and urchin give this "
        "to links whose file says nothing; load the file itself, where they are massless"
    )
    warned = [UrdfWarning(message)] if names else []
    return mechanism, [*warned, *_couplings_left_out(robot)]


def _with_name_in_errors(make: Callable[[Any], Made], given: Any, kind: str) -> Made:
    """A link or joint; errors about its numbers name it."""
    try:
        return make(given)
    except ShapeError as error:
        raise UrdfError(str(error), element=f"{kind} {str(given.name)!r}") from error


def _link(link: Any) -> Link:
    inertial = getattr(link, "inertial", None)
    if inertial is None:
        return Link(str(link.name))
    J = np.zeros((3, 3)) if inertial.inertia is None else np.asarray(inertial.inertia, float)
    moments = (J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2])
    mass = 0.0 if inertial.mass is None else float(inertial.mass)
    return Link(str(link.name), Inertia(mass, _pose(inertial.origin), *map(float, moments)))


def _pose(matrix: Any) -> Pose:
    if matrix is None:
        return Pose()
    if not np.isfinite(matrix).all():
        raise ShapeError("the origin is not finite", name="origin", given=matrix)
    return Pose.from_matrix(matrix)


def _vector(axis: Any) -> Vector:
    if axis is None:
        return 1.0, 0.0, 0.0
    x, y, z = (float(c) for c in axis)
    length = math.hypot(x, y, z)
    return (x / length, y / length, z / length) if length else (x, y, z)


def _joint(joint: Any) -> Joint:
    word = getattr(joint, "joint_type", None) or getattr(joint, "type", None)
    kind = TREE_WORDS.get(word or "")
    name = str(joint.name)
    if kind is None:
        raise UrdfError(f"unknown joint type {word!r}", element=f"joint {name!r}")
    if kind.parameters:
        raise UrdfError(
            f"the {kind.parameters[0].name} of a {kind} joint is not in such models: load the file",
            element=f"joint {name!r}",
        )
    axis = _vector(joint.axis) if kind.axes else (1.0, 0.0, 0.0)
    mimic = getattr(joint, "mimic", None) if kind.nv else None
    if mimic is not None:
        mimic = Mimic(str(mimic.joint), **_numbers(mimic, multiplier=1.0, offset=0.0))
    return Joint(
        name,
        kind.name,
        str(joint.parent),
        str(joint.child),
        _pose(joint.origin),
        axis,
        limits=_limits(getattr(joint, "limit", None), kind),
        mimic=mimic,
        **_numbers(getattr(joint, "dynamics", None), damping=0.0, friction=0.0),
    )


def _limits(limit: Any, kind: JointKind) -> Limits | None:
    if limit is None:
        return None
    lower, upper = position_limits(kind, limit.lower, limit.upper)
    if lower > upper:
        lower, upper = -math.inf, math.inf
    bounds = _numbers(limit, velocity=math.inf, effort=math.inf)
    return Limits(float(lower), float(upper), **bounds)


def _numbers(given: Any, **defaults: float) -> dict[str, Any]:
    """Attributes as numbers; the default of one that is not there or None."""
    values = {name: getattr(given, name, None) for name in defaults}
    return {name: defaults[name] if x is None else float(x) for name, x in values.items()}


def _transmissions(robot: Any) -> Iterable[Any]:
    return getattr(robot, "transmissions", None) or getattr(robot, "transmission", None) or ()


def _couplings_left_out(robot: Any) -> Iterator[UrdfWarning]:
    """Warnings of transmissions of several joints: these models do not keep all that they say."""
    for transmission in _transmissions(robot):
        names = ", ".join(repr(str(joint.name)) for joint in transmission.joints)
        if len(transmission.joints) > 1 or len(transmission.actuators) > 1:
            yield UrdfWarning(
                f"couples the joints {names} to several motors, and their roles and reductions are "
                "not in this model: not modelled; load the file itself",
                element=f"transmission {str(getattr(transmission, 'name', ''))!r}",
            )


def _actuators(robot: Any, joints: tuple[Joint, ...]) -> tuple[tuple[str, Actuator], ...]:
    """Motors of the transmissions that drive one joint each."""
    known = {joint.name for joint in joints}
    found: dict[str, Actuator] = {}
    for transmission in _transmissions(robot):
        driven = [str(joint.name) for joint in transmission.joints]
        motors = list(transmission.actuators)
        if len(driven) == 1 and len(motors) <= 1 and driven[0] in known:
            motor = motors[0] if motors else None
            ratio = _numbers(motor, mechanical_reduction=1.0)["mechanical_reduction"]
            ratio = _numbers(motor, mechanicalReduction=ratio)["mechanicalReduction"]
            name = str(getattr(motor, "name", ""))
            found.setdefault(driven[0], Actuator(ratio, name=name))
    return tuple(found.items())
