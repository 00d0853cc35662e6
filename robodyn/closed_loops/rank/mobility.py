"""Mobility of a linkage: degrees of freedom, independent joints, redundant rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import finite
from robodyn.closed_loops.assembly.closing import LoopCloser
from robodyn.closed_loops.assembly.long_searches import search
from robodyn.closed_loops.assembly.walks import scattered, walks
from robodyn.closed_loops.constraints.constraint_rows import ConstraintRows, PositionRows
from robodyn.closed_loops.rank.analysis import (
    LoopAnalysis,
    Motors,
    SpareMotors,
    analyse,
    motors_of,
    spare_motors_of,
)
from robodyn.closed_loops.rank.branches import BranchSign
from robodyn.closed_loops.rank.probes import motor_probe
from robodyn.closed_loops.solvers import RankAnalysis, distance_to_rank_below, rank_analysis
from robodyn.equations.elimination.singularity import Probe
from robodyn.errors import ShapeError, SingularError, TopologyError
from robodyn.model.model import Model
from robodyn.model.speed_selection import speed_indices
from robodyn.parts.configuration_space import ConfigurationSpace


class Mobility:
    """Mobility of a linkage, determined at some closed postures.

    Of a linkage that depends on time it is that of time zero, and holds at other times, too: it is
    the same object at all times, and told the rows of the time where a posture is asked about. So
    is that of copies that differ in masses.

    rows: At time zero.
    """

    def __init__(
        self,
        model: Model,
        rows: ConstraintRows,
        space: ConfigurationSpace,
        closer: LoopCloser,
    ) -> None:
        self._model, self._rows, self._space, self._closer = model, rows, space, closer
        self._motors: dict[tuple[int, ...], Motors | SpareMotors | None] = {}
        self._motor_probes: dict[tuple[int, ...], Probe] = {}

    @cached_property
    def analysis(self) -> LoopAnalysis:
        """Rank, redundant rows and independent speeds."""
        return self._analysis(self._rows.interpreted_jacobian)

    def _analysis(self, jacobian: Callable[[Array], Array]) -> LoopAnalysis:
        rng = np.random.default_rng(0)
        q = self._closer.neutral
        name = self._model.mechanism.name
        with search(f"for postures that show the rank of the loops of {name!r}"):
            found = analyse(
                q,
                jacobian,
                self._model.some_mass_matrix,
                lambda: self._closer.nearby(q, rng),
                np.array_equal(q, self._closer.regular),
                self._preferred,
                lambda: self.far,
            )
        return found

    def _measured(self, K: Array) -> Array:
        """Slopes without units: lengths are parts of the longest link."""
        setup, K = self._model.setup, np.asarray(K, float)
        return np.asarray(K / np.array(setup.row_units)[:, None] * np.array(setup.speed_units))

    def motors(self, motors: tuple[int, ...]) -> Motors | SpareMotors | None:
        """How code solves for forces of motors at some speeds; None if not determined."""
        if motors not in self._motors:
            self._motors[motors] = self._by(motors)
        return self._motors[motors]

    def _by(self, motors: tuple[int, ...]) -> Motors | SpareMotors | None:
        found = self.analysis
        if found.choice is None:
            return None
        K = self._rows.interpreted_jacobian(self.far)[:, list(found.choice.rows)]
        known = K, found.choice, found.general_rank, motors
        return motors_of(*known) or spare_motors_of(*known)

    @cached_property
    def chosen_rows(self) -> Array:
        """Jacobian of the rows that are chosen, in the regular postures that were analysed."""
        choice = self.analysis.choice
        return np.asarray(self._regular[:, [] if choice is None else list(choice.rows)])

    @cached_property
    def _regular(self) -> Array:
        found = self.analysis
        return self._rows.interpreted_jacobian(found.postures[list(found.regular)])

    @cached_property
    def distance(self) -> float:
        """Distance of these postures from singular ones."""
        rank = self.analysis.general_rank
        if not rank:
            return 0.0
        K = self._measured(self._regular)
        return float(np.median(np.linalg.svd(K, compute_uv=False)[:, rank - 1]))

    def motor_probe(self, dependent: tuple[int, ...]) -> Probe:
        """Probe of straight-line inverse dynamics in which given speeds have no motors."""
        if dependent not in self._motor_probes:
            found = motor_probe(self.chosen_rows, dependent, self.distance)
            self._motor_probes[dependent] = found
        return self._motor_probes[dependent]

    @cached_property
    def walks(self) -> Array:
        """Closed postures that lead far away: (steps, walks, nq), from one without symmetry."""
        return np.array([here for here, _ in walks(*self._beginning)])

    @cached_property
    def far(self) -> Array:
        """Postures of `walks` and random closed ones, (n, nq)."""
        apart = scattered(*self._beginning)
        along = self.walks
        return np.concatenate([along.reshape(math.prod(along.shape[:-1]), self._space.nq), apart])

    @cached_property
    def _beginning(self) -> tuple[Model, PositionRows, ConfigurationSpace, Array]:
        start = self._closer.nearby(self._closer.neutral, np.random.default_rng(0))
        return self._model, self._rows.interpreted_position_rows(), self._space, start

    @property
    def _preferred(self) -> tuple[int, ...]:
        """Speeds that should be independent: marked ones, else those with motors."""
        marked = [j.name for j in self._model.mechanism.joints if j.independent]
        names = marked or [name for name, _ in self._model.mechanism.actuators]
        known = [name for name in names if name in self._model.joint_names]
        return tuple(k for name in known for k in speed_indices(self._model, name))

    @cached_property
    def dof(self) -> int:
        """Degrees of freedom at the neutral posture, or beside it if it is singular."""
        return self.at(self._closer.regular, self._rows)

    def at(self, q: ArrayLike, rows: ConstraintRows) -> int:
        """Degrees of freedom at a posture: nv less the rank of the constraints."""
        x = self._space.positions("q", q)
        finite(q=x)
        K = rows.with_slopes(x, rows.jacobian(x))
        if K.ndim != 2:
            raise ShapeError("mobility takes one posture at a time", name="q", given=np.shape(q))
        return self._space.nv - int(rank_analysis(K).rank)

    def rank(self, q: ArrayLike, rows: ConstraintRows) -> RankAnalysis:
        """Rank at postures, and their distance from singular ones; see `Robot.loop_rank`."""
        x = self._space.positions("q", q)
        finite(q=x)
        K = rows.with_slopes(x, rows.jacobian(x))
        found = rank_analysis(K)
        if not rows.names:
            return found
        try:
            general = self.analysis.general_rank
        except TopologyError:  # no closed posture is known
            general = int(found.rank.max(initial=0))
        return found.measured_by(lambda: distance_to_rank_below(self._measured(K), general))

    @cached_property
    def independent_joints(self) -> tuple[str, ...]:
        """Joints whose motion determines that of all others at the neutral posture."""
        chosen = {*self.analysis.independent}
        joints = self._model.joints
        return tuple(
            name
            for name in self._model.joint_names
            if chosen & set(range(joints[name].v.start, joints[name].v.stop))
        )

    @property
    def redundant_constraints(self) -> dict[str, tuple[str, ...]]:
        """Constraint rows that follow from others, and from which, at the neutral posture."""
        names = self._rows.names
        found = self.analysis.redundant
        return {names[k]: tuple(names[j] for j in needed) for k, needed in found.items()}

    def branch_sign(self, q: ArrayLike, path: bool, rows: ConstraintRows) -> Array:
        """Sign of the determinant by which the independent speeds determine the others."""
        x = self._space.positions("q", q)
        if path and x.ndim < 2:
            raise ShapeError("a path has several postures", name="q", given=x.shape)
        K = rows.position_rows().jacobian(x)
        return self._branch_sign.along(K) if path else self._branch_sign.at(K)

    @cached_property
    def _branch_sign(self) -> BranchSign:
        found, jacobian = self.analysis, self._rows.interpreted_jacobian
        if not self._rows.all_of_positions:
            jacobian = self._rows.interpreted_position_rows().jacobian
            found = self._analysis(jacobian)
        if found.choice is None:
            raise SingularError(
                f"the rank of the loops of {self._model.mechanism.name!r} changes from posture to "
                "posture: its branches cannot be told apart by a sign; assemble(near=) follows one"
            )
        if not found.choice.groups:
            return BranchSign(found, None)
        K = jacobian(self.walks.reshape(-1, self._space.nq))
        return BranchSign(found, K.reshape(*self.walks.shape[:2], *K.shape[1:]))
