"""Adaptive control: the torques of a model whose inertial parameters are learnt on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import ActuationError, Robot, SettingsError, ShapeError, UnknownNameError
from robodyn.array_types import FloatArray
from robodyn.arrays import expect
from robodyn.controllers.gains import at_speeds, check_fits, function, gain
from robodyn.controllers.plant import motor_error, motor_speeds
from robodyn.controllers.symbols import reference_at
from robodyn.controllers.wrapping import alone
from robodyn.simulation import Look, Remembering

__all__ = ["Adaptive"]

#: Names, or directions by name.
Learnt = str | Iterable[str] | Mapping[str, ArrayLike]


@dataclass(frozen=True, eq=False)
class Adaptive:
    """Slotine and Li's law: a model follows a reference, and learns from the error it makes.

    With ``e = q_ref - q``, ``v_r = v_ref + convergence e`` and ``s = v - v_r`` it asks for ::

        tau = M(q) v_r' + C(q, v) v_r + g(q) + friction(v_r) - damping s

    of a model with the parameters ``p``, which change by ``p' = - adaptation Y(q, v, v_r, v_r')^T
    s``, where ``Y`` is what the torques are linear in ``p`` by. The function ``s^T M s / 2 + d^T d
    / (2 adaptation)`` of ``s`` and of the error ``d`` of the parameters then falls by ``s^T damping
    s`` [Slotine and Li 1987]: the robot comes to follow its reference, whatever ``p`` are; where
    the reference excites them, they come to the true ones.

    It looks at the robot once a step, and parameters go on by the trapezoidal rule from one look to
    the next. They are ``run.memory["parameters"]``.

    Attributes
    ----------
    robot : Robot
        The model: a tree of revolute, prismatic and alike joints, all of them with motors, on a
        fixed base.
    reference : callable
        Time [s] -> position (nq,), velocity (nv,), acceleration (nv,).
    learnt : iterable of str, or mapping of str to array_like
        Names of parameters, ``"forearm.m"`` (see `Robot.parameter_names`), or of bodies, which
        stand for all ten of theirs. Or directions, shape (10 n,), multiples of which are added to
        the parameters of the model: the difference that a payload of 1 kg makes to
        `Robot.inertial_parameters`, to learn how many kg it is.
    adaptation : float or array_like, shape (m,)
        How fast each is learnt [unit of the parameter, squared, per J].
    damping : float or array_like, shape (nv,) [N m s/rad, N s/m]
    convergence : float or array_like, shape (nv,) [1/s]
        How fast ``e`` decays where ``s`` is zero.
    start : array_like, shape (m,), optional
        Where they begin. Default: as the model has them; multiples of directions at zero.

    Raises
    ------
    UnknownNameError
        For parameters and bodies that do not exist.
    ShapeError
        For gains of another shape, negative or not finite.
    ActuationError
        If a joint has no motor; ``.direction`` are the speeds without one.
    SettingsError
        For closed linkages, floating and moving bases, and joints that turn by quaternions.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import Adaptive, SineReference
    >>> model = rd.load("double_pendulum")
    >>> def carrying(mass):
    ...     load = rd.Inertia.from_matrix(mass, (0.0, 0.0, -0.8), np.zeros((3, 3)))
    ...     return model.with_(payload={"lower": load})
    >>> one = carrying(1.0).inertial_parameters - model.inertial_parameters
    >>> reference = SineReference(np.zeros(2), np.array([0.5, 0.4]), np.array([1.0, 1.7]))
    >>> controller = Adaptive(model, reference, {"load": one}, adaptation=2.0, damping=50.0)
    >>> run = rd.simulate(carrying(2.5), controller, duration=8.0, step=2e-3)
    >>> bool(abs(run.memory["parameters"][-1, 0] - 2.5) < 0.1)
    True
    """

    remembers: ClassVar[tuple[str, ...]] = ("parameters",)

    robot: Robot
    reference: Callable[[float], tuple[FloatArray, FloatArray, FloatArray]]
    learnt: Learnt
    adaptation: ArrayLike
    damping: ArrayLike
    convergence: ArrayLike = 10.0
    start: ArrayLike | None = None
    _directions: FloatArray = field(init=False, repr=False)
    _own: FloatArray = field(init=False, repr=False)
    _first: FloatArray = field(init=False, repr=False)
    _gains: tuple[FloatArray, FloatArray, FloatArray] = field(init=False, repr=False)
    _error: Callable[[FloatArray, FloatArray], FloatArray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        expect("robot", self.robot, Robot)
        function(
            "reference", self.reference, "from the time [s] to position, velocity, acceleration"
        )
        _check(self.robot)
        directions, own = _learnt(self.robot, self.learnt)
        count, nv = len(own), self.robot.nv
        if self.start is None:
            first = own
        else:
            first = np.array(_numbers("start", self.start, (count,)))
        gains = (
            gain("adaptation", self.adaptation, count),
            gain("damping", self.damping, nv),
            gain("convergence", self.convergence, nv),
        )
        for name, value in (
            ("_directions", directions), ("_own", own), ("_first", first), ("_gains", gains),
            ("_error", motor_error(self.robot)),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """What it asks for before it has learnt anything, shape (..., nv) [N m, N]."""
        return alone(self, t, q, v)

    def fresh(self) -> Remembering:
        """The same at the start of a motion, with a memory of that motion alone."""
        return Remembering(self)

    def answer(self, look: Look, memory: Any) -> tuple[FloatArray, dict[str, FloatArray]]:
        """Torques, and what has been learnt: the parameters, and how fast they change."""
        t, q, v = look.t, look.q, look.v
        check_fits(self.robot, q, v)
        adaptation, damping, convergence = self._gains
        q_ref, v_ref, a_ref = reference_at(self.robot, self.reference, t)
        v_ref = at_speeds("velocities", v_ref, self.robot.nv)
        a_ref = at_speeds("accelerations", a_ref, self.robot.nv)
        v_r = v_ref + convergence * self._error(q, q_ref)
        s, a_r = v - v_r, a_ref + convergence * (v_ref - v)
        Y = _regressor(self.robot, q, v, v_r, a_r) @ self._directions
        rate = -adaptation * np.einsum("...ij,...i->...j", Y, s)
        learnt = self._first + np.zeros(rate.shape)
        if memory is not None:
            learnt = memory["parameters"] + 0.5 * look.h * (memory["rate"] + rate)
        tau = _model_torques(self.robot, q, v, v_r, a_r) - damping * s
        tau = tau + np.einsum("...ij,...j->...i", Y, learnt - self._own)
        return tau, {"parameters": learnt, "rate": rate}


def _model_torques(
    robot: Robot, q: FloatArray, v: FloatArray, v_r: FloatArray, a_r: FloatArray
) -> FloatArray:
    """``M a_r + C(q, v) v_r + g`` of the model, and what resists at ``v_r``."""
    change = robot.coriolis_matrix(q, v) - robot.coriolis_matrix(q, v_r)
    rest = np.einsum("...ij,...j->...i", change, v_r)
    return np.asarray(robot.inverse_dynamics(q, v_r, a_r) + rest)


def _regressor(
    robot: Robot, q: FloatArray, v: FloatArray, v_r: FloatArray, a_r: FloatArray
) -> FloatArray:
    """What ``M a_r + C(q, v) v_r + g`` is linear in the parameters by, shape (..., nv, 10 n).

    Coriolis forces are a quadratic form of the speeds, and so their symmetric bilinear form, which
    Christoffel's symbols make, a difference of two of its values.
    """
    zero = np.zeros(np.shape(v))
    rest, plus, minus = robot.regressor(
        np.stack([q, q, q]), np.stack([zero, v + v_r, v - v_r]), np.stack([a_r, zero, zero])
    )
    return np.asarray(rest + 0.25 * (plus - minus))


def _check(robot: Robot) -> None:
    """Refuse robots that the law is not for."""
    what = f"the adaptive law is for trees on a fixed base, and {robot.name!r}"
    if robot.nc or robot.coordinates == "minimal":
        raise SettingsError(f"{what} has closed loops")
    if robot.base != "fixed":
        raise SettingsError(f"{what} has a {robot.base} base")
    for name in robot.joint_names:
        if not robot.joints[name].kind.coordinates.flat:
            raise SettingsError(f"joint {name!r} of {robot.name!r} turns by quaternions: {what}")
    motors = set(motor_speeds(robot))
    if len(motors) < robot.nv:
        without = [n for n in robot.joint_names if robot.joints[n].v.start not in motors]
        missing = np.array([k not in motors for k in range(robot.nv)], float)
        raise ActuationError(
            f"joint {without[0]!r} of {robot.name!r} has no motor: the adaptive law needs one at "
            "each joint",
            direction=missing,
        )


def _learnt(robot: Robot, learnt: Learnt) -> tuple[FloatArray, FloatArray]:
    """Directions in the space of the parameters, shape (10 n, m), and where the model has them."""
    names, model = robot.parameter_names, robot.inertial_parameters
    if isinstance(learnt, Mapping):
        if not learnt:
            raise SettingsError("learnt is empty: name parameters, bodies or directions")
        columns = [_numbers(f"learnt[{k!r}]", x, model.shape) for k, x in learnt.items()]
        return np.stack(columns, axis=1), np.zeros(len(columns))
    chosen = list[int]()
    for name in [learnt] if isinstance(learnt, str) else learnt:
        found = [k for k, own in enumerate(names) if own == name or own.rpartition(".")[0] == name]
        if not found:
            known = (*names, *robot.body_names)
            raise UnknownNameError("parameter or body", str(name), known, repr(robot.name))
        chosen += found
    if not chosen or len(set(chosen)) < len(chosen):
        raise SettingsError(f"learnt is {learnt!r}: name each parameter, or its body, once")
    return np.eye(len(model))[:, chosen], model[chosen]


def _numbers(name: str, value: Any, shape: tuple[int, ...]) -> FloatArray:
    try:
        given = np.array(value, float)
    except (TypeError, ValueError):
        given = np.array(np.nan)
    if given.shape != shape or not np.isfinite(given).all():
        raise ShapeError(
            f"{name} is {value!r}, expected finite numbers of shape {shape}",
            name=name,
            given=value,
            expected=shape,
        )
    return given
