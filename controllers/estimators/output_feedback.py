"""A controller that sees what sensors show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import ActuationError, Robot, SettingsError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.arrays import mismatch, named
from robodyn.simulation import Controller, ControllerSample
from robodyn.simulation.control.controller import INNER, State, nested_controllers
from robodyn.simulation.loads.column_names import speed_names
from robodyn.tolerances import SAMPLE_TIME_ROUNDING

from ..support.gains import quanta, reduce_by_fields, rounded, state_of
from ..support.plant import motor_speeds
from ..support.symbols import as_numbers
from ..wrappers import wrapping
from .readings import Readings


@dataclass(frozen=True, eq=False)
class OutputFeedback:
    """A law that is given an estimated state: all that it knows of the robot is what sensors show.

    At each sample the estimator corrects its estimate by `Robot.measure`, and the law is called
    with it. With an `LQR` and a `KalmanFilter` that is linear-quadratic-Gaussian (LQG) control.
    Accelerations that sensors show are those under the forces of the controller that acted until
    then; they do not feel wrenches from outside.

    It takes a sample every ``estimator.dt``: that is the step of the simulation, or the period of a
    `Sampled` around it.

    Attributes
    ----------
    law : callable
        ``tau = law(t, q, v)``; it may be a wrapper, as `Saturated`.
    estimator : KalmanFilter or ExtendedKalmanFilter
    sensors : names of sensors, optional
        Sensors of the robot that are read, in the order of the estimator's outputs. Default: those
        of the estimator; of a `KalmanFilter` all.
    robot : Robot, optional
        The robot with the sensors. Default: that of the law.
    quantum : float or array_like, shape (p,)
        What readings are rounded to a multiple of, as encoders and converters do, in their order
        [units of the sensors]. Zero: not at all. Code that gets readings, as in C, leaves them.
    compensate : bool
        Subtract unknown forces that the estimator finds, its states ``"force:JOINT"``, from those
        of the law, which then comes to rest where it should.

    Raises
    ------
    SettingsError
        If the law has no robot, or the robot no sensors; for ``compensate`` with an estimator of no
        unknown forces; for a `KalmanFilter` with a law that has
        no posture or motion near which a model is linear. When sampled: if samples come at other
        times than every ``dt``.
    ActuationError
        For ``compensate`` with an unknown force on a joint that no motor is at.
    UnknownNameError
        For a sensor that the robot does not have.
    ShapeError
        If the estimator is one of other readings or another robot.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import LQR, KalmanFilter, OutputFeedback
    >>> encoders = rd.Sensor(lambda q, v, a: q, joint=["shoulder", "elbow"], name="encoders")
    >>> motor = {"elbow": rd.Actuator()}
    >>> robot = rd.load("double_pendulum", sensors=[encoders], actuators=motor)
    >>> up = np.array([np.pi, 0.0])
    >>> model = robot.linearize(up, [0.0, 0.0], [0.0, 0.0], outputs=["encoders"])
    >>> lqg = OutputFeedback(LQR(robot, up), KalmanFilter(model, 1e-6, 1e-6, dt=1e-3))
    >>> run = rd.simulate(robot, lqg, q0=up + [0.01, 0.0], duration=8.0, step=1e-3)
    >>> bool(np.abs(run.q[-1] - up).max() < 1e-3)
    True
    >>> run.controller_state["velocity"].shape     # as estimated, at each sample
    (8001, 2)
    """

    reads_sensors: ClassVar[bool] = True
    #: Of its equations as code: an extended filter of an arm takes milliseconds in Python.
    most_nodes: ClassVar[int] = 60_000

    law: Controller
    estimator: Any
    sensors: Iterable[str] | None = None
    robot: Robot | None = None
    quantum: ArrayLike = 0.0
    compensate: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "robot", wrapping.wrapped(self.law, self.robot))
        if not hasattr(self.estimator, "in_loop"):
            raise mismatch("estimator", self.estimator, "a KalmanFilter or an ExtendedKalmanFilter")
        for own in nested_controllers(self.law):
            if hasattr(own, "for_motion"):
                raise SettingsError(
                    f"{type(own).__name__} is within OutputFeedback, where it would change what is "
                    "estimated: put it around OutputFeedback"
                )
        if self.sensors is not None:
            object.__setattr__(self, "sensors", named("sensors", self.sensors))
        _ = self._filter, self._unknown_forces
        rounded(np.zeros(len(self._readings.columns)), self._quantum)

    @cached_property
    def _quantum(self) -> FloatArray:
        return quanta(self.quantum)

    @cached_property
    def exact(self) -> OutputFeedback:
        """The same without rounding, whose slope is none: for linear models."""
        return replace(self, quantum=0.0) if self._quantum.any() else self

    @cached_property
    def _readings(self) -> Readings:
        sensors = self.estimator.sensors if self.sensors is None else self.sensors
        return Readings(wrapping.robot_of(self), sensors)

    @cached_property
    def _filter(self) -> Any:
        """The estimator of this robot near what the law keeps it to."""
        *_, law = nested_controllers(self.law)
        return self.estimator.in_loop(law, self._readings)

    @cached_property
    def _unknown_forces(self) -> dict[str, int]:
        """States that are unknown forces to be cancelled, and the speeds that they act on."""
        if not self.compensate:
            return {}
        robot, names = wrapping.robot_of(self), speed_names(wrapping.robot_of(self))
        found = [x for x in self.estimator.recorded if x[6:] in names and x[:6] == "force:"]
        if not found:
            raise SettingsError(
                "compensate=True needs an estimator of unknown forces: an ExtendedKalmanFilter "
                "with disturbances=, or a KalmanFilter of a model with states 'force:JOINT'"
            )
        speeds = {x: names.index(x[6:]) for x in found}
        for name, k in speeds.items():
            if k not in motor_speeds(robot) or robot.model.gearing.elsewhere:
                raise ActuationError(
                    f"compensate=True cannot cancel {name!r} in {robot.name!r}: its motors are at "
                    f"{', '.join(robot.actuated_joints) or 'no joint'}",
                    direction=names[k],
                )
        return speeds

    __reduce__ = reduce_by_fields

    @property
    def recorded(self) -> tuple[str, ...]:
        """What a motion records."""
        return ("position", "velocity", "innovation", *self.estimator.recorded)

    @property
    def controller(self) -> Controller:
        """The law, as wrappers have it."""
        return self.law

    symbolic = wrapping.inner_symbolic
    __call__ = wrapping.first_forces

    def initial_state(self, sample: ControllerSample) -> State:
        """The estimate before the first sample, and the state of the law there."""
        state_of(self._readings.robot, sample.q, sample.v)
        batch = sample.v.shape[:-1]
        q, v, own = self._filter.initial(sample.t, batch)
        inner = wrapping.initial_state_of(self.law, sample._replace(q=q, v=v))
        sizes = {"innovation": len(self._readings.columns), **self._filter.recorded_sizes}
        seen = {"position": q, "velocity": v}
        seen |= {name: np.zeros((*batch, size)) for name, size in sizes.items()}
        return {**seen, "estimator": own, INNER: inner}

    def update(self, sample: ControllerSample, state: State) -> tuple[FloatArray, State]:
        """Forces of the law for the estimate, and the estimate."""
        rate = sample.function_of_dt(self._rate)
        if rate.dtype != object and np.isnan(rate):
            dt = self._filter.dt
            raise SettingsError(
                f"OutputFeedback was sampled after {sample.h:.6g} s, and its estimator takes a "
                f"sample every {dt:.6g} s: simulate with step={dt:.6g}, or put Sampled(..., "
                f"period={dt:.6g}) around it"
            )
        tau = as_numbers(sample.impulse * rate)
        y = self._read(sample, tau)
        q, v, found, own = self._filter.update(sample, y, tau, state["estimator"])
        forces, inner = wrapping.update_of(self.law, sample._replace(q=q, v=v), state[INNER])
        for name, k in self._unknown_forces.items():
            forces[..., k] = forces[..., k] - found[name][..., 0]
        seen = {"position": q, "velocity": v, **found}
        return forces, {**seen, "estimator": own, INNER: inner}

    def _rate(self, h: FloatArray) -> FloatArray:
        """One over the time since the sample before, at the first one too; NaN of another time."""
        dt = self._filter.dt
        fits = (h == 0.0) | (np.abs(h - dt) <= SAMPLE_TIME_ROUNDING * dt)
        return np.where(fits, 1.0 / dt, np.nan)

    def _read(self, sample: ControllerSample, tau: FloatArray) -> FloatArray:
        """What sensors show, of which code that stands alone is told."""
        readings, trace = self._readings, getattr(sample.t, "trace", None)
        if trace is not None and trace.takes_readings:
            return np.asarray(trace.readings(readings.ports))
        shown = readings.measured(sample.t, sample.q, sample.v, tau)
        return rounded(shown, self._quantum)
