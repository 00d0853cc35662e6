"""A closed linkage as functions of its independent joints, loops closed numerically.

For linkages without closed form. The posture is tracked: each is looked for near a given one, so
that the branch of the assembly stays the same along a motion.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import named, shaped
from robodyn.closed_loops.constraints.constraint_rows import ConstraintRows
from robodyn.errors import AssemblyError, SettingsError, ShapeError, SingularError
from robodyn.model.losses import refuse_losses
from robodyn.model.model import Model
from robodyn.model.speed_selection import speed_indices, speed_names
from robodyn.tolerances import DEPENDENT_SPEEDS, REDUCED_MOTION_END

#: Longest way [rad, m] that is followed, which takes about five seconds.
FARTHEST = 150.0

#: Largest number of iterations that reach given independent coordinates.
ROUNDS = 40


class ReducedRobot:
    """Dynamics over independent speeds ``u`` of a robot with constraints [PyMbs 9-11].

    ``v = B u`` and ``a = B du + b'`` follow from the rows ``K v = 0``; redundant rows do no harm.

    independent_joints: ``"joint[k]"`` where only some axes of a joint are independent.
    nu: Number of independent speeds.
    """

    def __init__(
        self,
        robot: Any,
        model: Model,
        rows: ConstraintRows,
        independent: Iterable[str] | None = None,
    ) -> None:
        if robot.depends_on_time:
            raise SettingsError(f"{robot.name!r} depends on time: it cannot be reduced")
        self.robot, self._rows = robot, rows
        names = (
            _independent(robot, model) if independent is None else named("independent", independent)
        )
        self.independent_joints: tuple[str, ...] = names
        self._own = [k for name in names for k in speed_indices(model, name)]
        self._others = [k for k in range(robot.nv) if k not in self._own]
        self.nu = len(self._own)
        known = _independent(robot, model)
        if self.nu != self.robot.dof or len({*self._own}) != self.nu:
            raise SingularError(
                f"{self.nu} speeds are named ({', '.join(self.independent_joints)}), but "
                f"{self.robot.name!r} has {self.robot.dof} degrees of freedom; independent are "
                f"{', '.join(known)}",
                joints=self.independent_joints,
            )

    def __repr__(self) -> str:
        return f"<ReducedRobot {self.robot.name!r}: {', '.join(self.independent_joints)}>"

    # -- motion -------------------------------------------------------------------------------

    def expand(self, u: ArrayLike, near: ArrayLike | None = None) -> Array:
        """Closed posture, shape (nq,), with given independent coordinates.

        u (nu,) [rad, m]: Motion of the independent joints from the neutral posture, as
            `Robot.difference` has it.
        near (nq,), optional: Posture from which the others are followed. Default: the neutral one.
        Raises AssemblyError: If the loops do not close there.
        """
        robot = self.robot
        neutral = robot.neutral()
        q = neutral if near is None else shaped("near", near, robot.nq, of=robot.name)
        wanted = shaped("u", u, self.nu, of=robot.name)
        if wanted.ndim != 1 or q.ndim != 1:
            raise ShapeError("expand takes one posture at a time", name="u", given=wanted.shape)
        for _ in range(ROUNDS):
            rest = wanted - robot.difference(neutral, q)[self._own]
            q = self._followed(q, rest)
            # an axis of a joint that turns in space is no coordinate: turns do not add up
            off = np.abs(wanted - robot.difference(neutral, q)[self._own])
            if off.max(initial=0.0) <= REDUCED_MOTION_END:
                return np.asarray(q)
        raise AssemblyError(
            f"{self.independent_joints[int(off.argmax())]} of {robot.name!r} does not come nearer "
            f"than {off.max():.3g} (rad or m)",
            residual=off,
            q=q,
        )

    def _followed(self, q: Array, way: Array) -> Array:
        """A posture some way from another, on its branch."""
        farthest = float(np.abs(way).max(initial=0.0))
        if not np.isfinite(farthest):
            raise ShapeError("u or near holds numbers that are not finite", name="u", given=way)
        if farthest > FARTHEST:
            raise ShapeError(
                f"u is {farthest:g} rad or m from the posture it is followed from: give one "
                f"nearer than {FARTHEST:g} as near=",
                name="u",
                given=way,
            )
        step = np.zeros(self.robot.nv)
        step[self._own] = way
        goal = self.robot.integrate(q, step)
        return np.asarray(self.robot.assemble(goal, hold=self.independent_joints, near=q))

    def expand_velocity(self, q: ArrayLike, du: ArrayLike) -> Array:
        """Speeds of all joints, shape (..., nv): ``B du``, and what unsteady constraints add."""
        v = self._mapped(q, du)
        if self._rows.has_offset:
            v += self._dependent_rates(q, self.robot.loop_velocity_offset(q))
        return v

    def _mapped(self, q: ArrayLike, du: ArrayLike) -> Array:
        speeds = shaped("du", du, self.nu, of=self.robot.name)
        return np.asarray(np.einsum("...ij,...j->...i", self.speed_map(q), speeds))

    def expand_acceleration(self, q: ArrayLike, du: ArrayLike, ddu: ArrayLike) -> Array:
        """Accelerations of all joints, shape (..., nv): ``B ddu + b'``."""
        v = self.expand_velocity(q, du)
        return self._mapped(q, ddu) + self._bias(q, v)

    def speed_map(self, q: ArrayLike) -> Array:
        """``B``, shape (..., nv, nu): speeds of all joints per unit of each independent one.

        Raises SingularError: If the independent speeds do not determine the others there.
        """
        K = self.robot.loop_jacobian(q)
        B = np.zeros((*K.shape[:-2], self.robot.nv, self.nu))
        B[..., self._own, :] = np.eye(self.nu)
        B[..., self._others, :] = -self._inverse(K) @ K[..., self._own]
        return B

    def _inverse(self, K: Array) -> Array:
        """Pseudoinverse of the columns of the dependent speeds, which must have full rank."""
        columns = K[..., self._others]
        if not self._others:
            return np.zeros((*K.shape[:-2], 0, K.shape[-2]))
        sizes = np.linalg.svd(columns, compute_uv=False)
        enough = sizes.shape[-1] == len(self._others)
        if not enough or (sizes[..., -1] <= DEPENDENT_SPEEDS * sizes[..., 0]).any():
            raise SingularError(
                f"{', '.join(self.independent_joints)} do not determine the motion of "
                f"{self.robot.name!r} here",
                joints=self.independent_joints,
            )
        return np.asarray(np.linalg.pinv(columns, rcond=DEPENDENT_SPEEDS))

    def _bias(self, q: ArrayLike, v: Array) -> Array:
        """``b'``, shape (..., nv): accelerations where those of the independent speeds are zero."""
        return self._dependent_rates(q, self.robot.loop_bias(q, v))

    def _dependent_rates(self, q: ArrayLike, k: Array) -> Array:
        """Accelerations x of the dependent joints, shape (..., nv), with ``K x = -k``."""
        inverse = self._inverse(self.robot.loop_jacobian(q))
        x = np.zeros((*inverse.shape[:-2], self.robot.nv))
        x[..., self._others] = -np.einsum("...ij,...j->...i", inverse, k)
        return x

    # -- dynamics -----------------------------------------------------------------------------

    def mass_matrix(self, q: ArrayLike) -> Array:
        """``B^T M B``, shape (..., nu, nu)."""
        B = self.speed_map(q)
        return np.asarray(np.swapaxes(B, -1, -2) @ self.robot.mass_matrix(q) @ B)

    def bias_forces(self, q: ArrayLike, du: ArrayLike, **loads: Any) -> Array:
        """``B^T (M b' + h)``, shape (..., nu); ``wrenches`` and ``base`` as in `Robot`."""
        v = self.expand_velocity(q, du)
        inertial = np.einsum("...ij,...j->...i", self.robot.mass_matrix(q), self._bias(q, v))
        return self._onto(q, inertial + self.robot.bias_forces(q, v, **loads))

    def torque_map(self, q: ArrayLike) -> Array:
        """``B^T``, shape (..., nu, nv): forces over ``u`` of the forces in all joints."""
        return np.asarray(np.swapaxes(self.speed_map(q), -1, -2))

    def forward_dynamics(self, q: ArrayLike, du: ArrayLike, tau: ArrayLike, **loads: Any) -> Array:
        """``ddu``, shape (..., nu), under forces ``tau`` (..., nv) in all joints."""
        refuse_losses(self.robot.model, "forward_dynamics of reduced() are")
        force = self._onto(q, shaped("tau", tau, self.robot.nv, of=self.robot.name))
        force = force - self.bias_forces(q, du, **loads)
        return np.asarray(np.linalg.solve(self.mass_matrix(q), force[..., None])[..., 0])

    def _onto(self, q: ArrayLike, force: Array) -> Array:
        return np.asarray(np.einsum("...ij,...j->...i", self.torque_map(q), force))


def _independent(robot: Any, model: Model) -> tuple[str, ...]:
    """Speeds that determine the others, by name."""
    if not robot.nc:
        return tuple(robot.independent_joints)
    return speed_names(model, robot.loops_analysis.independent)
