"""The extended Kalman filter of a robot, on the manifold of its coordinates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import Robot, SettingsError, ShapeError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.arrays import checked, named
from robodyn.simulation import ControllerSample
from robodyn.simulation.control.controller import State
from robodyn.symbolic.scalar import where

from ..support.gains import reduce_by_fields, weights
from ..support.symbols import times
from .kalman_filter import refuse_unseen
from .readings import Readings
from .robot_model import Place, RobotModel


@dataclass(frozen=True, eq=False)
class ExtendedKalmanFilter:
    """The Kalman filter of a robot that is linearised anew where the estimate is.

    Between samples the estimate moves as the robot does under the forces that acted, by a step of
    the fourth order, and its covariance by the linear model there. Readings correct it along the
    speeds of the joints: quaternions keep their length, and of closed linkages the independent
    joints are corrected, which the others follow. It works with any law, away from any posture.

    Attributes
    ----------
    robot : Robot
        The model, with sensors. Its base is fixed or floating.
    sensors : names of sensors
        In the order of ``measurement``.
    process : array_like, shape (), (n,) or (n, n)
        Covariance of what a sample adds to that of the state: displacements of independent joints,
        their speeds, disturbances [units of the state squared].
    measurement : array_like, shape (), (p,) or (p, p)
        Covariance of the noise of sensors [units of the sensors squared]. Positive definite.
    dt : float [s]
        From sample to sample.
    posture, speed : array_like, shape (nq,), (nv,), optional
        The estimate before the first sample. Default: `Robot.neutral`, at rest.
    initial : array_like, shape (), (n,) or (n, n)
        Its covariance.
    disturbances : names of joints
        On each an unknown force acts, which changes slowly: a state, after those of the robot.
    payload : str or (str, array_like), optional
        A link, or a point in it (3,) [m], which carries an unknown mass: the last state [kg].
    states : tuple of str
        Names of the n states; made by the class.

    Raises
    ------
    ShapeError
        For covariances of another shape, not symmetric or of the wrong sign, and a posture of
        another robot.
    SettingsError
        If the robot depends on time, its base moves in a given way, or constraints act on speeds
        alone; if the sensors do not show a state at ``posture``, which does not decay by itself.
        Those of a floating base they need not: their variance grows.
    UnknownNameError
        For a sensor, a joint or a link that the robot does not have.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import ExtendedKalmanFilter, GravityCompensation, OutputFeedback
    >>> imu = rd.Sensor("imu", at=("lower", [0.0, 0.0, -1.0]), name="imu")
    >>> robot = rd.load("double_pendulum", sensors=[imu])
    >>> found = ExtendedKalmanFilter(robot, ["imu"], 1e-6, 1e-2, dt=1e-3, initial=0.1)
    >>> seen = OutputFeedback(GravityCompensation(robot), found)
    >>> run = rd.simulate(robot, seen, q0=[0.3, -0.2], v0=[0.5, 0.0], duration=1.0, step=1e-3)
    >>> bool(np.abs(run.controller_state["position"][-1] - run.q[-1]).max() < 1e-2)
    True
    """

    symbolic: ClassVar[bool] = True

    robot: Robot
    sensors: Iterable[str]
    process: ArrayLike
    measurement: ArrayLike
    _: KW_ONLY
    dt: float
    posture: ArrayLike | None = None
    speed: ArrayLike | None = None
    initial: ArrayLike = 1e-2
    disturbances: Iterable[str] = ()
    payload: str | tuple[str, ArrayLike] | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        robot = self.robot
        if robot.depends_on_time:
            raise SettingsError(f"{robot.name!r} depends on time: the filter does not")
        if not 0.0 < self.dt < np.inf:
            raise ShapeError(f"dt is {self.dt!r}, expected a positive number of seconds", name="dt")
        for name in ("sensors", "disturbances"):
            names = named(name, getattr(self, name))
            for k, own in enumerate(names):
                if own in names[:k]:
                    raise ShapeError(f"{name} names {own!r} twice", name=name, given=names)
            object.__setattr__(self, name, names)
        _ = self._own

    def __reduce__(self) -> Any:
        return _remade, reduce_by_fields(self)

    @cached_property
    def _own(self) -> _Filter:
        return _Filter(self)

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the states."""
        return self._own.states

    @property
    def recorded(self) -> tuple[str, ...]:
        """What a motion records beside position, velocity and innovation."""
        return ("variance", *self._own.others)

    def in_loop(self, law: Any, readings: Readings) -> _Filter:
        """The filter, whatever the law is."""
        own, there = self.robot, readings.robot
        if (own.nq, own.nv) != (there.nq, there.nv):
            raise ShapeError(
                f"the ExtendedKalmanFilter is one of {own.name!r} with {own.nv} speeds, and "
                f"{there.name!r} has {there.nv}",
                name="estimator",
                given=own.name,
            )
        if readings.columns != self._own.readings.columns:
            raise ShapeError(
                f"the ExtendedKalmanFilter reads {', '.join(self._own.readings.columns)}, and "
                f"sensors= show {', '.join(readings.columns)}: leave sensors= out",
                name="sensors",
                given=readings.columns,
            )
        return self._own


def _remade(kind: type, given: tuple[Any, ...]) -> Any:
    """An object of the class, whose last fields are given by name."""
    names = ("robot", "sensors", "process", "measurement", "dt", "posture", "speed", "initial")
    return kind(**dict(zip((*names, "disturbances", "payload"), given, strict=True)))


class _Filter:
    """The filter, in numbers and in symbols; the covariance is kept as its lower triangle."""

    def __init__(self, given: ExtendedKalmanFilter) -> None:
        robot = given.robot
        self.dt = given.dt
        forces, payload = given.disturbances, given.payload
        self.model = RobotModel(robot, given.sensors, given.dt, forces, payload)
        self.states, self.others = self.model.states, self.model.others
        self.readings, self._n = self.model.readings, len(self.states)
        q = robot.neutral() if given.posture is None else given.posture
        v = np.zeros(robot.nv) if given.speed is None else given.speed
        q = np.array(checked("posture", q, robot.nq, of=robot.name))
        v = np.array(checked("speed", v, robot.nv, of=robot.name))
        for name, x in (("posture", q), ("speed", v)):
            if x.ndim != 1:
                raise ShapeError(f"{name} has shape {x.shape}, expected one state", name=name)
        self._start = q, v, np.zeros(len(self.others))
        sizes = f"x is {', '.join(self.states)}"
        shown = f"y is {', '.join(self.readings.columns)}"
        p = len(self.readings.columns)
        self._W = weights("process", given.process, self._n, sizes, kind="variance")
        V = weights("measurement", given.measurement, p, shown, definite=True, kind="variance")
        self._P = weights("initial", given.initial, self._n, sizes, kind="variance")
        refuse_unseen(self.model.linear_model(self._start), _drifting(robot, self.states))
        self._apart: FloatArray | None
        self._variances, self._apart = np.diag(V), None
        if not np.array_equal(V, np.diag(self._variances)):
            self._variances, turned = np.linalg.eigh(V)
            self._apart = turned.T
        self._lower = np.tril_indices(self._n)
        self.recorded_sizes = {"variance": self._n, **dict.fromkeys(self.others, 1)}

    def initial(self, t: Any, batch: tuple[int, ...]) -> tuple[FloatArray, FloatArray, State]:
        """Positions, speeds and state before the first sample."""
        given = *self._start, self._P[self._lower]
        q, v, other, P = (np.broadcast_to(x, (*batch, *x.shape)) for x in given)
        return q, v, {"q": q, "v": v, "other": other, "covariance": P}

    def update(
        self, sample: ControllerSample, y: FloatArray, tau: FloatArray, state: State
    ) -> tuple[FloatArray, FloatArray, dict[str, FloatArray], State]:
        """Positions and speeds, what is recorded, and the state after a sample."""
        model, at = self.model, (state["q"], state["v"], state["other"])
        at, P = self._predicted(sample.h, at, tau, self._full(state["covariance"]))
        innovation = self.readings.difference(y, model.expected(at, tau))
        tangent = model.tangent(at)
        step, P = self._corrected(innovation, model.shown(at, tau, tangent), P)
        q, v, other = model.moved(at, step, tangent)
        own = {"q": q, "v": v, "other": other, "covariance": self._triangle(P)}
        seen = {name: other[..., k : k + 1] for k, name in enumerate(self.others)}
        variance = P[..., range(self._n), range(self._n)]
        return q, v, {"innovation": innovation, "variance": variance, **seen}, own

    def _predicted(
        self, h: Any, at: Place, tau: FloatArray, P: FloatArray
    ) -> tuple[Place, FloatArray]:
        """The state and its covariance after ``h`` seconds, which are the period, or none."""
        if isinstance(h, float) and h == 0.0:
            return at, P
        A, dt = self.model.rates(at, tau, self.model.tangent(at)), self.dt
        F = np.eye(self._n) + dt * A + (0.5 * dt * dt) * (A @ A)
        after = self._symmetric(F @ P @ np.swapaxes(F, -1, -2) + self._W)
        new = self.model.after_step(at, tau)
        if isinstance(h, float):
            return new, after
        q, v = (where(h > 0.0, x, y) for x, y in zip(new[:2], at[:2], strict=True))
        return (q, v, at[2]), where(h > 0.0, after, P)

    def _corrected(
        self, innovation: FloatArray, C: FloatArray, P: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The step of the state, and its covariance, by one reading after the other.

        Noise of readings that depends on each other is turned apart. So nothing is inverted.
        """
        if self._apart is not None:
            innovation, C = times(self._apart, innovation), self._apart @ C
        step = np.zeros((*innovation.shape[:-1], self._n))
        for k, variance in enumerate(self._variances):
            c = C[..., k, :]
            Pc = times(P, c)
            gain = Pc / ((c * Pc).sum(axis=-1, keepdims=True) + variance)
            left = innovation[..., k : k + 1] - (c * step).sum(axis=-1, keepdims=True)
            step = step + gain * left
            P = self._symmetric(P - gain[..., :, None] * Pc[..., None, :])
        return step, P

    def _symmetric(self, P: FloatArray) -> FloatArray:
        """A matrix by its lower triangle."""
        return self._full(self._triangle(P))

    def _triangle(self, P: FloatArray) -> FloatArray:
        """The lower triangle of a matrix as a row."""
        i, j = self._lower
        return np.asarray(P[..., i, j])

    def _full(self, lower: FloatArray) -> FloatArray:
        """A matrix from its lower triangle as a row, shape (..., n, n)."""
        P = np.zeros((*lower.shape[:-1], self._n, self._n), lower.dtype)
        i, j = self._lower
        P[..., i, j], P[..., j, i] = lower, lower
        return P


def _drifting(robot: Robot, states: tuple[str, ...]) -> set[str]:
    """States that sensors need not show: those of a floating base."""
    first = robot.joint_names[0] if robot.base == "floating" else None
    return {x for x in states if x[2:].split("[")[0] == first}
