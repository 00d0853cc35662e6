"""What a robot is made of: a model, and the parts behind its methods, chosen once for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.closed_loops.assembly.closing import LoopCloser
from robodyn.closed_loops.assembly.projection import Projection
from robodyn.closed_loops.constraints.consistency import Consistency
from robodyn.closed_loops.constraints.constraint_rows import ConstraintRows
from robodyn.closed_loops.constraints.cut_joints import CutLimits, CutStart, UncoordinatedLimits
from robodyn.closed_loops.dynamics.constrained import ConstrainedSolve
from robodyn.closed_loops.rank.mobility import Mobility
from robodyn.closed_loops.rank.tangents import Tangents
from robodyn.codegen import Function, MethodTable
from robodyn.description import Mechanism
from robodyn.errors import SettingsError
from robodyn.evaluator import Evaluator, SharedPrograms
from robodyn.inverse_kinematics import InverseKinematics
from robodyn.linearization.equilibria import Equilibria
from robodyn.linearization.linear_models import LinearModels
from robodyn.linearization.local_dynamics import LocalDynamics
from robodyn.minimal.coordinates import (
    ClosedPositions,
    Expansion,
    MinimalExpansion,
    MinimalJointPositions,
    TreeExpansion,
)
from robodyn.model.changes.changes import Changes
from robodyn.model.changes.edit import start_by_joint, without_forces
from robodyn.model.changes.other_numbers import with_other_numbers
from robodyn.model.changes.parameter_rows import (
    ParameterRows,
    is_rows,
    parameter_rows,
    refuse_rows_of,
    refused_by_rows,
)
from robodyn.model.model import Model, build_model
from robodyn.model.settings import Settings
from robodyn.motion.base_motion import BaseMotion
from robodyn.parts.configuration_space import ConfigurationSpace, FollowingPositions
from robodyn.parts.driven import DynamicsDerivatives
from robodyn.parts.joint_loads import JointForces, MotorLoads
from robodyn.parts.joint_positions import TreeJointPositions
from robodyn.parts.measurements import SensorReadings
from robodyn.parts.operational_space import OperationalSpace
from robodyn.parts.parameters import Parameters
from robodyn.parts.postures import TreePostures
from robodyn.parts.symbolic_calls import SymbolicCalls
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.graph import Program
from robodyn.tolerances import FAR_FROM_BRANCHES

if TYPE_CHECKING:
    from robodyn.closed_loops.dynamics.postures import Postures
    from robodyn.impacts.impact_dynamics import ImpactDynamics
    from robodyn.minimal.joint_forces import MinimalJointForces, MinimalMeasurements
    from robodyn.tasks.contact_forces import ContactWrenches
    from robodyn.tasks.task_accelerations import TaskAccelerations
    from robodyn.tasks.task_postures import TaskPostures
    from robodyn.tasks.task_velocities import TaskVelocities


#: Postures that are drawn until one is far from where branches meet.
TRIES = 20


@dataclass(frozen=True, eq=False)
class TreeForm:
    """What a robot in minimal coordinates has to know of itself in tree coordinates.

    neutral (nq of the robot in minimal coordinates,): Its own coordinates at the neutral posture.
    """

    parts: Parts
    neutral: Array


class Parts:
    """The parts of a robot; each knows those that it was made of, and none knows the robot.

    tree_form, optional: Of a robot in minimal coordinates.
    steady, optional: Of a robot that depends on time: its parts at time zero. What its loops leave
        of it, and which code there is, are the same objects at all times.
    mobility, optional: Of a copy with other masses: that of the robot it was made of.
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
        self.model, self.tree_form = model, tree_form
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
            from robodyn.closed_loops.dynamics.postures import LoopPostures

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
        whole = model if tree_form is None else tree_form.parts.model
        tangents = Tangents(model, evaluator, rows, mobility)
        local = LocalDynamics(model, space, tangents, self.derivatives)
        self.linear_models = LinearModels(model, whole, evaluator, local, self.expansion)
        self.equilibria = Equilibria(model, space, self.postures, local, self.linear_models)
        self.symbolic_calls = SymbolicCalls(evaluator)
        self.parameters = Parameters(model, evaluator, self._regular_posture)
        self.operational_space = OperationalSpace(model, evaluator)
        self.inverse_kinematics = InverseKinematics(model, evaluator, space, self.postures)

    @cached_property
    def contact_wrenches(self) -> ContactWrenches:
        """Wrenches in contacts by choice."""
        from robodyn.tasks.contact_forces import ContactWrenches

        return ContactWrenches(self.model, self.evaluator, self.rows)

    @cached_property
    def task_accelerations(self) -> TaskAccelerations:
        """Whole-body inverse dynamics."""
        from robodyn.tasks.task_accelerations import TaskAccelerations

        own = self.model, self.evaluator, self.postures
        return TaskAccelerations(*own, self.task_velocities, self.contact_wrenches)

    @cached_property
    def task_velocities(self) -> TaskVelocities:
        """Speeds for tasks."""
        from robodyn.tasks.task_velocities import TaskVelocities

        return TaskVelocities(self.model, self.evaluator, self.postures)

    @cached_property
    def task_postures(self) -> TaskPostures:
        """Postures for tasks."""
        from robodyn.tasks.task_postures import TaskPostures

        frames = self.inverse_kinematics
        return TaskPostures(self.model, self.task_velocities, self.space, frames)

    def _regular_posture(self, rng: np.random.Generator) -> Array:
        """A random closed posture; in minimal coordinates one far from where branches meet."""
        q = self.postures.random(rng)
        if self.tree_form is not None:
            tree = self.tree_form.parts
            for _ in range(TRIES):
                found = tree.mobility.rank(self.expansion.positions(q), tree.rows)
                if found.distance > FAR_FROM_BRANCHES:
                    break
                q = self.postures.random(rng)
        return q

    def _with_loops(
        self, evaluator: Evaluator, consistency: Consistency, steady: Parts | None
    ) -> Evaluator:
        """An evaluator of quantities that forces of constraints enter."""
        from robodyn.closed_loops.dynamics.constrained import LoopMotors
        from robodyn.closed_loops.dynamics.fallbacks import LoopFallbacks
        from robodyn.closed_loops.rank.programs import LoopPrograms, Regularity

        model, rows, mobility = self.model, self.rows, self.mobility
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
            form = TreeForm(tree, form.neutral)
        return Parts(self.model, evaluator, form, self)

    def _place_joints(
        self, model: Model, evaluator: Evaluator, tree_form: TreeForm | None
    ) -> UncoordinatedLimits:
        """Positions of all joints; limits of those that have no coordinate."""
        if tree_form is None:
            self.expansion = TreeExpansion(self.space)
            self.joint_positions = TreeJointPositions(model, evaluator)
            return self.cut_limits
        from robodyn.minimal.limits import FollowingLimits

        tree = tree_form.parts
        assert isinstance(tree.joint_positions, TreeJointPositions)
        self.expansion = expansion = MinimalExpansion(model, tree.model, evaluator, self.space)
        self.joint_positions = MinimalJointPositions(expansion, tree.joint_positions)
        return FollowingLimits(self.space.nv, tree.model, tree.cut_limits, expansion)

    def _positions(
        self, limits: UncoordinatedLimits, following: FollowingPositions
    ) -> tuple[Callable[[], Array], Callable[[np.random.Generator], Array]]:
        """Make the neutral position of a robot without constraints, and random ones."""
        if isinstance(self.expansion, TreeExpansion):
            return lambda: self.space.relaxed(self.space.zero()), following.random
        closed = ClosedPositions(self.model, self.space, self.expansion, limits, following)
        return self.space.start, closed.random

    def _readings(
        self, tree_form: TreeForm | None
    ) -> tuple[JointForces | MinimalJointForces, SensorReadings | MinimalMeasurements]:
        """Wrenches in all joints, those that close loops included, and what sensors show."""
        own = self.model, self.evaluator
        if tree_form is None:
            return JointForces(*own), SensorReadings(*own)
        from robodyn.minimal.joint_forces import MinimalJointForces, MinimalMeasurements, TreeState

        tree = tree_form.parts
        forces, read = tree.joint_forces, tree.measurements
        assert isinstance(forces, JointForces) and isinstance(read, SensorReadings)
        state = TreeState(*own, (self.motors, tree.motors), self.expansion)
        return MinimalJointForces(state, forces), MinimalMeasurements(state, read)


class Composition:
    """A model with its functions and parts, and what copies of a robot share.

    methods: Methods that are called as machine code: none of a robot at a time.
    actuated: Joints at which forces act, if not those that the description says.
    tree: Of a robot in minimal coordinates: the same robot in tree coordinates.
    programs: What copies with other numbers share, where robots are compiled.
    root, optional: That of the robot with whose programs it computes. Default: itself.
    origin, optional: Of a robot at a time: that of the robot without a time. Default: itself.
    nominal, optional: Of many copies with rows of parameters: that of the robot they were made of.
    """

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        parts: Parts,
        methods: MethodTable,
        actuated: tuple[str, ...] | None,
        tree: Composition | None,
        programs: SharedPrograms | None,
        *,
        root: Composition | None = None,
        origin: Composition | None = None,
        nominal: Composition | None = None,
    ) -> None:
        self.model, self.evaluator, self.parts, self.methods = model, evaluator, parts, methods
        self._actuated, self.tree, self.programs, self.nominal = actuated, tree, programs, nominal
        self._root, self.origin = root or self, origin or self

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        settings: Settings,
        actuated: tuple[str, ...] | None = None,
        make: Callable[[Program], Function] = Function,
        model: Model | None = None,
    ) -> Composition:
        """Of a description; ``model``: its own in tree coordinates, if that is there already."""
        if model is None or model.settings is not settings or actuated is not None:
            model = build_model(mechanism, settings, actuated)
        tree, form = None, None
        if settings.coordinates == "minimal" and model.setup.closed:
            tree, model, form = _minimal(model, make)
        methods, evaluator, parts = _parts(model, make, form)
        programs = SharedPrograms(model.setup) if make is Function else None
        return cls(model, evaluator, parts, methods, actuated, tree, programs)

    def __reduce__(self) -> Any:
        if self.nominal is not None and self.evaluator.rows is not None:
            return Composition.with_rows, (self.nominal, dict(self.evaluator.rows.values))
        if self.origin is not self:
            return Composition.at, (self.origin, self.evaluator.time)
        choices = self.model.mechanism, self.model.settings
        if self._root is not self:
            return _copy_of, (self._root, *choices)
        return Composition.of, (*choices, self._actuated)

    @property
    def now(self) -> Parts:
        """The parts that methods call; an error if they depend on time and none is given."""
        self.evaluator.refuse_without_time()
        return self.parts

    def at(self, t: ArrayLike) -> Composition:
        """The same at a time, or at times, of a robot that depends on it."""
        evaluator, tree = self.evaluator.at(t), None if self.tree is None else self.tree.at(t)
        parts = self.origin.parts.at(evaluator, None if tree is None else tree.parts)
        shared = self._actuated, tree, self.programs
        given = self.model, evaluator, parts, MethodTable(), *shared
        return Composition(*given, root=self._root, origin=self.origin)

    # -- copies -----------------------------------------------------------------------------------

    def changed(self, changes: Changes) -> Composition:
        """Of a changed description; itself, if nothing changes."""
        own = self.model.settings
        if is_rows(changes.parameters or {}):
            if len(changes.given) > 1 or changes.settings:
                raise SettingsError(
                    "rows of parameters are given alone: make the other changes first, as in "
                    "robot.with_(payload=...).with_(parameters=...)"
                )
            refuse_rows_of(self.model, has_programs=self._root.programs is not None)
            return self.with_rows(changes.parameters or {})
        wanted = own.replaced(changes.settings) if changes.settings else own
        if wanted == own and not changes.given:
            return self
        mechanism, wanted = changes.applied(self.model.mechanism, own, wanted, self.model)
        copy = None
        if changes.keeps_geometry(minimal=self.tree is not None):
            copy = self.with_numbers(mechanism, wanted)
        if copy is None:
            if "near" not in changes.settings:
                wanted = self._started(wanted)
            copy = Composition.of(mechanism, wanted)
        self._check_copy(copy, changes)
        return copy if self.origin is self else copy.at(self.evaluator.time)

    def with_numbers(self, mechanism: Mechanism, settings: Settings) -> Composition | None:
        """A copy that shares geometry and code; None if these depend on the numbers."""
        root = self._root
        if root.programs is None:
            return None
        own, tree, form = self.model, self.tree, self.parts.tree_form
        if tree is None or form is None:
            model = with_other_numbers(own, mechanism, settings)
        else:  # of the description that its loops were cut in
            from robodyn.minimal.recut import welds_as_joints

            of_tree = replace(settings, coordinates="tree", branches=())
            cut = tree.model.mechanism
            tree = tree.with_numbers(welds_as_joints(mechanism), of_tree)
            if tree is None:
                return None
            model = with_other_numbers(
                replace(own, mechanism=cut), tree.model.mechanism, settings, tree.model.setup
            )
            model = model and replace(model, mechanism=mechanism)
            form = TreeForm(tree.parts, form.neutral)
        return None if model is None else self._copy(model, tree, form)

    def with_rows(self, given: Mapping[str, ArrayLike]) -> Composition:
        """Many copies with other parameters, computed with at once."""
        tree = None if self.tree is None else self.tree.with_rows(given)
        return self._of_rows(parameter_rows(self.model, given), tree)

    def of_rows(self, rows: Any) -> Composition:
        """One of many copies, by its index, or several of them."""
        nominal, found = self.nominal, self.evaluator.rows
        if nominal is None or found is None:
            return self
        places = found.place(rows)
        if not np.ndim(places):
            one = {name: float(x[places]) for name, x in found.values.items()}
            return nominal.changed(Changes(parameters=one))
        tree = None if self.tree is None else self.tree.of_rows(places)
        return nominal._of_rows(found[places], tree)

    def _of_rows(self, rows: ParameterRows, tree: Composition | None) -> Composition:
        form = self.parts.tree_form
        if tree is not None and form is not None:
            form = TreeForm(tree.parts, form.neutral)
        return self._copy(self.model, tree, form, rows)

    def _copy(
        self,
        model: Model,
        tree: Composition | None,
        form: TreeForm | None,
        rows: ParameterRows | None = None,
    ) -> Composition:
        """A copy that shares what does not depend on numbers."""
        root = self._root
        programs, mobility = root.programs, root.parts.mobility
        methods, evaluator, parts = _parts(model, Function, form, programs, mobility, rows)
        actuated, nominal = self._actuated, None if rows is None else self
        return Composition(
            model, evaluator, parts, methods, actuated, tree, programs, root=root, nominal=nominal
        )

    def _check_copy(self, copy: Composition, changes: Changes) -> None:
        """Refuse bodies that cannot exist, and stops of a joint that is cut."""
        own, carried, parameters = self.model, changes.payload or {}, changes.parameters or {}
        strict = not copy.model.settings.allow_unphysical
        before = None if strict and own.settings.allow_unphysical else own
        if strict and (parameters or carried or before is None):
            given = {f"payload[{x!r}]": x for x in carried}
            links = ((x, x.rpartition(".")[0]) for x in parameters)
            given |= {f"parameters[{x!r}]": y for x, y in links if y in copy.model.bodies.frames}
            copy.parts.parameters.refuse_impossible(before, given)
        for name in changes.stops.named if changes.stops else ():
            if copy.model.joints[name].cut:
                raise SettingsError(
                    f"joint {name!r} of {own.mechanism.name!r} is to have stops, but its loop was "
                    "cut there: cut the loop elsewhere"
                )

    def _started(self, settings: Settings) -> Settings:
        """Settings for a copy that may have other coordinates: its start is given by joints."""
        return start_by_joint(settings, (self.tree or self).model.joints)

    # -- impacts ----------------------------------------------------------------------------------

    @cached_property
    def still(self) -> Composition:
        """Of the robot without gravity, springs and friction.

        It is made for the first impact that is computed, since it needs functions of its own.
        """
        if self.origin is not self:
            return self.origin.still.at(self.evaluator.time)
        free = self._started(self.model.settings)
        free = free.replaced({"gravity": (0.0, 0.0, 0.0), "ground": ()})
        return Composition.of(without_forces(self.model.mechanism), free)

    @cached_property
    def base_at_rest(self) -> tuple[Array, ...]:
        """Motion of a base at rest as inputs of functions; empty unless the base is moving."""
        rest = BaseMotion.at_rest()
        moving = self.model.settings.base == "moving"
        return (rest.pose, rest.twist, rest.acceleration) if moving else ()

    @cached_property
    def impacts(self) -> ImpactDynamics:
        """What computes impacts."""
        from robodyn.impacts.impact_dynamics import ImpactDynamics

        moving, still = self.now, self.still.now
        if self.nominal is not None:
            refused_by_rows("impact_dynamics")()
        return ImpactDynamics(
            self.model,
            moving.evaluator,
            still.evaluator,
            still.joint_forces,
            moving.postures,
            self.methods,
            self.base_at_rest,
        )


def _copy_of(root: Composition, mechanism: Mechanism, settings: Settings) -> Composition:
    """A copy that was pickled, which computes the same bits."""
    return root.with_numbers(mechanism, settings) or Composition.of(mechanism, settings)


def _parts(
    model: Model,
    make: Callable[[Program], Function],
    form: TreeForm | None,
    programs: SharedPrograms | None = None,
    mobility: Mobility | None = None,
    rows: ParameterRows | None = None,
) -> tuple[MethodTable, Evaluator, Parts]:
    """Functions and parts of a model."""
    methods = MethodTable()
    evaluator = Evaluator(model, methods, make, programs, rows)
    # what does not depend on the time given, such as the mobility, is seen at time zero
    steady = evaluator.at(0.0) if model.setup.rheonomic else evaluator
    return methods, evaluator, Parts(model, steady, form, mobility=mobility)


def _minimal(
    tree_model: Model, make: Callable[[Program], Function]
) -> tuple[Composition, Model, TreeForm]:
    """The robot in tree coordinates, and the model in minimal ones that goes with it."""
    from robodyn.minimal.implied_rows import implied_rows
    from robodyn.minimal.model import closed_forms, minimal_model, own_coordinates
    from robodyn.minimal.recut import recut

    written, tree_model = tree_model.mechanism, recut(tree_model)
    mechanism, settings = tree_model.mechanism, tree_model.settings
    loops = closed_forms(tree_model, settings)
    _, _, parts = _parts(tree_model, make, None)
    q = parts.postures.neutral()
    idle = implied_rows(tree_model, parts.mobility, parts.rows)
    model = minimal_model(tree_model, settings, loops, q, idle)
    model = replace(model, mechanism=written)
    of_tree = replace(settings, coordinates="tree", branches=())
    # forces act at the motors that there are; else where there are coordinates
    forced = tuple(n for n in model.joint_names if not model.joints[n].kind.is_free)
    acting = model.actuated_joints if model.gearing.elsewhere else forced
    tree = Composition.of(mechanism, of_tree, acting, make)
    neutral = own_coordinates(tree_model.bodies, model.bodies, q)
    return tree, model, TreeForm(tree.parts, neutral)
