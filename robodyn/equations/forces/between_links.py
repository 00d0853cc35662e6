"""Force elements between points of bodies, as wrenches on them, and their energies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from robodyn.equations.mechanism.bodies import BASE
from robodyn.equations.mechanism.state import State
from robodyn.equations.tree.newton_euler import placements, twists
from robodyn.force_elements.common.link_element import WORLD, LinkElement, PointMotion
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, Twist, Wrench
from robodyn.symbolic.vector import Vec3

#: Body index of the world, which is not the base of a robot whose base moves.
GROUND = -2


@dataclass(frozen=True)
class Attached:
    """A force element with the points at which it is attached.

    ends: Body index, `GROUND` for the world, and point in the body's frame, of each place.
    """

    element: LinkElement
    ends: tuple[tuple[int, Vec3], ...]


def attached(
    elements: Iterable[LinkElement], link: Callable[[str], tuple[int, Placement]]
) -> list[Attached]:
    """Force elements with the points at which they are attached.

    link: Body that carries a link, and the link frame on it.
    """
    found = []
    for element in elements:
        ends = []
        for name, point in element.places:
            body, X = (GROUND, Placement()) if name == WORLD else link(name)
            ends.append((body, X.R * Vec3.of(point) + X.p))
        found.append(Attached(element, tuple(ends)))
    return found


def point_motions(state: State, elements: Sequence[Attached]) -> list[list[PointMotion]]:
    """Motion of the points of each element."""
    X = {**placements(state), GROUND: Placement()}
    V = {**twists(state), GROUND: Twist()}
    return [[PointMotion(X[i], V[i], p, state.base.g_W) for i, p in one.ends] for one in elements]


def wrenches(state: State, elements: Sequence[Attached]) -> Iterator[tuple[int, Wrench]]:
    """Wrenches of the elements on bodies, about their origins in their axes."""
    if not elements:
        return
    X = placements(state)
    for one, at in zip(elements, point_motions(state, elements), strict=True):
        forces = one.element.forces(at)
        for (i, p), force in zip(one.ends, forces, strict=bool(forces)):
            if i != GROUND:
                f = X[i].R.inverse_times(force)
                yield i, Wrench(f, p.cross(f))


def generalised(state: State, loads: Mapping[int, Wrench]) -> list[Number]:
    """Generalised forces of wrenches on bodies: ``J^T F``, summed from the leaves."""
    tau: list[Number] = [0.0] * state.model.nv
    F = dict(loads)
    for body in reversed(state.model):
        if body.index not in F:
            continue
        joint, force = state[body.index], F[body.index]
        for k, s in joint.columns:
            tau[k] += s.dot(force)
        if body.parent != BASE:
            F[body.parent] = F.get(body.parent, Wrench()) + joint.X.wrench_out(force)
    return tau


def energy(state: State, elements: Sequence[Attached]) -> Number:
    """Potential energy of the elements."""
    total: Number = 0.0
    points = point_motions(state, elements) if elements else []
    for one, at in zip(elements, points, strict=True):
        total = total + one.element.energy(at)
    return total
