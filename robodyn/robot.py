"""A robot: what it is, and every quantity that can be computed of it.

A method is a signature, a docstring and one call of the part that does it; the equations stand in
`robodyn.equations`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property, update_wrapper
from inspect import isfunction, signature
from types import MethodType
from typing import TYPE_CHECKING, Any, Self, Unpack, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import check_values, checked_methods
from robodyn.array_types import Array, Random
from robodyn.arrays import expect, generator, leading_axes, named, numbers, shaped, shown
from robodyn.codegen import Function, making
from robodyn.composition import Composition, Parts
from robodyn.description import Actuator, Inertia, Joint, Loop, Mechanism, Transmission
from robodyn.description.contact import Contact
from robodyn.description.sensor import DescribedSensor
from robodyn.description.task import Tasks
from robodyn.equations.catalogue import QUANTITIES
from robodyn.errors import SettingsError, ShapeError
from robodyn.evaluator import Wrenches
from robodyn.force_elements.common.link_element import DescribedElement
from robodyn.force_elements.ground import Ground
from robodyn.force_elements.inverse_square import InverseSquareGravity
from robodyn.force_elements.joint_stop import CompliantStops
from robodyn.inverse_kinematics import Targets
from robodyn.linearization.local_dynamics import LoadCase, WrenchesAt
from robodyn.literals import (
    ArrayFunction,
    Axes,
    Base,
    ConstraintMethod,
    Coordinates,
    DHConvention,
    DynamicsName,
    FunctionOptions,
    TupleFunction,
)
from robodyn.minimal.assembly import closing
from robodyn.model.changes.changes import Changes
from robodyn.model.changes.edit import JointSpring
from robodyn.model.changes.functions import (
    AnyConstraint,
    AnyCoupling,
    AnyForce,
    AnySensor,
    contacts_of,
)
from robodyn.model.changes.parameter_rows import NOT_BY_ROWS, refused_by_rows
from robodyn.model.joint_info import Joints
from robodyn.model.model import Model
from robodyn.model.settings import ChangedSettings, Settings
from robodyn.model.speed_selection import ByJoint, assign_roles
from robodyn.model.states import refuse_wrong_array
from robodyn.motion.base_motion import BaseMotion
from robodyn.other_names import ELSEWHERE, robot_attribute
from robodyn.parts.driven import check_state, driven, forces_at
from robodyn.parts.joint_loads import roles_without
from robodyn.parts.postures import assembled, one_guess
from robodyn.symbolic.graph import Program
from robodyn.symbolic.symbol_arrays import holds_symbols
from robodyn.tolerances import LOOP_GAP_SHOWN

if TYPE_CHECKING:
    from robodyn.closed_loops.rank.analysis import LoopAnalysis
    from robodyn.closed_loops.solvers import RankAnalysis
    from robodyn.description.denavit_hartenberg import DHTable
    from robodyn.force_elements.force_law import ForceLaw
    from robodyn.impacts.contact import PointMass, RobotPoint
    from robodyn.impacts.impact_dynamics import ImpactDynamics
    from robodyn.impacts.several_hits import Hit
    from robodyn.minimal.reduced import ReducedRobot
    from robodyn.results import (
        BaseParameters,
        ConstrainedDynamics,
        GroundContact,
        HybridDynamics,
        IKResult,
        Impact,
        ImpactDerivatives,
        ImpactTensors,
        JointWrenches,
        LoopGap,
        SteadyMotion,
    )
    from robodyn.state_space import StateSpace
    from robodyn.tasks.contact_forces import ContactForces
    from robodyn.tasks.task_accelerations import TaskDynamics
    from robodyn.topology.augmented_bodies import AugmentedBodies
    from robodyn.topology.system_graph import SystemGraph


class _Gravity(tuple[float, float, float]):
    """The gravity vector; a call of it raises an error that names `gravity_forces`."""

    __slots__ = ()

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError(
            f"gravity is {tuple(self)} m/s^2; the forces that hold a robot up against it are "
            "gravity_forces(q)"
        )

    def __reduce__(self) -> Any:
        return tuple, (tuple(self),)


def _refuse_array(robot: Robot, name: str, given: Any) -> None:
    refuse_wrong_array(robot._model, name, given)


def _call_with_symbols(
    error: ShapeError, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What a method gives for symbols; anything else that was refused is the error."""
    if not (holds_symbols(args[1:]) or holds_symbols(kwargs)):
        raise error
    if method.__name__ == "at":
        return method(*args, **kwargs)
    robot: Robot = args[0]
    if method.__name__ == "measure":
        arguments = signature(method).bind(*args, **kwargs).arguments
        del arguments["self"]
        return robot._now.measurements.over_symbols(arguments)
    bound, name = signature(method).bind(*args, **kwargs), method.__name__
    if "out" not in bound.signature.parameters and name not in ("difference", "driven_dynamics"):
        raise ShapeError(
            f"{name} takes no symbols: it is no function from arrays to an array, as frame_pose, "
            "inverse_dynamics or driven_dynamics are",
            name="arguments",
        )
    del bound.arguments["self"]
    return robot._now.symbolic_calls.call(name, bound.arguments)


@checked_methods(array=_refuse_array, elsewhere=ELSEWHERE, refused=_call_with_symbols)
class Robot:
    """A mechanism whose kinematics and dynamics can be computed; immutable, made by `robodyn.load`.

    Shapes: ``q`` (..., nq), ``v``, ``a``, ``tau`` (..., nv) with any leading axes; units SI and
    radians. Each result has the leading axes of its arguments. All-float32 arguments are computed
    in float32.

    Arguments of many methods: ``q``, positions of joints; ``v``, their speeds; ``base``, the motion
    of a moving base, by default at rest; ``out``, an array of the shape of the result that is
    written to and returned.

    Quaternions are normalised. Every method may raise these errors; docstrings of methods name
    further ones:

    - `ShapeError`: an argument has another shape or type, is not finite or so large that results
      overflow, or has a quaternion that is zero. The error names the argument.
    - `UnknownNameError`: a name does not exist. The error suggests others.
    - `SingularError`: accelerations are not determined, because a joint moves no mass in that
      posture.
    - `InconsistentStateError`: in minimal coordinates, a loop does not close in that posture.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum")
    >>> tau = robot.inverse_dynamics([0.3, 0.2], [0.0, 0.0], [1.0, 2.0])
    >>> robot.forward_dynamics([0.3, 0.2], [0.0, 0.0], tau).round(9).tolist()
    [1.0, 2.0]
    """

    _made: Composition
    _model: Model
    _parts: Parts

    def __init__(
        self,
        mechanism: Mechanism,
        settings: Settings,
        actuated: tuple[str, ...] | None = None,
        make: Callable[[Program], Function] = Function,
        *,
        model: Model | None = None,
    ) -> None:
        self._take(Composition.of(mechanism, settings, actuated, make, model))

    def _take(self, made: Composition) -> Self:
        """Compute with the parts of a composition."""
        self.__dict__.update(_made=made, _model=made.model, _parts=made.parts)
        if made.origin is not made or not made.model.setup.rheonomic:
            self.__dict__["_now"] = made.parts
        if made.nominal is not None:
            refused = (x for x in dir(type(self)) if x in NOT_BY_ROWS)
            self.__dict__.update({name: refused_by_rows(name) for name in refused})
        return self

    def _of(self, made: Composition) -> Self:
        """Another robot of the same class."""
        return self if made is self._made else object.__new__(type(self))._take(made)

    def _direct(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        """The method ``name``, called as machine code where possible.

        A method that a user's subclass overrides is called as it is written.
        """
        plain = MethodType(method, self)
        if self._made.origin is not self._made or getattr(type(self), name) is not method:
            return plain
        with making():
            if name not in self.__dict__ and name in _OF_LOOPS and not self.nc:
                self.__dict__[name] = plain
            elif name not in self.__dict__:
                quantity = None if name in _OTHER_DIRECT else QUANTITIES[name]
                arrays = _OTHER_DIRECT[name] if quantity is None else quantity.arrays
                by_joint = _BY_JOINT.get(name, ()) if quantity is None else quantity.by_joint
                rest = self._made.base_at_rest if _takes_base(method) else ()
                given = arrays, rest, by_joint, _OPTIONAL.get(name, ())
                self.__dict__[name] = self._made.methods.add(name, plain, *given)
            made: Callable[..., Any] = self.__dict__[name]
            return made

    def __getattr__(self, name: str) -> Any:
        if hasattr(type(self), name):  # a property in which an attribute is missing: it says which
            return object.__getattribute__(self, name)
        own = robot_attribute(name)
        if own:
            # without the robot, of which Python would suggest a name that only looks like it
            raise AttributeError(
                f"a Robot has no {name!r}: robodyn calls this {own}", name=name, obj=None
            )
        raise AttributeError(f"a Robot has no {name!r}", name=name, obj=self)

    def __dir__(self) -> list[str]:
        """Public names."""
        return sorted(name for name in super().__dir__() if not name.startswith("_"))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Robot is never changed ({name!r}): with_() makes a changed copy")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Robot is never changed ({name!r})")

    def __repr__(self) -> str:
        many = self._made.evaluator.rows
        rows = "" if many is None else f", {len(many)} rows of parameters"
        return (
            f"<Robot {self.name!r}: {len(self.joint_names)} joints, nq = {self.nq}, "
            f"nv = {self.nv}, {self.base} base{self._made.evaluator.when}{rows}>"
        )

    def _repr_html_(self) -> str:
        """A table of joints, within a notebook."""
        title = f"Robot {self.name!r}"
        sizes = repr(self).removeprefix(f"<{title}: ").removesuffix(">")
        from robodyn.parts.joint_table import joint_table

        return joint_table(title, [sizes], self.joints.values(), self.actuated_joints)

    def __reduce__(self) -> Any:
        return _robot_of, (type(self), self._made)

    def with_(
        self,
        *,
        payload: Mapping[str, Inertia] | None = None,
        locked: Mapping[str, ArrayLike] | None = None,
        stops: CompliantStops | None = None,
        frames: Mapping[str, tuple[str, ArrayLike]] | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
        forces: Iterable[AnyForce] | None = None,
        constraints: Iterable[AnyConstraint] = (),
        contacts: Mapping[str, Contact] | None = None,
        couplings: Iterable[AnyCoupling] = (),
        springs: Mapping[str, JointSpring] | Iterable[DescribedElement] = (),
        actuators: Mapping[str, Actuator] | None = None,
        sensors: Iterable[AnySensor] | None = None,
        **settings: Unpack[ChangedSettings],
    ) -> Self:
        """A changed copy of the robot.

        Parameters
        ----------
        payload : mapping of link name to Inertia
            Carried by the link in addition to its own mass; given in the link frame.
        locked : mapping of joint name to array_like, shape (nq,) of the joint [rad or m]
            Joints welded there, and with them those that mimic them or are coupled to them: a
            number, or the coordinates of a joint that has several, quaternions of unit norm.
            ``"floating_base"``: a floating base, which becomes a fixed one; the root of such a
            robot is a link ``"world"``.
        stops : CompliantStops, optional
            Springs and dampers beyond the limits of joints.
        frames : mapping of name to (link name, array_like), optional
            More frames, such as that of a tool, each by its pose in a link, shape (4, 4) [1, m], or
            an offset there, shape (3,) [m]. They are links without mass: `link_names` and
            `frame_names` have them at their end.
        parameters : mapping of name to float, or to array_like, shape (n,) [own units], optional
            New values of `dynamic_parameters`, by name; a payload is added to them. The link that
            gives a body its name gets the mass of the whole body, and links fixed to it none.
            Arrays, which allow no other argument, make n robots at once: methods compute with the
            parameters of all of them, the last leading axis of ``q``, ``v``, ... is that of the
            robots, and `of_rows` selects some of them.
        forces : iterable of Force or InverseSquareGravity, optional
            In place of those that the robot has, `forces`.
        constraints : iterable of Constraint, FrameConstraint or Rolling
            In addition to those that the robot has.
        contacts : mapping of link name to Contact, optional
            In place of those that the robot has, `contacts`.
        couplings : iterable of Follower, ExplicitLoop or Coupling
            In addition to those that the robot has.
        springs : mapping of joint name to (stiffness, rest position), or iterable of PointSpring
            In addition to those that the robot has; a joint has one.
        actuators : mapping of joint name to Actuator, optional
            Motors in place of those that these joints have.
        sensors : iterable of Sensor, optional
            In place of those that the robot has, `sensors`.
        **settings
            ``gravity``, ``base``, ``passive``, ``friction_speed``, ``allow_unphysical``,
            ``rotor_model``, ``coordinates``, ``branches``, ``near``, ``closure_tolerance``,
            ``ground`` as in `robodyn.load`; another ``rigid`` takes a load.

        Returns
        -------
        robot : Robot
            This one, if nothing changes.

        Raises
        ------
        UnknownNameError
            For links, joints and parameters that do not exist.
        SettingsError
            For parameters that no body has, and for joints that are locked at positions which they
            cannot have or which contradict their couplings.
        InertiaError
            If a payload or parameters give a body an inertia that no rigid body can have, or
            ``allow_unphysical=False`` finds one; ``allow_unphysical=True`` accepts it.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> heavy = robot.with_(payload={"tip": rd.Inertia(2.0)}, gravity=(0.0, 0.0, -1.62))
        >>> heavy.total_mass, heavy.gravity
        (4.0, (0.0, 0.0, -1.62))
        >>> robot.with_(locked={"elbow": 0.0}).joint_names
        ('shoulder',)
        """
        others = payload, locked, frames, parameters, actuators, springs, couplings, constraints
        anew = not (forces is None and sensors is None and contacts is None)
        if not (anew or settings or stops or any(others)):
            return self
        changes = Changes(
            parameters=parameters,
            frames=frames,
            actuators=actuators,
            springs=springs,
            payload=payload,
            couplings=couplings,
            stops=stops,
            constraints=constraints,
            contacts=contacts,
            forces=forces,
            sensors=sensors,
            locked=locked,
            settings=settings,
        )
        return self._of(self._made.changed(changes))

    @property
    def parameter_rows(self) -> Mapping[str, Array]:
        """Parameters of n robots at once by name, shape (n,); empty of a single robot.

        Units are those of `dynamic_parameters`: [kg, kg m, kg m^2, N m s/rad, ...].

        Examples
        --------
        >>> import robodyn as rd
        >>> robots = rd.load("double_pendulum").with_(parameters={"lower.m": [1.0, 2.0, 3.0]})
        >>> robots.parameter_rows["lower.m"].tolist()
        [1.0, 2.0, 3.0]
        """
        rows = self._made.evaluator.rows
        return {} if rows is None else {name: x.copy() for name, x in rows.values.items()}

    def of_rows(self, rows: int | ArrayLike) -> Robot:
        """Select some of the n robots that ``with_(parameters=)`` made at once.

        A robot that is not made so returns itself.

        Parameters
        ----------
        rows : int, or array_like of int, shape (m,), or of bool, shape (n,)
            Index of one robot, or indices of several in any order, or which ones. Several are again
            computed with at once.

        Returns
        -------
        robot : Robot

        Raises
        ------
        ShapeError
            If there is no such row.

        Examples
        --------
        >>> import robodyn as rd
        >>> robots = rd.load("double_pendulum").with_(parameters={"lower.m": [1.0, 2.0, 3.0]})
        >>> robots.potential_energy([0.0, 0.0]).round(3).tolist()
        [-19.62, -29.43, -39.24]
        >>> float(robots.of_rows(1).potential_energy([0.0, 0.0]).round(3))
        -29.43
        """
        return self._of(self._made.of_rows(rows))

    def at(self, t: ArrayLike) -> Self:
        """The robot at a given time, or at several; itself, if nothing of it depends on time.

        Methods of the result compute with the joints, constraints and forces of that time. Its
        functions (`function`) still have the time as their last input.

        Parameters
        ----------
        t : array_like, shape (...) [s]
            Its axes are the leading axes of ``q`` and ``v``. Methods that search a posture, such
            as `assemble`, take a single time.

        Returns
        -------
        robot : Robot

        Raises
        ------
        ShapeError
            If ``t`` is no time.

        Examples
        --------
        >>> import robodyn as rd
        >>> crank = rd.Constraint("clock", lambda q, t: q[0] - 0.3 * t, "crank_drive")
        >>> engine = rd.load("four_bar", constraints=[crank])
        >>> [round(float(engine.at(t).assemble()[0]), 6) for t in (0.0, 1.0)]
        [0.0, 0.3]
        """
        return self._of(self._made.at(t)) if self._model.setup.rheonomic else self

    @cached_property
    def _now(self) -> Parts:
        """The parts that methods call; an error if the robot depends on time and none is given."""
        return self._made.now

    def _posed(self, *, forces: bool = False) -> Parts:
        """The parts for a search of one posture; an error if it depends on time and none is given.

        A posture depends on time if there are constraints that do. With ``forces``, forces of the
        posture are searched with it, which depend on all joints that are functions of time.
        """
        times = self._made.evaluator.times
        if times:
            raise ShapeError(
                f"t has shape {times}, expected one time: postures are found one at a time",
                name="t",
            )
        return self._now if self.nc or forces else self._parts

    # -- what it is -------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Name of the robot, as in its file.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("scara").name
        'scara'
        """
        return self._model.mechanism.name

    @property
    def mechanism(self) -> Mechanism:
        """The description of links, joints and loops that the robot was made from.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("four_bar").mechanism
        <Mechanism 'four_bar': 5 links, 5 joints>
        """
        return self._model.mechanism

    def dh_table(self, convention: DHConvention = "standard", *, tip: str | None = None) -> DHTable:
        """A serial arm as a table of Denavit and Hartenberg.

        The product of ``X_W0``, the transforms of the rows with the positions of the joints added,
        and ``X_nT`` is `frame_pose` of the last link. Rows are not unique: a and the angle between
        neighbouring x axes are as small as they can be where axes are parallel.

        Parameters
        ----------
        convention : {"standard", "modified"}
            As in `robodyn.from_dh`, which takes the rows.
        tip : str
            Where the chain of joints ends. Default: the only link that carries no other.

        Returns
        -------
        table : DHTable
            With ``.rows``, ``.X_W0`` and ``.X_nT``.

        Raises
        ------
        TopologyError
            If there are loops, several last links, or joints of other kinds.
        UnknownNameError

        Examples
        --------
        >>> import robodyn as rd
        >>> table = rd.load("puma560").dh_table()
        >>> [round(a, 4) for _, _, a, _, _ in table.rows]
        [0.0, 0.4318, 0.0203, 0.0, 0.0, 0.0]
        """
        from robodyn.description.denavit_hartenberg import table_of_arm

        return table_of_arm(self.mechanism, convention, tip)

    @property
    def model(self) -> Model:
        """The tree, coordinates, limits and settings that its equations are written over.

        What it looks like may change from release to release.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("double_pendulum").model.joint_names
        ('shoulder', 'elbow')
        """
        return self._model

    @property
    def nq(self) -> int:
        """Number of coordinates, the size of q.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("pan_tilt", base="floating").nq  # 3 + 4 of the base, 2 of the joints
        9
        """
        return self._model.bodies.nq

    @property
    def nv(self) -> int:
        """Number of speeds, the size of v.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("pan_tilt", base="floating").nv  # 6 of the base, 2 of the joints
        8
        """
        return self._model.bodies.nv

    @property
    def nc(self) -> int:
        """Number of constraint rows of the closed loops.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("four_bar").nc
        5
        """
        return len(self._parts.rows.names)

    @property
    def dof(self) -> int:
        """Degrees of freedom (mobility) in regular postures near the zero position.

        If the zero position is singular, for example because bars lie in one line, the linkage has
        more degrees of freedom there than in nearby postures: one `SingularWarning` gives both
        numbers. `mobility` computes the degrees of freedom at any posture.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("four_bar").nv, rd.load("four_bar").dof
        (3, 1)
        """
        return self._parts.postures.dof

    @property
    def base(self) -> Base:
        """How the root link is held: ``"fixed"``, ``"floating"``, or ``"moving"`` as prescribed.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("pan_tilt", base="floating").base
        'floating'
        """
        return self._model.settings.base

    @property
    def depends_on_time(self) -> bool:
        """Whether joints, constraints or forces are functions of time.

        Methods are then those of the robot `at` a time, functions have ``t`` as their last input,
        and `dof` and the like are those at time zero.

        Examples
        --------
        >>> import robodyn as rd
        >>> clock = rd.Constraint("clock", lambda q, t: q[0] - 0.3 * t, "crank_drive")
        >>> rd.load("four_bar").depends_on_time
        False
        >>> rd.load("four_bar", constraints=[clock]).depends_on_time
        True
        """
        return self._model.setup.rheonomic

    @property
    def gravity(self) -> tuple[float, float, float]:
        """Gravity in the world [m/s^2].

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("double_pendulum", gravity=(0.0, 0.0, -1.62)).gravity  # on the moon
        (0.0, 0.0, -1.62)
        """
        return _Gravity(self._model.settings.gravity)

    @property
    def ground(self) -> tuple[Ground, ...]:
        """Planes of the ground, which points of links may touch.

        Examples
        --------
        >>> import robodyn as rd
        >>> floor = rd.Ground({"foot": ("lower", (0, 0, -1))}, height=-1.9, stiffness=1e4)
        >>> rd.load("double_pendulum", ground=floor).ground[0].height
        -1.9
        """
        return self._model.setup.ground

    @property
    def contacts(self) -> Mapping[str, Contact]:
        """Contacts by choice, by link; see `robodyn.Contact`.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("satellite").contacts
        {}
        """
        return contacts_of(self.mechanism)

    @property
    def forces(self) -> tuple[ForceLaw | InverseSquareGravity, ...]:
        """Force laws that `load` or `with_` was given; ``with_(forces=)`` takes them again.

        Examples
        --------
        >>> import robodyn as rd
        >>> damper = rd.Force(lambda q, v, t: -0.4 * v[0], joint="elbow", name="damper")
        >>> robot = rd.load("double_pendulum", forces=[damper])
        >>> [force.name for force in robot.forces]
        ['damper']
        """
        return self._model.mechanism.forces

    @property
    def sensors(self) -> tuple[DescribedSensor, ...]:
        """Sensors that `load` or `with_` was given: ``.name``, ``.columns``, ``.units``, ...

        `with_` takes them as it takes a `Sensor`.

        Examples
        --------
        >>> import robodyn as rd
        >>> tip = rd.Sensor("position", at="tip", name="tip")
        >>> robot = rd.load("double_pendulum", sensors=[tip])
        >>> [(sensor.name, sensor.columns, sensor.units) for sensor in robot.sensors]
        [('tip', ('x', 'y', 'z'), ('m', 'm', 'm'))]
        """
        return self._model.mechanism.sensors

    @property
    def coordinates(self) -> Coordinates:
        """``"tree"``: coordinates of the spanning tree; ``"minimal"``: independent ones.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("four_bar").coordinates
        'tree'
        >>> rd.load("four_bar", coordinates="minimal").coordinates
        'minimal'
        """
        return self._model.settings.coordinates

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Joints with coordinates of their own, in the order of q and v.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("scara").joint_names
        ('shoulder', 'elbow', 'lift', 'spindle')
        """
        return self._model.joint_names

    @property
    def link_names(self) -> tuple[str, ...]:
        """Links, the root first.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("double_pendulum").link_names
        ('base', 'upper', 'lower', 'tip')
        """
        return tuple(self._model.bodies.frames)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Frames whose motion can be asked for: those of all links.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("double_pendulum").frame_names
        ('base', 'upper', 'lower', 'tip')
        """
        return tuple(self._model.bodies.frames)

    @property
    def loops(self) -> tuple[Joint | Loop, ...]:
        """Joints and loops that were cut to get a spanning tree.

        Examples
        --------
        >>> import robodyn as rd
        >>> [loop.name for loop in rd.load("four_bar").loops]
        ['rocker_pin']
        """
        return self._model.tree.cuts

    @property
    def graph(self) -> SystemGraph:
        """Bodies as vertices and joints as arcs, with incidence, path and loop matrices.

        Examples
        --------
        >>> import robodyn as rd
        >>> graph = rd.load("four_bar").graph
        >>> graph.vertices
        ('ground', 'crank', 'coupler', 'rocker')
        >>> graph.arcs
        ('crank_drive', 'crank_pin', 'rocker_pivot', 'rocker_pin')
        >>> graph.loops.tolist()                   # around the loop, the third joint points back
        [[1, 1, -1, 1]]
        """
        from robodyn.topology.system_graph import system_graph

        return system_graph(self.mechanism, floating=self.base == "floating")

    @property
    def augmented_bodies(self) -> AugmentedBodies:
        """Augmented bodies, with the mass beyond each hinge in that hinge, and barycentric vectors.

        Links and joints alone count: neither rotors nor armatures.

        Raises
        ------
        SettingsError
            A joint slides, or nothing that hangs on the base has a mass.

        Examples
        --------
        >>> import robodyn as rd
        >>> bodies = rd.load("double_pendulum").augmented_bodies
        >>> bodies.bodies, bodies.masses.tolist()
        (('upper', 'lower'), [2.0, 2.0])
        >>> bodies.about_inboard_hinge[:, 1, 1].round(3).tolist()
        [1.333, 0.333]
        """
        if self.parameter_rows:
            refused_by_rows("augmented_bodies")()
        from robodyn.topology.augmented_bodies import augmented_bodies

        return augmented_bodies(self.mechanism, floating=self.base == "floating")

    @property
    def actuated_joints(self) -> tuple[str, ...]:
        """Joints with motors, in the order of q; all joints, if no motor is described.

        Whatever has one element a motor has them in this order. Joints that follow others, by a
        loop solved in closed form too, stand where they stand in the tree. It is empty if motors
        are described and no joint of theirs moves.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("four_bar").actuated_joints
        ('crank_drive',)
        """
        return self._model.actuated_joints

    @property
    def independent_joints(self) -> tuple[str, ...]:
        """Joints whose motion determines that of all others at the neutral posture.

        Those that the file marks as independent, or that have motors, come first; all, for a tree.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("four_bar").independent_joints
        ('crank_drive',)
        """
        return self._parts.postures.independent_joints

    @property
    def joints(self) -> Joints:
        """All joints and loops of the file by name; unknown names raise `UnknownNameError`.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("scara")
        >>> robot.joints["lift"]
        <JointInfo 'lift': prismatic, forearm -> quill, q[2:3], v[2:3]>
        >>> robot.joints["lift"].limits.upper, robot.lower_limits[robot.joints["lift"].q].tolist()
        (0.0, [-0.2])
        """
        return self._model.joints

    @property
    def total_mass(self) -> float:
        """Mass of all moving bodies [kg]; with a fixed base, without the base link.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> robot.total_mass, robot.with_(payload={"tip": rd.Inertia(0.5)}).total_mass
        (2.0, 2.5)
        """
        return self._parts.parameters.total_mass  # type: ignore[return-value]

    @property
    def lower_limits(self) -> Array:
        """Smallest positions, shape (nq,) [rad, m]; -inf where there is no limit.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("scara").lower_limits.tolist()
        [-2.3, -2.5, -0.2, -inf]
        """
        return self._model.lower.copy()

    @property
    def upper_limits(self) -> Array:
        """Largest positions, shape (nq,) [rad, m]; inf where there is no limit.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("scara").upper_limits.tolist()
        [2.3, 2.5, 0.0, inf]
        """
        return self._model.upper.copy()

    @property
    def velocity_limits(self) -> Array:
        """Largest speeds, shape (nv,) [rad/s, m/s]; inf where there is no limit.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("scara").velocity_limits.tolist()
        [7.0, 11.0, 1.1, 26.0]
        """
        return self._model.velocity.copy()

    @property
    def effort_limits(self) -> Array:
        """Largest forces, shape (nv,) [N m, N]; inf where there is no limit.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("four_bar").effort_limits.tolist()
        [12.0, inf, inf]
        """
        return self._model.effort.copy()

    # -- coordinates ------------------------------------------------------------------------------

    def neutral(self) -> Array:
        """Zero position, or the closed posture nearest to it.

        A tree is at zero whether or not the limits of its joints include zero, as in Pinocchio;
        ``numpy.clip(robot.neutral(), robot.lower_limits, robot.upper_limits)`` is within them. The
        closed posture of a linkage is searched within the limits.

        Where that posture is singular it is a regular one beside it, and a `SingularWarning` says
        so once; with ``near`` of `robodyn.load` it is the one that was asked for all the same.

        Returns
        -------
        q : ndarray, shape (nq,) [rad, m]

        Raises
        ------
        TopologyError
            If no search closed the loops; it says what stays open, where, and which joints are at
            their limits.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("double_pendulum").neutral().tolist()
        [0.0, 0.0]
        >>> robot = rd.load("four_bar", near={"crank_drive": 0.5})
        >>> q = robot.neutral()
        >>> float(q[0].round(6)), bool(abs(robot.loop_residual(q)).max() < 1e-9)
        (0.5, True)
        """
        return self._posed().postures.neutral()

    def start(self) -> Array:
        """The posture from which the closed posture `neutral` is searched.

        The zero position, or what ``near`` of `robodyn.load` says; the loops may be open there. For
        a robot without constraints it is `neutral` itself.

        Returns
        -------
        q : ndarray, shape (nq,) [rad, m]

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("four_bar", near={"crank_drive": 0.5}).start().tolist()
        [0.5, 0.0, 0.0]
        """
        return self._parts.postures.start()

    def random(self, rng: Random | None = None, size: int | tuple[int, ...] | None = None) -> Array:
        """Random positions within the limits, loops closed.

        Parameters
        ----------
        rng : numpy.random.Generator, SeedSequence, int or sequence of int, optional
            Generator of random numbers, or its seed.
        size : int or tuple of int, optional
            How many positions: leading axes of the result. Default: one, without.

        Returns
        -------
        q : ndarray, shape (..., nq) [rad, m]

        Raises
        ------
        AssemblyError
            If no guess led to a closed posture.
        ShapeError
            For sizes that are no whole numbers, or negative, and for more than 10^9 coordinates.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> q = robot.random(0, size=100)
        >>> q.shape, bool(abs(robot.loop_residual(q)).max() < 1e-9)
        ((100, 3), True)
        """
        postures, numbers = self._posed().postures, generator(rng)
        if size is None:
            return postures.random(numbers)
        shape = leading_axes("size", size)
        count = math.prod(shape)
        if count * max(self.nq, 1) > _MOST_DRAWN:
            raise ShapeError(
                f"size is {size!r}: at most {_MOST_DRAWN:.0e} coordinates are drawn at once, 8 GB, "
                f"and each position has {self.nq}; draw fewer at a time, with one generator",
                name="size",
                given=size,
            )
        return postures.random_each(numbers, count).reshape(*shape, self.nq)

    def integrate(self, q: ArrayLike, dv: ArrayLike, *, out: Array | None = None) -> Array:
        """Position after moving with ``dv`` (velocity times time step).

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        dv : array_like, shape (..., nv) [rad, m]
        out : ndarray of the shape of the result, optional

        Returns
        -------
        q : ndarray, shape (..., nq) [rad, m]
            Quaternions in it have unit norm.

        Examples
        --------
        >>> import numpy as np
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> robot.integrate([0.5, 0.25], [1.0, 2.0]).tolist()
        [1.5, 2.25]
        >>> unit = rd.load("pan_tilt", base="floating")
        >>> q = unit.integrate(unit.neutral(), [0, 0, 0, 0, 0, np.pi, 0, 0])  # half a turn about z
        >>> q[5:7].round(6).tolist()  # z and w of the quaternion
        [1.0, 0.0]
        """
        return self._parts.space.integrate(q, dv, out)

    def coordinate_rates(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """Time derivatives of the coordinates: the kinematic differential equations.

        They are ``v`` where coordinates add, and others for quaternions and the position of a
        floating base.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        out : ndarray of the shape of the result, optional

        Returns
        -------
        dq : ndarray, shape (..., nq) [rad/s, m/s]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("pan_tilt", base="floating")
        >>> dq = robot.coordinate_rates(robot.neutral(), [0, 0, 0, 2.0, 0, 0, 0, 1.0])
        >>> (dq[3:] + 0.0).tolist()  # half the angular velocity, in the quaternion x y z w
        [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]
        """
        return self._parts.space.coordinate_rates(q, v, out)

    def tangent_rate(self, u: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """Rate of the tangent vector ``u`` in ``integrate(q, u)`` while the robot moves with ``v``.

        It is ``v`` where coordinates add; integrators of higher order need it for spherical and
        floating joints.

        Parameters
        ----------
        u : array_like, shape (..., nv) [rad, m]
            Motion from the position ``q`` at which a step began.
        v : array_like, shape (..., nv) [rad/s, m/s]
        out : ndarray of the shape of the result, optional

        Returns
        -------
        rate : ndarray, shape (..., nv) [rad/s, m/s]

        Examples
        --------
        >>> import numpy as np
        >>> import robodyn as rd
        >>> robot = rd.load("pan_tilt", base="floating")
        >>> u = np.array([0, 0, 0, 0.2, 0, 0, 0, 0])  # turned by 0.2 rad about x
        >>> robot.tangent_rate(u, 3.0 * u).round(9).tolist()  # about the same axis: rates add
        [0.0, 0.0, 0.0, 0.6, 0.0, 0.0, 0.0, 0.0]
        """
        return self._parts.space.tangent_rate(u, v, out)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """Motion ``dv`` with ``integrate(q0, dv) = q1``.

        Parameters
        ----------
        q0, q1 : array_like, shape (..., nq) [rad, m]

        Returns
        -------
        dv : ndarray, shape (..., nv) [rad, m]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("pan_tilt", base="floating")
        >>> q0, q1 = robot.random(0), robot.random(1)
        >>> dv = robot.difference(q0, q1)
        >>> bool(abs(robot.integrate(q0, dv) - q1).max() < 1e-12), robot.nq - len(dv)
        (True, 1)
        """
        return self._parts.space.difference(q0, q1)

    # -- dynamics ---------------------------------------------------------------------------------

    def joint_positions(self, q: ArrayLike) -> dict[str, Array]:
        """Positions of all joints that move, also of those that are cut or follow others.

        The position of a cut joint is read from the pose of its frame on the child seen from the
        one on the parent, where the loop is closed. Angles of a revolute joint that is cut lie
        within half a turn of the middle between its limits (of zero, if it has none), quaternions
        have ``w >= 0``, and a screw counts its turns by the way it went.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
            Positions of the joints with coordinates.

        Returns
        -------
        positions : dict of joint name to ndarray, shape (...) or (..., n) [rad, m]
            Coordinates as `q` has them for joints of that kind.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> q = robot.assemble([0.5, 0.0, 0.0], hold=["crank_drive"])
        >>> found = robot.joint_positions(q)  # the angles of a closed loop add up
        >>> bool(abs(q[0] + q[1] + found["rocker_pin"] - q[2]) < 1e-9)
        True
        """
        return self._now.joint_positions.positions(q)

    def joint_velocities(self, q: ArrayLike, v: ArrayLike) -> dict[str, Array]:
        """Speeds of all joints that move, also of those that are cut or follow others.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
            Positions of the joints with coordinates.
        v : array_like, shape (..., nv) [rad/s, m/s]
            Their speeds.

        Returns
        -------
        velocities : dict of joint name to ndarray, shape (...) or (..., n) [rad/s, m/s]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> v = robot.consistent_velocity(robot.neutral(), [1.0, 0.0, 0.0], hold=["crank_drive"])
        >>> found = robot.joint_velocities(robot.neutral(), v)
        >>> bool(abs(v[0] + v[1] + found["rocker_pin"] - v[2]) < 1e-9)
        True
        """
        return self._now.joint_positions.velocities(q, v)

    @overload
    def function(
        self, name: ArrayFunction, **fixed: Unpack[FunctionOptions]
    ) -> Function[Array]: ...

    @overload
    def function(
        self, name: TupleFunction, **fixed: Unpack[FunctionOptions]
    ) -> Function[tuple[Array, ...]]: ...

    @overload
    def function(self, name: str, **fixed: Unpack[FunctionOptions]) -> Function[Any]: ...

    def function(self, name: str, **fixed: Any) -> Function[Any]:
        """The compiled function behind a method.

        A function evaluates the equations without checks. For a closed linkage it accepts postures
        with open loops, speeds that open them and singular postures, for which methods raise
        errors; what it returns there is no motion of the linkage.

        Parameters
        ----------
        name : str
            Name of the method.
        **fixed
            Options of the method: ``wrenches=(links)``, ``frame=``, ``relative_to=``, ``axes=``,
            ``classical=``, ``controlled=(joints)``, ``joints=(names)``,
            ``tasks=(Task, ...)``, whose targets, flattened one after the other, are an input;
            ``parameters=True`` makes the inertial parameters of the moving bodies an input,
            ``symbols=True`` all numbers that have names (`symbols`), ``symbols=(names)`` some.

        Returns
        -------
        f : Function
            Called with the arrays named in ``f.inputs``.

        Raises
        ------
        UnknownNameError
            If there is no such quantity, link or option.
        SingularError
            If it needs the acceleration of a joint that moves no mass.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> f = robot.function("frame_pose", frame="tip")
        >>> f
        <Function frame_pose(q[2]) -> X[4, 4]>
        >>> bool((f([0.3, 0.4]) == robot.frame_pose([0.3, 0.4], "tip")).all())
        True
        """
        check_values(FunctionOptions.__annotations__, fixed)
        return self._parts.evaluator.programs.function(name, **fixed)

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        actuated: Iterable[str] | None = None,
        out: Array | None = None,
    ) -> Array:
        """Generalised forces that produce given accelerations.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v, a : array_like, shape (..., nv) [rad/s, m/s], [rad/s^2, m/s^2]
        wrenches : mapping of link name to array_like, shape (..., 6) [N, N m]
            External forces and moments about the link origins, in link axes.
        base : BaseMotion, optional
        actuated : names of joints
            Where torque acts; for closed linkages. A tree needs, and takes, all of them; in minimal
            coordinates these, or joints that follow others and produce the same. Default:
            `actuated_joints`, and a floating base; of one that stands on feet name the motors.
        out : ndarray, shape (..., nv)
            Written to and returned.

        Returns
        -------
        tau : ndarray, shape (..., nv) [N m, N]

        Raises
        ------
        ShapeError, UnknownNameError, ActuationError
        InconsistentStateError
            The loops of a closed linkage are open, or these speeds open them, by more than the
            ``closure_tolerance`` it was loaded with.
        SingularError
            A closed linkage is so near to a singular posture (`loop_rank`) that less than six
            digits are determined.

        Notes
        -----
        Recursive Newton-Euler [Featherstone 2008, table 5.1]; joint damping and friction included
        unless the robot was loaded with ``passive=False``.

        Examples
        --------
        >>> import numpy as np
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> q, rest = [np.pi / 2, 0.0], [0.0, 0.0]  # two rods of 1 kg, held out sideways
        >>> robot.inverse_dynamics(q, rest, rest).round(6).tolist()
        [19.62, 4.905]
        >>> load = {"tip": [0.0, 0.0, 0.0, 0.0, 5.0, 0.0]}  # a moment of 5 N m about y
        >>> robot.inverse_dynamics(q, rest, rest, wrenches=load).round(6).tolist()
        [14.62, -0.095]
        """
        find, arrays = self._now.evaluator, (q, v, a)
        if actuated is not None:
            return forces_at(self._model, find, arrays, actuated, wrenches, base, out)
        return find.call("inverse_dynamics", arrays, base=base, out=out, wrenches=wrenches)

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        stabilization: tuple[float, float] | None = None,
        out: Array | None = None,
    ) -> Array:
        """Accelerations under given generalised forces.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v, tau : array_like, shape (..., nv) [rad/s, m/s], [N m, N]
        wrenches, base, out
            As in `inverse_dynamics`.
        stabilization : (alpha, beta), optional [1/s]
            Baumgarte's, for closed linkages [W 5.198]; a tree has no constraint to stabilise.

        Returns
        -------
        a : ndarray, shape (..., nv) [rad/s^2, m/s^2]

        Raises
        ------
        ShapeError, UnknownNameError
        InconsistentStateError, SingularError
            As in `inverse_dynamics`, for closed linkages without ``stabilization``, which takes
            open loops to close them.

        Notes
        -----
        Articulated bodies or the factorised mass matrix, whichever takes fewer operations for this
        robot [Featherstone 2008, tables 7.1, 6.3].

        Examples
        --------
        >>> import numpy as np
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> q, v, tau = [0.3, 0.4], [1.0, 2.0], [5.0, -1.0]
        >>> a = robot.forward_dynamics(q, v, tau)
        >>> bool(np.allclose(robot.mass_matrix(q) @ a + robot.bias_forces(q, v), tau))
        True
        """
        return self._now.evaluator.call(
            "forward_dynamics", (q, v, tau), base=base, out=out, wrenches=wrenches,
            stabilization=stabilization,
        )  # fmt: skip

    def hybrid_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        controlled: ByJoint | None = None,
        tau: ByJoint | None = None,
        locked: Iterable[str] = (),
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        stabilization: tuple[float, float] | None = None,
    ) -> HybridDynamics:
        """Hybrid dynamics: some joints have given accelerations, the others given forces.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        controlled : mapping of joint name to array_like, or array_like, shape (..., nv), optional
            Accelerations [rad/s^2, m/s^2] of the controlled joints, shape (...) for a joint with
            one freedom, (..., n) for one with n. ``"joint[k]"`` names one axis of a joint; a
            floating base is called ``"floating_base"``. An array has NaN for what is free.
        tau : mapping of joint name to array_like, or array_like, shape (..., nv)
            Generalised forces of the others [N m, N]; zero where none is given.
        locked : names of joints
            Controlled with acceleration zero: what is fixed, or keeps its speed.
        wrenches, base
            As in `inverse_dynamics`.
        stabilization : optional
            For closed linkages; a tree has no constraint to stabilise.

        Returns
        -------
        result : HybridDynamics
            ``a`` and ``tau`` of all joints, shape (..., nv): the controlled ones need these
            ``tau``, the others get these ``a``.

        Raises
        ------
        UnknownNameError, ShapeError
        ActuationError
            A joint both controlled and given a force.
        SingularError
            A joint that moves no mass is free, or as in `inverse_dynamics`.
        InconsistentStateError
            As in `inverse_dynamics`, without ``stabilization``.

        Notes
        -----
        [W 5.100, 5.101]; articulated bodies [Featherstone 2008, table 9.2] or rows of the mass
        matrix, whichever takes fewer operations. `inverse_dynamics` and `forward_dynamics` are the
        ends where all, or none, are controlled.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> found = robot.hybrid_dynamics([0.3, 0.1], [0, 0], controlled={"shoulder": 1.0})
        >>> float(found.a[0]), float(found.tau[1])  # the shoulder follows, the elbow is free
        (1.0, 0.0)
        """
        roles = assign_roles(self._model, controlled, tau, locked)
        found: HybridDynamics = self._now.evaluator.answer(
            "hybrid_dynamics", roles.beside(q, v), base=base, wrenches=wrenches,
            stabilization=stabilization, controlled=roles.controlled,
        )  # fmt: skip
        return found

    def driven_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a_controlled: ArrayLike,
        tau_free: ArrayLike,
        speeds: tuple[int, ...],
        *,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        stabilization: tuple[float, float] | None = None,
    ) -> tuple[Array, Array]:
        """`hybrid_dynamics` with the controlled speeds given by index, for integrators.

        As a function does, it takes states that are open a little, as those within a step are.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        a_controlled : array_like, shape (..., k) [rad/s^2, m/s^2]
            Accelerations of the k controlled speeds.
        tau_free : array_like, shape (..., nv - k) [N m, N]
            Forces of the others, in the order of v.
        speeds : tuple of int
            Indices of the controlled speeds, in the order of ``a_controlled``.
        wrenches, base
            As in `inverse_dynamics`.
        stabilization : (alpha, beta), optional [1/s]
            As in `forward_dynamics`.

        Returns
        -------
        a : ndarray, shape (..., nv) [rad/s^2, m/s^2]
        tau : ndarray, shape (..., nv) [N m, N]

        Raises
        ------
        UnknownNameError, ActuationError
            If there is no speed of an index, or an index stands twice.
        SingularError
            A joint that moves no mass is free.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> a, tau = robot.driven_dynamics([0.3, 0.1], [0.0, 0.0], [1.0], [0.0], speeds=(0,))
        >>> float(a[0]), float(tau[1])  # the shoulder accelerates as given, the elbow is free
        (1.0, 0.0)
        >>> bool(abs(robot.inverse_dynamics([0.3, 0.1], [0.0, 0.0], a) - tau).max() < 1e-12)
        True
        """
        count, of = len(speeds), self.name
        if len({*speeds}) < count or not all(0 <= k < self.nv for k in speeds):
            self._made.evaluator.options.speeds(speeds)  # says which
        shaped("a_controlled", a_controlled, count, of=of)
        shaped("tau_free", tau_free, self.nv - count, of=of)
        given = numbers("a_controlled", a_controlled), numbers("tau_free", tau_free)
        arrays = (q, v, *given)
        return driven(self._now.evaluator, arrays, speeds, wrenches, base, stabilization)

    def constrained_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        stabilization: tuple[float, float] | None = None,
        method: ConstraintMethod = "auto",
    ) -> ConstrainedDynamics:
        """Forward dynamics of a closed linkage, with multipliers and rank.

        Parameters
        ----------
        q, v, tau, wrenches, base, stabilization
            As in `forward_dynamics`.
        method : {"auto", "kkt", "schur", "nullspace", "partition"}
            All give one answer; the result says which was used.

        Returns
        -------
        result : ConstrainedDynamics
            ``a``, ``multipliers`` (of least norm where redundant constraints leave a choice),
            ``rank``, ``residual``, ``method``.

        Raises
        ------
        SingularError
            If the loops leave a motion that moves no mass. Singular postures are solved as the
            constraints stand there; ``rank`` tells.
        InconsistentStateError
            As in `inverse_dynamics`, without ``stabilization``.
        UnknownNameError

        Notes
        -----
        ``M a + h = tau + K^T lam``, ``K a = -dK/dt v - 2 alpha K v - beta^2 residual``
        [Mufti 10-40; W 5.198-5.204].

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> q, rest = robot.neutral(), [0.0, 0.0, 0.0]
        >>> found = robot.constrained_dynamics(q, rest, rest)
        >>> force = robot.loop_jacobian(q).T @ found.multipliers
        >>> bool(abs(robot.mass_matrix(q) @ found.a + robot.gravity_forces(q) - force).max() < 1e-9)
        True
        >>> int(found.rank)
        2
        """
        solve = self._now.constrained
        return solve.dynamics(q, v, tau, wrenches, base, stabilization, method)

    def derivatives(
        self,
        name: DynamicsName,
        q: ArrayLike,
        v: ArrayLike,
        x: ByJoint | None,
        *,
        controlled: ByJoint | None = None,
        locked: Iterable[str] = (),
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
    ) -> dict[str, Any]:
        """Inverse, forward or hybrid dynamics with all derivatives, exact and in one pass.

        Coordinates are moved along the speeds: the derivatives with respect to q are those of the
        value at ``integrate(q, dq)``, and have nv columns with a floating base too.

        Parameters
        ----------
        name : {"inverse_dynamics", "forward_dynamics", "hybrid_dynamics"}
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        x : array_like, shape (..., nv) [rad/s^2, m/s^2], or [N m, N]
            Accelerations for inverse dynamics, forces for the others. For hybrid dynamics they may
            be given by joint, as ``tau`` of `hybrid_dynamics`.
        controlled, locked
            As in `hybrid_dynamics`, and for it only.
        wrenches : mapping of link name to array_like, shape (..., 6) [N, N m], optional
            As for the method; they turn with their links.
        base : BaseMotion, optional

        Returns
        -------
        derivatives : dict of str to ndarray or HybridDerivatives
            Under ``name`` the value, shape (..., nv) [N m, N] or [rad/s^2, m/s^2]. Under ``"q"``,
            ``"v"``, and ``"a"`` or ``"tau"`` its derivatives with respect to these, each of shape
            (..., nv, nv), in units of the value a unit of the argument. Of hybrid dynamics each of
            them has ``.a`` and ``.tau``, and there are both ``"a"``, with columns of zeros where
            joints are free, and ``"tau"``, with columns of zeros where they are controlled. Of a
            closed linkage only products with changes of q and v that keep the loops closed have a
            meaning; changes of forces may be arbitrary.

        Raises
        ------
        UnknownNameError
            For another name.
        InconsistentStateError
            If loops are open, or come open.
        SingularError
            Where accelerations are not determined, or the rank of the loops is not the same in all
            postures.
        ActuationError
            For inverse dynamics of a closed linkage whose motors do not hold all motions, and for
            hybrid dynamics whose controlled joints are tied together by loops.

        Examples
        --------
        >>> import numpy as np
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> q, v, tau = [0.3, 0.4], [1.0, 2.0], [0.0, 0.0]
        >>> d = robot.derivatives("forward_dynamics", q, v, tau)
        >>> list(d)
        ['forward_dynamics', 'q', 'v', 'tau']
        >>> bool(np.allclose(d["tau"], robot.mass_matrix_inverse(q)))
        True
        >>> ahead = robot.forward_dynamics([0.3, 0.4 + 1e-6], v, tau)
        >>> bool(np.allclose((ahead - d["forward_dynamics"]) / 1e-6, d["q"][:, 1], atol=1e-3))
        True
        >>> d = robot.derivatives("hybrid_dynamics", q, v, tau, controlled={"shoulder": 1.0})
        >>> d["tau"].a.round(3).tolist()  # of the elbow alone, by its own force
        [[0.0, 0.0], [0.0, 3.0]]
        """
        roles = controlled, locked
        return self._now.derivatives.of(name, (q, v, x), roles, wrenches, base)

    def linearize(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ByJoint | None,
        *,
        inputs: Iterable[str] | None = None,
        outputs: Iterable[str] | None = None,
        dt: float | None = None,
        controlled: ByJoint | None = None,
        locked: Iterable[str] = (),
        independent: Iterable[str] | None = None,
        wrenches: Wrenches | WrenchesAt | None = None,
        base: BaseMotion | None = None,
    ) -> StateSpace:
        """The linear model of small deviations from a state, or from each state of a batch.

        The state of the model is the deviation from ``q``, as `difference` defines it, and the
        deviation from ``v``, of the independent joints that are not controlled. All joints of a
        tree are independent. If the robot moves or accelerates in the given state, the model holds
        at that instant, and describes how the difference of two neighbouring motions changes.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        tau : array_like, shape (..., nv), or mapping of joint name to array_like [N m, N]
            Forces of the joints that are not controlled, in the given state; zero if not given.
        inputs : names of joints, optional
            Joints whose forces are the inputs. Default: `actuated_joints`, in their order. Motors
            at joints that follow others keep their forces as the posture changes, not ``tau``.
        outputs : names of joints, links or sensors, optional
            Joints and links whose displacements are the outputs: those of joints as `difference`
            defines them, those of links along and about the axes of the world at the link's origin;
            ``"v:joint"``: the speeds of a joint. What sensors show, of those that are called as no
            joint or link is. Default: the state.
        dt : float, optional [s]
            Sampling time of a discrete model with a zero-order hold. Default: a continuous model.
        controlled, locked
            As in `hybrid_dynamics`: these joints follow a given motion, and are not in the state.
        independent : names of joints, optional
            Independent joints of a closed linkage. Default: `independent_joints`.
        wrenches : mapping of link name to array_like, shape (..., 6), or callable [N, N m]
            As in `inverse_dynamics`: they turn with their links. Or such a mapping as a function of
            ``(t, q, v)`` or ``t``, which is differentiated by differences of fourth order; t is 0
            for a robot that does not depend on time.
        base
            As in `inverse_dynamics`.

        Returns
        -------
        model : StateSpace
            ``A B C D``, names ``states``, ``inputs``, ``outputs``; ``poles``, ``modes``, ...

        Raises
        ------
        UnknownNameError, ShapeError
        ActuationError
            For inputs that are controlled.
        SingularError
            Where loops are singular, their rank is not the same in all postures, or the independent
            joints do not determine the motion of the others.
        InconsistentStateError
            If loops are open, or come open.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> model = robot.linearize([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], inputs=["elbow"])
        >>> model.natural_frequencies.round(3).tolist()  # in rad/s, of the pendulum that hangs
        [2.68, 2.68, 7.189, 7.189]
        >>> model.stability, model.inputs, model.uncontrollable_modes()
        ('marginal', ('tau:elbow',), ())
        """
        around = LoadCase(controlled, locked, wrenches, base, self._made.evaluator.time)
        parts = self._now.linear_models
        model = parts.near(q, v, tau, around, inputs, outputs, independent)
        return model if dt is None else model.sampled(dt)

    def equilibrium(
        self,
        q: ArrayLike,
        *,
        hold: Iterable[str] = (),
        held: Iterable[str] = (),
        tau: ByJoint | None = None,
        wrenches: Wrenches | WrenchesAt | None = None,
        base: BaseMotion | None = None,
    ) -> Array:
        """A posture at rest near another one, loops closed.

        Newton's method searches a posture in which the accelerations vanish; it may be unstable,
        which `linearize` tells. If it finds none within the limits, the robot is moved slowly, as
        in a viscous fluid, to a stable one. Coordinates without influence keep their values.

        Parameters
        ----------
        q : array_like, shape (nq,) [rad, m]
            Start of the search.
        hold : names of joints
            Joints that keep their positions, by whatever force that takes.
        held : names of joints
            Another name of ``hold``.
        tau : array_like, shape (nv,), or mapping of joint name to array_like [N m, N]
            Forces of the others; zero where none is given.
        wrenches, base
            As in `linearize`.

        Returns
        -------
        q : ndarray, shape (nq,) [rad, m]

        Raises
        ------
        EquilibriumError
            If no equilibrium was found: the error has the joint that accelerates most, and its
            acceleration. If the equilibrium is beyond limits: it has the joint beyond its limit.
        AssemblyError
            If the loops do not close near the start.
        ShapeError
            Also if the robot depends on time and is not that of a given time (`at`).

        Notes
        -----
        Dry friction is zero at rest, though in reality it could hold the robot in many postures.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> q = robot.equilibrium([0.3, -0.2], tau={"elbow": 0.5})
        >>> bool(abs(robot.forward_dynamics(q, [0, 0], [0, 0.5])).max() < 1e-8)
        True
        """
        around = LoadCase(None, (), wrenches, base, self._made.evaluator.time)
        kept, also = named("hold", hold), named("held", held)
        if kept and also:
            raise ShapeError(
                f"hold={kept} and held={also} are two names of one option: give one",
                name="held",
                given=held,
            )
        return self._posed(forces=True).equilibria.at_rest(q, kept or also, tau, around)

    def steady_motion(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        locked: Iterable[str] = (),
        tau: ByJoint | None = None,
        wrenches: Wrenches | WrenchesAt | None = None,
        base: BaseMotion | None = None,
    ) -> SteadyMotion:
        """A motion with constant speeds near a state, such as a permanent rotation.

        Speeds of floating bases and of spherical joints are constant in axes of their bodies.

        Parameters
        ----------
        q : array_like, shape (nq,) [rad, m]
        v : array_like, shape (nv,) [rad/s, m/s]
            Start of the search.
        locked : names of joints
            Joints that keep the speeds which they have in ``v``.
        tau : array_like, shape (nv,), or mapping of joint name to array_like [N m, N]
            Forces of the others; zero where none is given.
        wrenches, base
            As in `linearize`.

        Returns
        -------
        motion : SteadyMotion
            ``q``, ``v``, ``tau``, ``model`` and ``stability``. If there is a family of such
            motions, it is one near the start.

        Raises
        ------
        EquilibriumError
            If no such motion was found: the error has the joint that accelerates most.
        InconsistentStateError
            If loops are open at the start, or come open.

        Examples
        --------
        >>> import numpy as np
        >>> import robodyn as rd
        >>> body = rd.Inertia.from_matrix(1.0, [0, 0, 0], np.diag([3.0, 4.0, 5.0]))
        >>> brick = rd.Mechanism("brick", (rd.Link("body", body),), ())
        >>> robot = rd.load(brick, base="floating", gravity=(0, 0, 0))
        >>> motion = robot.steady_motion(robot.neutral(), [0, 0, 0, 0.1, 2.0, 0.1])
        >>> motion.stability                                # about the axis of middle inertia
        'unstable'
        """
        around = LoadCase(None, locked, wrenches, base, self._made.evaluator.time)
        return self._posed(forces=True).equilibria.steady(q, v, tau, around)

    def mass_matrix(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Mass matrix M: kinetic energy is ``v M v / 2``.

        Of a closed linkage in tree coordinates that of its tree: M in ``M a + h = tau + K^T lam``.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        out : ndarray of the shape of the result, optional

        Returns
        -------
        M : ndarray, shape (..., nv, nv) [kg m^2, kg m, kg]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> robot.mass_matrix([0.0, 0.0]).round(4).tolist()  # 8/3, 5/6 and 1/3 kg m^2
        [[2.6667, 0.8333], [0.8333, 0.3333]]
        """
        return self._now.evaluator.call("mass_matrix", (q,), out=out)

    def mass_matrix_inverse(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Inverse of the mass matrix.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        out : ndarray of the shape of the result, optional

        Returns
        -------
        M_inverse : ndarray, shape (..., nv, nv) [1/(kg m^2), 1/(kg m), 1/kg]

        Raises
        ------
        SingularError
            If joints move no mass.

        Examples
        --------
        >>> import numpy as np
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> M, M_inverse = robot.mass_matrix([0.3, 0.4]), robot.mass_matrix_inverse([0.3, 0.4])
        >>> bool(np.allclose(M_inverse @ M, np.eye(2)))
        True
        """
        return self._now.evaluator.call("mass_matrix_inverse", (q,), out=out)

    def bias_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Generalised forces at zero acceleration: Coriolis, gravity, joint damping and friction.

        Of a closed linkage in tree coordinates those of its tree: h in ``M a + h = tau + K^T lam``.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        wrenches : mapping of link name to array_like, shape (..., 6) [N, N m], optional
            External forces and moments about the link origins, in link axes.
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        tau : ndarray, shape (..., nv) [N m, N]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> q, v = [0.3, 0.4], [1.0, 2.0]
        >>> h = robot.coriolis_matrix(q, v) @ v + robot.gravity_forces(q)
        >>> bool(abs(robot.bias_forces(q, v) - h).max() < 1e-12)
        True
        """
        return self._now.evaluator.call(
            "bias_forces", (q, v), base=base, out=out, wrenches=wrenches
        )

    def gravity_forces(
        self,
        q: ArrayLike,
        *,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Generalised forces that hold the robot up: `inverse_dynamics` of rigid bodies at rest.

        Of a closed linkage in tree coordinates they hold its tree, with the loops open, by forces
        in all joints. What the motors of the linkage have to hold is `inverse_dynamics` at rest.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        tau : ndarray, shape (..., nv) [N m, N]

        Examples
        --------
        >>> import numpy as np
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> tau = robot.gravity_forces([np.pi / 2, 0.0])  # two rods of 1 kg, held out sideways
        >>> tau.round(6).tolist()  # 9.81 (0.5 + 1.5) and 9.81 0.5
        [19.62, 4.905]

        A motor in the crank of a linkage holds the other bars as well:

        >>> linkage = rd.load("four_bar")
        >>> q, rest = linkage.neutral(), np.zeros(linkage.nv)
        >>> linkage.gravity_forces(q).round(3).tolist()
        [-2.394, -1.707, 0.24]
        >>> linkage.inverse_dynamics(q, rest, rest).round(3).tolist()
        [-0.138, 0.0, 0.0]
        """
        return self._now.evaluator.call("gravity_forces", (q,), base=base, out=out)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """Coriolis matrix C in Christoffel form: ``dM/dt - 2 C`` is skew.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        out : ndarray of the shape of the result, optional

        Returns
        -------
        C : ndarray, shape (..., nv, nv) [kg m^2/s, kg m/s, kg/s]

        Examples
        --------
        >>> import numpy as np
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> C = robot.coriolis_matrix([0.0, np.pi / 2], [1.0, 0.0])
        >>> (C.round(3) + 0.0).tolist()  # the turning upper rod carries the lower one: m l l / 2
        [[0.0, -0.5], [0.5, 0.0]]
        """
        return self._now.evaluator.call("coriolis_matrix", (q, v), out=out)

    def passive_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Generalised forces of damping, friction, springs, the ground and force laws.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        tau : ndarray, shape (..., nv) [N m, N]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> q = robot.neutral()
        >>> v = robot.consistent_velocity(q, [2.0, 0.0, 0.0], hold=["crank_drive"])
        >>> float(robot.passive_forces(q, v)[0])  # the damping of 0.01 N m s/rad takes power
        -0.02
        """
        return self._now.evaluator.call("passive_forces", (q, v), base=base, out=out)

    def gear_friction(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Forces that gears lose, as `Actuator` says, under given forces of the motors.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        tau : array_like, shape (..., nv) [N m, N]
            Of the motors, before the losses, as in `forward_dynamics`.
        wrenches, base, out
            As in `forward_dynamics`.

        Returns
        -------
        lost : ndarray, shape (..., nv) [N m, N]
            The part of ``tau`` that gears take; ``lost @ v`` is the power that heats them.

        Raises
        ------
        UnknownNameError, InconsistentStateError, SingularError
            As in `forward_dynamics`.

        Examples
        --------
        >>> import robodyn as rd
        >>> gear = rd.Actuator(gear_ratio=50.0, efficiency=0.8)
        >>> robot = rd.load("double_pendulum", actuators={"shoulder": gear})
        >>> q, v = [0.3, 0.2], [1.0, 0.0]
        >>> tau = robot.inverse_dynamics(q, v, [2.0, 1.0])
        >>> bool(abs(robot.gear_friction(q, v, tau)[0] - 0.2 * tau[0]) < 1e-12)
        True
        """
        return self._now.evaluator.call(
            "gear_friction", (q, v, tau), wrenches=wrenches, base=base, out=out
        )

    def elastic_forces(
        self,
        q: ArrayLike,
        *,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Forces of springs, the ground and potentials: minus the gradient of `elastic_energy`.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        tau : ndarray, shape (..., nv) [N m, N]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum", springs={"elbow": (8.0, 0.0)})  # 8 N m/rad
        >>> robot.elastic_forces([0.3, 0.5]).tolist()
        [0.0, -4.0]
        """
        return self._now.evaluator.call("elastic_forces", (q,), base=base, out=out)

    def ground_contacts(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        base: BaseMotion | None = None,
    ) -> dict[str, GroundContact]:
        """Force, depth and slip where points of links may touch the ground, by name of the contact.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        base : BaseMotion, optional

        Returns
        -------
        contacts : dict of str to GroundContact
            Those of `Ground.points`; none for a robot without a ground.

        Examples
        --------
        >>> import robodyn as rd
        >>> floor = rd.Ground({"foot": ("lower", (0, 0, -1))}, height=-1.9, stiffness=1e4)
        >>> robot = rd.load("double_pendulum", ground=floor)
        >>> foot = robot.ground_contacts([0.0, 0.0], [0.0, 0.0])["foot"]
        >>> float(foot.depth.round(9)), float(foot.force[2].round(3))  # 1e4 0.1^1.5
        (0.1, 316.228)
        """
        if not self.ground:
            return {}
        found = self._now.evaluator.answer("ground_contacts", (q, v), base=base)
        return cast("dict[str, GroundContact]", found)

    # -- centre of mass, energies, momentum -------------------------------------------------------

    def center_of_mass(
        self,
        q: ArrayLike,
        *,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Centre of mass of everything that moves, in the world.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        p_W : ndarray, shape (..., 3) [m]

        Raises
        ------
        SettingsError
            Nothing that moves has a mass.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> float(robot.center_of_mass([0.0, 0.0])[2])  # two rods of 1 m that hang down
        -1.0
        """
        return self._now.evaluator.call("center_of_mass", (q,), base=base, out=out)

    def kinetic_energy(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Kinetic energy, rotors included.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        T : ndarray, shape (...) [J]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> float(robot.kinetic_energy([0.0, 0.0], [3.0, 0.0]).round(6))  # (m l^2 / 3) v^2 / 2
        12.0
        """
        return self._now.evaluator.call("kinetic_energy", (q, v), base=base, out=out)

    def potential_energy(
        self,
        q: ArrayLike,
        *,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Potential energy of gravity, springs, the ground and force laws that have one.

        Zero with all mass at the world origin and all springs relaxed.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        U : ndarray, shape (...) [J]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> float(robot.potential_energy([0.0, 0.0]).round(6))  # 2 kg, 1 m below the origin
        -19.62
        """
        return self._now.evaluator.call("potential_energy", (q,), base=base, out=out)

    def elastic_energy(
        self,
        q: ArrayLike,
        *,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """The part of the potential energy that is in springs, the ground and force laws.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        U : ndarray, shape (...) [J]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum", springs={"elbow": (8.0, 0.0)})  # 8 N m/rad
        >>> float(robot.elastic_energy([0.3, 0.5]))
        1.0
        """
        return self._now.evaluator.call("elastic_energy", (q,), base=base, out=out)

    def momentum(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Linear and angular momentum about the centre of mass, in world axes.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        momentum : ndarray, shape (..., 6) [kg m/s, kg m^2/s]

        Raises
        ------
        SettingsError
            Nothing that moves has a mass.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> robot.momentum([0.0, 0.0], [3.0, 0.0])[:3].round(6).tolist()  # 2 kg, 1 m below the axis
        [-6.0, 0.0, 0.0]
        """
        return self._now.evaluator.call("momentum", (q, v), base=base, out=out)

    def centroidal_matrix(
        self,
        q: ArrayLike,
        *,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Matrix A with ``momentum = A v`` while the base is at rest.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        A : ndarray, shape (..., 6, nv) [kg m, kg m^2]

        Raises
        ------
        SettingsError
            Nothing that moves has a mass.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> q, v = [0.3, 0.4], [1.0, 2.0]
        >>> bool(abs(robot.centroidal_matrix(q) @ v - robot.momentum(q, v)).max() < 1e-12)
        True
        """
        return self._now.evaluator.call("centroidal_matrix", (q,), base=base, out=out)

    # -- frames -----------------------------------------------------------------------------------

    def frame_pose(
        self,
        q: ArrayLike,
        frame: str,
        *,
        relative_to: str = "world",
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Pose ``X_WF`` of a frame, in the world or in another link.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        frame : str
            Name of a link.
        relative_to : str
            ``"world"``, or the link that the motion is seen from.
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        X : ndarray, shape (..., 4, 4) [1, m]

        Raises
        ------
        UnknownNameError
            If there is no such frame.

        Examples
        --------
        >>> import numpy as np
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> X = robot.frame_pose([-np.pi / 2, 0.0], "tip")  # held out along x
        >>> float(X[0, 3].round(9)), bool(abs(X[2, 3]) < 1e-12)
        (2.0, True)
        """
        return self._now.evaluator.call(
            "frame_pose", (q,), base=base, out=out, frame=frame, relative_to=relative_to
        )

    def frame_twist(
        self,
        q: ArrayLike,
        v: ArrayLike,
        frame: str,
        *,
        relative_to: str = "world",
        axes: Axes = "body",
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Twist of a frame: velocity of its origin, and angular velocity.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        frame : str
            Name of a link.
        relative_to : str
            ``"world"``, or the link that the motion is seen from.
        axes : {"body", "world"}
            Axes of the result, which is about the origin of the frame in both cases.
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        V : ndarray, shape (..., 6) [m/s, rad/s]

        Raises
        ------
        UnknownNameError
            If there is no such frame.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> V = robot.frame_twist([0.0, 0.0], [3.0, 0.0], "tip")
        >>> float(V[0]), float(V[4])  # 2 m below an axis along y, about which it turns
        (-6.0, 3.0)
        """
        choice: dict[str, Any] = {"frame": frame, "relative_to": relative_to, "axes": axes}
        return self._now.evaluator.call("frame_twist", (q, v), base=base, out=out, **choice)

    def frame_jacobian(
        self,
        q: ArrayLike,
        frame: str,
        *,
        relative_to: str = "world",
        axes: Axes = "body",
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Jacobian J of a frame's twist: ``twist = J v`` while the base is at rest.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        frame : str
            Name of a link.
        relative_to : str
            ``"world"``, or the link that the motion is seen from.
        axes : {"body", "world"}
            Axes of the result, which is about the origin of the frame in both cases.
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        J : ndarray, shape (..., 6, nv) [m, 1]

        Raises
        ------
        UnknownNameError
            If there is no such frame.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> J = robot.frame_jacobian([0.0, 0.0], "tip", axes="world")
        >>> J[0].tolist()  # along x: arms of 2 m and 1 m that hang down
        [-2.0, -1.0]
        """
        choice: dict[str, Any] = {"frame": frame, "relative_to": relative_to, "axes": axes}
        return self._now.evaluator.call("frame_jacobian", (q,), base=base, out=out, **choice)

    def frame_poses(
        self,
        q: ArrayLike,
        frames: Iterable[str] | None = None,
        *,
        relative_to: str = "world",
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Poses of many frames at once: `frame_pose` of each.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        frames : names of links, optional
            Default: all, in the order of `frame_names`.
        relative_to : str
            ``"world"``, or the link that the motion is seen from.
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        X : ndarray, shape (..., nf, 4, 4) [1, m]

        Raises
        ------
        UnknownNameError
            If there is no such frame.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> X = robot.frame_poses([0.0, 0.0], ["upper", "lower", "tip"])
        >>> X[:, 2, 3].tolist()  # heights
        [0.0, -1.0, -2.0]
        """
        choice: dict[str, Any] = {"frames": _names(frames), "relative_to": relative_to}
        return self._now.evaluator.call("frame_poses", (q,), base=base, out=out, **choice)

    def frame_twists(
        self,
        q: ArrayLike,
        v: ArrayLike,
        frames: Iterable[str] | None = None,
        *,
        relative_to: str = "world",
        axes: Axes = "body",
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Twists of many frames at once: `frame_twist` of each.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        frames : names of links, optional
            Default: all, in the order of `frame_names`.
        relative_to : str
            ``"world"``, or the link that the motion is seen from.
        axes : {"body", "world"}
            Axes of the result, which is about the origin of each frame in both cases.
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        V : ndarray, shape (..., nf, 6) [m/s, rad/s]

        Raises
        ------
        UnknownNameError
            If there is no such frame.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> robot.frame_twists([0.0, 0.0], [3.0, 0.0], ["lower", "tip"])[:, 0].tolist()  # along x
        [-3.0, -6.0]
        """
        choice: dict[str, Any] = {"frames": _names(frames), "relative_to": relative_to}
        choice["axes"] = axes
        return self._now.evaluator.call("frame_twists", (q, v), base=base, out=out, **choice)

    def frame_jacobians(
        self,
        q: ArrayLike,
        frames: Iterable[str] | None = None,
        *,
        relative_to: str = "world",
        axes: Axes = "body",
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Jacobians of many frames at once: `frame_jacobian` of each.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        frames : names of links, optional
            Default: all, in the order of `frame_names`.
        relative_to : str
            ``"world"``, or the link that the motion is seen from.
        axes : {"body", "world"}
            Axes of the result, which is about the origin of each frame in both cases.
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        J : ndarray, shape (..., nf, 6, nv) [m, 1]

        Raises
        ------
        UnknownNameError
            If there is no such frame.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> J = robot.frame_jacobians([0.0, 0.0], ["lower", "tip"], axes="world")
        >>> J[:, 0].tolist()  # along x
        [[-1.0, 0.0], [-2.0, -1.0]]
        """
        choice: dict[str, Any] = {"frames": _names(frames), "relative_to": relative_to}
        choice["axes"] = axes
        return self._now.evaluator.call("frame_jacobians", (q,), base=base, out=out, **choice)

    def frame_jacobian_dot(
        self,
        q: ArrayLike,
        v: ArrayLike,
        frame: str,
        *,
        relative_to: str = "world",
        axes: Axes = "body",
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Time derivative of `frame_jacobian`.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        frame : str
            Name of a link.
        relative_to : str
            ``"world"``, or the link that the motion is seen from.
        axes : {"body", "world"}
            Axes of the result, which is about the origin of the frame in both cases.
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        J_dot : ndarray, shape (..., 6, nv) [m/s, 1/s]

        Raises
        ------
        UnknownNameError
            If there is no such frame.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> q, v, zero = [0.3, 0.4], [1.0, 2.0], [0.0, 0.0]
        >>> a = robot.frame_acceleration(q, v, zero, "tip")
        >>> bool(abs(robot.frame_jacobian_dot(q, v, "tip") @ v - a).max() < 1e-12)
        True
        """
        choice: dict[str, Any] = {"frame": frame, "relative_to": relative_to, "axes": axes}
        return self._now.evaluator.call("frame_jacobian_dot", (q, v), base=base, out=out, **choice)

    def frame_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        frame: str,
        *,
        relative_to: str = "world",
        axes: Axes = "body",
        classical: bool = False,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Acceleration of a frame: rate of its twist, or classical acceleration of its origin.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        a : array_like, shape (..., nv) [rad/s^2, m/s^2]
            Rates of ``v``.
        frame : str
            Name of a link.
        relative_to : str
            ``"world"``, or the link that the motion is seen from.
        axes : {"body", "world"}
            Axes of the result, which is about the origin of the frame in both cases.
        classical : bool
            ``True``: acceleration of the frame's origin, as an observer at rest in
            ``relative_to`` sees it; ``False``: derivative of the body twist.
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        A : ndarray, shape (..., 6) [m/s^2, rad/s^2]

        Raises
        ------
        UnknownNameError
            If there is no such frame.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> a = robot.frame_acceleration([0.0, 0.0], [2.0, 0.0], [0.0, 0.0], "tip", classical=True)
        >>> float(a[2])  # upwards, to the shoulder: speed squared times 2 m
        8.0
        """
        choice: dict[str, Any] = {"frame": frame, "relative_to": relative_to, "axes": axes}
        choice["classical"] = bool(classical)
        return self._now.evaluator.call(
            "frame_acceleration", (q, v, a), base=base, out=out, **choice
        )

    # -- joint loads and motors -------------------------------------------------------------------

    def inverse_kinematics(
        self,
        targets: Targets | None = None,
        q0: ArrayLike | None = None,
        *,
        limits: bool = True,
        posture: ArrayLike | None = None,
        base: BaseMotion | None = None,
        tasks: Tasks | None = None,
    ) -> IKResult:
        """Postures in which frames have given poses or positions, loops closed.

        Damped least squares from ``q0``, then from other starts, always the same, until one leads
        to the targets. A target that cannot be reached is no error: the posture found then is the
        best of all starts, ``converged`` is False.

        Of angles that differ by whole turns, those nearest to ``posture``, or ``q0``, are returned.

        Parameters
        ----------
        targets : mapping of link name to array_like, shape (..., 4, 4) or (..., 3) [1, m]
            Pose of the link in the world, or position of its origin.
        q0 : array_like, shape (..., nq), optional [rad, m]
            Where the search begins, moved within the limits. Default: ``posture``, or `neutral`.
        limits : bool
            Keep positions of joints within their limits; not those of joints that are cut or follow
            others.
        posture : array_like, shape (..., nq), optional [rad, m]
            Preferred where the targets leave a choice, moved within the limits: joints go there as
            far as they may. It does not act on spherical, planar and floating joints.
        base : BaseMotion, optional
            Motion of a moving base, the same for all rows. Default: at rest.
        tasks : Task, iterable of Task, or of iterables of Task, optional
            Whose errors the posture takes away, instead of ``targets``: with weights, and levels as
            in `velocity_for`. The residual is that of the first level. Needs the extra ``qp``.

        Warns
        -----
        ConvergenceWarning
            Once, if no posture was found for some targets: the result is the nearest one.

        Returns
        -------
        IKResult
            ``q``, ``residual``, ``converged``, and ``at_limits``.

        Raises
        ------
        ShapeError
            For targets that are no poses of rigid bodies or positions, and numbers that are not
            finite.
        UnknownNameError
            For links that do not exist.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> found = robot.inverse_kinematics({"tip": [1.0, 0.0, -1.0]})
        >>> bool(found.converged), float(abs(found.q[1]).round(6))  # the elbow is at 90 degrees
        (True, 1.570796)
        >>> float(robot.frame_pose(found.q, "tip")[0, 3].round(6))
        1.0
        """
        self._posed()
        if tasks is not None:
            if targets is not None or posture is not None or base is not None:
                raise SettingsError(
                    "tasks= goes with q0= and limits= alone: give a posture as a task"
                )
            return self._now.task_postures.solve(tasks, q0, limits)
        if targets is None:
            raise ShapeError("targets is missing: give {frame: pose or point}, or tasks=")
        part = self._now.inverse_kinematics
        return part.solve(targets, q0, limits, posture, base)

    def velocity_for(
        self,
        tasks: Tasks,
        q: ArrayLike,
        *,
        dt: float,
        limits: bool = True,
        locked: Iterable[str] = (),
        damping: float = 1e-6,
    ) -> Array:
        """Speeds that take the errors of tasks away within a step, limits kept and loops closed.

        The least of ``weight |J v - gain e / dt|^2`` over all tasks and ``damping |v|^2`` [Kanoun,
        Lamiraux, Wieber, 2011], where positions after the step, and speeds, are within limits; not
        those of joints that are cut or follow others. A moving base is at rest in the axes of the
        world. Needs the extra ``qp``.

        Parameters
        ----------
        tasks : Task, iterable of Task, or of iterables of Task
            Several lists are levels, in the order of their priority: each moves the robot in the
            null space of the Jacobians of those before.
        q : array_like, shape (nq,) [rad, m]
        dt : float [s]
            Time of the step, within which the share ``gain`` of each error is to be taken away.
        limits : bool
            Keep the limits of positions and speeds.
        locked : names of joints
            They stay where they are.
        damping : float
            Weight of the squares of speeds, which keeps them small at singular postures.

        Returns
        -------
        v : ndarray, shape (nv,) [rad/s, m/s]

        Raises
        ------
        ShapeError, SettingsError, UnknownNameError
        ActuationError
            If no speeds keep limits and loops.
        MissingExtraError

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> q = [0.3, 0.9]
        >>> tip = robot.frame_pose(q, "tip")[:3, 3]
        >>> task = rd.Task(tip + [0.001, 0.0, 0.0], frame="tip", components=(0, 2))
        >>> v = robot.velocity_for([task], q, dt=0.01)
        >>> (robot.frame_twist(q, v, "tip", axes="world")[[0, 2]].round(3) + 0.0).tolist()
        [0.1, 0.0]
        """
        self._posed()
        part = self._now.task_velocities
        return part.solve(tasks, q, dt, limits, locked, damping)

    def acceleration_for(
        self,
        tasks: Tasks,
        q: ArrayLike,
        v: ArrayLike,
        *,
        limits: bool = True,
        stiffness: float = 100.0,
        damping: float | None = None,
    ) -> TaskDynamics:
        """Accelerations, motor forces and contact forces for tasks: whole-body inverse dynamics.

        A task asks for the acceleration ``gain (stiffness e - damping J v)``, a momentum for the
        rate ``gain sqrt(stiffness) (target - momentum)``. The weighted squares of the residuals are
        least, with loops and contacts kept, motors within their limits, and contact forces
        within the wrench cones of their surfaces [Del Prete, Mansard, 2016]. A moving base is at
        rest in the axes of the world. Needs the extra ``qp``.

        Parameters
        ----------
        tasks : Task, or iterable of Task
        q : array_like, shape (nq,) [rad, m]
        v : array_like, shape (nv,) [rad/s, m/s]
        limits : bool
            Keep forces of motors within the limits of joints and motors.
        stiffness : float [1/s^2]
        damping : float, optional [1/s]
            Default: ``2 sqrt(stiffness)``, with which errors vanish without oscillation.

        Returns
        -------
        dynamics : TaskDynamics
            ``.a``, ``.tau``, ``.motor_forces``, ``.contact_forces`` and ``.residuals``.

        Raises
        ------
        ShapeError, SettingsError, UnknownNameError
        ActuationError
            If no forces within limits and cones hold the robot.
        MissingExtraError

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> q, v = [0.3, 0.9], [0.0, 0.0]
        >>> tip = robot.frame_pose(q, "tip")[:3, 3] + [0.01, 0.0, 0.0]
        >>> found = robot.acceleration_for(rd.Task(tip, frame="tip", components=(0, 2)), q, v)
        >>> A = robot.frame_acceleration(q, v, found.a, "tip", axes="world")
        >>> (A[[0, 2]].round(3) + 0.0).tolist()
        [1.0, 0.0]
        """
        self._posed(forces=True)
        part = self._now.task_accelerations
        return part.solve(tasks, q, v, limits, stiffness, damping)

    def operational_inertia(
        self,
        q: ArrayLike,
        frame: str,
        *,
        axes: Axes = "body",
        components: Iterable[int] = range(6),
    ) -> Array:
        """Operational-space inertia of a frame of a tree, ``(J M^-1 J^T)^-1``.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        frame : str
            Name of a link.
        axes : {"body", "world"}
            Axes of the result, which is about the origin of the frame in both cases.
        components : iterable of int
            Those of the frame's twist that count: linear 0, 1, 2, angular 3, 4, 5. Wrenches along
            the others are zero.

        Returns
        -------
        inertia : ndarray, shape (..., n, n) [kg, kg m, kg m^2]

        Raises
        ------
        UnknownNameError
            If there is no such frame.
        SingularError
            Where the frame cannot move in all of these components.
        SettingsError
            For a robot with closed loops.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> inertia = robot.operational_inertia([0.0, 0.0], "tip", components=[0])
        >>> float(inertia[0, 0].round(6))  # the mass that a push along x feels at the tip
        0.291667
        """
        part = self._now.operational_space
        return part.inertia(q, frame, axes, components)

    def manipulability(
        self,
        q: ArrayLike,
        frame: str,
        *,
        axes: Axes = "body",
        components: Iterable[int] = range(6),
    ) -> Array:
        """Manipulability of a frame, ``sqrt(det(J J^T))`` with its Jacobian J.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        frame : str
            Name of a link.
        axes : {"body", "world"}
            That the components are along.
        components : iterable of int
            Those of the frame's twist that count: linear 0, 1, 2, angular 3, 4, 5.

        Returns
        -------
        manipulability : ndarray, shape (...) [m, 1]
            Zero where the frame cannot move in all components.

        Raises
        ------
        UnknownNameError
            If there is no such frame.
        SettingsError
            For a robot with closed loops.

        Notes
        -----
        [Yoshikawa 1985]. Its unit is a product of those of the components.

        Examples
        --------
        >>> import numpy as np
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> q = [0.3, np.pi / 2]  # the rods of 1 m are at right angles
        >>> float(robot.manipulability(q, "tip", components=(0, 2)).round(6))
        1.0
        """
        part = self._now.operational_space
        return part.manipulability(q, frame, axes, components)

    def plot(
        self,
        q: ArrayLike,
        path: str | os.PathLike[str] | None = None,
        *,
        wrenches: JointWrenches | None = None,
        frames: bool = False,
        base: BaseMotion | None = None,
        axes: Any = None,
    ) -> Any:
        """Draw a posture: links as lines, joints as dots, forces in joints as arrows.

        What lies in a plane is drawn in it, another robot in space with its shadow. Joints with a
        motor, passive joints, and joints that close a loop have different marks. Of an open loop,
        a dotted line joins the places that are to meet, and a number says how far apart they are.

        Parameters
        ----------
        q : array_like, shape (nq,) [rad, m]
            Positions of the joints.
        path : path, optional
            Image file to write. Default: show a window, where there is a display.
        wrenches : JointWrenches, optional
            Of the same posture, by `joint_wrenches`: what the parent exerts on the child.
        frames : bool
            Draw the frame of each joint on its child link, and both frames of a joint that closes a
            loop: they agree where it is closed, but for the motion of that joint.
        base : BaseMotion, optional
        axes : matplotlib axes, optional
            To draw into, of two dimensions or of three.

        Returns
        -------
        figure : matplotlib.figure.Figure

        Raises
        ------
        MissingExtraError
            Without matplotlib (extra ``plot``).
        ShapeError
            If there is more than one posture.

        Examples
        --------
        >>> import robodyn as rd
        >>> from matplotlib.figure import Figure
        >>> robot = rd.load("four_bar")
        >>> q, rest = robot.neutral(), [0.0] * robot.nv
        >>> wrenches = robot.joint_wrenches(q, rest, rest)
        >>> figure = robot.plot(q, wrenches=wrenches, axes=Figure().subplots())
        """
        from robodyn.parts.posture_picture import PosturePicture
        from robodyn.pictures.stick_drawing import draw_figure

        q = one_guess(self._now.space, q, np.asarray(q))
        X = self.frame_poses(q, self.link_names, base=base)
        opened = [gap.name for gap in self.loop_gaps(q) if gap.residual > LOOP_GAP_SHOWN]
        places = dict(zip(self.link_names, X, strict=True))
        forces = None if wrenches is None else wrenches.in_frame("world")
        drawn = PosturePicture(self).figure(places, forces, opened, frames=frames)
        return draw_figure(path, drawn, axes=axes, title=self.name)

    def joint_wrenches(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike | None = None,
        *,
        joints: Iterable[str] | None = None,
        controlled: ByJoint | None = None,
        tau: ByJoint | None = None,
        locked: Iterable[str] = (),
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
    ) -> JointWrenches:
        """Force and moment in every joint: what the parent exerts on the child.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        a : array_like, shape (..., nv), optional [rad/s^2, m/s^2]
            Default: they follow from ``controlled``, ``tau`` and ``locked`` as in
            `hybrid_dynamics`.
        joints : names of joints, optional
            Default: all that move. Fixed joints may be named, too. ``"base"`` is in every result.
        controlled, tau, locked, wrenches, base
            As in `hybrid_dynamics`.

        Returns
        -------
        wrenches : JointWrenches
            By joint name, shape (..., 6) [N, N m], about the child link frame's origin in child
            axes; ``"base"``: what the ground or the carrier of the base exerts on the root link, in
            its frame. ``.motor``, ``.passive`` and ``.bearing`` split it, ``.in_frame`` turns it.

        Raises
        ------
        ShapeError
            If ``a`` is given together with ``controlled``, ``tau`` or ``locked``.
        UndeterminedWrenchError
            For a joint on which the force of a `Constraint` between several joints, or of a
            coupling of more than two, may act: neither defines the bodies on which it acts. Without
            ``joints`` such joints are left out, and the result raises the error when asked for one.
        UnknownNameError, ActuationError
        InconsistentStateError, SingularError
            As in `inverse_dynamics`.

        Notes
        -----
        [W 5.180]. External wrenches on the root link are carried by the base. In minimal
        coordinates with motors at dependent joints, generalised forces are produced by the motors.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> rest = [0.0, 0.0]
        >>> wrenches = robot.joint_wrenches(rest, rest, rest)
        >>> [float(wrenches[name][2].round(6)) for name in ("shoulder", "elbow", "base")]
        [19.62, 9.81, 19.62]
        """
        roles = roles_without(self._model, a, controlled, tau, locked)
        find = self._now.joint_forces
        return find.at(q, v, a, joints, roles, wrenches=wrenches, base=base)

    def contact_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        *,
        cones: bool = True,
    ) -> ContactForces:
        """Wrenches on the links that are in contact, `contacts`.

        Where they are not determined they are those of least norm; with ``cones``, among those that
        keep friction, push and leave the zero-moment point within the surface, if there are some.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        a : array_like, shape (..., nv), optional [rad/s^2, m/s^2]
            Default: `forward_dynamics` with ``tau``.
        tau : array_like, shape (..., nv), optional [N m, N]
            Default: none.
        cones : bool
            Needs the extra ``qp`` where forces of least norm break a cone.

        Returns
        -------
        forces : ContactForces
            By link, shape (..., 6) [N, N m], about the origin of the contact frame in its axes.
            ``.broken`` says by how much what is needed is more than a surface can give.

        Raises
        ------
        SettingsError
            Without contacts.
        ActuationError
            If ``a`` and ``tau`` contradict each other.
        ShapeError, InconsistentStateError, SingularError

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("satellite", base="floating", gravity=(0, 0, -9.81))
        >>> standing = robot.with_(contacts={"bus": rd.Contact("surface", at=(0, 0, -0.5))})
        >>> q, rest = standing.neutral(), [0.0] * standing.nv
        >>> tau = standing.inverse_dynamics(q, rest, rest)
        >>> forces = standing.contact_forces(q, rest, rest, tau)
        >>> round(float(forces["bus"][2] / (9.81 * standing.total_mass)), 9)
        1.0
        """
        tau = np.zeros(self.nv) if tau is None else tau
        a = self.forward_dynamics(q, v, tau) if a is None else a
        return self._now.contact_wrenches.solve(q, v, a, tau, cones)

    def measure(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
        *,
        tau: ByJoint | None = None,
        sensors: Iterable[str] | None = None,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
    ) -> dict[str, Array]:
        """Readings of the sensors in a state.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv), optional [rad/s, m/s]
        a : array_like, shape (..., nv), optional [rad/s^2, m/s^2]
            Only needed if a sensor depends on it.
        tau : array_like, shape (..., nv), or mapping of joint name to array_like [N m, N]
            Given instead of ``a``, which then follows as in `hybrid_dynamics`. In a closed linkage
            the wrenches in joints depend on these forces.
        sensors : names of sensors, optional
            Sensors to read; only what these need must be given. Default: all.
        wrenches, base
            As in `inverse_dynamics`. External wrenches affect the joint wrenches that sensors read.

        Returns
        -------
        readings : dict of sensor name to ndarray, shape (..., n) [units of the sensor]
            Reading of each; `sensors` has the meaning (``.columns``) and ``.units`` of its numbers.

        Raises
        ------
        ShapeError
            If a sensor needs an argument that is not given; the error names it.
        SingularError
            If a reading is not defined, such as the rate of a distance that is zero.
        SettingsError
            The robot has no sensors.
        UnknownNameError
        InconsistentStateError, ActuationError
            As in `joint_wrenches`, if a sensor reads wrenches.

        Examples
        --------
        >>> import robodyn as rd
        >>> imu = rd.Sensor("imu", at=("lower", [0, 0, -0.5]), name="imu")
        >>> flange = rd.Sensor("wrench", joint="elbow", name="flange")
        >>> robot = rd.load("double_pendulum", sensors=[imu, flange])
        >>> shown = robot.measure([0.0, 0.0], [1.0, 0.0], [0.0, 0.0])
        >>> {name: round(float(x[2]), 3) for name, x in shown.items()}  # along z: 9.81 + 1.5
        {'imu': 11.31, 'flange': 11.31}
        """
        return self._now.measurements.at(q, v, a, tau, sensors, wrenches=wrenches, base=base)

    # -- impacts ----------------------------------------------------------------------------------

    @property
    def impact_dynamics(self) -> ImpactDynamics:
        """The object that computes impacts, for other parts of robodyn.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> robot.impact_dynamics is robot.impact_dynamics  # made once
        True
        """
        return self._made.impacts

    def impact(
        self,
        q: ArrayLike,
        v: ArrayLike,
        link: str,
        point: ArrayLike,
        direction: ArrayLike | None,
        *,
        restitution: float = 0.0,
        against: tuple[str, ArrayLike] | PointMass | RobotPoint | None = None,
        base: BaseMotion | None = None,
        controlled: Iterable[str] = (),
        friction: float | None = 0.0,
    ) -> Impact:
        """Impact of a link: the jumps of all speeds, and the impulses that cause them.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
            Speeds just before the impact.
        link : str
        point : array_like, shape (3,) [m]
            Point of the link that is hit, from the link's origin in link axes.
        direction : array_like, shape (..., 3) [1], or None
            Direction of the impulse on the link without friction, in world axes: the normal of the
            contact, from the other body into the link. ``None``: the point sticks.
        restitution : float
            Coefficient of restitution, the speed of separation over that of approach: 0 plastic, 1
            elastic.
        against : None, (link, point), PointMass or RobotPoint, optional
            What the link hits: the immovable world (None), another point of this robot, a particle,
            or a point of another robot.
        base : BaseMotion, optional
            Motion of a moving base, whose speed does not jump. Default: at rest.
        controlled : names of joints, optional
            Their speeds follow prescribed motions, and do not jump.
        friction : float, optional
            Coefficient of Coulomb friction at the contact; without friction if None.
            docs/guides/motions/impacts.md explains what is assumed.

        Returns
        -------
        impact : Impact
            ``.v`` afterwards, ``.impulse`` on the link, ``.joint_impulses``, ``.energy_loss``,
            ``.against_v``.

        Raises
        ------
        ImpactError
            If the bodies separate already, the link cannot give way, or friction wedges them.
        SettingsError, ShapeError, UnknownNameError
        InconsistentStateError, SingularError
            As in `inverse_dynamics`.

        Notes
        -----
        [W 6.8-6.14, 6.18, 6.37]. The impulse takes no time: forces that stay finite do not count.
        ``energy_loss`` is what the contact takes; motors of controlled joints may give or take
        more.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> q, v = [0.3, 0.4], [1.0, 2.0]
        >>> hit = robot.impact(q, v, "lower", [0, 0, -1], [1, 0, 0])  # a wall stops the tip
        >>> bool(abs(robot.frame_twist(q, hit.v, "tip", axes="world")[0]) < 1e-12)
        True
        >>> lost = robot.kinetic_energy(q, v) - robot.kinetic_energy(q, hit.v)
        >>> bool(abs(hit.energy_loss - lost) < 1e-12)
        True
        """
        from robodyn.impacts.contact import RobotPoint
        from robodyn.impacts.one_hit import hit

        if isinstance(against, RobotPoint):
            expect("robot of against", against.robot, Robot, "against")
        return hit(
            self.impact_dynamics, (q, v), (link, point), direction, restitution, against, base,
            controlled, friction,
        )  # fmt: skip

    def impact_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        link: str,
        point: ArrayLike,
        direction: ArrayLike | None,
        *,
        restitution: float = 0.0,
        against: tuple[str, ArrayLike] | PointMass | RobotPoint | None = None,
        base: BaseMotion | None = None,
        controlled: Iterable[str] = (),
        friction: float | None = 0.0,
        parameters: bool = False,
    ) -> ImpactDerivatives:
        """Derivatives of the speeds after an impact with respect to the state before it.

        Parameters
        ----------
        q, v, link, point, direction, restitution, against, base, controlled, friction
            As in `impact`. What is hit stays the same.
        parameters : bool
            Also the derivative with respect to `inertial_parameters`.

        Returns
        -------
        derivatives : ImpactDerivatives
            ``.v`` afterwards, ``.by_q`` and ``.by_v``, shape (..., nv, nv), and
            ``.by_parameters``, shape (..., nv, 10 n). Of a closed linkage
            only changes of the state have a meaning that keep its loops closed.

        Raises
        ------
        ImpactError
            As in `impact`.
        SettingsError, ShapeError, UnknownNameError
        InconsistentStateError, SingularError
            As in `derivatives`.

        Notes
        -----
        [W 6.11-6.14, 6.18], differentiated: docs/guides/motions/impacts.md has the equations.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> v = [1.0, 2.0]
        >>> d = robot.impact_derivatives([0.3, 0.4], v, "lower", [0, 0, -1], [1, 0, 0])
        >>> bool(abs(d.by_v @ v - d.v).max() < 1e-12)  # the speeds afterwards are linear in v
        True
        """
        from robodyn.impacts.contact import RobotPoint
        from robodyn.impacts.derivatives import impact_derivatives

        if isinstance(against, RobotPoint):
            expect("robot of against", against.robot, Robot, "against")
        dynamics = self.impact_dynamics
        return impact_derivatives(
            dynamics,
            (q, v),
            (link, point),
            direction,
            restitution,
            against,
            base,
            controlled,
            friction,
            parameters,
        )

    def simultaneous_impacts(
        self,
        q: ArrayLike,
        v: ArrayLike,
        hits: Sequence[Hit],
        *,
        restitution: float = 0.0,
        base: BaseMotion | None = None,
        controlled: Iterable[str] = (),
    ) -> Impact:
        """Impacts of several points at one instant, without friction: the jumps of all speeds.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
            Speeds just before the impact.
        hits : list of Hit
            Points and what they hit. Points that separate already may be pushed back by the impulse
            of another, and then take part in the impact.
        restitution : float
            Coefficient of restitution of every hit: the least ratio of the speed of separation to
            the speed of approach.
        base, controlled
            As in `impact`.

        Returns
        -------
        impact : Impact
            As that of `impact`, but for k hits ``.impulse`` has shape (..., k, 3), and
            ``.against_v`` is a tuple with one entry for each hit.

        Raises
        ------
        ImpactError
            If no point approaches what it hits, or a link cannot give way.
        SettingsError, ShapeError, UnknownNameError
        InconsistentStateError, SingularError
            As in `inverse_dynamics`.

        Notes
        -----
        The impulses p and the normal speeds u before (-) and after (+) the impact satisfy the
        complementarity conditions ``p >= 0``, ``u+ + restitution u- >= 0``, and the product of both
        is zero for each hit [W 6.9-6.14; Moreau 1988]; docs/guides/motions/impacts.md explains what
        is assumed.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> walls = [rd.Hit(link, (0, 0, -1), (1, 0, 0)) for link in ("upper", "lower")]
        >>> hit = robot.simultaneous_impacts([0.3, 0.4], [1.0, 2.0], walls)  # both ends stop
        >>> bool(abs(hit.v).max() < 1e-12), bool((hit.impulse[:, 0] > 0).all())
        (True, True)
        """
        from robodyn.impacts.contact import RobotPoint
        from robodyn.impacts.several_hits import simultaneous_impacts

        for hit in hits if isinstance(hits, Sequence) else ():
            if isinstance(other := getattr(hit, "against", None), RobotPoint):
                expect("robot of against", other.robot, Robot, "against")
        return simultaneous_impacts(
            self.impact_dynamics, (q, v), hits, restitution, base, controlled
        )

    def latch(
        self,
        q: ArrayLike,
        v: ArrayLike,
        joints: Iterable[str],
        *,
        base: BaseMotion | None = None,
    ) -> Impact:
        """Sudden stop of some joints, as if caught by latches: the jumps of all speeds.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
            Speeds just before the impact.
        joints : names of joints
            Joints that stop. ``"joint[k]"``: one axis of a joint that has several. Cut joints stop
            along all their axes.
        base : BaseMotion, optional

        Returns
        -------
        impact : Impact
            The impulses of the latches are the components of `joint_impulses` along the joint axes.

        Raises
        ------
        ImpactError
            If a cut joint that is to stop is a function of time.
        UnknownNameError, ShapeError
        InconsistentStateError, SingularError
            As in `inverse_dynamics`.

        Notes
        -----
        [W problem 6.2].

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> caught = robot.latch([0.0, 0.0], [0.0, 1.0], ["elbow"])  # the rods turn on as one
        >>> (caught.v.round(6) + 0.0).tolist()  # 5/6 kg m^2 / (8/3 kg m^2)
        [0.3125, 0.0]
        """
        from robodyn.impacts.latch import latch

        return latch(self.impact_dynamics, (q, v), joints, base)

    def impulses(
        self,
        q: ArrayLike,
        v: ArrayLike,
        wrenches: Wrenches,
        *,
        base: BaseMotion | None = None,
        controlled: Iterable[str] = (),
    ) -> Impact:
        """Response to given impulses and impulsive couples: the jumps of all speeds.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
            Speeds just before the impact.
        wrenches : mapping of link name to array_like, shape (..., 6) [N s, N m s]
            The impulse on each link, and its couple about the link's origin, in link axes. An
            `rd.Wrench` acts at a point of a link, in its axes or in those of the world.
        base, controlled
            As in `impact`.

        Returns
        -------
        impact : Impact
            As of `impact`; ``.impulse`` has shape (..., links, 3), and ``.energy_loss`` is less
            than zero where impulses bring energy.

        Raises
        ------
        SettingsError, ShapeError, UnknownNameError
        InconsistentStateError, SingularError
            As in `inverse_dynamics`.

        Notes
        -----
        [W 6.18-6.24, 6.37].

        Examples
        --------
        A uniform rod of 2 m that is pinned at its end and struck at its other end:

        >>> import robodyn as rd
        >>> text = '''<robot name="rod"><link name="ground"/><link name="rod"><inertial>
        ... <origin xyz="1 0 0"/><mass value="3"/>
        ... <inertia ixx="0" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        ... <joint name="pin" type="continuous"><parent link="ground"/><child link="rod"/>
        ... <axis xyz="0 0 1"/></joint></robot>'''
        >>> struck = rd.load(text).impulses([0.0], [0.0], {"rod": [0, 1, 0, 0, 0, 2]})
        >>> float(struck.v[0].round(12)), float(struck.joint_impulses["pin"][1].round(12))
        (0.5, 0.5)
        """
        from robodyn.impacts.given_impulses import impulses

        return impulses(self.impact_dynamics, (q, v), wrenches, base, controlled)

    def impact_tensors(
        self,
        q: ArrayLike,
        link: str,
        point: ArrayLike,
        other: tuple[str, ArrayLike] | None = None,
        *,
        base: BaseMotion | None = None,
        controlled: Iterable[str] = (),
    ) -> ImpactTensors:
        """Tensors that map an impulse and a couple to the velocity jumps of a point and its link.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        link : str
        point : array_like, shape (3,) [m]
            Of the link, from its origin in its axes.
        other : (link, point), optional
            Where the impulse and the couple act. Default: at the point, and on its link.
        base, controlled
            As in `impact`.

        Returns
        -------
        tensors : ImpactTensors
            ``U``, ``V`` and ``W``, shape (..., 3, 3), in world axes: the point's velocity jumps by
            ``U p + V m``, the angular velocity of its link by ``V.T p + W m``. With ``other``,
            ``V.T`` is that of the two points exchanged, for which ``U`` and ``W`` are the
            transposes of these: reciprocity, as in Maxwell's and Betti's laws for displacements.

        Raises
        ------
        SettingsError, ShapeError, UnknownNameError
        InconsistentStateError, SingularError
            As in `inverse_dynamics`.

        Notes
        -----
        [W 6.25-6.29].

        Examples
        --------
        >>> import numpy as np
        >>> import robodyn as rd
        >>> robot = rd.load("arm7")
        >>> q, elbow, hand = robot.neutral() + 0.3, ("link4", (0, 0, 0.1)), ("link7", (0, 0, 0))
        >>> there = robot.impact_tensors(q, *elbow, hand)
        >>> back = robot.impact_tensors(q, *hand, elbow)
        >>> bool(np.allclose(there.U, back.U.T) and np.allclose(there.W, back.W.T))
        True
        """
        from robodyn.impacts.given_impulses import impact_tensors

        place = link, point
        return impact_tensors(self.impact_dynamics, q, place, other, base, controlled)

    def apparent_mass(
        self,
        q: ArrayLike,
        link: str,
        point: ArrayLike,
        direction: ArrayLike,
        *,
        base: BaseMotion | None = None,
    ) -> Array:
        """Apparent (effective) mass of a point of a link in a direction, as in an impact.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        link : str
        point : array_like, shape (3,) [m]
            From the link's origin in link axes.
        direction : array_like, shape (..., 3) [1]
            Along which it is hit, in world axes, of any length.
        base : BaseMotion, optional

        Returns
        -------
        mass : ndarray, shape (...) [kg]
            Impulse along the direction over the jump of velocity along it; infinite where the link
            cannot give way.

        Raises
        ------
        UnknownNameError
            If there is no such link.
        InconsistentStateError, SingularError
            As in `inverse_dynamics`.

        Notes
        -----
        [W p. 213].

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> mass = robot.apparent_mass([0.0, 0.0], "lower", [0, 0, -1], [1, 0, 0])
        >>> float(mass.round(6))  # 7/24 of the 1 kg of the lower rod
        0.291667
        """
        from robodyn.impacts.one_hit import apparent_mass

        return apparent_mass(self.impact_dynamics, q, (link, point), direction, base)

    @property
    def actuators(self) -> Mapping[str, Actuator]:
        """Motors by joint name, as given to `load` or read from the file.

        The motor behind an elastic gear turns a joint of its own, ``"joint_motor"``, and one that
        is commanded by voltage has the name of its winding, ``"joint_winding"``.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("four_bar").actuators["crank_drive"].gear_ratio
        20.0
        """
        return dict(self._model.motors)

    @property
    def gear_ratios(self) -> Array:
        """Motor speed over joint speed, shape (nv,) [1, rad/m]; 1 where no motor is described.

        Where a transmission couples several motors, over the speed of the motor's shaft. If a motor
        is at a joint that follows others, the shape is (m,), as of `motor_torques`.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("scara").gear_ratios.round(3).tolist()  # of the lift: rad/m
        [80.0, 50.0, 314.159, 20.0]
        """
        return self._model.gearing.ratios.copy()

    @property
    def transmissions(self) -> tuple[Transmission, ...]:
        """Transmissions that couple several motors, as given or read from the file.

        Examples
        --------
        >>> import robodyn as rd
        >>> wrist = rd.Transmission.differential("wrist", ["pan", "tilt"])
        >>> motors = {"pan": rd.Actuator(gear_ratio=10.0), "tilt": rd.Actuator(gear_ratio=10.0)}
        >>> robot = rd.load("pan_tilt", actuators=motors, transmissions=[wrist])
        >>> [transmission.name for transmission in robot.transmissions]
        ['wrist']
        """
        return self._model.mechanism.transmissions

    @property
    def transmission_matrix(self) -> Array:
        """Matrix from joint speeds to motor speeds, shape (nv, nv) [1, rad/m].

        Joint torques are the transposed matrix times motor torques. Each motor has the index of
        the joint it is described for; without `transmissions` the matrix is diagonal, with the
        gear ratios. If a motor is at a joint that follows others, the shape is (m, m), from speeds
        of the joints with motors.

        Examples
        --------
        >>> import robodyn as rd
        >>> wrist = rd.Transmission.differential("wrist", ["pan", "tilt"])
        >>> motors = {"pan": rd.Actuator(gear_ratio=10.0), "tilt": rd.Actuator(gear_ratio=10.0)}
        >>> robot = rd.load("pan_tilt", actuators=motors, transmissions=[wrist])
        >>> robot.transmission_matrix.tolist()  # shafts turn with the sum and the difference
        [[10.0, 10.0], [10.0, -10.0]]
        """
        return self._model.gearing.matrix

    @property
    def motor_torque_limits(self) -> Array:
        """Largest torque of each motor's shaft, shape (nv,) [N m, N]; infinite where unknown.

        If a motor is at a joint that follows others, the shape is (m,), as of `motor_torques`.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("scara").motor_torque_limits.tolist()
        [2.0, 1.3, 0.9, 0.7]
        """
        return self._model.gearing.torque_limits.copy()

    def actuation_matrix(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Generalised forces of a unit of force at each joint with a motor.

        With forces ``f`` of the joints of `actuated_joints`, in their order, ``tau`` is
        ``actuation_matrix(q) @ f``, and the joints move with the speeds ``actuation_matrix(q).T @
        v``. Each column has a single one if the joints have speeds of their own; joints that follow
        others depend on theirs.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        out : ndarray, shape (..., nv, m)
            Written to and returned.

        Returns
        -------
        B : ndarray, shape (..., nv, m) [1, m, 1/m]
            A column for each freedom of these joints.

        Examples
        --------
        >>> import numpy as np
        >>> import robodyn as rd
        >>> hexapod = rd.load("stewart", coordinates="minimal")
        >>> q, rest = hexapod.neutral(), np.zeros(6)
        >>> tau = hexapod.inverse_dynamics(q, rest, rest)
        >>> np.linalg.solve(hexapod.actuation_matrix(q), tau).round(1)  # of the six legs [N]
        array([130.2, 132.5, 107.4, 110.2, 121.4, 116.3])
        """
        return self._now.evaluator.call("actuation_matrix", (q,), out=out)

    def motor_torques(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
    ) -> Array:
        """Torque of each motor, at its own shaft, for given accelerations.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v, a : array_like, shape (..., nv) [rad/s, m/s], [rad/s^2, m/s^2]
        wrenches, base
            As in `inverse_dynamics`.

        Returns
        -------
        torques : ndarray, shape (..., nv) or (..., m) [N m, N]
            Each motor at the index in v of its joint. If a motor is at a joint without speeds of
            its own, as it follows others: one for each of the m freedoms of `actuated_joints`, in
            their order, by virtual work (`actuation_matrix`).

        Raises
        ------
        ActuationError
            Where a gear ratio is zero, or a transmission has a joint that cannot move by itself;
            where motors of a linkage do not produce these accelerations.
        UnknownNameError, InconsistentStateError, SingularError
            As in `inverse_dynamics`.

        Notes
        -----
        The generalised force over the gear ratio: it accelerates the rotor, overcomes the friction
        on both sides of the gear, and drives the joint. Where a transmission couples motors, the
        inverse of the transposed `transmission_matrix` times the generalised forces.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("pan_tilt")
        >>> q, v, a = [0.1, 0.2], [1.0, -2.0], [3.0, 4.0]
        >>> tau = robot.gear_ratios * robot.motor_torques(q, v, a)
        >>> bool(abs(tau - robot.inverse_dynamics(q, v, a)).max() < 1e-12)
        True
        """
        return self._now.motors.motor_torques(q, v, a, wrenches=wrenches, base=base)

    def motor_currents(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """Current of each electric motor, for forces of the motors.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
            Where motors are at joints that follow others; else of no account.
        tau : array_like, shape (..., nv) [N m, N]
            Such as those of `inverse_dynamics`, or of the driven joints in `hybrid_dynamics`.

        Returns
        -------
        currents : ndarray, shape (..., nv) or (..., m) [A]
            Each motor in the place that it has in `motor_torques`; NaN where none is electric, and
            of one that is commanded by voltage, whose current is a speed.

        Raises
        ------
        ActuationError
            As in `motor_torques`.
        ShapeError

        Examples
        --------
        >>> import robodyn as rd
        >>> drive = rd.Actuator(gear_ratio=50.0, motor=rd.Motor(0.1, 0.5))
        >>> robot = rd.load("double_pendulum", actuators={"shoulder": drive})
        >>> q, v = [0.3, 0.2], [0.0, 0.0]
        >>> found = robot.hybrid_dynamics(q, v, controlled={"shoulder": 2.0})
        >>> float(robot.motor_currents(q, found.tau)[0] - found.tau[0] / 50.0 / 0.1)
        0.0
        """
        return self._now.motors.motor_currents(q, tau)

    def motor_power(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
    ) -> Array:
        """Mechanical power of each motor.

        Parameters
        ----------
        q, v, a, wrenches, base
            As in `motor_torques`.

        Returns
        -------
        power : ndarray, shape (..., nv) or (..., m) [W]
            As `motor_torques`: torque at the shaft times speed; negative where the motor brakes.

        Raises
        ------
        ActuationError, UnknownNameError, InconsistentStateError, SingularError
            As in `motor_torques`.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("pan_tilt")
        >>> q, v, a = [0.1, 0.2], [1.0, -2.0], [3.0, 4.0]
        >>> power = robot.motor_torques(q, v, a) * robot.gear_ratios * v
        >>> bool(abs(robot.motor_power(q, v, a) - power).max() < 1e-12)
        True
        """
        return self._now.motors.motor_power(q, v, a, wrenches=wrenches, base=base)

    # -- closed loops -----------------------------------------------------------------------------

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Name of each constraint row, ``"loop[k]"``: nc of them.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("four_bar").constraint_names
        ('rocker_pin[0]', 'rocker_pin[1]', 'rocker_pin[2]', 'rocker_pin[3]', 'rocker_pin[4]')
        """
        return self._parts.rows.names

    def loop_residual(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Residual of the loop constraints: zero where the loops are closed.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        out : ndarray of the shape of the result, optional

        Returns
        -------
        residual : ndarray, shape (..., nc) [m, rad]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> float(abs(robot.loop_residual(robot.neutral())).max().round(9))
        0.0
        >>> open_loop = [0.0, 0.1, 0.0]  # the coupler is turned by 0.1 rad
        >>> float(abs(robot.loop_residual(open_loop)).max().round(4))
        0.0274
        """
        return self._now.rows.residual(q, out)

    def loop_gaps(self, q: ArrayLike | None = None) -> tuple[LoopGap, ...]:
        """Where both frames of each closure stand, and how far they are apart.

        Parameters
        ----------
        q : array_like, shape (nq,) [rad, m], optional
            A posture, closed or open. Default: `start`, where a closed one is looked for.

        Returns
        -------
        gaps : tuple of LoopGap
            One for each of `loops`, in their order: ``name``, ``kind``, ``links``, ``poses``,
            ``distance`` [m], ``angle`` [rad], ``residual``.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> [gap] = robot.loop_gaps([0.0, 0.1, 0.0])  # the coupler of 0.3046 m, turned by 0.1 rad
        >>> gap.name, gap.links, round(gap.distance, 4)
        ('rocker_pin', ('coupler', 'rocker_end'), 0.0305)
        """
        return self._posed().postures.loop_gaps(q)

    def loop_jacobian(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Constraint Jacobian K: the rate of `loop_residual` is ``K v``.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        out : ndarray of the shape of the result, optional

        Returns
        -------
        K : ndarray, shape (..., nc, nv) [m, 1]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> q, dv = robot.neutral(), 1e-6
        >>> rate = (robot.loop_residual(q + [dv, 0.0, 0.0]) - robot.loop_residual(q)) / dv
        >>> bool(abs(robot.loop_jacobian(q)[:, 0] - rate).max() < 1e-5)
        True
        """
        return self._now.rows.jacobian(q, out)

    def loop_bias(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """``dK/dt v``: accelerations that keep loops closed have ``K a = -bias``.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        out : ndarray of the shape of the result, optional

        Returns
        -------
        bias : ndarray, shape (..., nc) [m/s^2, rad/s^2]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> q = robot.neutral()
        >>> v = robot.consistent_velocity(q, [1.0, 0.0, 0.0])
        >>> a = robot.forward_dynamics(q, v, [0.0, 0.0, 0.0])
        >>> bool(abs(robot.loop_jacobian(q) @ a + robot.loop_bias(q, v)).max() < 1e-9)
        True
        """
        return self._now.rows.bias(q, v, out)

    def loop_velocity_offset(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Offset psi of possible velocities, ``K v = -psi``: zero unless constraints move in time.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        out : ndarray of the shape of the result, optional

        Returns
        -------
        offset : ndarray, shape (..., nc) [m/s, rad/s]

        Examples
        --------
        >>> import robodyn as rd
        >>> clock = rd.Constraint("clock", lambda q, t: q[0] - 0.3 * t, "crank_drive")
        >>> engine = rd.load("four_bar", constraints=[clock]).at(0.0)
        >>> engine.loop_velocity_offset(engine.neutral()).round(6).tolist()
        [0.0, 0.0, 0.0, 0.0, 0.0, -0.3]
        """
        return self._now.rows.offset(q, out)

    def loop_rank(self, q: ArrayLike) -> RankAnalysis:
        """Rank of the loop constraints, redundant rows, and the distance from singular postures.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]

        Returns
        -------
        analysis : robodyn.closed_loops.solvers.RankAnalysis
            ``rank``; ``redundant()``, by index of `constraint_names`; ``distance``: how far a
            posture is from a singular one, shape (...).

        Notes
        -----
        At singular postures, where ways to assemble a linkage meet, the constraints have a lower
        rank than elsewhere. With r the rank that they have elsewhere, ``distance`` is the r-th
        singular value of `loop_jacobian`, lengths in it measured in the longest link of the loops.
        Near a singular posture it grows in proportion to the way from there; far from all of them
        it is about 1. Rows that are redundant elsewhere, too, do not count. Rows of couplings and
        of users' constraints are taken as they are.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> robot.nc, int(robot.loop_rank(robot.neutral()).rank)  # a planar loop has two equations
        (5, 2)
        """
        parts = self._now
        return parts.mobility.rank(parts.projection.posture(q), parts.rows)

    def mobility(self, q: ArrayLike) -> int:
        """Degrees of freedom at a posture: nv less the rank of `loop_jacobian`.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]

        Returns
        -------
        dof : int

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> robot.mobility(robot.neutral())
        1
        """
        return self._posed().postures.mobility(q)

    @property
    def redundant_constraints(self) -> dict[str, tuple[str, ...]]:
        """Redundant constraint rows, each with those it follows from, at the neutral posture.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("four_bar").redundant_constraints  # of a planar loop: out of its plane
        {'rocker_pin[2]': (), 'rocker_pin[3]': (), 'rocker_pin[4]': ()}
        """
        return dict(self._parts.postures.redundant_constraints)

    @property
    def loops_analysis(self) -> LoopAnalysis:
        """Rank of the loops, independent rows and speeds, as found at several closed postures.

        Examples
        --------
        >>> import robodyn as rd
        >>> found = rd.load("four_bar").loops_analysis
        >>> found.rank, found.general_rank, found.independent
        (2, 2, (0,))
        """
        return self._parts.mobility.analysis

    def assemble(
        self,
        q: ArrayLike | None = None,
        hold: Iterable[str] = (),
        near: ArrayLike | None = None,
        *,
        beyond_limits: bool = False,
    ) -> Array:
        """A posture with loops closed, near a guess, within the limits.

        A guess may be nearer to another assembly branch than to the one meant. With ``near`` the
        branch is that of the posture ``near``: the joints of ``hold`` are moved from there to their
        positions in the guess, in small steps with loops closed.

        A search that lasts beyond ten seconds, here or in another method, says so in the log.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m], optional
            Guess, or several, each of which is closed by itself. Default: the zero position.
        hold : names of joints
            Keep their value. Default with ``near``: `independent_joints`.
        near : array_like, shape (..., nq) [rad, m], optional
            A closed posture on the wanted branch.
        beyond_limits : bool
            Coordinates that are beyond their limits in the guess may stay there, as those of a
            posture that was measured. Otherwise a joint to be held there is refused.

        Returns
        -------
        q : ndarray, shape (..., nq) [rad, m]

        Raises
        ------
        UnknownNameError
            If there is no joint of a name in ``hold``.
        AssemblyError
            With the posture that comes nearest, and what is left open. With ``near``: with the last
            posture of that branch on the way, where two branches meet or a joint is at its limit.
            In minimal coordinates: if loops do not close, there or on the way from ``near`` that is
            straight in these coordinates, or change between branches on it.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> q = robot.assemble([0.5, 0.0, 0.0], hold=["crank_drive"])
        >>> float(q[0]), bool(abs(robot.loop_residual(q)).max() < 1e-9)
        (0.5, True)
        """
        held, postures = named("hold", hold), self._posed().postures

        def one(guess: ArrayLike | None, on: ArrayLike | None) -> Array:
            return postures.assemble(guess, held, on, beyond_limits)

        minimal, own = self._made.tree is not None, self._parts
        find = closing(self._model, own.space, own.expansion, one) if minimal else one
        given = {x: numbers(x, y) for x, y in (("q", q), ("near", near)) if y is not None}
        if all(x.ndim < 2 for x in given.values()):
            return find(q, near)
        if minimal or near is not None or q is None:
            return assembled(find, given)
        return assembled(find, given, lambda x: postures.assemble_each(x, held, beyond_limits))

    def branch_sign(self, q: ArrayLike, *, path: bool = False) -> Array:
        """Sign that distinguishes the assembly branches which meet at singular postures.

        It is the sign of the determinant of the equations that give the other joints from the
        independent ones. If it changes along a motion, the linkage has passed a posture at which
        two branches meet, and may have moved from one to the other. A linkage of one loop has one
        branch for each sign; a linkage of several loops may have several.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        path : bool
            Whether the first axis of q is a motion in small steps. This matters for spatial
            overconstrained linkages whose redundant constraints change with the posture: with
            ``path`` the sign is followed from posture to posture, otherwise it is found from the
            nearest of some reference postures.

        Returns
        -------
        sign : ndarray of int, shape (...)
            +1 or -1; 0 where branches meet. 1 for a tree. In minimal coordinates that of
            `tree_form`.

        Raises
        ------
        InconsistentStateError
            If loops do not close there in minimal coordinates.
        SingularError
            If the rank of the loops changes from posture to posture: there is no such sign.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> other = robot.assemble([0.0, 1.5, -2.5], hold=["crank_drive"])  # the rocker lies lower
        >>> [int(robot.branch_sign(q)) for q in (robot.neutral(), other)]
        [1, -1]
        """
        if self._made.tree is not None:
            full = self._now.expansion.closed_positions(q)
            return self.tree_form.branch_sign(full, path=path)
        return self._now.postures.branch_sign(q, path)

    def closed_state(
        self, q: ArrayLike, v: ArrayLike, free: Array | None = None
    ) -> tuple[Array, Array]:
        """The closed state near one that has drifted a little, as in a time integration.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        free : ndarray of bool, shape (nv,), optional
            Speeds that may change. Default: all.

        Returns
        -------
        q : ndarray, shape (..., nq) [rad, m]
        v : ndarray, shape (..., nv) [rad/s, m/s]

        Notes
        -----
        A few steps of Newton's method with the least change in kinetic energy. Whether that has
        closed the loops of a state that was farther off, `check_state` tells.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> q, v = robot.closed_state(robot.neutral() + [0.0, 1e-4, 0.0], [0.0, 0.0, 0.0])
        >>> bool(abs(robot.loop_residual(q)).max() < 1e-9)
        True
        """
        if free is not None and (np.shape(free) != (self.nv,) or np.asarray(free).dtype != bool):
            raise ShapeError(
                f"free is {shown(free)}, expected True or False for each of {self.nv} speeds",
                name="free",
                given=free,
            )
        return self._now.postures.closed_state(q, v, free)

    def check_state(self, q: ArrayLike, v: ArrayLike) -> None:
        """Raise an error for states in which loops are open, come open, or are nearly singular.

        Methods check this themselves; functions (`function`) do not, so code that calls functions
        with its own states calls this first.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]

        Raises
        ------
        InconsistentStateError
            The loops are open, or these speeds open them, by more than the ``closure_tolerance``
            that the robot was loaded with; ``.loops`` are their names.
        SingularError
            Nearly a constraint is lost; ``.rows`` are the states of a batch.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> robot.check_state(robot.neutral(), [0.0, 0.0, 0.0])
        >>> try:
        ...     robot.check_state([0.5, 0.0, 0.0], [0.0, 0.0, 0.0])
        ... except rd.InconsistentStateError as error:
        ...     print(error.loops)
        ('rocker_pin',)
        """
        check_state(self._now.evaluator, q, v)

    def consistent_velocity(self, q: ArrayLike, v: ArrayLike, hold: Iterable[str] = ()) -> Array:
        """The velocity nearest to ``v``, in kinetic energy, that keeps the loops closed.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
            A posture in which the loops are closed.
        v : array_like, shape (..., nv) [rad/s, m/s]
        hold : names of joints
            Keep their velocity.

        Returns
        -------
        v : ndarray, shape (..., nv) [rad/s, m/s]

        Raises
        ------
        UnknownNameError
            If there is no joint of a name in ``hold``.
        AssemblyError
            If the velocities that are held contradict each other.
        InconsistentStateError
            If the loops are open.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> q = robot.neutral()
        >>> v = robot.consistent_velocity(q, [1.0, 0.0, 0.0], hold=["crank_drive"])
        >>> float(v[0]), bool(abs(robot.loop_jacobian(q) @ v).max() < 1e-12)
        (1.0, True)
        """
        return self._now.postures.consistent_velocity(q, v, named("hold", hold))

    def consistent_acceleration(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, hold: Iterable[str] = ()
    ) -> Array:
        """The accelerations nearest to ``a``, in kinetic energy, that keep the loops closed.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
            A posture in which the loops are closed.
        v : array_like, shape (..., nv) [rad/s, m/s]
            Speeds that keep them closed.
        a : array_like, shape (..., nv) [rad/s^2, m/s^2]
        hold : names of joints
            Keep their acceleration.

        Returns
        -------
        a : ndarray, shape (..., nv) [rad/s^2, m/s^2]

        Raises
        ------
        UnknownNameError
            If there is no joint of a name in ``hold``.
        AssemblyError
            If the accelerations that are held contradict each other.
        InconsistentStateError
            If the loops are open, or these speeds open them.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> q, rest = robot.neutral(), [0.0, 0.0, 0.0]
        >>> a = robot.consistent_acceleration(q, rest, [1.0, 0.0, 0.0], hold=["crank_drive"])
        >>> float(a[0]), bool(abs(robot.loop_jacobian(q) @ a).max() < 1e-12)
        (1.0, True)
        """
        return self._now.postures.consistent_acceleration(q, v, a, named("hold", hold))

    # -- minimal and independent coordinates ------------------------------------------------------

    @property
    def tree_form(self) -> Robot:
        """The same robot in tree coordinates, with constraints; itself, if it has no other form.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar", coordinates="minimal")
        >>> robot.nv, robot.tree_form.nv, robot.tree_form.nc
        (1, 3, 5)
        """
        return self if self._made.tree is None else self._tree_form

    @cached_property
    def _tree_form(self) -> Robot:
        """What `tree_form` returns in minimal coordinates, made once."""
        return self._of(self._made.tree or self._made)

    @property
    def branches(self) -> dict[str, int]:
        """Assembly branch, +1 or -1, of each loop that is solved in closed form, by its name.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("four_bar", coordinates="minimal").branches
        {'rocker_pin': -1}
        """
        return {loop.name: loop.branch for loop in self._model.bodies.linkages}

    @property
    def dependent_joints(self) -> tuple[str, ...]:
        """Joints whose positions follow from others by loops that are solved in closed form.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("four_bar", coordinates="minimal").dependent_joints
        ('crank_pin', 'rocker_pivot')
        """
        return self._parts.expansion.dependent_joints

    def dependent_positions(self, q: ArrayLike) -> dict[str, Array]:
        """Positions of the `dependent_joints`.

        Angles lie between -pi and pi; not a number where loops do not close.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]

        Returns
        -------
        positions : dict of joint name to ndarray, shape (...) or (..., 2) [rad, m]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar", coordinates="minimal")
        >>> q = robot.tree_form.assemble([0.5, 0.0, 0.0], hold=["crank_drive"])
        >>> found = robot.dependent_positions([0.5])
        >>> bool(abs(found["crank_pin"] - q[1]) < 1e-9)
        True
        """
        return self._parts.expansion.dependent_positions(q)

    def expand(self, q: ArrayLike) -> Array:
        """Coordinates of all joints of `tree_form`, from those of the independent joints.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]

        Returns
        -------
        q : ndarray, shape (..., nq of the tree form) [rad, m]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar", coordinates="minimal")
        >>> q = robot.expand([0.5])
        >>> len(q), bool(abs(robot.tree_form.loop_residual(q)).max() < 1e-9)
        (3, True)
        """
        return self._parts.expansion.positions(q)

    def expand_velocity(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Speeds of all joints of `tree_form`, from those of the independent joints: ``B v``.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]

        Returns
        -------
        v : ndarray, shape (..., nv of the tree form) [rad/s, m/s]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar", coordinates="minimal")
        >>> tree, q, v = robot.tree_form, robot.expand([0.5]), robot.expand_velocity([0.5], [2.0])
        >>> float(v[0]), bool(abs(tree.loop_jacobian(q) @ v).max() < 1e-12)
        (2.0, True)
        """
        return self._parts.expansion.velocity(q, v)

    def expand_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Accelerations of all joints of `tree_form`: ``B a + b'``.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        a : array_like, shape (..., nv) [rad/s^2, m/s^2]
            Rates of ``v``.

        Returns
        -------
        a : ndarray, shape (..., nv of the tree form) [rad/s^2, m/s^2]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar", coordinates="minimal")
        >>> tree, q, v = robot.tree_form, robot.expand([0.5]), robot.expand_velocity([0.5], [2.0])
        >>> a = robot.expand_acceleration([0.5], [2.0], [3.0])
        >>> bool(abs(tree.loop_jacobian(q) @ a + tree.loop_bias(q, v)).max() < 1e-9)
        True
        """
        return self._parts.expansion.acceleration(q, v, a)

    def speed_map(self, q: ArrayLike) -> Array:
        """Matrix B from the speeds of independent joints to those of all joints of `tree_form`.

        The identity where the robot has no other form.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]

        Returns
        -------
        B : ndarray, shape (..., nv of the tree form, nv) [1, m, 1/m]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar", coordinates="minimal")
        >>> B = robot.speed_map([0.5])
        >>> bool(abs(B @ [2.0] - robot.expand_velocity([0.5], [2.0])).max() < 1e-12)
        True
        """
        return self._parts.expansion.speed_map(q)

    def torque_map(self, q: ArrayLike) -> Array:
        """Transpose of `speed_map`: forces of independent joints, from forces in all joints.

        With motor forces ``tau`` in any joints of `tree_form`, ``torque_map(q) @ tau`` is the
        argument ``tau`` of `forward_dynamics`, and the result of `inverse_dynamics` if the motors
        cause the given accelerations.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]

        Returns
        -------
        B_T : ndarray, shape (..., nv, nv of the tree form) [1, m, 1/m]

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar", coordinates="minimal")
        >>> tau = [0.7, 0.2, -0.1]  # in all joints
        >>> power = robot.expand_velocity([0.5], [2.0]) @ tau
        >>> bool(abs(robot.torque_map([0.5]) @ tau * 2.0 - power)[0] < 1e-12)
        True
        """
        return np.ascontiguousarray(np.swapaxes(self.speed_map(q), -1, -2))

    def reduced(self, independent: Iterable[str] | None = None) -> ReducedRobot:
        """The dynamics in independent coordinates, with loops closed numerically.

        Parameters
        ----------
        independent : names of joints, optional
            As many as there are degrees of freedom. Default: `independent_joints`.

        Returns
        -------
        robot : ReducedRobot
            Its ``.expand`` closes the loops; its dynamics are those of the independent joints.

        Raises
        ------
        UnknownNameError
            If there is no such joint.
        SingularError
            If they are too few or too many.
        SettingsError
            For a robot that depends on time.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> crank = robot.reduced()
        >>> q = crank.expand([0.5])
        >>> crank.independent_joints, float(q[0].round(6))
        (('crank_drive',), 0.5)
        """
        from robodyn.minimal.reduced import ReducedRobot

        return ReducedRobot(self, self._model, self._parts.rows, independent)

    # -- inertial parameters ----------------------------------------------------------------------

    @property
    def body_names(self) -> tuple[str, ...]:
        """Moving bodies, each by the link that its joint moves.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("double_pendulum").body_names  # the tip is fixed to the lower rod
        ('upper', 'lower')
        """
        return self._parts.parameters.body_names

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of `inertial_parameters`: ``"link.m"``, ``"link.hx"``, ..., ``"link.Izz"``.

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("double_pendulum").parameter_names[:4]
        ('upper.m', 'upper.hx', 'upper.hy', 'upper.hz')
        """
        return self._parts.parameters.inertial_names

    @property
    def inertial_parameters(self) -> Array:
        """Ten inertial parameters a moving body, shape (10 n,) [kg, kg m, kg m^2].

        ``m hx hy hz Ixx Ixy Iyy Ixz Iyz Izz``: mass, first moment, and inertia about the origin of
        the body's link in its axes. Links fixed to a body belong to it. Functions made with
        ``parameters=True`` take such an array as an input.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> p = dict(zip(robot.parameter_names, robot.inertial_parameters.round(4).tolist()))
        >>> p["upper.m"], p["upper.hz"], p["upper.Iyy"]  # a rod of 1 kg and 1 m
        (1.0, -0.5, 0.3333)
        """
        return self._parts.parameters.inertial.copy()

    @property
    def symbols(self) -> dict[str, float]:
        """Named numbers of the description (`robodyn.symbol`), with their values.

        Functions made with ``symbols=True`` take them as inputs, in this order.

        Raises
        ------
        SettingsError
            If a name has two values, or stands where none can.

        Examples
        --------
        >>> import robodyn as rd
        >>> load = rd.Inertia(rd.symbol("m", 2.0))
        >>> rd.load("double_pendulum").with_(payload={"lower": load}).symbols
        {'m': 2.0}
        """
        return self._parts.parameters.symbols

    def regressor(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Regressor Y: ``Y @ inertial_parameters`` is the rigid-body part of `inverse_dynamics`.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v, a : array_like, shape (..., nv) [rad/s, m/s], [rad/s^2, m/s^2]
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        Y : ndarray, shape (..., nv, 10 n) [N m or N a unit of each parameter]

        Notes
        -----
        With ``passive=False`` the rigid-body part is all; damping, friction, springs and rotors do
        not depend on these parameters. `dynamic_regressor` has columns for most of them, too.

        Examples
        --------
        >>> import numpy as np
        >>> import robodyn as rd
        >>> robot = rd.load("double_pendulum")
        >>> q, v, a = [0.1, 0.2], [1.0, -2.0], [3.0, 4.0]
        >>> Y = robot.regressor(q, v, a)
        >>> bool(np.allclose(Y @ robot.inertial_parameters, robot.inverse_dynamics(q, v, a)))
        True
        """
        return self._now.evaluator.call("regressor", (q, v, a), base=base, out=out)

    @property
    def dynamic_parameter_names(self) -> tuple[str, ...]:
        """Names of `dynamic_parameters`: `parameter_names`, then ``"joint.rotor_inertia"``, ...

        Examples
        --------
        >>> import robodyn as rd
        >>> rd.load("pan_tilt").dynamic_parameter_names[-4:]
        ('pan.damping', 'tilt.damping', 'pan.friction', 'tilt.friction')
        """
        return self._parts.parameters.dynamic_names

    @property
    def dynamic_parameters(self) -> Array:
        """Parameters of bodies, motors and friction, shape (n,).

        `inertial_parameters`; then the ``rotor_inertia`` [kg m^2] of each motor; the ``armature``
        [kg m^2, kg] of joints that have one; the ``damping`` [N m s/rad, N s/m] of each joint; its
        dry ``friction`` [N m, N]. Friction of motors is counted on their joints. Joints that were
        cut come last, if they have some.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("pan_tilt")
        >>> values = dict(zip(robot.dynamic_parameter_names, robot.dynamic_parameters.tolist()))
        >>> values["pan.damping"]  # 0.4 in the joint, 4e-5 in the motor behind a gear of 75
        0.625
        """
        return self._parts.parameters.dynamic.copy()

    def dynamic_regressor(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        base: BaseMotion | None = None,
        out: Array | None = None,
    ) -> Array:
        """Regressor Y: ``Y @ dynamic_parameters`` are the forces ``M a + h`` of bodies and motors.

        Those of springs, stops and the ground are left out. For a tree without them it is
        `inverse_dynamics`. Through closed loops what counts is its projection: ``B^T Y`` with ``B``
        of `reduced`.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v, a : array_like, shape (..., nv) [rad/s, m/s], [rad/s^2, m/s^2]
        base : BaseMotion, optional
        out : ndarray of the shape of the result, optional

        Returns
        -------
        Y : ndarray, shape (..., nv, n) [N m or N a unit of each parameter]
            Columns as `dynamic_parameter_names`.

        Notes
        -----
        Rotors count exactly, with the moments on the links that carry them, or as armatures,
        ``ratio^2 a``, with ``rotor_model="armature"``. Dry friction is as smooth as
        ``friction_speed`` says. With ``passive=False`` only the bodies have columns.

        Examples
        --------
        >>> import numpy as np
        >>> import robodyn as rd
        >>> robot = rd.load("pan_tilt")
        >>> q, v, a = [0.1, 0.2], [1.0, -2.0], [3.0, 4.0]
        >>> Y = robot.dynamic_regressor(q, v, a)
        >>> bool(np.allclose(Y @ robot.dynamic_parameters, robot.inverse_dynamics(q, v, a)))
        True
        """
        return self._now.evaluator.call("dynamic_regressor", (q, v, a), base=base, out=out)

    def base_parameters(self, rng: Random | None = 0) -> BaseParameters:
        """Combinations of the inertial parameters that motions of this robot depend on.

        Parameters
        ----------
        rng : numpy.random.Generator, SeedSequence, int or sequence of int
            For the random motions by which they are found.

        Returns
        -------
        parameters : BaseParameters

        Notes
        -----
        QR decomposition with column pivoting of the regressor over random motions
        [Gautier 1991]. Motions of closed linkages keep the loops closed, and only forces along
        possible motions count: ``B^T Y``, where the columns of ``B`` span the null space of
        `loop_jacobian`. What the loops carry depends on further combinations.

        Examples
        --------
        >>> import robodyn as rd
        >>> len(rd.load("double_pendulum").base_parameters())
        6
        """
        return self._parts.parameters.base_parameters(rng)


def _names(frames: Iterable[str] | None) -> tuple[str, ...] | None:
    """Frames as they choose a function; ``None`` stands for all."""
    return None if frames is None else named("frames", frames, "names of frames")


def _robot_of(kind: type[Robot], made: Composition) -> Robot:
    """A robot that was pickled."""
    return object.__new__(kind)._take(made)


@cache
def _takes_base(method: Callable[..., Any]) -> bool:
    return "base" in signature(method).parameters


class _Direct:
    """A method that may go straight to a function, looked up when a robot is first asked for it."""

    def __init__(self, name: str, method: Callable[..., Any]) -> None:
        self._name, self._method = name, method
        update_wrapper(cast(Any, self), method)  # whoever looks into the class finds a docstring

    def __get__(self, robot: Robot | None, owner: type[Robot]) -> Callable[..., Any]:
        return self._method if robot is None else robot._direct(self._name, self._method)


#: Arrays of methods that put together what several functions give, or one of another name.
_OTHER_DIRECT: Mapping[str, tuple[str, ...]] = {
    "derivatives": ("q", "v", "x"),
    "driven_dynamics": ("q", "v", "a_controlled", "tau_free"),
    "joint_wrenches": ("q", "v", "a"),
    "measure": ("q", "v", "a"),
    "linearize": ("q", "v", "tau"),
    "motor_torques": ("q", "v", "a"),
    "motor_power": ("q", "v", "a"),
    "impact": ("q", "v", "point", "direction", "restitution", "friction"),
    "consistent_velocity": ("q", "v"),
    "consistent_acceleration": ("q", "v", "a"),
    "closed_state": ("q", "v"),
    "loop_gaps": ("q",),
    "joint_positions": ("q",),
    "latch": ("q", "v"),
    "constrained_dynamics": ("q", "v", "tau"),
    "mobility": ("q",),
    "check_state": ("q", "v"),
    "assemble": ("q",),
    "joint_velocities": ("q", "v"),
}


#: Of these methods, parameters that are mappings by joint.
_BY_JOINT: Mapping[str, tuple[str, ...]] = {
    "derivatives": ("controlled",),
    "joint_wrenches": ("controlled", "tau"),
    "measure": ("tau",),
}


#: Of these methods, arrays of which the default stands for none.
_OPTIONAL: Mapping[str, tuple[str, ...]] = {"impact": ("friction",), "measure": ("v", "a")}


#: Largest number of coordinates that are drawn at once: 8 GB.
_MOST_DRAWN = 10**9


#: Methods that have nothing to compute where there are no loops.
_OF_LOOPS = frozenset({"assemble", "check_state", "loop_gaps", "mobility"})


def _goes_straight(name: str, method: object) -> bool:
    """Whether a method takes an array to write into, or the catalogue knows what it returns."""
    if not isfunction(method) or name not in (*QUANTITIES, *_OTHER_DIRECT):
        return False
    row = QUANTITIES.get(name)
    made = row is None or name in _OTHER_DIRECT or row.guarded or row.result is not None
    return made or "out" in signature(method).parameters


for _name, _method in tuple(vars(Robot).items()):
    if _goes_straight(_name, _method):
        setattr(Robot, _name, _Direct(_name, _method))
