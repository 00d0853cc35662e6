"""Losses of gears: friction in proportion to the torque that a gear carries.

Of a motor with the torque ``u`` and the speed ``w``, the rotor of inertia ``I`` and the friction of
the motor itself take their part; what is left goes into the gear, at the motor's side::

    x + f = u - I dw - friction          f = forward |x| s   where the motor drives, x w > 0
                                         f = backward |x| s  where it is driven

``s`` is the sign of the speed, and falls linearly through zero below a small one. ``x`` is what the
gear hands on, and ``f`` what it loses: with the efficiencies e and b of both ways, ``forward`` is
``1 / e - 1`` and ``backward`` is ``1 - b``. Inverse dynamics have ``x + f`` and ``x`` by a case.
In forward dynamics ``f`` changes the accelerations and so ``x``: with ``x = x0 - P f``, where
``x0`` is that of no loss, the cases are those of a piecewise linear system, which for one gear has
those of ``x0``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from robodyn.description.drive import WindingCurrent
from robodyn.equations.mechanism.state import State
from robodyn.equations.tree.newton_euler import body_motions
from robodyn.errors import ActuationError
from robodyn.force_elements.joint_friction import resistance
from robodyn.symbolic.scalar import Number, dot, is_zero, maximum, where
from robodyn.symbolic.spatial import Placement
from robodyn.symbolic.vector import Vec3

#: Rounds in which cases are corrected that several gears change for one another.
ROUNDS = 5


@dataclass(frozen=True)
class GearLoss:
    """A gear that loses power, and the motor before it.

    joint: The joint that the motor is described for.
    turned: Joints that turn it, each with the speed of the motor over theirs.
    torque: Joints whose forces make the motor's torque, each with its factor; none: `turned` alone.
    inertia, carrier, axis: Of the rotor, as those of a `Drive`.
    viscous, coulomb [N m s/rad], [N m]: Friction of the motor itself.
    scale: Root of the sum of the squares of its ratios.
    forward, backward: Friction over the torque carried.
    winding: Whose current makes the torque, if the motor is commanded by voltage.
    """

    joint: str
    turned: tuple[tuple[str, float], ...]
    torque: tuple[tuple[str, float], ...]
    inertia: float
    carrier: str | None
    axis: tuple[float, float, float]
    viscous: float
    coulomb: float
    scale: float
    forward: float
    backward: float
    winding: WindingCurrent | None = None


class LossyGears:
    """Gears that lose power, at a state.

    motors: Joints of all motors.
    link: Body that carries a link, and its frame on it.
    """

    def __init__(
        self,
        gears: Sequence[GearLoss],
        state: State,
        friction_speed: float,
        motors: Sequence[str],
        link: Callable[[str], tuple[int, Placement]],
    ) -> None:
        self._gears, self._state, self._link = gears, state, link
        self._smooth = friction_speed
        self._bodies = {x.description.name: x.index for x in state.model}
        self._motors = motors
        #: Speeds of the motors.
        self.speeds = [self._turned(x, lambda joint: joint.v[0]) for x in gears]
        #: Signs of the speeds.
        self.signs = [
            w / maximum(abs(w), friction_speed * x.scale)
            for x, w in zip(gears, self.speeds, strict=True)
        ]

    def _turned(self, gear: GearLoss, of: Callable[..., Number]) -> Number:
        parts = ((self._bodies[name], ratio) for name, ratio in gear.turned)
        return sum((of(self._state[i]) * ratio for i, ratio in parts), 0.0)

    def within(self, speeds: frozenset[int]) -> list[bool]:
        """Whether each is turned by joints of these speeds alone."""
        return [{k for k, _ in row} <= speeds for row in self._rows()]

    def _rows(self) -> list[list[tuple[int, Number]]]:
        """Speed of each motor a unit of the speeds of the mechanism."""
        return [
            [
                (k, speed * ratio)
                for name, ratio in gear.turned
                for k, _, speed in self._state[self._bodies[name]].ratios
            ]
            for gear in self._gears
        ]

    def spread(self, torques: Sequence[Number]) -> list[Number]:
        """Torques of the motors as forces over the speeds of the mechanism."""
        forces: list[Number] = [0.0] * self._state.model.nv
        for row, torque in zip(self._rows(), torques, strict=True):
            for k, ratio in row:
                forces[k] = forces[k] + torque * ratio
        return forces

    def carried(self, a: Sequence[Number], tau: Sequence[Number]) -> list[Number]:
        """What goes into each gear, for accelerations and forces of the motors."""
        motion, forces = body_motions(self._state, a), self._at_joints(tau)
        found = []
        for gear, w in zip(self._gears, self.speeds, strict=True):
            u = sum((forces(name) * x for name, x in gear.torque), 0.0)
            if gear.winding is not None:
                i = self._bodies[gear.winding.winding]
                u = u + self._state[i].v[0] * gear.winding.constant
            dw = self._turned(gear, lambda joint: joint.acceleration(a)[0])
            if gear.carrier is not None and gear.inertia:
                body, X = self._link(gear.carrier)
                dw = dw + (X.R * Vec3(*gear.axis)).dot(motion[body].dw)
            smooth = self._smooth * gear.scale
            lost = resistance(w, gear.viscous, gear.coulomb, smooth)
            found.append(u - dw * gear.inertia + lost)
        return found

    def _at_joints(self, tau: Sequence[Number]) -> Callable[[str], Number]:
        """Forces of joints with motors, for those over the speeds of the mechanism."""
        state, model = self._state, self._state.model
        named = {name for gear in self._gears for name, _ in gear.torque}
        own = {name: model.bodies[self._bodies[name]] for name in named}
        shared = [x.index for name in self._motors for x in model.bodies[self._bodies[name]].speeds]
        alone = len({*shared}) == len(shared)  # no joint mimics another, and has a motor as it has
        if alone and all(x.q and x.speeds and x.speeds[0].factor == 1.0 for x in own.values()):
            speeds = {name: x.speeds[0].index for name, x in own.items()}
            return lambda name: tau[speeds[name]]
        count = len(self._motors)
        if count != model.nv:
            gear = self._gears[0].joint
            raise ActuationError(
                f"the gear of {gear!r} loses power, and its motor is at a joint that follows "
                f"others: with {count} motors for {model.nv} speeds its torque is not determined. "
                "Take coordinates='tree', or as many motors as there are speeds",
                direction=gear,
            )
        rows: list[list[Number]] = [[0.0] * count for _ in range(count)]
        for j, name in enumerate(self._motors):
            for k, _, ratio in state[self._bodies[name]].ratios:
                rows[k][j] = ratio
        found = dict(zip(self._motors, solved(rows, tau, pivots=True), strict=True))
        return found.__getitem__

    def lost(self, carried: Sequence[Number]) -> list[Number]:
        """Friction of each gear, for what goes into it and is not lost."""
        return [k * x for k, x in zip(self._factors(carried), carried, strict=True)]

    def _factors(self, carried: Sequence[Number]) -> list[Number]:
        """Friction of each gear over the torque carried, in the case of a torque.

        Its slope along the speed is that of friction, at rest too.
        """
        return [
            where(x > 0.0, s, -s) * where(x * s > 0.0, gear.forward, gear.backward)
            for gear, x, s in zip(self._gears, carried, self.signs, strict=True)
        ]

    def balanced(self, x0: Sequence[Number], P: Sequence[Sequence[Number]]) -> list[Number]:
        """Friction ``f`` of the gears, where they carry ``x0 - P f``."""
        count, x = len(x0), list(x0)
        for _ in range(ROUNDS if count > 1 else 1):
            factors = self._factors(x)
            rows = [
                [P[i][j] * factors[j] + float(i == j) for j in range(count)] for i in range(count)
            ]
            x = solved(rows, x0)
        return [k * y for k, y in zip(factors, x, strict=True)]


def solved(
    rows: Sequence[Sequence[Number]], right: Sequence[Number], *, pivots: bool = False
) -> list[Number]:
    """The solution of a system of equations, by elimination along the diagonal.

    pivots: Rows are exchanged, so that the diagonal has the largest numbers.
    """
    A = [[*row, x] for row, x in zip(rows, right, strict=True)]
    count = len(A)
    for k in range(count):
        for i in range(k + 1, count):
            if pivots:
                A[k], A[i] = _exchanged(A[k], A[i], k)
            factor = A[i][k] / A[k][k] if not is_zero(A[i][k]) else 0.0
            A[i] = [x - factor * y for x, y in zip(A[i], A[k], strict=True)]
    b = [row[-1] for row in A]
    for k in reversed(range(count)):
        b[k] = (b[k] - dot(A[k][k + 1 : count], b[k + 1 :])) / A[k][k]
    return b


def _exchanged(one: list[Number], other: list[Number], k: int) -> tuple[list[Number], list[Number]]:
    """Two rows, of which the one with the larger element comes first."""
    larger = other[k] * other[k] > one[k] * one[k]
    pairs = [*zip(one, other, strict=True)]
    return [where(larger, y, x) for x, y in pairs], [where(larger, x, y) for x, y in pairs]
