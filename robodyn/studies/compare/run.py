"""`compare`: run several controllers on one task from the same starts, and measure the motions."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import by_name, named
from robodyn.errors import ShapeError, SimulationError, UnknownNameError
from robodyn.literals import IntegratorName, LimitsChoice
from robodyn.motion.base_motion import BaseMotion
from robodyn.motion.functions import Reference
from robodyn.progress import Progress
from robodyn.robot import Robot
from robodyn.simulation import integrators
from robodyn.simulation.control.controller import Controller, check_controller, for_motion
from robodyn.simulation.limits.bounds import effort_bounds, effort_shares, speed_bounds
from robodyn.simulation.limits.joint_limits import Limits, MotorLimits
from robodyn.simulation.loads.arguments import base_path, step_times, wrenches_on
from robodyn.simulation.loads.column_names import speed_names
from robodyn.simulation.loads.prescribed_loads import BaseAt
from robodyn.simulation.simulate import rollout, simulate
from robodyn.simulation.trajectory.computed_fields import COMPUTED
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.studies.compare.comparison import Comparison, Loops
from robodyn.studies.compare.task import (
    PoseOfTime,
    Task,
    joint_errors,
    motors_of,
    of_all_joints,
    starts_of,
    task_of,
)
from robodyn.studies.sweep.run import sweep

#: Number of states whose joint wrenches are computed at once.
BLOCK = 8192


def measured(run: Trajectory, task: Task, loads: Sequence[str]) -> dict[str, FloatArray]:
    """Results of motions by name, as `robodyn.studies.compare.Comparison` lists them.

    run: Holds n motions along its first axis.
    loads: Joints whose wrenches are measured.
    Returns results (n, ...)
    """
    robot = run.robot
    assert robot is not None
    speeds, _ = motors_of(robot)
    tau = run.tau[..., speeds]
    results = {"torques": _over_time(np.linalg.norm(tau, axis=-1))}
    if task.q is not None:
        error = joint_errors(robot, speeds)(run.q, np.broadcast_to(task.q[:, None], run.q.shape))
        size = np.linalg.norm(error, axis=-1)
        results |= {
            "error": _over_time(size),
            "error_rms": _rms(run.t, error),
            "error_max": np.abs(error).max(axis=0),
            "total_error_rms": _rms(run.t, size),
            "total_error_max": size.max(axis=0),
        }
    if task.poses:
        results |= _of_frames(robot, run, task)
    power = run.power[..., speeds]
    results |= {
        "effort": _rms_held(run.t, tau),
        "total_effort": _rms_held(run.t, np.linalg.norm(tau, axis=-1)),
        "peak_motor_torque": np.abs(run.motor_torques[..., speeds]).max(axis=0),
        "peak_power": np.abs(power).max(axis=0),
        "total_peak_power": np.abs(power.sum(axis=-1)).max(axis=0),
    }
    if loads:
        results |= _loads(run, loads)
    return results | _margins(robot, run, speeds)


def _over_time(x: FloatArray) -> FloatArray:
    """Move the axis of samples to the end; motions are first."""
    return np.ascontiguousarray(x.T)


def _rms(t: FloatArray, x: FloatArray) -> FloatArray:
    """Root of the mean square over time, by the trapezoidal rule."""
    if not t[-1] > t[0]:
        return np.asarray(np.abs(x[0]))
    return np.asarray(np.sqrt(np.trapezoid(x * x, t, axis=0) / (t[-1] - t[0])))


def _rms_held(t: FloatArray, x: FloatArray) -> FloatArray:
    """Root of the mean square over time, of values that are held from sample to sample."""
    if not t[-1] > t[0]:
        return np.asarray(np.abs(x[0]))
    return np.asarray(np.sqrt(np.tensordot(np.diff(t), x[:-1] ** 2, axes=1) / (t[-1] - t[0])))


def _of_frames(robot: Robot, run: Trajectory, task: Task) -> dict[str, FloatArray]:
    """Position and orientation errors of frames."""
    from scipy.spatial.transform import Rotation

    base = None if task.base is None else _between_motions(task.base.at(run.t))
    away, turned = [], []
    for frame, wanted in task.poses.items():
        X = robot.frame_pose(run.q, frame, base=base)
        away.append(np.linalg.norm(X[..., :3, 3] - wanted[:, None, :3, 3], axis=-1))
        R = np.swapaxes(wanted[:, None, :3, :3], -1, -2) @ X[..., :3, :3]
        angles = Rotation.from_matrix(R.reshape(-1, 3, 3)).magnitude()
        turned.append(angles.reshape(R.shape[:-2]))
    place, angle = np.stack(away, axis=-1), np.stack(turned, axis=-1)
    return {
        "place_rms": _rms(run.t, place),
        "place_max": place.max(axis=0),
        "turn_rms": _rms(run.t, angle),
        "turn_max": angle.max(axis=0),
    }


def _between_motions(motion: BaseMotion) -> BaseMotion:
    """Add an axis of length one, for simultaneous motions."""
    parts = (motion.pose, motion.twist, motion.acceleration)
    return BaseMotion(*(x[:, None] for x in parts))


def _loads(run: Trajectory, joints: Sequence[str]) -> dict[str, FloatArray]:
    """The largest force and moment in joints, shapes (n, len(joints)) [N], [N m]."""
    force, moment = (np.zeros((run.q.shape[1], len(joints))) for _ in range(2))
    size = max(1, BLOCK // run.q.shape[1])
    for first in range(0, len(run), size):
        wrenches = run[first : first + size].joint_wrenches(joints)
        for k, joint in enumerate(joints):
            for peak, part in ((force, slice(0, 3)), (moment, slice(3, 6))):
                sizes = np.linalg.norm(wrenches[joint][..., part], axis=-1)
                peak[:, k] = np.maximum(peak[:, k], sizes.max(axis=0))
    return {"peak_force": force, "peak_moment": moment}


def _margins(robot: Robot, run: Trajectory, speeds: Sequence[int]) -> dict[str, FloatArray]:
    """Margins to limits, shape (n, len(speeds)); infinite without a limit."""
    columns = list(speeds)
    left = {}
    for name, shares, bounds in (
        ("torque_margin", effort_shares(robot, run.q, run.tau), effort_bounds(robot)),
        ("velocity_margin", np.abs(run.v) / speed_bounds(robot), speed_bounds(robot)),
    ):
        share = shares[..., columns].max(axis=0)
        left[name] = np.where(np.isfinite(bounds[columns]), 1.0 - share, np.inf)
    position = np.full((run.q.shape[1], robot.nv), np.inf)
    for name in robot.actuated_joints:
        joint = robot.joints[name]
        if joint.kind.coordinates.flat:  # other joints have no position limits
            q, low, high = (
                x[..., joint.q] for x in (run.q, robot.lower_limits, robot.upper_limits)
            )
            position[:, joint.v] = np.minimum(q - low, high - q).min(axis=0)
    return {**left, "position_margin": position[:, columns]}


#: Size of the cache of base motions, which all motions evaluate at the same instants.
CACHED = 1 << 16


@checked_arguments
def compare(
    robot: Robot,
    controllers: Mapping[str, Controller],
    *,
    reference: Reference | None = None,
    task: Mapping[str, PoseOfTime] | Iterable[str] | None = None,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    starts: int = 1,
    spread: ArrayLike = 0.0,
    seed: int = 0,
    duration: float = 1.0,
    step: float = 1e-3,
    base: BaseAt | None = None,
    wrenches: Mapping[str, ArrayLike] | None = None,
    integrator: IntegratorName = "rk4",
    limits: LimitsChoice | MotorLimits = "ignore",
    loads: Iterable[str] | None = None,
    progress: Progress | bool | None = None,
) -> Comparison:
    """Run several controllers on the same task from the same starts, and measure the motions.

    A motion that breaks down ends no comparison: it is a failure, by name. The numbers are the same
    each time.

    Parameters
    ----------
    robot : Robot
        What is moved; models that controllers have may be others of the same joints.
    controllers : mapping of str to callable
        ``tau = controller(t, q, v)`` by name. Those of `robodyn.controllers`, and others that are
        symbolic or compiled by numba, move all starts at once; plain functions are called with one
        motion after the other.
    reference : callable, optional
        Time [s] -> position (nq,), velocity (nv,), acceleration (nv,): what motors should follow;
        of all joints, or of those with motors alone.
    task : mapping of str to callable, or names of frames, optional
        By frame: time [s] -> pose (4, 4) in the world where it should be. Of names alone: where the
        reference brings them. One of both is needed.
    q0 : array_like, shape (nq,) or (n, nq), optional [rad, m]
        Start, or n of them. Default: where the reference begins; neutral without one.
    v0 : array_like, shape (nv,) or (n, nv), optional [rad/s, m/s]
        Default: that of the reference there; at rest without one.
    starts : int
        How many, of one ``q0``: the first is there, the others are random.
    spread : float or array_like, shape (nv,) [rad, m]
        Standard deviation of random starts along each speed; of closed linkages, along those of
        `Robot.independent_joints`.
    seed : int
        Of random starts.
    duration, step : float [s]
    base, wrenches, integrator, limits
        As in `simulate`; wrenches are constant. By default the distances from limits are measured,
        and limits are neither enforced nor warned of.
    loads : names of joints, optional
        Whose wrenches are measured. Default: of all that move; ``()``: none.
    progress : callable or bool, optional
        As in `simulate`.

    Warns
    -----
    SweepWarning
        If motions fail: `Comparison.failures` says which, when and why.

    Returns
    -------
    comparison : Comparison

    Raises
    ------
    ShapeError
        Without a reference or task, for those that return something else, for a controller that is
        no function or made for another robot.
    PathError
        For a reference that jumps.
    UnknownNameError
        For frames and joints that there are not.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import ComputedTorque, JointPD, PointToPoint
    >>> arm = rd.load("double_pendulum")
    >>> reference = PointToPoint(np.zeros(2), np.ones(2), 1.0)
    >>> both = {"pd": JointPD(arm, reference, 50.0, 5.0), "model": ComputedTorque(arm, reference)}
    >>> comparison = rd.compare(arm, both, reference=reference, starts=4, spread=0.01)
    >>> comparison["total_error_rms"].shape
    (2, 4)
    >>> bool(comparison["total_error_rms"][1].max() < comparison["total_error_rms"][0].min())
    True
    """
    given = by_name("controllers", controllers)
    if not given or not all(isinstance(name, str) for name in given):
        shown = f"has the names {[*given]}" if given else "is empty"
        raise ShapeError(f"controllers {shown}, expected {{name: controller}}", name="controllers")
    for name, controller in given.items():
        check_controller(controller, f"controller {name!r}")
        _check_model(robot, name, controller)
    times = step_times(duration, step)
    # Errors in the task are raised here. Errors of single motions, below, become failures.
    integrators.integrator(integrator, None)
    Limits(robot, limits)
    if callable(base):
        base = lru_cache(CACHED)(base)
    path = base_path(base, times)
    reference = None if reference is None else of_all_joints(robot, reference)
    wanted = task_of(robot, reference, task, times, path)
    q, v = starts_of(robot, wanted, q0, v0, starts, spread, seed)
    known = robot.at(0.0).joint_wrenches(
        q[0], v[0], np.zeros(robot.nv), joints=None if loads is None else named("loads", loads),
        base=None if wanted.base is None else wanted.base(0.0),
    )  # fmt: skip
    joints = tuple(name for name in known if name != "base")
    constant = wrenches_on(by_name("wrenches", wrenches), ())
    for link in constant:
        if link not in robot.link_names:
            raise UnknownNameError("link", link, robot.link_names, repr(robot.name))
    settings: dict[str, Any] = {
        "duration": duration, "step": step, "base": wanted.base, "wrenches": constant,
        "integrator": integrator, "limits": limits,
    }  # fmt: skip

    def study(controller: list[Controller], start: FloatArray) -> dict[str, FloatArray]:
        run = _simulated(robot, controller[0], q[start], v[start], settings)
        return measured(run, wanted, joints)

    table = sweep(
        study,
        {"controller": given, "start": np.arange(len(q))},
        batch=len(q),
        progress=progress,
    )
    frames = tuple(wanted.poses)
    posture = q[0]
    if reference is not None:
        posture = np.array(reference(duration)[0], float)
    loops = Loops(robot, given, posture, wanted.base, float(times[-1]), step)
    return Comparison(table, robot.name, times, motors_of(robot)[1], frames, joints, q, v, loops)


def _check_model(robot: Robot, name: str, controller: Any) -> None:
    """Refuse a controller whose model has other joints."""
    while controller is not None:
        model = getattr(controller, "robot", None)
        if isinstance(model, Robot):
            names = model.joint_names, robot.joint_names
            same = names[0] == names[1] and (model.nq, model.nv) == (robot.nq, robot.nv)
            if not same or model.base != robot.base:
                odd = sorted({*names[0]} ^ {*names[1]})
                raise ShapeError(
                    f"controllers[{name!r}] is made for {model.name!r} with a {model.base} base "
                    f"and {model.nv} speeds, {robot.name!r} has a {robot.base} base and {robot.nv}"
                    + (f"; not in both: {', '.join(odd[:6])}" if odd else ""),
                    name=name,
                    given=names[0],
                    expected=names[1],
                )
        controller = getattr(controller, "controller", None)


def _takes_many(controller: Any) -> bool:
    """Whether a controller can be called with a batch of states, or be compiled.

    Of one around another, such as sensors with noise, it is the inner one that decides.
    """
    numba = sys.modules.get("numba")
    if getattr(controller, "symbolic", False):
        return True
    if numba is not None and isinstance(controller, numba.core.registry.CPUDispatcher):
        return True
    around = hasattr(controller, "update") and hasattr(controller, "controller")
    return around and _takes_many(controller.controller)


def _simulated(
    robot: Robot, controller: Controller, q: FloatArray, v: FloatArray, settings: dict[str, Any]
) -> Trajectory:
    """Simulate the motions from all starts.

    Where one breaks down, `SimulationError` names the joint that was the fastest.
    """
    try:
        if _takes_many(controller):
            return rollout(robot, controller, q, v, **settings)
        runs = [
            simulate(robot, for_motion(controller, k), q0=x, v0=dx, **settings)
            for k, (x, dx) in enumerate(zip(q, v, strict=True))
        ]
    except SimulationError as error:
        raise _with_fastest_joint(robot, error) from error
    states: dict[str, Any] = {
        name: np.stack([getattr(run, name) for run in runs], axis=1)
        for name in ("q", "v", "a", "tau")
    }
    return replace(runs[0], **states, **COMPUTED)


def _with_fastest_joint(robot: Robot, error: SimulationError) -> SimulationError:
    """The error with the name of the fastest joint in its message."""
    run = error.trajectory
    if run is None or not len(run) or not np.isfinite(run.v[-1]).all():
        return error
    speeds = np.abs(run.v[-1]).reshape(-1, robot.nv).max(axis=0)
    k = int(speeds.argmax())
    return SimulationError(
        f"{error}; at {run.t[-1]:.6g} s joint {speed_names(robot)[k]!r} is the fastest, with "
        f"{speeds[k]:.3g} rad/s or m/s",
        trajectory=run,
        time=error.time,
    )
