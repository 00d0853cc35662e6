"""Velocity jumps under given impulses and couples [W 6.18-6.29]."""

from __future__ import annotations

from robodyn.description.wrench import PointOfLink
from robodyn.equations.forces.from_outside import in_world
from robodyn.equations.quantities.common.hit import AXES, fitted, if_regular, jumps, point_motion
from robodyn.equations.quantities.common.quantity import Output, Q, V
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.quantities.dynamics import guarded_row
from robodyn.equations.quantities.impacts import AFTER, CONTACT, ENERGY_LOSS, PARTNERS
from robodyn.equations.tree import composite_body
from robodyn.equations.tree.frame_motion import FrameMotion
from robodyn.results import ImpactTensors
from robodyn.symbolic.scalar import Number, dot
from robodyn.symbolic.spatial import Placement, Wrench
from robodyn.symbolic.vector import Vec3


def impulses(t: Tracer) -> Results:
    """Speeds after impulses and couples on links, and the energy that these take."""
    M = composite_body.mass_matrix(t.state)
    change, along = fitted(t, M), list[Vec3]()
    force = t.zeros
    power: Number = 0.0
    for place in t.options.get("wrenches", ()):
        motion, F = _given(t, place)
        own = _generalised(t, motion, F)
        force = [x + y for x, y in zip(force, own, strict=True)]
        power = power + F.f.dot(motion.V.v) + F.n.dot(motion.V.w)
        along.append(motion.X.R * F.f)
    given: dict[int, Number] = dict.fromkeys(t.options.get("controlled", ()), 0.0)
    jump, _ = jumps(t, M, force, given=given)
    after = [sum(x, 0.0) for x in zip(t.v, change, jump, strict=True)]
    return {
        "v": if_regular(t, after),
        "impulse": along,
        # the work of the mean of the speeds before and after
        "energy_loss": -(power + dot(force, change) + 0.5 * dot(force, jump)),
    }


def impact_tensors(t: Tracer) -> Results:
    """Jumps of a point's velocity and of its link's angular velocity, a unit of what is given."""
    M = composite_body.mass_matrix(t.state)
    moved = acted = point_motion(t, t.options["frame"], "point")
    if "other" in t.options:
        acted = point_motion(t, t.options["other"], "other_point")
    held: dict[int, Number] = dict.fromkeys(t.options.get("controlled", ()), 0.0)
    along = [_generalised(t, moved, F) for F in _units(moved)]
    found = [jumps(t, M, _generalised(t, acted, F), given=held)[0] for F in _units(acted)]
    whole = [[dot(force, jump) for jump in found] for force in along]
    U = [row[:3] for row in whole[:3]]
    values = if_regular(t, [x for row in U for x in row])
    return {"U": values, "V": [row[3:] for row in whole[:3]], "W": [row[3:] for row in whole[3:]]}


def _given(t: Tracer, place: str) -> tuple[FrameMotion, Wrench]:
    """Motion where an impulse acts, and the impulse with its couple there, in axes of the link."""
    w = t.numbers[f"wrench:{place}"]
    F = Wrench(Vec3(*w[:3]), Vec3(*w[3:]))
    if not isinstance(place, PointOfLink):
        return point_motion(t, place), F
    motion = point_motion(t, place.link).onto(Placement(p=Vec3.of(place.at)))
    if in_world(place):
        F = Wrench(motion.X.R.inverse_times(F.f), motion.X.R.inverse_times(F.n))
    return motion, F


def _units(motion: FrameMotion) -> list[Wrench]:
    """Impulses, then couples, along the axes of the world, in those of a frame."""
    axes = [motion.X.R.inverse_times(e) for e in AXES]
    return [*(Wrench(f=n) for n in axes), *(Wrench(n=n) for n in axes)]


def _generalised(t: Tracer, motion: FrameMotion, F: Wrench) -> list[Number]:
    """The generalised impulse of a wrench on a frame, in its axes."""
    force = t.zeros
    for k, s in motion.columns.items():
        force[k] = F.f.dot(s.v) + F.n.dot(s.w)
    return force


#: Impulses and couples on links, in world axes.
IMPULSES = Output("impulse", (lambda t: len(t.options.get("wrenches", ())), 3), "N s")

#: Jumps of velocity by impulses; by couples, and turning by impulses; turning by couples.
TENSORS = (
    Output("U", (3, 3), "1/kg"),
    Output("V", (3, 3), "1/(kg m)"),
    Output("W", (3, 3), "1/(kg m^2)"),
)

#: Quantities by name.
ROWS = {
    "impulses": guarded_row(
        (Q, V), (AFTER, IMPULSES, ENERGY_LOSS), impulses, ("wrenches", "controlled")
    ),
    "impact_tensors": guarded_row(
        (Q, CONTACT[0], PARTNERS[0]),
        TENSORS,
        impact_tensors,
        ("frame", "other", "controlled"),
        lambda setup, options: lambda found: ImpactTensors(*found),
    ),
}
