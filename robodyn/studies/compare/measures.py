"""Measures of motions: deviations from the task, torques, power, loads and margins to limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot
from robodyn.simulation.limits.bounds import effort_bounds, effort_shares, speed_bounds
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.studies.compare.task import Task, joint_errors, motors_of

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
