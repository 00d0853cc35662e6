"""Tasks of a comparison: a reference for the joints, or poses for frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import checked, named
from robodyn.errors import SettingsError, ShapeError, UnknownNameError
from robodyn.motion.base_motion import BasePath, check_rigid
from robodyn.motion.continuity import check_continuous, sampled
from robodyn.motion.reference import Reference
from robodyn.robot import Robot
from robodyn.simulation.loads.actuated_speeds import actuated_speeds
from robodyn.simulation.loads.column_names import speed_names

__all__ = ["PoseOfTime", "Task", "joint_errors", "motors_of", "task_of"]

#: Time [s] -> pose, shape (4, 4), in the world.
PoseOfTime = Callable[[float], FloatArray]


@dataclass(frozen=True, eq=False)
class Task:
    """Desired positions and poses at all samples.

    Attributes
    ----------
    times : ndarray, shape (n,) [s]
    q : ndarray, shape (n, nq), or None
        Wanted positions.
    poses : mapping of frame to ndarray, shape (n, 4, 4)
    base : BasePath or None
        On which frames move.
    start : tuple of ndarray, shape (nq,), (nv,), or None
        Position and velocity that are wanted first.
    """

    times: FloatArray
    q: FloatArray | None
    poses: Mapping[str, FloatArray]
    base: BasePath | None
    start: tuple[FloatArray, FloatArray] | None


def motors_of(robot: Robot) -> tuple[list[int], tuple[str, ...]]:
    """Indices in v of joints with motors, and the names of these speeds.

    Raises
    ------
    SettingsError
        If motors are at joints without speeds of their own.
    """
    if robot.model.gearing.elsewhere:
        raise SettingsError(
            f"motors of {robot.name!r} are at joints that follow others: controllers are compared "
            "by joints with motors and coordinates; load it with coordinates='tree', or let joints "
            "with motors lead others"
        )
    speeds, names = [*actuated_speeds(robot)], speed_names(robot)
    return speeds, tuple(names[k] for k in speeds)


def joint_errors(robot: Robot, speeds: Sequence[int]) -> Callable[..., FloatArray]:
    """The function ``(q, q_ref) -> `` the steps from one to the other, shape (..., len(speeds)).

    Where the coordinates of these joints add, it looks at no others.
    """
    moved = [robot.joints[name] for name in robot.actuated_joints]
    at = {k: joint.q.start + k - joint.v.start for joint in moved for k in _range(joint.v)}
    if all(joint.kind.coordinates.flat for joint in moved):
        coordinates = [at[k] for k in speeds]
        return lambda q, q_ref: np.asarray(q_ref[..., coordinates] - q[..., coordinates])
    columns = list(speeds)
    return lambda q, q_ref: np.asarray(robot.difference(q, q_ref)[..., columns])


def _range(at: slice) -> range:
    return range(at.start, at.stop)


def task_of(
    robot: Robot,
    reference: Reference | None,
    task: Mapping[str, PoseOfTime] | Iterable[str] | None,
    times: FloatArray,
    base: BasePath | None,
) -> Task:
    """Evaluate a reference and desired poses at some times, and check them.

    Raises
    ------
    ShapeError
        If neither is given, and for what returns something else than it should.
    UnknownNameError
        For a frame that the robot does not have.
    PathError
        If the reference jumps.
    """
    if reference is None and not (task and isinstance(task, Mapping)):
        raise ShapeError(
            "reference is not given, nor poses of a task: to be compared, controllers have to have "
            "something to do; give reference= or task=",
            name="reference",
        )
    q, start = None, None
    if reference is not None:
        first = _checked(robot, reference)
        speeds, names = motors_of(robot)
        check_continuous(reference, times, joint_errors(robot, speeds), speeds, names)
        q, start = sampled(reference, times)[0], (first[0], first[1])
    if task is None or isinstance(task, Mapping):
        poses = {name: _poses(robot, name, pose, times) for name, pose in (task or {}).items()}
    else:
        at = None if base is None else base.at(times)
        frames = named("task", task, "names of frames, or a mapping of them to poses")
        poses = {name: robot.frame_pose(q, name, base=at) for name in frames}  # type: ignore[arg-type]
    return Task(times, q, poses, base, start)


def _checked(robot: Robot, reference: Reference) -> list[FloatArray]:
    """Check what the reference returns at time zero, and return it."""
    if not callable(reference):
        raise ShapeError(
            f"reference is {type(reference).__name__}, expected a function from the time [s] to "
            "position, velocity, acceleration",
            name="reference",
            given=reference,
        )
    try:
        parts = [np.asarray(x, float) for x in reference(0.0)]
        shapes = [x.shape for x in parts]
    except (TypeError, ValueError):
        shapes = []
    if shapes != [(robot.nq,), (robot.nv,), (robot.nv,)]:
        raise ShapeError(
            f"the reference gives {shapes or 'no three arrays'} at t = 0 s, expected position "
            f"({robot.nq},), velocity and acceleration ({robot.nv},) of {robot.name!r}",
            name="reference",
            given=shapes,
            expected=((robot.nq,), (robot.nv,), (robot.nv,)),
        )
    return parts


def _poses(robot: Robot, frame: str, pose: PoseOfTime, times: FloatArray) -> FloatArray:
    if frame not in robot.frame_names:
        raise UnknownNameError("frame", frame, robot.frame_names, f"the robot {robot.name!r}")
    if not callable(pose):
        raise ShapeError(
            f"task[{frame!r}] is {type(pose).__name__}, expected a function from the time [s] to a "
            "pose (4, 4)",
            name="task",
            given=pose,
        )
    X = checked(f"task[{frame!r}]", [pose(t) for t in times.tolist()], None, 4, 4)
    check_rigid(X, f"task[{frame!r}]")
    return X
