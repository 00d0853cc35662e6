"""What a robot is made of: the parts behind its methods, chosen once for its model."""

from __future__ import annotations

from dataclasses import dataclass

from robodyn.array_types import Array
from robodyn.closed_loops.assembly.closing import LoopCloser
from robodyn.closed_loops.assembly.projection import Projection
from robodyn.closed_loops.constraints.consistency import Consistency
from robodyn.closed_loops.constraints.constraint_rows import ConstraintRows
from robodyn.closed_loops.constraints.cut_joints import CutLimits, CutStart
from robodyn.closed_loops.dynamics.constrained import ConstrainedSolve
from robodyn.closed_loops.dynamics.dynamics import ClosedLoopDynamics
from robodyn.closed_loops.dynamics.motors import LoopMotors
from robodyn.closed_loops.dynamics.postures import LoopPostures
from robodyn.closed_loops.rank.mobility import Mobility
from robodyn.closed_loops.rank.regularity import Regularity
from robodyn.closed_loops.rank.straight_line import StraightLine
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
from robodyn.minimal.joint_forces import MinimalJointForces
from robodyn.minimal.joint_positions import MinimalJointPositions
from robodyn.minimal.measurements import MinimalMeasurements
from robodyn.model.model import Model
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.parts.dynamics import Dynamics, TreeDynamics
from robodyn.parts.dynamics_derivatives import DynamicsDerivatives
from robodyn.parts.following_positions import FollowingPositions
from robodyn.parts.joint_loads import JointForces, MotorLoads
from robodyn.parts.joint_positions import JointPositions, TreeJointPositions
from robodyn.parts.measurements import Measurements, SensorReadings
from robodyn.parts.operational_space import OperationalSpace
from robodyn.parts.parameters import Parameters
from robodyn.parts.postures import Postures, TreePostures
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
    measurements : Measurements
    neutral : ndarray, shape (nq of the robot in minimal coordinates,)
        Its own coordinates at the neutral posture.
    """

    model: Model
    joint_forces: JointForces
    joint_positions: TreeJointPositions
    measurements: Measurements
    neutral: Array

    @classmethod
    def of(cls, model: Model, parts: Parts, neutral: Array) -> TreeForm:
        """Of the model and the parts of the robot in tree coordinates."""
        forces, positions = parts.joint_forces, parts.joint_positions
        assert isinstance(forces, JointForces) and isinstance(positions, TreeJointPositions)
        return cls(model, forces, positions, parts.measurements, neutral)


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
    dynamics: Dynamics
    expansion: Expansion
    joint_forces: JointForces | MinimalJointForces
    joint_positions: JointPositions
    measurements: Measurements
    code: StraightLine
    mobility: Mobility

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        tree_form: TreeForm | None = None,
        steady: Parts | None = None,
        mobility: Mobility | None = None,
    ) -> None:
        self._model, self.evaluator, self.tree_form = model, evaluator, tree_form
        self.space = space = ConfigurationSpace(model, evaluator)
        self.rows = rows = ConstraintRows(model, evaluator, space)
        consistency = Consistency(model, evaluator, rows)
        self.projection = projection = Projection(model, evaluator, rows, space)
        self.constrained = ConstrainedSolve(model, evaluator, rows, space, consistency, projection)
        self.joint_positions = TreeJointPositions(model, evaluator)
        following = FollowingPositions(model, evaluator, space, self.joint_positions)
        closer = LoopCloser(
            model, rows, space, CutLimits(model, evaluator), CutStart(model, evaluator)
        )
        mobility = steady.mobility if steady else mobility
        self.mobility = mobility = mobility or Mobility(model, rows, space, closer)
        self.expansion = TreeExpansion(space)
        if rows.names:
            self.code = code = steady.code if steady else StraightLine(model, evaluator, mobility)
            checks = consistency, Regularity(model, evaluator, rows, mobility, code)
            motors = LoopMotors(model, evaluator, rows, space, code, *checks, projection)
            self.postures = LoopPostures(
                model,
                evaluator,
                code,
                rows,
                space,
                closer,
                mobility,
                projection,
                consistency,
                following,
            )
            self.dynamics = ClosedLoopDynamics(
                model, evaluator, code, motors, self.constrained, *checks
            )
        else:
            self.postures = TreePostures(model, evaluator, space, space.zero, following.random)
            self.dynamics = TreeDynamics(model, evaluator)
        self.derivatives = DynamicsDerivatives(model, evaluator, self.dynamics)
        self.joint_forces = JointForces(model, evaluator, self.dynamics)
        self.measurements = SensorReadings(model, evaluator, self.dynamics)
        if tree_form is not None:
            self._follow(model, evaluator, tree_form)
        whole = model if tree_form is None else tree_form.model
        tangents = Tangents(model, evaluator, rows, mobility)
        local = LocalDynamics(model, space, tangents, self.derivatives)
        self.linear_models = LinearModels(
            model, whole, evaluator, self.dynamics, local, self.expansion
        )
        self.equilibria = Equilibria(model, space, self.postures, local, self.linear_models)
        self.motors = MotorLoads(model, self.dynamics)
        self.symbolic_calls = SymbolicCalls(evaluator, self.dynamics)
        self.parameters = Parameters(model, evaluator, self.postures.random)
        self.operational_space = OperationalSpace(model, evaluator)
        self.inverse_kinematics = InverseKinematics(model, evaluator, space, self.postures)

    def at(self, evaluator: Evaluator) -> Parts:
        """The parts at the time of an evaluator, of a robot that depends on time."""
        return Parts(self._model, evaluator, self.tree_form, self)

    def _follow(self, model: Model, evaluator: Evaluator, tree_form: TreeForm) -> None:
        """Let some joints follow the others by loops in closed form."""
        expansion = MinimalExpansion(model, tree_form.model, evaluator, self.space)
        positions = tree_form.joint_positions
        self.joint_positions = MinimalJointPositions(expansion, positions)
        following = FollowingPositions(model, evaluator, self.space, self.joint_positions)
        closed = ClosedPositions(
            tree_form.model, self.space, expansion, positions, tree_form.neutral, following
        )
        self.postures = TreePostures(model, evaluator, self.space, closed.neutral, closed.random)
        self.joint_forces = MinimalJointForces(
            model, self.dynamics, expansion, tree_form.joint_forces
        )
        self.measurements = MinimalMeasurements(
            model, evaluator, self.dynamics, expansion, tree_form.measurements
        )
        self.expansion = expansion
