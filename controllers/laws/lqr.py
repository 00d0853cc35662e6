"""The linear-quadratic regulator (LQR) of a posture at rest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import ActuationError, BaseMotion, Robot, SettingsError, ShapeError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.arrays import of_one_state
from robodyn.model.virtual_work import joint_forces
from robodyn.simulation.loads.column_names import speed_names
from robodyn.state_space import StateSpace
from robodyn.tolerances import ACTUATION_RANK, REST_ACCELERATION

from ..support.gains import checked_call, reduce_by_fields, state_of, weights
from ..support.linear_feedback import StateError, lasting, linear_feedback, state_error
from ..support.motor_torques import standing_forces, stands
from ..support.plant import by_motors, motor_speeds
from ..support.symbols import times


@dataclass(frozen=True, eq=False)
class LQR:
    """``tau = tau_0 - K x`` at the motors, which brings a robot to rest at a posture at least cost.

    The state ``x`` is the motion from that posture, and the speeds, of independent joints, as in
    `Robot.linearize`. Of all laws it is the one with the least ``integral (x^T state x + u^T effort
    u) dt`` in the linear model, where u are the forces beyond ``tau_0``: the continuous linear
    quadratic regulator [Kalman 1960]. With ``dt`` it is that of a digital controller, whose forces
    are held for ``dt`` seconds; the integral is then a sum over samples. It is called with every
    state as the continuous one is: `Sampled` with this period holds its forces.

    Attributes
    ----------
    robot : Robot
    posture : array_like, shape (nq,) [rad, m]
        Where the robot can stay at rest.
    state : array_like, shape (), (n,) or (n, n)
        Weights of ``x``, in the order of ``model.states``: positions, then velocities; of a tree
        there are 2 nv.
    effort : array_like, shape (), (m,) or (m, m)
        Weights of the forces of the m motors, in the order of `Robot.actuated_joints`. Positive.
    tau : array_like, shape (nv,), optional [N m, N]
        Forces that hold it there. Default: those of inverse dynamics at the motors.
    base : BaseMotion, optional
        Motion of a moving base about which the law is linearised. Default: at rest.
    dt : float, optional [s]
        Period of a digital controller. Default: the controller is continuous.
    model : StateSpace
        The linear model, sampled with ``dt`` where it is given; made by the class.
    gains : ndarray, shape (m, n)
        ``K``, a row a motor as the columns of ``model.B``; made by the class.
    cost_to_go : ndarray, shape (n, n)
        ``S``: from ``x`` on, the motion costs ``x^T S x`` at least; made by the class.
    rest, holding : ndarray, shape (nq,), (m,)
        The posture, and the forces of motors that hold it, or the voltages; made by the class.
    places : tuple of int
        Indices of the states among displacements and speeds of all joints; made by the class.

    Raises
    ------
    ShapeError
        For weights of another shape, not symmetric or of the wrong sign; and where ``state`` does
        not weigh a mode that does not decay by itself.
    ActuationError
        If the model is not stabilisable, as the motors do not reach a mode that does not decay
        (``.direction``), or if they cannot hold the posture; for ``tau`` at joints without motors.
    SettingsError
        If the robot depends on time, and for weights so far apart that rounding leaves no law, or a
        period over which a mode cannot be brought to rest.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import LQR
    >>> robot = rd.load("double_pendulum", actuators={"elbow": rd.Actuator()})
    >>> law = LQR(robot, [np.pi, 0.0])
    >>> run = rd.simulate(robot, law, q0=[np.pi - 0.02, 0.02], duration=8.0)
    >>> bool(np.abs(run.q[-1] - [np.pi, 0.0]).max() < 1e-3)
    True
    """

    symbolic: ClassVar[bool] = True

    robot: Robot
    posture: ArrayLike
    state: ArrayLike = 1.0
    effort: ArrayLike = 1.0
    tau: ArrayLike | None = None
    base: BaseMotion | None = None
    dt: float | None = None
    model: StateSpace = field(init=False, repr=False)
    gains: FloatArray = field(init=False, repr=False)
    cost_to_go: FloatArray = field(init=False, repr=False)
    rest: FloatArray = field(init=False, repr=False)
    holding: FloatArray = field(init=False, repr=False)
    places: tuple[int, ...] = field(init=False, repr=False)
    _still: FloatArray = field(init=False, repr=False)
    _error: StateError = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        robot = self.robot
        if robot.depends_on_time:
            raise SettingsError(
                f"{robot.name!r} depends on time: no posture of it is at rest for good"
            )
        q = of_one_state("posture", self.posture, robot.nq, of=robot.name)
        given = None if self.tau is None else _of_motors(robot, q, self.tau)
        still = _currents(robot, q, given, self.base)
        tau = _of_motors(robot, q, _holding(robot, q, still, self.base)) if given is None else given
        model = _model(robot, q, still, tau, self.base)
        n, m = model.B.shape
        Q = weights("state", self.state, n, f"x is {', '.join(model.states)}")
        R = weights("effort", self.effort, m, f"u is {', '.join(model.inputs)}", definite=True)
        _refuse_lost(robot, model)
        _refuse_unseen(robot, model, Q)
        if self.dt is not None:
            model = model.sampled(self.dt)
        gains, cost_to_go = _regulator(robot, model, Q, R)
        holding, places = _forces(robot, q, tau), _places(robot, model)
        vars(self).update(model=model, gains=gains, cost_to_go=cost_to_go, rest=q)
        vars(self).update(holding=holding, places=places, _still=still, _error=state_error(robot))

    __reduce__ = reduce_by_fields

    @checked_call
    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Torques, shape (..., nv) [N m, N], at time ``t`` [s]."""
        q, v = state_of(self.robot, q, v)
        x = self._error(q, v, self.rest, self._still)[..., list(self.places)]
        if self.robot.model.gearing.elsewhere:
            u = self.holding - x @ self.gains.T
            return times(self.robot.actuation_matrix(q), u)
        at = motor_speeds(self.robot)
        return linear_feedback(at, self.robot.nv, self.holding, -self.gains, x)

    def nominal(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position (nq,), speeds and forces (nv,) where it leaves the robot alone, at a time."""
        return self.rest, self._still, self.robot.actuation_matrix(self.rest) @ self.holding


def _of_motors(robot: Robot, q: FloatArray, given: ArrayLike) -> FloatArray:
    """Given forces, of motors alone."""
    tau = of_one_state("tau", given, robot.nv, of=robot.name)
    own = by_motors(robot, q, tau)
    others = np.flatnonzero(np.abs(tau - own) > ACTUATION_RANK * np.abs(tau).max(initial=0.0))
    if len(others):
        name = speed_names(robot)[others[0]]
        raise ActuationError(
            f"tau has {tau[others[0]]:.3g} for joint {name!r} of {robot.name!r}, which has no "
            "motor: take a posture that motors can hold",
            direction=name,
        )
    return tau


def _forces(robot: Robot, q: FloatArray, tau: FloatArray) -> FloatArray:
    """Forces of the motors in their order, shape (m,)."""
    if not robot.model.gearing.elsewhere:
        return tau[list(motor_speeds(robot))]
    return joint_forces(robot.model, lambda: robot.actuation_matrix(q), tau)


def _currents(
    robot: Robot, q: FloatArray, tau: FloatArray | None, base: BaseMotion | None
) -> FloatArray:
    """Speeds at rest: currents of windings, and zeros, shape (nv,).

    tau, optional: Forces of motors. Default: those that hold the robot.
    """
    v, windings = np.zeros(robot.nv), [x.winding for x in robot.model.setup.windings]
    at = [robot.joints[x].v.start for x in windings]
    if at and tau is not None:
        unit = np.eye(robot.nv)[at].sum(axis=0)
        v[at] = -tau[at] / robot.passive_forces(q, unit)[at]  # over their resistances
    elif at:
        model = robot.linearize(q, v, v, base=base)
        rows = [k for k, x in enumerate(model.states) if x.startswith("v:")]
        columns = [model.states.index(f"v:{x}") for x in windings]
        pushed = np.hstack([model.A[:, columns], model.B])[rows]
        v[at] = np.linalg.lstsq(pushed, -model.acceleration, rcond=None)[0][: len(at)]
    return v


def _holding(robot: Robot, q: FloatArray, still: FloatArray, base: BaseMotion | None) -> FloatArray:
    """Forces of motors at rest; for a standing floating robot, those of the motors alone."""
    if stands(robot):
        return standing_forces(robot, q, still, 0.0 * still, motor_speeds(robot))
    tau = robot.inverse_dynamics(q, still, 0.0 * still, base=base)
    return by_motors(robot, q, tau)


def _model(
    robot: Robot, q: FloatArray, still: FloatArray, tau: FloatArray, base: BaseMotion | None
) -> StateSpace:
    """The linear model of a posture at rest."""
    model = robot.linearize(q, still, tau, base=base)
    worst = int(np.abs(model.acceleration).argmax()) if model.acceleration.size else 0
    if np.abs(model.acceleration).max(initial=0.0) > REST_ACCELERATION:
        speeds = [name for name in model.states if name.startswith("v:")]
        held = [x.motor for x in robot.model.setup.gear_springs]
        wind = f"; elastic gears are wound up in robot.equilibrium(q, hold={held})" if held else ""
        raise ActuationError(
            f"{robot.name!r} does not stay at this posture: {speeds[worst][2:]!r} accelerates with "
            f"{model.acceleration[worst]:.3g}; take one that its motors can hold, or give tau"
            f"{wind}",
            direction=speeds[worst][2:],
        )
    return model


def _places(robot: Robot, model: StateSpace) -> tuple[int, ...]:
    """Indices of the states of a model among displacements and speeds of all joints."""
    names, first = speed_names(robot), {"q": 0, "v": robot.nv}
    return tuple(first[state[0]] + names.index(state[2:]) for state in model.states)


def _regulator(
    robot: Robot, model: StateSpace, Q: FloatArray, R: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Gains, and the cost to go."""
    from scipy.linalg import LinAlgError, solve_continuous_are, solve_discrete_are

    A, B, dt = model.A, model.B, model.dt
    if not len(A):  # nothing moves
        return np.zeros((len(R), 0)), np.zeros((0, 0))
    try:
        if dt is None:
            S = np.asarray(solve_continuous_are(A, B, Q, R))
            gains = np.linalg.solve(R, B.T @ S)
        else:
            S = np.asarray(solve_discrete_are(A, B, dt * Q, dt * R))
            gains = np.linalg.solve(dt * R + B.T @ S @ B, B.T @ S @ A)
    except LinAlgError as reason:
        held = "" if dt is None else f", or forces that are held for {dt:g} s cannot reach it"
        raise SettingsError(
            f"there is no law of least cost for {robot.name!r} within rounding: state and effort "
            f"are too far apart, or a mode hardly moves by what motors do{held} ({reason})"
        ) from None
    return gains, 0.5 * (S + S.T)


def _refuse_lost(robot: Robot, model: StateSpace) -> None:
    lost = lasting(model, model.uncontrollable_modes())
    if lost:
        motors = ", ".join(name[4:] for name in model.inputs) or "none"
        raise ActuationError(
            f"the motors of {robot.name!r} ({motors}) do not reach the mode {lost[0].name!r} with "
            f"the pole {lost[0].pole:.4g}, which does not decay by itself: no linear law brings it "
            "to rest",
            direction=lost[0].name,
        )


def _refuse_unseen(robot: Robot, model: StateSpace, Q: FloatArray) -> None:
    seen = replace(model, C=Q, D=np.zeros_like(model.B), outputs=())
    unseen = lasting(model, seen.unobservable_modes())
    if unseen:
        raise ShapeError(
            f"state gives no weight to the mode {unseen[0].name!r} of {robot.name!r} with the pole "
            f"{unseen[0].pole:.4g}, which does not decay by itself: no law of least cost brings it "
            "to rest",
            name="state",
            given=Q,
        )
