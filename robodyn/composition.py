"""What a robot is made of: the parts behind its methods, chosen once for its model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import Array
from robodyn.closed_loops.assembly.closing import LoopCloser
from robodyn.closed_loops.assembly.projection import Projection
from robodyn.closed_loops.constraints.consistency import Consistency
from robodyn.closed_loops.constraints.constraint_rows import ConstraintRows
from robodyn.closed_loops.constraints.cut_joints import (
    CutLimits,
    CutStart,
    UncoordinatedLimits,
)
from robodyn.closed_loops.dynamics.constrained import ConstrainedSolve
from robodyn.closed_loops.dynamics.fallbacks import LoopFallbacks
from robodyn.closed_loops.dynamics.motors import LoopMotors
from robodyn.closed_loops.dynamics.postures import LoopPostures, Postures
from robodyn.closed_loops.rank.mobility import Mobility
from robodyn.closed_loops.rank.programs import LoopPrograms
from robodyn.closed_loops.rank.regularity import Regularity
from robodyn.closed_loops.rank.tangents import Tangents
from robodyn.evaluator import Evaluator
from robodyn.inverse_kinematics import InverseKinematics
from robodyn.linearization.equilibria import Equilibria
from robodyn.linearization.linear_models import LinearModels
from robodyn.linearization.local_dynamics import LocalDynamics
from robodyn.minimal.coordinates import (
    ClosedPositions,
    Expansion,
    MinimalExpansion,
    TreeExpansion,
)
from robodyn.minimal.joint_forces import MinimalJointForces, MinimalMeasurements, TreeState
from robodyn.minimal.joint_positions import MinimalJointPositions
from robodyn.minimal.limits import FollowingLimits
from robodyn.model.model import Model
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.parts.dynamics_derivatives import DynamicsDerivatives
from robodyn.parts.following_positions import FollowingPositions
from robodyn.parts.joint_loads import JointForces, MotorLoads
from robodyn.parts.joint_positions import TreeJointPositions
from robodyn.parts.measurements import SensorReadings
from robodyn.parts.operational_space import OperationalSpace
from robodyn.parts.parameters import Parameters
from robodyn.parts.postures import TreePostures
from robodyn.parts.symbolic_calls import SymbolicCalls

__all__ = ["Parts", "TreeForm"]


@dataclass(frozen=True, eq=False)
class TreeForm:
    """What a robot in minimal coordinates has to know of itself in tree coordinates.

    Attributes
    ----------
    model : Model
    joint_forces : JointForces
    joint_positions : TreeJointPositions
    measurements : SensorReadings
    motors : MotorLoads
    cut_limits : CutLimits
    neutral : ndarray, shape (nq of the robot in minimal coordinates,)
        Its own coordinates at the neutral posture.
    """

    model: Model
    joint_forces: JointForces
    joint_positions: TreeJointPositions
    measurements: SensorReadings
    motors: MotorLoads
    cut_limits: CutLimits
    neutral: Array

    @classmethod
    def of(cls, model: Model, parts: Parts, neutral: Array) -> TreeForm:
        """Of the model and the parts of the robot in tree coordinates."""
        forces, positions = parts.joint_forces, parts.joint_positions
        assert isinstance(forces, JointForces) and isinstance(positions, TreeJointPositions)
        read = parts.measurements
        assert isinstance(read, SensorReadings)
        return cls(model, forces, positions, read, parts.motors, parts.cut_limits, neutral)


class Parts:
    """The parts of a robot; each knows those that it was made of, and none knows the robot.

    Parameters
    ----------
    model : Model
    evaluator : Evaluator
    tree_form : TreeForm, optional
        Of a robot in minimal coordinates.
    steady : Parts, optional
        Of a robot that depends on time: its parts at time zero. What its loops leave of it, and
        which code there is, are the same objects at all times.
    mobility : Mobility, optional
        Of a copy with other masses: that of the robot it was made of.
    """

    postures: Postures
    expansion: Expansion
    joint_forces: JointForces | MinimalJointForces
    joint_positions: TreeJointPositions | MinimalJointPositions
    measurements: SensorReadings | MinimalMeasurements
    mobility: Mobility

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        tree_form: TreeForm | None = None,
        steady: Parts | None = None,
        mobility: Mobility | None = None,
    ) -> None:
        self._model, self.tree_form = model, tree_form
        start = None if tree_form is None else tree_form.neutral
        self.space = space = ConfigurationSpace(model, evaluator, start)
        self.rows = rows = ConstraintRows(model, evaluator, space)
        consistency = Consistency(model, evaluator, rows)
        self.projection = projection = Projection(model, evaluator, rows, space)
        self.constrained = ConstrainedSolve(model, evaluator, rows, space, consistency, projection)
        self.cut_limits = CutLimits(model, evaluator)
        limits = self._place_joints(model, evaluator, tree_form)
        following = FollowingPositions(model, evaluator, space, self.joint_positions.positions)
        closer = LoopCloser(model, rows, space, limits, CutStart(model, evaluator))
        mobility = steady.mobility if steady else mobility
        self.mobility = mobility = mobility or Mobility(model, rows, space, closer)
        if rows.names:
            evaluator = self._with_loops(evaluator, consistency, steady)
            self.postures = LoopPostures(
                model, evaluator, rows, space, closer, mobility, projection, consistency, following
            )
        else:
            neutral, random = self._positions(limits, following)
            self.postures = TreePostures(model, evaluator, space, neutral, random)
        self.evaluator = evaluator
        self.derivatives = DynamicsDerivatives(model, evaluator)
        self.motors = MotorLoads(model, evaluator)
        self.joint_forces, self.measurements = self._readings(tree_form)
        whole = model if tree_form is None else tree_form.model
        tangents = Tangents(model, evaluator, rows, mobility)
        local = LocalDynamics(model, space, tangents, self.derivatives)
        self.linear_models = LinearModels(model, whole, evaluator, local, self.expansion)
        self.equilibria = Equilibria(model, space, self.postures, local, self.linear_models)
        self.symbolic_calls = SymbolicCalls(evaluator)
        self.parameters = Parameters(model, evaluator, self.postures.random)
        self.operational_space = OperationalSpace(model, evaluator)
        self.inverse_kinematics = InverseKinematics(model, evaluator, space, self.postures)

    def _with_loops(
        self, evaluator: Evaluator, consistency: Consistency, steady: Parts | None
    ) -> Evaluator:
        """An evaluator of quantities that forces of constraints enter."""
        model, rows, mobility = self._model, self.rows, self.mobility
        programs = steady.evaluator.programs if steady else None
        if not isinstance(programs, LoopPrograms):
            programs = LoopPrograms(model, evaluator, mobility, consistency.tolerance)
        checks = consistency, Regularity(model, evaluator, rows, mobility, programs)
        motors = LoopMotors(model, evaluator, rows, self.space, programs, *checks, self.projection)
        fallbacks = LoopFallbacks(evaluator, programs, motors, self.constrained, *checks)
        return evaluator.answering(programs, fallbacks.by_name)

    def at(self, evaluator: Evaluator, tree: Parts | None) -> Parts:
        """The parts at the time of an evaluator, of a robot that depends on time.

        ``tree``: in minimal coordinates, those of the robot in tree coordinates at that time.
        """
        form = self.tree_form
        if form is not None and tree is not None:
            form = TreeForm.of(form.model, tree, form.neutral)
        return Parts(self._model, evaluator, form, self)

    def _place_joints(
        self, model: Model, evaluator: Evaluator, tree_form: TreeForm | None
    ) -> UncoordinatedLimits:
        """Positions of all joints; limits of those that have no coordinate."""
        if tree_form is None:
            self.expansion = TreeExpansion(self.space)
            self.joint_positions = TreeJointPositions(model, evaluator)
            return self.cut_limits
        expansion = MinimalExpansion(model, tree_form.model, evaluator, self.space)
        self.expansion = expansion
        self.joint_positions = MinimalJointPositions(expansion, tree_form.joint_positions)
        return FollowingLimits(self.space.nv, tree_form.model, tree_form.cut_limits, expansion)

    def _positions(
        self, limits: UncoordinatedLimits, following: FollowingPositions
    ) -> tuple[Callable[[], Array], Callable[[np.random.Generator], Array]]:
        """Make the neutral position of a robot without constraints, and random ones."""
        if isinstance(self.expansion, TreeExpansion):
            return self.space.zero, following.random
        closed = ClosedPositions(self._model, self.space, self.expansion, limits, following)
        return self.space.start, closed.random

    def _readings(
        self, tree_form: TreeForm | None
    ) -> tuple[JointForces | MinimalJointForces, SensorReadings | MinimalMeasurements]:
        """Wrenches in all joints, those that close loops included, and what sensors show."""
        own = self._model, self.evaluator
        if tree_form is None:
            return JointForces(*own), SensorReadings(*own)
        state = TreeState(*own, (self.motors, tree_form.motors), self.expansion)
        forces = MinimalJointForces(state, tree_form.joint_forces)
        return forces, MinimalMeasurements(state, tree_form.measurements)
