"""Legal values that are probably mistakes: degrees, millimetres, grams, zeros.

``robodyn check`` shows it; loading does not depend on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from robodyn.description import Inertia, Joint, Link, Mechanism, Pose
from robodyn.errors import UrdfWarning
from robodyn.joints import KINDS

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
#: Density [kg/m^3] that no body exceeds: that of osmium.
DENSEST = 22.6e3
#: Part of the largest mass of a robot below which the inertia of a link does not matter.
NEGLIGIBLE = 1e-3
#: Lengths above the first [m] are probably millimetres if links are smaller by the second factor.
FAR, FARTHER = 5.0, 50.0


def suspicions(mechanism: Mechanism) -> list[UrdfWarning]:
    """Legal values of a mechanism that are probably mistakes, in the order of the file."""
    found = []
    masses = doubtful_masses(mechanism)
    usual_length = _median_nonzero([math.hypot(*joint.origin.xyz) for joint in mechanism.joints])
    usual_size = _median_nonzero(
        [_radius(link.inertia) for link in mechanism.links if link.inertia is not None]
    )
    items: list[tuple[Link | Joint, Iterable[str]]] = [
        (link, (*_suspicions_of_link(link), *masses[link.name])) for link in mechanism.links
    ]
    items += [
        (joint, _suspicions_of_joint(joint, usual_length, usual_size)) for joint in mechanism.joints
    ]
    for item, reasons in items:
        found += [UrdfWarning(reason, **mechanism.where(item)) for reason in reasons]
    return found


def doubtful_masses(mechanism: Mechanism) -> dict[str, list[str]]:
    """What is probably wrong with the mass, its centre or the inertia of each link."""
    masses = [link.inertia.mass if link.inertia else 0.0 for link in mechanism.links]
    least, usual = NEGLIGIBLE * max(masses, default=0.0), _median_nonzero(masses)
    reach = sum(math.hypot(*joint.origin.xyz) for joint in mechanism.joints)
    reach += sum(math.hypot(*link.inertia.origin.xyz) for link in mechanism.links if link.inertia)
    heavy = [x for x in mechanism.links if x.inertia and x.inertia.mass >= least]
    dense = sum(_too_dense(link.inertia) for link in heavy if link.inertia)
    found: dict[str, list[str]] = {link.name: [] for link in mechanism.links}
    for link in heavy:
        if link.inertia:
            in_grams = 2 * dense >= len(heavy) or link.inertia.mass >= max(HEAVY, OUTLIER * usual)
            in_grams &= math.sqrt(1e3) * _radius(link.inertia) < reach
            found[link.name] = list(
                _suspicions_of_inertia(link.inertia, usual, reach, in_grams=in_grams)
            )
    return found


def _median_nonzero(values: list[float]) -> float:
    """Middle of the values that are not zero; 0 if there are none."""
    rest = [value for value in values if value > 0.0]
    return sorted(rest)[(len(rest) - 1) // 2] if rest else 0.0


def _suspicions_of_link(link: Link) -> Iterator[str]:
    yield from _suspicions_of_name(link.name)
    if link.inertia is not None:
        yield from _suspicions_of_angles("<inertial> <origin>", link.inertia.origin)


def _radius(inertia: Inertia) -> float:
    """Root mean square distance of the mass from its centre [m]; 0 without mass or inertia."""
    moments = 0.5 * (inertia.ixx + inertia.iyy + inertia.izz)
    return math.sqrt(moments / inertia.mass) if inertia.mass > 0.0 and moments > 0.0 else 0.0


def _too_dense(inertia: Inertia) -> bool:
    """Whether the mass is nearer to its centre than that of half a ball of osmium."""
    return 0.0 < _radius(inertia) < 0.5 * _radius_of_osmium(inertia.mass)


def _radius_of_osmium(mass: float) -> float:
    """As `_radius`, of a ball of osmium: of all bodies of a mass and a density a ball has least."""
    return math.sqrt(0.6) * math.cbrt(max(mass, 0.0) / DENSEST / (4.0 / 3.0 * math.pi))


def _suspicions_of_inertia(
    inertia: Inertia, usual: float, reach: float, *, in_grams: bool
) -> Iterator[str]:
    mass, radius = inertia.mass, _radius(inertia)
    if _too_dense(inertia):
        yield (
            f"no body of {mass:g} kg has so small an inertia: its mass is {1e3 * radius:.3g} mm "
            "from its centre on average, that of a ball of osmium "
            f"{1e3 * _radius_of_osmium(mass):.3g} mm"
        ) + (f"; is the mass in grams? Then it is {mass / 1e3:g} kg" if in_grams else "")
    elif mass >= HEAVY and 0.0 < OUTLIER * usual <= mass:
        yield (
            f"the mass is {mass:g} kg, where links of this robot have about {usual:.3g} kg: is it "
            f"in grams? Then it is {mass / 1e3:g} kg"
        )
    if radius > GYRATION or (reach > 0.0 and radius > max(10.0 * reach, 5.0)):
        moments = ", ".join(f"{1e-6 * x:.4g}" for x in (inertia.ixx, inertia.iyy, inertia.izz))
        yield (
            f"the inertia is that of a body of {radius:.3g} m: is it in kg mm^2? In kg m^2, ixx, "
            f"iyy and izz are then {moments}"
        )
    length = math.hypot(*inertia.origin.xyz)
    if length > FAR and 0.0 < FARTHER * radius < length:
        yield f"the centre of mass is {_in_metres(inertia.origin, length)}"


def _in_metres(pose: Pose, length: float) -> str:
    metres = " ".join(f"{1e-3 * x:g}" for x in pose.xyz)
    return f'{length:g} m away: is it in millimetres? Then it is xyz="{metres}"'


def _suspicions_of_joint(joint: Joint, usual: float, size: float) -> Iterator[str]:
    yield from _suspicions_of_name(joint.name)
    yield from _suspicions_of_angles("<origin>", joint.origin)
    length = math.hypot(*joint.origin.xyz)
    if (
        length >= 2 * LONG
        or (length >= LONG and 0.0 < OUTLIER * usual <= length)
        or (length >= FAR and 0.0 < FARTHER * size <= length)
    ):
        yield f"the origin is {_in_metres(joint.origin, length)}"
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


def _suspicions_of_angles(what: str, pose: Pose) -> Iterator[str]:
    if max(map(abs, pose.rpy)) > TURN:
        angles = " ".join(f"{angle:g}" for angle in pose.rpy)
        yield f'{what} rpy="{angles}": is it in degrees? It should be in radians'


def _suspicions_of_name(name: str) -> Iterator[str]:
    if name.split() != [name]:
        yield f"the name {name!r} holds blanks; many tools split it there"
