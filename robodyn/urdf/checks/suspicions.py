"""Legal values that are probably mistakes: degrees, millimetres, grams, zeros.

``robodyn check`` shows it; loading does not depend on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from robodyn.description import Joint, Link, Mechanism, Pose
from robodyn.errors import UrdfWarning
from robodyn.joints import KINDS

__all__ = ["suspicions"]

#: Angles above this [rad] are probably degrees.
TURN = 2.0 * math.pi + 0.01
#: Position limits above this [rad] are probably degrees; ten turns of a winch are below it.
TURNS = 4.0 * TURN
#: A link of a robot whose others are small is suspicious above these [kg, m].
HEAVY, LONG = 500.0, 50.0
#: A value is suspicious if it is this many times the median of the others.
OUTLIER = 100.0
#: Radius of gyration [m] above which an inertia is suspicious.
GYRATION = 100.0


def suspicions(mechanism: Mechanism) -> list[UrdfWarning]:
    """Legal values of a mechanism that are probably mistakes, in the order of the file."""
    found = []
    lengths = [math.hypot(*joint.origin.xyz) for joint in mechanism.joints]
    masses = [link.inertia.mass if link.inertia else 0.0 for link in mechanism.links]
    reach = sum(lengths) + sum(
        math.hypot(*link.inertia.origin.xyz) for link in mechanism.links if link.inertia
    )
    usual_mass, usual_length = _usual(masses), _usual(lengths)
    items: list[tuple[Link | Joint, Iterator[str]]] = [
        (link, _of_link(link, usual_mass, reach)) for link in mechanism.links
    ]
    items += [(joint, _of_joint(joint, usual_length)) for joint in mechanism.joints]
    for item, reasons in items:
        found += [UrdfWarning(reason, **mechanism.where(item)) for reason in reasons]
    return found


def _usual(values: list[float]) -> float:
    """Middle of the values that are not zero; 0 if there are none."""
    rest = [value for value in values if value > 0.0]
    return sorted(rest)[(len(rest) - 1) // 2] if rest else 0.0


def _of_link(link: Link, usual: float, reach: float) -> Iterator[str]:
    yield from _of_name(link.name)
    inertia = link.inertia
    if inertia is None:
        return
    yield from _of_angles("<inertial> <origin>", inertia.origin)
    if inertia.mass >= HEAVY and 0.0 < OUTLIER * usual <= inertia.mass:
        yield (
            f"the mass is {inertia.mass:g} kg, where links of this robot have about {usual:.3g} "
            "kg: is it in grams?"
        )
    moments = 0.5 * (inertia.ixx + inertia.iyy + inertia.izz)
    if inertia.mass > 0.0 and moments > 0.0:
        radius = math.sqrt(moments / inertia.mass)
        if radius > GYRATION or (reach > 0.0 and radius > max(10.0 * reach, 5.0)):
            yield (
                f"the inertia is that of a body of {radius:.3g} m: is it in kg mm^2? It should "
                "be in kg m^2"
            )


def _of_joint(joint: Joint, usual: float) -> Iterator[str]:
    yield from _of_name(joint.name)
    yield from _of_angles("<origin>", joint.origin)
    length = math.hypot(*joint.origin.xyz)
    if length >= 2 * LONG or (length >= LONG and 0.0 < OUTLIER * usual <= length):
        yield f"the origin is {length:g} m away: is it in millimetres?"
    limits = joint.limits
    kind = KINDS.get(joint.kind)
    if limits is None or kind is None or not kind.nv:
        return
    turns = kind.turns and kind.units == ("rad",)
    bounds = [abs(b) for b in (limits.lower, limits.upper) if math.isfinite(b)]
    if turns and bounds and max(bounds) > TURNS:
        yield (
            f"<limit> lower={limits.lower:g} upper={limits.upper:g}: is it in degrees? It should "
            "be in radians; joints without limits are continuous"
        )
    if limits.lower == limits.upper:
        yield (
            f"<limit> lower and upper are both {limits.lower:g}: the joint cannot move; make it "
            "fixed, or leave both out"
        )
    for key in ("effort", "velocity"):
        if getattr(limits, key) == 0.0 and joint.mimic is None:
            yield f'<limit> {key}="0": zero counts as not given; leave it out to say so'


def _of_angles(what: str, pose: Pose) -> Iterator[str]:
    if max(map(abs, pose.rpy)) > TURN:
        angles = " ".join(f"{angle:g}" for angle in pose.rpy)
        yield f'{what} rpy="{angles}": is it in degrees? It should be in radians'


def _of_name(name: str) -> Iterator[str]:
    if name.split() != [name]:
        yield f"the name {name!r} holds blanks; many tools split it there"
