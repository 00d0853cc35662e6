"""What files say of joints, also of those that close loops: kind, axes, limits, springs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from robodyn.description import Limits, Vector
from robodyn.joints import KINDS
from robodyn.joints.common.kind import JointKind
from robodyn.quick_dataclass import dataclass
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, local_name

X: Vector = (1.0, 0.0, 0.0)
Y: Vector = (0.0, 1.0, 0.0)


def _words(which: Callable[[JointKind], bool]) -> dict[str, JointKind]:
    """Kinds by all their words, names first."""
    kinds = [kind for kind in KINDS.values() if kind.in_files and which(kind)]
    names = {kind.name: kind for kind in kinds}
    return names | {word: kind for kind in kinds for word in kind.words}


#: Word -> kind, of joints of the tree.
TREE_WORDS = _words(lambda kind: kind.in_tree)

#: Word -> kind, of what closes loops; a floating joint would constrain nothing.
LOOP_WORDS = _words(lambda kind: kind.closes_loops)


def read_axes(reader: Reader, element: Element, kind: JointKind) -> tuple[Vector, Vector]:
    """First and second axis; kinds without have the default, since files often give them one."""
    axes = [X, Y]
    for k, name in enumerate(kind.axes):
        axes[k] = reader.axis(reader.only(element, name), axes[k])
    return axes[0], axes[1]


def constant_tags(kind: JointKind) -> set[str]:
    """Elements that hold the numbers of a kind."""
    return {
        tag
        for parameter in kind.parameters
        for tag in (parameter.name, *(spelling for spelling, _ in parameter.spellings))
    }


def read_constants(
    reader: Reader, element: Element, kind: JointKind, what: str
) -> dict[str, float]:
    """Numbers of a kind by name; one that is missing is a problem."""
    constants = {}
    for parameter in kind.parameters:
        child, divisor = reader.only(element, parameter.name), 1.0
        for spelling, other in parameter.spellings if child is None else ():
            found = [x for x in element if local_name(x) == spelling]
            if found:
                child, divisor = found[0], other
                break
        if child is None:
            reader.problem(
                element,
                f'a {kind} {what} needs <{parameter.name} value="..."/> in {parameter.unit}',
            )
        constants[parameter.name] = (
            0.0 if child is None else reader.number(child, "value") / divisor
        )
    return constants


#: From here on a limit means none, in SDF and in what is written.
UNLIMITED = 1e16


@dataclass(frozen=True)
class JointDynamics:
    """What ``<dynamics>`` says, in the units of `Joint`."""

    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    armature: float = 0.0


def read_dynamics(reader: Reader, joint: Element, kind: JointKind) -> JointDynamics:
    """Damping, dry friction, spring and armature of a joint, or of a loop that is one."""
    element = reader.only(joint, "dynamics")
    if element is None:
        return JointDynamics()
    found = JointDynamics(
        reader.not_negative(element, "damping"),
        reader.not_negative(element, "friction"),
        reader.not_negative(element, "spring_stiffness"),
        reader.number(element, "spring_reference", 0.0),
        reader.not_negative(element, "armature"),
    )
    if found.stiffness and (kind.nq, kind.nv) != (1, 1):
        reader.left_out(
            element, f"a {kind} joint has no spring: only joints with one degree of freedom"
        )
        found = dataclasses.replace(found, stiffness=0.0, rest=0.0)
    return found


def read_limits(reader: Reader, joint: Element, kind: JointKind) -> Limits | None:
    """Limits of a joint, or of a loop that is one."""
    element = reader.only(joint, "limit")
    if element is None:
        return None
    written = [
        None if element.get(key) is None else reader.number(element, key, infinite=True)
        for key in ("lower", "upper")
    ]
    lower, upper = position_limits(kind, *written)
    if None not in written and kind.limited and lower > upper:
        reader.warn(element, f"lower limit {lower:g} is above upper limit {upper:g}: no limits")
        lower, upper = -math.inf, math.inf
    if kind.nv > 1 and written != [None, None] and written[0] != written[1]:
        reader.warn(
            element,
            f"lower and upper do not limit a {kind} joint: it has {kind.nv} degrees of freedom",
        )
    bounds = []
    for key in ("velocity", "effort"):
        bounds.append(reader.number(element, key, math.inf, infinite=True))
        if bounds[-1] < 0.0:
            negative = f"<limit> {key}={bounds[-1]:g} is negative"
            reader.problem(element, negative, leniently="taken as no limit")
            bounds[-1] = math.inf
    return plain_limits(kind, Limits(lower, upper, *bounds))


def limits_of_loop(reader: Reader, element: Element, limits: Limits | None) -> Limits | None:
    """Limits of a joint that closes a loop: two that are equal, as exporters write, are none."""
    if limits is not None and limits.lower == limits.upper:
        reader.warn(element, f"lower and upper limit are both {limits.lower:g}: no limits")
        limits = dataclasses.replace(limits, lower=-math.inf, upper=math.inf)
    return limits


def plain_limits(kind: JointKind, limits: Limits | None) -> Limits | None:
    """Limits with infinity where the numbers mean none; ``None`` if nothing is limited."""
    if limits is None:
        return None
    bounds = [limits.lower, limits.upper, limits.velocity, limits.effort]
    if not kind.limited:
        bounds[:2] = -math.inf, math.inf
    plain = Limits(*(x if abs(x) < UNLIMITED else math.copysign(math.inf, x) for x in bounds))
    return None if plain == Limits() else plain


def position_limits(
    kind: JointKind, lower: float | None, upper: float | None
) -> tuple[float, float]:
    """Give the position limits of a joint that a file leaves out.

    URDF: a limit that is not written is zero. Where neither is, the author meant none.
    """
    if not kind.limited or lower is None is upper:
        return -math.inf, math.inf
    return lower or 0.0, upper or 0.0
