"""Torques and speeds of motors from those of joints, by gears and transmissions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.description import Actuator, Transmission
from robodyn.errors import ActuationError
from robodyn.model.joint_info import JointInfo
from robodyn.quick_dataclass import dataclass


@dataclass(frozen=True, eq=False)
class CoupledMotors:
    """The motors of a transmission.

    joints: Joints for which the motors are described.
    speeds (m,): Indices of these joints among those of `Gearing`; locked joints have none.
    matrix (n, m): Speeds of motors per unit of these speeds.
    inverse (n, n), or None: Inverse of ``matrix``, if each joint moves by itself.
    torque_limits (n,) [N m, N]: Infinite where none is given.
    """

    joints: tuple[str, ...]
    speeds: Array
    matrix: FloatArray
    inverse: FloatArray | None
    torque_limits: FloatArray

    def torques(self, tau: Array) -> Array:
        """Torques of the motors, shape (..., n), for forces of all joints (..., nv)."""
        assert self.inverse is not None
        return _times(tau[..., self.speeds], self.inverse)

    def forces(self, torques: Array) -> Array:
        """Forces of the joints, shape (..., m), for torques of the motors (..., n)."""
        return _times(torques, self.matrix)


class Gearing:
    """Gears and transmissions; each motor has the index of the joint that it is described for.

    Joints have the indices that they have in v. If a motor is at a joint without speeds of its own,
    as it follows others, there is one index for each freedom of the joints with motors instead, in
    their order: their speeds and forces follow from those in v by virtual work.

    actuated: Joints with motors, in their order.
    places: Indices of joints with motors.
    elsewhere: Whether indices are other ones than those in v.
    ratios (n,): Speed of each motor over that of its joint, or of its shaft behind a transmission;
        1 where there is no motor.
    torque_limits (n,) [N m, N]: Of each motor; infinite where none is given.
    coupled: Motors of transmissions whose joints move.
    """

    def __init__(
        self,
        motors: Mapping[str, Actuator],
        transmissions: Sequence[Transmission],
        joints: Mapping[str, JointInfo],
        actuated: Sequence[str],
        nv: int,
    ) -> None:
        self._motors, self._joints = motors, joints
        self.places = {name: joints[name].v for name in (*motors, *actuated)}
        self.elsewhere = any(self.places[x].start == self.places[x].stop for x in actuated)
        if self.elsewhere:
            ends = [*accumulate((joints[name].kind.nv for name in actuated), initial=0)]
            moved = zip(actuated, map(slice, ends[:-1], ends[1:]), strict=True)
            self.places, nv = {**dict.fromkeys(motors, slice(0, 0)), **dict(moved)}, ends[-1]
        self.ratios, self.torque_limits = np.ones(nv), np.full(nv, np.inf)
        for name, motor in motors.items():
            self.ratios[self.places[name]] = motor.gear_ratio
            self.torque_limits[self.places[name]] = motor.largest_torque
        divisors = np.where(self.ratios == 0.0, np.inf, self.ratios)
        self._divisors = {np.dtype(x): divisors.astype(x) for x in (np.float64, np.float32)}
        found = [x for x in map(self._coupled, transmissions) if len(x.speeds)]
        self.coupled = tuple(sorted(found, key=lambda x: int(x.speeds.min())))

    def _coupled(self, given: Transmission) -> CoupledMotors:
        motors = [self._motors[name] for name in given.joints]
        matrix = np.array([x.gear_ratio for x in motors])[:, None] * np.array(given.matrix)
        places = [self.places[name] for name in given.joints]
        moving = [k for k, at in enumerate(places) if at.stop > at.start]
        free = [name for name in given.joints if self._moves_by_itself(name)]
        return CoupledMotors(
            given.joints,
            np.array([places[k].start for k in moving], int),
            matrix[:, moving],
            np.linalg.inv(matrix) if len(free) == len(motors) else None,
            np.array([x.largest_torque for x in motors]),
        )

    def _moves_by_itself(self, name: str) -> bool:
        """Whether a joint moves, and its position is no function of those of others."""
        at = self.places[name]
        return at.stop > at.start and not self._joints[name].follows

    @property
    def matrix(self) -> FloatArray:
        """Speeds of motors per unit of the speeds of joints, shape (n, n).

        Raises ActuationError: As `refuse_partial`.
        """
        self.refuse_partial()
        G = np.diag(self.ratios)
        for x in self.coupled:
            G[np.ix_(x.speeds, x.speeds)] = x.matrix
        return G

    def check(self) -> None:
        """Check that the torques of all motors follow from the forces of joints."""
        if not self.ratios.all():
            idle = [name for name, motor in self._motors.items() if not motor.gear_ratio]
            raise ActuationError(
                f"the gear ratio of {', '.join(idle)} is zero: the motor does not move the joint",
                direction=tuple(idle),
            )
        self.refuse_partial()

    def refuse_partial(self) -> None:
        """Check that all joints of transmissions move by themselves."""
        for x in self.coupled:
            if x.inverse is None:
                still = tuple(name for name in x.joints if not self._moves_by_itself(name))
                raise ActuationError(
                    f"a transmission couples the motors of {', '.join(x.joints)}, of which "
                    f"{', '.join(still)} cannot move by itself: how the motors share the torque "
                    "is not determined",
                    direction=still,
                )

    def torques(self, tau: Array) -> Array:
        """Torque of each motor at its own shaft, shape (..., n), for forces of joints alike.

        Zero for a motor that does not move its joint, as its gear ratio is zero.
        """
        found = np.asarray(tau / self._divisors[tau.dtype])
        if self.coupled:
            self.refuse_partial()
            for x in self.coupled:
                found[..., x.speeds] = x.torques(tau)
        return found

    def speeds(self, v: Array) -> Array:
        """Speed of each motor, shape (..., nv), for speeds of joints (..., nv)."""
        found = v * self.ratios.astype(v.dtype)
        for x in self.coupled:
            found[..., x.speeds] = _times(v[..., x.speeds], x.matrix.T)
        return np.asarray(found)


def _times(rows: Array, matrix: FloatArray) -> Array:
    """``rows @ matrix``, each sum in the same order however many rows there are."""
    matrix = matrix.astype(rows.dtype)
    total = rows[..., :1] * matrix[0]
    for k in range(1, len(matrix)):
        total = total + rows[..., k : k + 1] * matrix[k]
    return np.asarray(total)
