"""The Kalman filter of a linear model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import SettingsError, ShapeError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.simulation import ControllerSample
from robodyn.simulation.control.controller import State
from robodyn.simulation.control.tracing import SymbolicTime
from robodyn.simulation.loads.column_names import speed_names
from robodyn.state_space import StateSpace
from robodyn.tolerances import MODE_UNMOVED, SAMPLE_TIME_ROUNDING

from ..laws.lqr import LQR
from ..laws.time_varying_lqr import TimeVaryingLQR
from ..support.gains import weights
from ..support.linear_feedback import lasting
from ..support.symbols import times
from .readings import Readings


@dataclass(frozen=True, eq=False)
class KalmanFilter:
    """The estimator of least variance of a linear model ``x+ = A x + B u + w``.

    Its readings are ``y = C x + D u + n``. At each sample the estimate of the sample before goes on
    with the forces that acted since, and is corrected: ``x <- x + L (y - C x - D u)`` [Kalman
    1960]. Noise ``w`` of the process and ``n`` of the sensors is white, with zero mean. The gains
    ``L`` are those of the steady filter; of a batch of models along a motion, those of each of its
    samples.

    In an `OutputFeedback` the model is that near the posture of an `LQR`, or near the motion of a
    `TimeVaryingLQR`.

    Attributes
    ----------
    model : StateSpace
        From `Robot.linearize` with ``outputs=`` the sensors. Of one posture, or one model for each
        sample of a motion. States after those of the robot are other ones, such as a disturbance.
    process : array_like, shape (), (n,) or (n, n)
        Covariance of ``w``, what a sample adds to that of the state [units of the state squared].
    measurement : array_like, shape (), (p,) or (p, p)
        Covariance of ``n`` [units of the sensors squared]. Positive definite.
    dt : float [s]
        From sample to sample.
    initial : array_like, shape (), (n,) or (n, n), optional
        Along a motion: covariance of the estimate before its first sample. Default: that of the
        steady filter of the first model.
    sampled : StateSpace
        The model with forces that are held for ``dt``; made by the class.
    gains : ndarray, shape (..., n, p)
        ``L``; made by the class.
    covariance : ndarray, shape (..., n, n)
        Of the estimate after a sample; made by the class.
    innovation_covariance : ndarray, shape (..., p, p)
        Of ``y - C x - D u``; made by the class.

    Raises
    ------
    ShapeError
        For covariances of another shape, not symmetric or of the wrong sign.
    SettingsError
        If the sensors do not show a mode that does not decay by itself, or ``process`` does not
        move one, so that there is no steady filter; for a model that is sampled at another period.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import KalmanFilter
    >>> encoders = rd.Sensor(lambda q, v, a: q, joint=["shoulder", "elbow"], name="encoders")
    >>> robot = rd.load("double_pendulum", sensors=[encoders])
    >>> model = robot.linearize([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], outputs=["encoders"])
    >>> filter = KalmanFilter(model, [0, 0, 1e-6, 1e-6], 1e-4, dt=1e-3)
    >>> filter.gains.shape
    (4, 2)
    >>> after = (np.eye(4) - filter.gains @ model.C) @ filter.sampled.A
    >>> bool((np.abs(np.linalg.eigvals(after)) < 1.0).all())    # errors decay
    True
    """

    symbolic: ClassVar[bool] = True
    sensors: ClassVar[tuple[str, ...] | None] = None

    model: StateSpace
    process: ArrayLike
    measurement: ArrayLike
    _: KW_ONLY
    dt: float
    initial: ArrayLike | None = None
    sampled: StateSpace = field(init=False, repr=False)
    gains: FloatArray = field(init=False, repr=False)
    covariance: FloatArray = field(init=False, repr=False)
    innovation_covariance: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        model = self.model
        n, p = len(model.states), len(model.outputs)
        states, outputs = f"x is {', '.join(model.states)}", f"y is {', '.join(model.outputs)}"
        W = weights("process", self.process, n, states, kind="variance")
        V = weights("measurement", self.measurement, p, outputs, definite=True, kind="variance")
        first = model if model.A.ndim == 2 else model.at((0,) * (model.A.ndim - 2))
        sampled = _sampled(model, self.dt)
        if model.A.ndim > 3:
            raise ShapeError(
                f"model is a batch of shape {model.A.shape[:-2]}, expected one, or one model for "
                "each sample of a motion",
                name="model",
                given=model,
            )
        if self.initial is not None and model.A.ndim == 2:
            raise ShapeError(
                "initial is for the models along a motion: the filter of one model is steady",
                name="initial",
                given=self.initial,
            )
        if self.initial is None:
            refuse_unseen(first)
            _refuse_unmoved(first, W)
            P = _steady(_sampled(first, self.dt), W, V)
        else:
            P = weights("initial", self.initial, n, states, kind="variance")
        A, C = (np.atleast_3d(x) if x.ndim == 3 else x[None] for x in (sampled.A, sampled.C))
        found = list[tuple[FloatArray, ...]]()
        for a, c in zip(A, C, strict=True):
            S = c @ P @ c.T + V
            L = np.linalg.solve(S, c @ P).T
            kept = np.eye(n) - L @ c
            after = kept @ P @ kept.T + L @ V @ L.T
            found.append((L, after, S))
            P = a @ after @ a.T + W
        L, after, S = (np.array(x) if model.A.ndim == 3 else x[0] for x in zip(*found, strict=True))
        vars(self).update(sampled=sampled, gains=L, covariance=after, innovation_covariance=S)

    @property
    def recorded(self) -> tuple[str, ...]:
        """What a motion records beside position, velocity and innovation: states of no joint."""
        return tuple(x for x in self.model.states if x[:2] not in ("q:", "v:"))

    def in_loop(self, law: Any, readings: Readings) -> Any:
        """The filter near the posture or the motion of a law."""
        if isinstance(law, LQR) and self.model.A.ndim == 2:
            return _Loop(self, readings, law)
        if isinstance(law, TimeVaryingLQR) and self.model.A.ndim == 3:
            if readings.robot.nc:
                raise SettingsError(
                    f"{readings.robot.name!r} has loops, along whose motion linear coordinates "
                    "turn: load it with coordinates='minimal', or take an ExtendedKalmanFilter"
                )
            return _Loop(self, readings, law)
        about = "one model" if self.model.A.ndim == 2 else "models along a motion"
        raise SettingsError(
            f"the KalmanFilter has {about}, and the law is {type(law).__name__}: one model is that "
            "near the posture of an LQR, models along a motion are those of a TimeVaryingLQR; for "
            "other laws take an ExtendedKalmanFilter"
        )


class _Loop:
    """The filter of one robot: its state is ``A x`` and what the forces of the nominal motion add.

    law: An `LQR` or a `TimeVaryingLQR`, near whose nominal motion the model is.
    """

    def __init__(self, kalman: KalmanFilter, readings: Readings, law: Any) -> None:
        self._kalman, self._readings, self._law = kalman, readings, law
        self._robot, model, self._n = readings.robot, kalman.sampled, len(kalman.model.states)
        self.dt, self.recorded_sizes = kalman.dt, dict.fromkeys(kalman.recorded, 1)
        q, v, tau = law.nominal(0.0)
        own = self._robot.linearize(q, v, tau, outputs=readings.names)
        count = len(own.states)
        readings.check_size(model.C.shape[-2], "the model of the KalmanFilter", model.outputs)
        if model.states[:count] != own.states or model.inputs != own.inputs:
            raise ShapeError(
                f"the model of the KalmanFilter has states {', '.join(model.states)} and inputs "
                f"{', '.join(model.inputs)}, and {self._robot.name!r} has "
                f"{', '.join(own.states)} and {', '.join(own.inputs)}: linearize it with no "
                "inputs= and independent=",
                name="model",
                given=model.states,
            )
        self._count, self._map = count, self._changes(q, v, tau, own.states)
        self._forces = np.linalg.pinv(self._robot.actuation_matrix(q))
        self._steady = self._at_time(0.0) if model.A.ndim == 2 else None

    def _changes(
        self, q: FloatArray, v: FloatArray, tau: FloatArray, states: Sequence[str]
    ) -> FloatArray:
        """Displacements along all speeds, and changes of these, by states, shape (2 nv, n)."""
        robot = self._robot
        names = [f"{x}:{name}" for x in "qv" for name in speed_names(robot)]
        if not robot.nc:
            return np.eye(2 * robot.nv)[:, [names.index(x) for x in states]]
        moving = [x for x in robot.joint_names if robot.joints[x].v.stop > robot.joints[x].v.start]
        model = robot.linearize(q, v, tau, outputs=[f"{x}:{name}" for x in "qv" for name in moving])
        return np.asarray(model.C[:, [model.states.index(x) for x in states]])

    def _at_time(self, t: float) -> tuple[FloatArray, ...]:
        """A, B, C, D and L; what forces and readings are; positions and speeds, at a sample."""
        gains, model = self._kalman.gains, self._kalman.sampled
        k = 0 if model.A.ndim == 2 else min(max(round(t / self.dt), 0), len(model.A) - 1)
        q, v, tau = self._law.nominal(t)
        tau_before = self._law.nominal(t - self.dt)[2] if k else tau
        matrices = [model.A, model.C, model.D, gains]
        A, C, D, L = matrices if model.A.ndim == 2 else (x[k] for x in matrices)
        B = model.B if model.B.ndim == 2 else model.B[max(k - 1, 0)]
        ahead = (model.B if model.B.ndim == 2 else model.B[k]) @ (self._forces @ tau)
        y = self._readings.measured(t, q, v, tau_before) - D @ (self._forces @ tau_before)
        return A, B @ self._forces, ahead, C, D @ self._forces, L, y, q, v

    def _numbers(self, t: Any) -> tuple[FloatArray, ...]:
        if self._steady is not None:
            return self._steady
        if isinstance(t, SymbolicTime):
            found: tuple[FloatArray, ...] = t.sampled("estimator", self._at_time, (self,))
            return found
        return self._at_time(t)

    def initial(self, t: Any, batch: tuple[int, ...]) -> tuple[FloatArray, FloatArray, State]:
        """Positions, speeds and state before the first sample: those of the nominal motion."""
        q, v = (np.broadcast_to(x, (*batch, *x.shape)) for x in self._numbers(t)[-2:])
        return q, v, {"ahead": np.zeros((*batch, self._n))}

    def update(
        self, sample: ControllerSample, y: FloatArray, tau: FloatArray, state: State
    ) -> tuple[FloatArray, FloatArray, dict[str, FloatArray], State]:
        """Positions and speeds, what is recorded, and the state after a sample."""
        A, B, held, C, D, L, shown, q, v = self._numbers(sample.t)
        x = state["ahead"] + times(B, tau)
        innovation = self._readings.difference(y, shown + times(C, x) + times(D, tau))
        x = x + times(L, innovation)
        change, nv = times(self._map, x[..., : self._count]), self._robot.nv
        moved, speeds = change[..., :nv], v + change[..., nv:]
        add = self._robot.joints.coordinates_add
        q = q + moved if add else self._robot.integrate(q, moved)
        others = enumerate(self.recorded_sizes, self._count)
        seen = {"innovation": innovation, **{name: x[..., k : k + 1] for k, name in others}}
        return q, speeds, seen, {"ahead": times(A, x) - held}


def _sampled(model: StateSpace, dt: float) -> StateSpace:
    """The model with forces that are held for a period."""
    if model.dt is None:
        return model.sampled(dt)
    if abs(model.dt - dt) > SAMPLE_TIME_ROUNDING * dt:
        raise SettingsError(
            f"the model is sampled every {model.dt:g} s, and dt is {dt:g} s: give the continuous "
            "model, or one of this period"
        )
    return model


def _steady(model: StateSpace, W: FloatArray, V: FloatArray) -> FloatArray:
    """Covariance before a sample, of the steady filter."""
    from scipy.linalg import LinAlgError, solve_discrete_are

    try:
        P = np.asarray(solve_discrete_are(model.A.T, model.C.T, W, V))
    except LinAlgError as reason:
        raise SettingsError(
            "there is no steady filter within rounding: process and measurement are too far apart, "
            f"or sensors hardly show a mode ({reason})"
        ) from None
    return np.asarray(0.5 * (P + P.T))


def refuse_unseen(model: StateSpace, free: Collection[str] = ()) -> None:
    """Check that outputs of a model show what does not decay by itself.

    Parameters
    ----------
    free : names of states
        Modes of these states alone do not count.

    Raises
    ------
    SettingsError
    """
    lost = lasting(model, model.unobservable_modes())
    lost = [x for x in lost if not {*_moving([x]).split(", ")} <= {*free}]
    if lost:
        raise SettingsError(
            f"the sensors ({', '.join(model.outputs) or 'none'}) do not show the mode "
            f"{lost[0].name!r} with the pole {lost[0].pole:.4g}, which does not decay by itself: "
            f"no filter finds {_moving(lost)}; add a sensor that depends on them"
        )


def _refuse_unmoved(model: StateSpace, W: FloatArray) -> None:
    noisy = replace(model, B=W, D=np.zeros((len(model.outputs), len(W))), inputs=())
    still = lasting(model, noisy.uncontrollable_modes())
    if still:
        raise SettingsError(
            f"process does not move the mode {still[0].name!r} with the pole {still[0].pole:.4g}, "
            "which does not decay by itself: a filter would trust it for ever; give variance to "
            f"{_moving(still)}"
        )


def _moving(modes: Any) -> str:
    """States that take part in some modes, in their order."""
    moved = {
        name
        for mode in modes
        for name, x in zip(mode.states, np.abs(mode.shape), strict=True)
        if x > MODE_UNMOVED * np.abs(mode.shape).max()
    }
    return ", ".join(x for x in modes[0].states if x in moved)
