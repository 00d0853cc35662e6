"""Adaptive control: inertial parameters are estimated during the motion [Slotine, Li 1987]."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import BasePath, Robot, SettingsError, UnknownNameError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.arrays import named
from robodyn.simulation import ControllerSample
from robodyn.simulation.control.controller import State
from robodyn.simulation.limits.bounds import own_effort_bounds
from robodyn.symbolic.scalar import clip, maximum, where

from ..support.gains import gain, real, reduce_by_fields
from ..support.motor_torques import motor_space
from ..support.plant import base_path, motor_speeds
from ..support.symbols import base_at, times
from ..wrappers.wrapping import first_forces
from .passivity_based import PassivityBased

#: Names of parameters, or directions in parameter space by name.
Learnt = str | Iterable[str] | Mapping[str, ArrayLike]

#: (q, v, s, a, base, t) -> Y over all speeds, zero where there are no motors.
Regressor = Callable[..., FloatArray]


@dataclass(frozen=True, eq=False)
class Adaptive:
    """A passivity-based controller that adapts inertial parameters from its tracking error.

    The torques of `PassivityBased` are linear in the inertial parameters ``p`` of its model, by a
    matrix ``Y``. With ``s`` as it is there, the parameters change by ::

        p' = - adaptation Y(q, v, s, v_r')^T s

    With the error ``d`` of the parameters, the Lyapunov function ``s^T M s / 2 + d^T d / (2
    adaptation)`` decreases at the rate ``s^T gain s``. The tracking error converges to zero,
    whatever the parameters become; where the reference excites them, they converge to the true
    ones.

    Parameters are integrated from sample to sample by the trapezoidal rule. They are
    ``run.controller_state["parameters"]``. They stay while their change would ask still more of a
    motor that is asked for more than its limit (anti-windup).

    Attributes
    ----------
    controller : PassivityBased
        With the model as it is known beforehand.
    learnt : iterable of str, or mapping of str to array_like
        Names of parameters, ``"forearm.m"`` (see `Robot.parameter_names`), or of bodies, which
        stand for all ten of theirs. Or directions, shape (10 n,), multiples of which are added to
        the parameters of the model: the difference that a payload of 1 kg makes to
        `Robot.inertial_parameters`, to learn how many kg it is.
    adaptation : float or array_like, shape (m,)
        Adaptation gain of each [unit of the parameter, squared, per J].
    start : array_like, shape (m,), optional
        Initial values. Default: those of the model; zero for multiples of directions.

    Raises
    ------
    UnknownNameError
        For parameters and bodies that do not exist.
    ShapeError
        For another controller, and for numbers of another shape, negative or not finite.
    SettingsError
        For a floating base, whose motion is not linear in the parameters, for minimal coordinates,
        and for parameters that are named twice.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import Adaptive, PassivityBased, SineReference
    >>> model = rd.load("double_pendulum")
    >>> def carrying(mass):
    ...     load = rd.Inertia.from_matrix(mass, (0.0, 0.0, -0.8), np.zeros((3, 3)))
    ...     return model.with_(payload={"lower": load})
    >>> one = carrying(1.0).inertial_parameters - model.inertial_parameters
    >>> reference = SineReference(np.zeros(2), np.array([0.5, 0.4]), np.array([1.0, 1.7]))
    >>> law = PassivityBased(model, reference, gain=50.0)
    >>> controller = Adaptive(law, {"load": one}, adaptation=2.0)
    >>> run = rd.simulate(carrying(2.5), controller, duration=8.0, step=2e-3)
    >>> bool(abs(run.controller_state["parameters"][-1, 0] - 2.5) < 0.1)
    True
    """

    recorded: ClassVar[tuple[str, ...]] = ("parameters",)
    symbolic: ClassVar[bool] = True

    controller: PassivityBased
    learnt: Learnt
    adaptation: ArrayLike
    start: ArrayLike | None = None
    _directions: FloatArray = field(init=False, repr=False)
    _own: FloatArray = field(init=False, repr=False)
    _first: FloatArray = field(init=False, repr=False)
    _adaptation: FloatArray = field(init=False, repr=False)
    _path: BasePath | None = field(init=False, repr=False)
    _regressor: Regressor = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        _refuse_others(self.robot)
        directions, own = _learnt(self.robot, self.learnt)
        first = own if self.start is None else _numbers("start", self.start, own.shape)
        object.__setattr__(self, "_directions", directions)
        object.__setattr__(self, "_own", own)
        object.__setattr__(self, "_first", first)
        object.__setattr__(self, "_adaptation", gain("adaptation", self.adaptation, len(own)))
        object.__setattr__(self, "_path", base_path(self.robot, self.controller.base))
        object.__setattr__(self, "_regressor", _regressor(self.robot))

    @property
    def robot(self) -> Robot:
        """The model, with the parameters that are known beforehand."""
        return self.controller.robot

    __reduce__ = reduce_by_fields

    __call__ = first_forces

    def initial_state(self, sample: ControllerSample) -> State:
        """The initial parameters."""
        zeros = np.zeros((*sample.v.shape[:-1], len(self._first)))
        return {"parameters": self._first + zeros, "rate": zeros}

    def update(self, sample: ControllerSample, state: State) -> tuple[FloatArray, State]:
        """Torques; the parameters and their rates."""
        law, t, q, v = self.controller, sample.t, sample.q, sample.v
        s, a = law.sliding(t, q, v)
        Y = self._regressor(q, v, s, a, base_at(self._path, t), t) @ self._directions
        rate = -self._adaptation * times(np.swapaxes(Y, -1, -2), s)
        tau, known = law(t, q, v), state["parameters"]
        rate = self._unless_wound_up(tau + times(Y, known - self._own), times(Y, rate), rate)
        learnt = known + 0.5 * sample.h * (state["rate"] + rate)
        return tau + times(Y, learnt - self._own), {"parameters": learnt, "rate": rate}

    def _unless_wound_up(self, tau: Any, change: Any, rate: Any) -> Any:
        """The rate of parameters, or none where it would ask still more of a motor at its limit.

        tau, change (..., nv): Torques that are asked for, and their rate by that of parameters.
        """
        limits = own_effort_bounds(self.robot)
        at = np.flatnonzero(np.isfinite(limits))
        if not len(at):
            return rate
        tau, top = tau[..., at], limits[at]
        more = (tau - clip(tau, -top, top)) * change[..., at]
        beyond = maximum(more, 0.0).sum(axis=-1, keepdims=True)
        return where(beyond > 0.0, 0.0 * rate, rate)


def _regressor(robot: Robot) -> Regressor:
    """The regressor of the torques of `PassivityBased`: their derivatives by the parameters.

    These torques are those of the speeds ``v`` and accelerations ``a`` of motors, less ``C(q, v)
    s``. Forces that grow with the square of speeds make ``C``, as in `motor_coriolis`: ``4 C(v) s``
    is the difference of those at ``v + s`` and ``v - s``, less that of those at ``s`` and ``-s``,
    which a turning base makes.
    """
    reduced = _reduced(robot)

    def at(q: Any, v: Any, s: Any, a: Any, base: Any, t: float) -> FloatArray:
        follow, Y = reduced(q, v, a, base, t)
        other = follow(s)
        for one, two in [(v + other, v - other), *([] if base is None else [(-other, other)])]:
            first, second = (reduced(q, w, np.zeros(np.shape(a)), base, t) for w in (one, two))
            Y = Y - 0.25 * (first[1] - second[1])
        return np.asarray(Y)

    return at


def _reduced(robot: Robot) -> Callable[..., Any]:
    """Regressors of the motors, whose motion determines that of the other joints of a linkage."""
    motors = list(motor_speeds(robot))
    space = motor_space(robot) if robot.nc else None

    def at(q: Any, v: Any, a: Any, base: Any, t: float) -> Any:
        if space is None:
            return lambda s: s, robot.at(t).regressor(q, v, a, base=base)
        known = space(q, v, base, t)
        E = known.follow

        def follow(s: FloatArray) -> FloatArray:
            return times(E, s[..., motors])

        Y = robot.at(t).regressor(q, v, follow(a) + known.rest, base=base)
        found = np.zeros(Y.shape, Y.dtype)
        found[..., motors, :] = np.swapaxes(E, -1, -2) @ Y
        return follow, found

    return at


def _refuse_others(robot: Robot) -> None:
    """Check that torques of a robot are linear in the parameters."""
    if robot.base == "floating" or robot.coordinates == "minimal":
        has = "a floating base" if robot.base == "floating" else "minimal coordinates"
        raise SettingsError(
            f"{robot.name!r} has {has}: the adaptive law is for robots on a fixed or moving base "
            "in coordinates of all joints"
        )


def _learnt(robot: Robot, learnt: Learnt) -> tuple[FloatArray, FloatArray]:
    """Directions in the space of the parameters, shape (10 n, m), and where the model has them."""
    names, model = robot.parameter_names, robot.inertial_parameters
    if isinstance(learnt, Mapping):
        columns = [_numbers(f"learnt[{k!r}]", x, model.shape) for k, x in learnt.items()]
        if not columns:
            raise SettingsError("learnt is empty: name parameters, bodies or directions")
        return np.stack(columns, axis=1), np.zeros(len(columns))
    chosen = list[int]()
    for name in named("learnt", learnt, "names of parameters or bodies, or directions by name"):
        found = [k for k, own in enumerate(names) if name in (own, own.rpartition(".")[0])]
        if not found:
            known = (*robot.body_names, *names)
            raise UnknownNameError("parameter or body", str(name), known, repr(robot.name))
        chosen += found
    if not chosen or len(set(chosen)) < len(chosen):
        raise SettingsError(f"learnt is {learnt!r}: name each parameter, or its body, once")
    return np.eye(len(model))[:, chosen], model[chosen]


def _numbers(name: str, value: Any, shape: tuple[int, ...]) -> FloatArray:
    expected = f"finite numbers of shape {shape}"
    return real(name, value, expected, lambda x: x.shape == shape and np.isfinite(x))
