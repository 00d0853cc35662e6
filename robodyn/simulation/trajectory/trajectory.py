"""`Trajectory`: the samples of a motion, which simulations return."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import named
from robodyn.results import GroundContact, JointWrenches
from robodyn.robot import Robot
from robodyn.simulation.friction.dry_friction import DryFriction
from robodyn.simulation.friction.resistances import resistances_of
from robodyn.simulation.limits.joint_limits import (
    LimitViolation,
    joined_violations,
    limit_violations,
)
from robodyn.simulation.loads.column_names import motor_names
from robodyn.simulation.loads.prescribed_loads import PrescribedLoads, Surroundings
from robodyn.simulation.trajectory import computed_fields
from robodyn.simulation.trajectory.files import formats as trajectory_files, table
from robodyn.simulation.trajectory.joint_motion import JointMotion, joint_column, joint_motion
from robodyn.simulation.trajectory.phases import at_instants, joined, motion_of_batch, slice_phases
from robodyn.simulation.trajectory.shown import motion_table
from robodyn.simulation.trajectory.states import energies, energy_audit
from robodyn.simulation.trajectory.states.energies import by_sensor, measurements
from robodyn.simulation.trajectory.states.event_record import EventRecord, events_among
from robodyn.simulation.trajectory.states.friction_forces import friction_forces
from robodyn.simulation.trajectory.states.interpolation import (
    flat_crossings,
    instants_of,
    resampled,
)
from robodyn.simulation.trajectory.states.motor_sizing import Sizing, check_same_motors, sizing_of
from robodyn.simulation.trajectory.states.samples import (
    BASE,
    DRIVEN,
    EVENTS,
    FRICTION,
    ROBOTS,
    WRENCHES,
)
from robodyn.simulation.trajectory.states.within_steps import WithinSteps

if TYPE_CHECKING:
    from robodyn.simulation.trajectory.states.motor_choice import MotorChoice


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Samples of a motion; an index or a slice selects samples, the name of a joint its motion.

    Quantities that follow from the samples are computed when they are first used.

    Attributes
    ----------
    t : ndarray, shape (n,) [s]
    q : ndarray, shape (n, ..., nq) [rad, m]
    v, a : ndarray, shape (n, ..., nv) [rad/s, m/s], [rad/s^2, m/s^2]
    tau : ndarray, shape (n, ..., nv) [N m, N]
        Forces of the controller, and those that drive joints along paths.
    energy : ndarray, shape (n, ...) [J]
        Kinetic and potential energy.
    loop_residual : ndarray, shape (n, ...) [m, rad]
        Largest gap of closed loops; zeros for a tree.
    joint_names : tuple of str
        One for each column of ``tau``.
    robot : Robot or None
        The robot, if it is known; the first one, if events changed it.
    driven : tuple of int
        Columns of ``tau`` of joints along paths of time; the others are held within a step.
    surroundings : PrescribedLoads or Sampled
        Motion of the base and external wrenches.
    events : tuple of EventRecord
        Events in the order of time.
    phases : tuple of Trajectory
        Parts of a motion in which events changed the robot or its driven joints, one for each robot
        and set of driven joints; empty if nothing changed. Together they have all samples; those of
        the whole are in coordinates of the first robot, see `robodyn.events.become`.
    controller_state : mapping of str to ndarray, shape (n, ..., m)
        Recorded states of controllers after their latest sample: ``"parameters"`` of a
        `robodyn.controllers.Adaptive`. NaN where nothing was recorded.
    friction : DryFriction or None
        Of motions with ``friction="exact"``, whose joints stick and slide.
    not_saved : tuple of str
        What the motion had and the file, from which it was read, does not hold: a CSV and a bag
        have no events, phases, base motion, wrenches, states of controllers, and do not say which
        joints are driven. Quantities that need one of them raise `SettingsError`.

    Examples
    --------
    >>> import robodyn as rd
    >>> run = rd.simulate(rd.load("four_bar"), duration=0.1, step=1e-3)
    >>> run["rocker_pin"].v.shape          # a joint that is cut, too
    (101,)
    >>> run.resample(0.02)
    <Trajectory of 'four_bar': 6 samples, 0 to 0.1 s>
    >>> bool(abs(run.audit.unexplained[-1]) < 1e-6 * run.audit.exchanged)
    True
    """

    t: FloatArray
    q: FloatArray
    v: FloatArray
    a: FloatArray
    tau: FloatArray
    energy: FloatArray = computed_fields.COMPUTED["energy"]
    loop_residual: FloatArray = computed_fields.COMPUTED["loop_residual"]
    joint_names: tuple[str, ...] = ()
    robot: Robot | None = field(default=None, repr=False)
    driven: tuple[int, ...] = ()
    surroundings: Surroundings = field(default_factory=PrescribedLoads, repr=False)
    events: tuple[EventRecord, ...] = ()
    phases: tuple[Trajectory, ...] = field(default=(), repr=False)
    controller_state: Mapping[str, FloatArray] = field(default_factory=dict, repr=False)
    friction: DryFriction | None = field(default=None, repr=False)
    not_saved: tuple[str, ...] = ()
    _within: WithinSteps | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        computed_fields.forget_defaults(self)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        if not self.t.ndim:
            return f"<State at {self.t:g} s: q = {self.q}, v = {self.v}>"
        if not len(self):
            return "<Trajectory without samples>"
        of = f" of {self.robot.name!r}" if self.robot is not None else ""
        return f"<Trajectory{of}: {len(self)} samples, {self.t[0]:g} to {self.t[-1]:g} s>"

    def _repr_html_(self) -> str | None:
        """A table of joints for notebooks; ``None`` if the robot is not known."""
        if self.robot is None or not self.t.ndim or not len(self):
            return None
        return motion_table(f"Trajectory of {self.robot.name}", self)

    @overload
    def __getitem__(self, index: str) -> JointMotion: ...
    @overload
    def __getitem__(self, index: Any) -> Trajectory: ...
    def __getitem__(self, index: Any) -> Trajectory | JointMotion:
        if isinstance(index, str):
            return self._joint(index)
        states = {name: getattr(self, name)[index] for name in ("t", "q", "v", "a", "tau")}
        if states["t"].ndim > 1:
            raise IndexError(
                f"a trajectory is indexed along its samples alone, and {index!r} makes further axes"
            )
        known = {  # what was computed, or read from a file
            name: vars(self)[name][index] if name in vars(self) else default
            for name, default in computed_fields.COMPUTED.items()
        }
        events = events_among(self.events, self.t, index)
        surroundings = self.surroundings[index]
        phases = slice_phases(self.phases, index)
        recorded = {name: x[index] for name, x in self.controller_state.items()}
        return replace(
            self, **states, **known, surroundings=surroundings, events=events, phases=phases,
            controller_state=recorded,
        )  # fmt: skip

    def motion(self, *place: int) -> Trajectory:
        """One of several motions at once.

        Parameters
        ----------
        *place : int
            Its index along each axis between those of samples and of coordinates.

        Raises
        ------
        ShapeError
            If there is no such motion.
        """
        return replace(self, **{**computed_fields.COMPUTED, **motion_of_batch(vars(self), place)})

    def __getstate__(self) -> dict[str, Any]:
        """State for pickling: functions, which cannot be pickled, are replaced by their samples."""
        acting = self.surroundings.sampled(self.t, self.q, self.v)
        return {**vars(self), "surroundings": acting}

    def _joint(self, name: str) -> JointMotion:
        if self.robot is None:
            return joint_column(self.joint_names, name, (self.t, self.q, self.v, self.a, self.tau))
        motion = joint_motion(computed_fields.samples_of(self), name)
        return motion if self.t.ndim else motion[0]

    def _fields(self) -> dict[str, Any]:
        names = (x.name for x in fields(self) if not x.name.startswith("_"))
        return {name: getattr(self, name) for name in names}

    def _rows(self) -> Trajectory:
        """Fields for a table, in which a single state is one row."""
        return self if self.t.ndim else self[None]

    # -- what follows from the samples ------------------------------------------------------------

    @cached_property
    def kinetic_energy(self) -> FloatArray:
        """Kinetic energy of bodies and rotors, shape (n, ...) [J]."""
        return computed_fields.computed(self, energies.kinetic_energy)

    @cached_property
    def potential_energy(self) -> FloatArray:
        """Potential energy of gravity, springs and the ground, shape (n, ...) [J]."""
        return computed_fields.computed(self, energies.potential_energy)

    @cached_property
    def elastic_energy(self) -> FloatArray:
        """Potential energy of springs and the ground, shape (n, ...) [J]."""
        return computed_fields.computed(self, energies.elastic_energy)

    @cached_property
    def audit(self) -> energy_audit.EnergyAudit:
        """Energy audit: the work of all forces, and the change of energy.

        Raises
        ------
        SettingsError
            Where it is not known, and for samples that are not in the order of time.

        Warns
        -----
        EnergyWarning
            If more than 2 % of what was exchanged is unexplained.
        """
        energy_audit.check_order(self.t)
        needed = (ROBOTS, BASE, WRENCHES, EVENTS, DRIVEN, FRICTION)
        phases = computed_fields.known_phases(self)
        samples = [computed_fields.samples_of(phase, *needed) for phase in phases]
        whole = [None if x._within is None else x._within.together(x) for x in phases]
        audit = energy_audit.audit_of(samples, self.events, whole)
        energy_audit.warn_of_unexplained(audit, "" if self.robot is None else self.robot.name)
        return audit

    @cached_property
    def friction_forces(self) -> Mapping[str, FloatArray]:
        """Dry friction by the name of the joint, shape (n,) [N m, N].

        ``"joint[k]"`` is one freedom of several, ``"motor of joint"`` a motor that several joints
        turn. Of joints that stick it is what holds them.

        Warns
        -----
        SingularWarning
            If joints that stick in a closed loop share what holds it in more than one way.
        """
        needed = (WRENCHES, DRIVEN, FRICTION)
        samples = computed_fields.samples_of(self, *needed)
        found = computed_fields.computed(self, friction_forces, *needed)
        names = resistances_of(samples.robot).names
        return {name: found[..., k] for k, name in enumerate(names)}

    @property
    def power(self) -> FloatArray:
        """Power of each force in ``tau``, shape (n, ..., nv) [W]."""
        return np.asarray(self.tau * self.v)

    @property
    def motor_torques(self) -> FloatArray:
        """Torque of each motor at its own shaft, shape (n, ..., nv) [N m, N].

        They are the forces in ``tau`` over the gear ratios; those of joints without a motor are
        unchanged. Columns are those of the robot at the start, and not a number (NaN) where an
        event has given one that does not have the motor.

        Raises
        ------
        ActuationError
            Where a gear ratio is zero.
        """
        motors = motor_names(computed_fields.samples_of(self).robot)
        return computed_fields.computed(self, partial(energies.motor_torques, motors=motors))

    @checked_arguments
    def sizing(self, *, ambient: float = 25.0) -> Sizing:
        """Torques, speeds and powers of each motor in this motion, at its own shaft.

        The table has the peak and the root mean square of the torque, speeds, powers, and the
        utilisation of limits. For simultaneous motions, each number is the largest of all. Of
        motors that are electric (`Actuator.motor`) it has currents, voltages, losses, the energy
        drawn and fed back, and the temperature of the winding.

        Parameters
        ----------
        ambient : float [degrees Celsius]
            Temperature of the surroundings.

        Returns
        -------
        sizing : Sizing
            A row for each motor by the name of its joint; ``print`` shows the table, ``plot`` the
            torque-speed plane.

        Raises
        ------
        ActuationError
            Where a gear ratio is zero.
        SettingsError
            If the robot is not known, or an event has given one with other motors.

        Examples
        --------
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> run = rd.simulate(robot, lambda t, q, v: [2.0, 0, 0], duration=0.2, limits="ignore")
        >>> round(run.sizing()["crank_drive"].peak_torque, 9)     # behind a gear of 20
        0.1
        """
        run = self._rows()
        torques, robot = run.motor_torques, computed_fields.samples_of(run).robot
        robots = [robot, *(computed_fields.samples_of(phase).robot for phase in run.phases)]
        check_same_motors(robots)
        speeds, lost = computed_fields.computed(run, energies.motor_speeds), np.zeros_like(torques)
        if any(x.model.setup.gear_losses for x in robots):
            lost = computed_fields.computed(run, energies.gear_torques, WRENCHES)
        return sizing_of(robot, run.t, torques, speeds, lost, run.tau, ambient)

    @checked_arguments
    def motor_choice(
        self,
        catalogue: Any,
        *,
        joints: Iterable[str] | None = None,
        gears: Any = None,
        ambient: float = 25.0,
    ) -> MotorChoice:
        """Which motors and gears of a catalogue carry this motion, and what the others lack.

        Each row is looked at with its own rotor, friction and gear, in place of the motor of the
        robot; what its rotor does to the link that carries it does not count.

        Parameters
        ----------
        catalogue : path of a CSV file, or sequence of mappings
            Rows of motors with their gears; docs/guides/robots/drives.md has the columns.
        joints : names of joints, optional
            Default: all with motors.
        gears : path of a CSV file, or sequence of mappings, optional
            Gears, of which each is tried with each motor of the catalogue.
        ambient : float [degrees Celsius]
            Temperature of the surroundings.

        Returns
        -------
        choice : MotorChoice
            A `Candidate` for each joint and row; ``print`` shows the table.

        Raises
        ------
        MissingFileError, FileError
            If a file cannot be read.
        UnknownNameError
            For a joint without motor, and for a column that is none.
        ShapeError, ActuationError
            For a cell that is no number, a motor that cannot be, and joints of transmissions.
        SettingsError
            If the robot is not known.
        """
        from robodyn.simulation.trajectory.states import motor_choice
        from robodyn.simulation.trajectory.states.motor_choice import catalogue_rows

        run = self._rows()
        rows = catalogue_rows(catalogue, gears)
        robot = computed_fields.samples_of(run).robot
        names = motor_choice.bare_joints(robot, None if joints is None else named("joints", joints))
        loads = computed_fields.computed(
            run, partial(motor_choice.loads_of, joints=names), WRENCHES
        )
        return motor_choice.candidates_of(run.t, loads, names, rows, ambient)

    @cached_property
    def measurements(self) -> Mapping[str, FloatArray]:
        """Measurements of the robot's sensors at all samples, by name, shape (n, ..., k).

        Empty for a robot without sensors. `Robot.sensors` has the columns of each and their units.
        A sensor that the robot of a later phase does not have is not a number (NaN) there.

        Raises
        ------
        SingularError
            If a measurement is not finite.
        SettingsError
            If the robot is not known.
        """
        sensors = computed_fields.samples_of(self).robot.sensors
        if not sensors:
            return {}
        shown = partial(measurements, sensors=sensors)
        return by_sensor(sensors, computed_fields.computed(self, shown, WRENCHES))

    def _table(self) -> dict[str, Any]:
        """Fields for a table with a row for each sample, and measurements of sensors."""
        run = self._rows()
        shown = run.measurements if run.robot is not None and run.q.ndim == 2 else {}
        return {**run._fields(), "measurements": shown}

    @checked_arguments
    def joint_wrenches(self, joints: Iterable[str] | None = None) -> JointWrenches:
        """Force and moment in joints at all samples, shape (n, ..., 6) [N, N m]; n = 1 of a state.

        Parameters
        ----------
        joints : names of joints, optional
            Default: all that move. `Robot.joint_wrenches` says in which frames the wrenches are.
            A joint that a phase does not have is not a number (NaN) there.
        """
        names = None if joints is None else named("joints", joints)
        needed = (ROBOTS, BASE, WRENCHES)
        return energies.joint_loads(
            [computed_fields.samples_of(x, *needed) for x in computed_fields.known_phases(self)],
            names,
        )

    @property
    def ground_contacts(self) -> dict[str, GroundContact]:
        """Force, depth and slip at all samples where points touch the ground, by contact name.

        Zero where an event has given another robot, whose ground does not have the contact.
        """
        phases = computed_fields.known_phases(self)
        parts = [computed_fields.samples_of(x, ROBOTS, BASE) for x in phases]
        return energies.ground_contacts(parts)

    @property
    def branch_changes(self) -> FloatArray:
        """Times [s] of the first samples after postures at which branches of assembly meet.

        The linkage may have changed from one branch to another there; see
        `robodyn.Robot.branch_sign`. Empty for a tree. In minimal coordinates: after postures at
        which a planar loop lies flat and goes through.
        """
        if self.robot is None or not self.t.ndim or not len(self):
            return np.zeros(0)
        changed = np.zeros(len(self) - 1, bool)
        if self.robot.nc:
            at = computed_fields.samples_of(self).time
            sign = self.robot.at(at).branch_sign(self.q, path=True).reshape(len(self), -1)
            changed |= (sign[1:] != sign[:-1]).any(axis=1)
        if self.robot.model.flat_postures.loops:
            changed[flat_crossings(self.robot, self.q)[0][:, 0]] = True
        return np.asarray(self.t[1:][changed])

    @property
    def limit_violations(self) -> tuple[LimitViolation, ...]:
        """Violations of the limits of joints, in the order of time.

        Positions and velocities of all joints, including those that are cut or follow others, and
        efforts (``tau``) are checked at all samples. A limit of zero for a velocity or an effort
        counts as not given. The robot has to be known, and those that events have given: each
        phase has the limits of its own.
        """
        phases = computed_fields.known_phases(self)
        parts = [computed_fields.samples_of(x, ROBOTS) for x in phases]
        return joined_violations(limit_violations(x.robot, x.t, x.q, x.v, x.tau) for x in parts)

    @checked_arguments
    def resample(self, times: ArrayLike) -> Trajectory:
        """The motion at other instants, or with another step.

        Positions are interpolated on the manifold of the coordinates with an error of fifth order
        in the distance of the samples, velocities with one of fourth order. Quaternions keep unit
        norm, and loops are closed. Forces are held from sample to sample. Where several samples
        are at one instant, as before and after an impact, the last of them is used.

        Parameters
        ----------
        times : array_like, shape (m,), or float [s]
            Ascending instants within the motion, or a step; the last sample is then kept.

        Raises
        ------
        ShapeError
            For instants beyond the motion.
        """
        computed_fields.known_phases(self)
        samples = computed_fields.samples_of(self, ROBOTS, DRIVEN)
        at = instants_of(samples, times)
        events = tuple(e for e in self.events if len(at) and at[0] <= e.time <= at[-1])
        if self.phases:
            return joined(at_instants(self.phases, at), events)
        x = resampled(samples, at)
        states: dict[str, Any] = {"t": x.t, "q": x.q, "v": x.v, "a": x.a, "tau": x.tau}
        last = np.searchsorted(samples.t, x.t, side="right") - 1
        recorded = {name: held[last] for name, held in self.controller_state.items()}
        return replace(
            self,
            **states,
            **computed_fields.COMPUTED,
            surroundings=x.surroundings,
            events=events,
            controller_state=recorded,
        )

    # -- files ------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trajectory to a file, completely or not at all.

        ``.npz``: everything but the robot, by which `load` recognises it. ``.csv``: one row for
        each sample, with joints, sensors and units in the header. ``.mcap``: joint states, as
        `robodyn.ros.bag.write_bag` writes them. Tables and bags say what they do not hold of the
        motion, see ``not_saved``; a table has a column for that, of NaN.

        Parameters
        ----------
        path : path

        Raises
        ------
        MissingExtraError, MissingFileError, FileError
        ShapeError
            For other endings, for a CSV or a bag of several motions at once, and for samples that
            run back in time.
        """
        trajectory_files.save(path, self._fields(), self._table)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], robot: Robot | Iterable[Robot] | None = None
    ) -> Self:
        """Read a file that `save` wrote, or a folder that a simulation wrote with ``to=``.

        Parameters
        ----------
        path : path
            ``.npz``, ``.csv``, ``.mcap`` or a folder. Arrays of a folder are read from there when
            they are used.
        robot : Robot, or several, optional
            The robot, which a file does not hold. It is needed for ``.mcap``, and for all
            quantities that are computed from the samples. Where events changed the robot, give
            all of them: each phase takes the one that it was simulated with. It is the one of the
            simulation with its payload, ground and parameters, as ``run.robot`` has them.

        Raises
        ------
        MissingFileError, FileError
        ShapeError
            If the file is damaged, holds something else or has another ending; or if it holds the
            motion of another robot, such as one with another mass or without the ground: the
            message says what differs. A table is refused for its energy, and a warning is given
            where its forces give this robot other accelerations.
        """
        fields = trajectory_files.load(path, robot)
        phases = tuple(cls(**phase) for phase in fields.pop("phases", ()))
        run = cls(**fields, phases=phases)
        trajectory_files.check_energy(path, run)
        return run

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with one row for each sample; the index is time, columns as in CSV.

        Raises
        ------
        MissingExtraError, ShapeError
        """
        return table.to_pandas(self._table())

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        panels: Iterable[str] | None = None,
        axes: Any = None,
    ) -> Any:
        """Draw curves over time.

        Each joint has one colour in all panels. The range of axes is that of the curves; a limit is
        a dashed line if a curve comes near to it, and utilisation panels show values over limits.
        Torques are those of joints with motors. Of more than eight simultaneous motions, the median
        and a range of percentiles are drawn.

        Parameters
        ----------
        path : path, optional
            Default: show a window, where there is a display.
        panels : names, optional
            Of ``"positions"``, ``"velocities"``, ``"accelerations"``, ``"torques"``,
            ``"motor torques"``, ``"power"``, ``"torque utilisation"``, ``"velocity utilisation"``,
            ``"energy"``, ``"audit"``, ``"closure"``, ``"wrench of JOINT"``, ``"sensor: NAME"`` and
            ``"state: NAME"``. Default: positions, velocities, torques where there are any, their
            utilisation where limits are known, and energy. A panel with two units takes two axes.
        axes : sequence of matplotlib axes, optional
            To draw into, instead of a new figure.

        Returns
        -------
        figure : matplotlib.figure.Figure

        Raises
        ------
        MissingExtraError, UnknownNameError
        ShapeError
            If there is nothing to draw, or the number of ``axes`` is wrong.
        SettingsError
            If a panel needs the robot, or a limit, that is not known.
        """
        from robodyn.pictures.curves import draw
        from robodyn.simulation.trajectory.panels import default_panels, panel

        if panels is None:
            names = default_panels(self)
        else:
            names = named("panels", panels, "names of panels")
        return draw(path, self.t, [panel(self, name) for name in names], axes=axes)

    @checked_arguments
    def animate(
        self,
        path: str | os.PathLike[str],
        *,
        speed: float = 1.0,
        fps: float = 25.0,
        forces: bool = False,
        trace: Iterable[str] = (),
    ) -> None:
        """Write an animation of the motion, a GIF or a video.

        Parameters
        ----------
        path : path
            Ending in ``.gif`` or ``.webp``, or in ``.mp4`` or ``.mov`` where the program ffmpeg is
            installed.
        speed : float
            Speed of playback: 0.1 is slow motion, ten times as long.
        fps : float [1/s]
            Frames per second.
        forces : bool
            Draw the forces in joints as arrows.
        trace : names of frames, optional
            Frames whose curves are drawn.

        Raises
        ------
        MissingExtraError
            Without matplotlib (extra ``plot``).
        ShapeError
            For simultaneous motions (`motion` gives one), and other endings.
        UnknownNameError, SettingsError, MissingFileError, FileError

        Examples
        --------
        >>> import robodyn as rd
        >>> run = rd.simulate(rd.load("four_bar"), duration=0.2, limits="ignore")
        >>> run.animate("swing.gif", speed=0.2, fps=10, trace=["coupler"])     # doctest: +SKIP
        """
        from robodyn.simulation.trajectory.shown import animate_motion

        traces = named("trace", trace, "names of frames")
        animate_motion(self, path, speed, fps, traces, forces=forces)
