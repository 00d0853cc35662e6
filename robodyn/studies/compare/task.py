"""Tasks of a comparison, a reference for the joints or poses for frames, and its starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import checked, each, named, numbers
from robodyn.errors import SettingsError, ShapeError, UnknownNameError
from robodyn.motion.base_motion import BasePath, check_rigid
from robodyn.motion.derivative_check import check_continuous, sampled
from robodyn.motion.functions import Reference
from robodyn.robot import Robot
from robodyn.simulation.loads.actuated_speeds import actuated_speeds, at_all_joints
from robodyn.simulation.loads.arguments import start_state
from robodyn.simulation.loads.column_names import speed_names
from robodyn.tolerances import START_CLOSED

#: Time [s] -> pose, shape (4, 4), in the world.
PoseOfTime = Callable[[float], FloatArray]


@dataclass(frozen=True, eq=False)
class Task:
    """Desired positions and poses at all samples.

    times (n,) [s]
    q (n, nq), or None: Wanted positions.
    poses (n, 4, 4)
    base: On which frames move.
    start (nq,), (nv,), or None: Position and velocity that are wanted first.
    """

    times: FloatArray
    q: FloatArray | None
    poses: Mapping[str, FloatArray]
    base: BasePath | None
    start: tuple[FloatArray, FloatArray] | None


def motors_of(robot: Robot) -> tuple[list[int], tuple[str, ...]]:
    """Indices in v of joints with motors, and the names of these speeds.

    Raises `SettingsError` if motors are at joints without speeds of their own.
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
    at = {k: joint.q.start + k - joint.v.start for joint in moved for k in range(robot.nv)[joint.v]}
    if all(joint.kind.coordinates.flat for joint in moved):
        coordinates = [at[k] for k in speeds]
        return lambda q, q_ref: np.asarray(q_ref[..., coordinates] - q[..., coordinates])
    columns = list(speeds)
    return lambda q, q_ref: np.asarray(robot.difference(q, q_ref)[..., columns])


def of_all_joints(robot: Robot, reference: Reference) -> Reference:
    """The reference, from one of all joints or of those with motors alone.

    Raises `ShapeError` for other objects.
    """
    if not callable(reference):
        raise ShapeError(
            f"reference is {type(reference).__name__}, expected a function from the time [s] to "
            "position, velocity, acceleration",
            name="reference",
            given=reference,
        )
    first = _arrays(reference(0.0))
    if not first or first[0].shape == (robot.nq,) or robot.model.gearing.elsewhere:
        return reference

    def whole(t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        q, v, a = at_all_joints(robot, _arrays(reference(t)), robot.actuated_joints)
        return q, v, a

    return whole


def _arrays(motion: Any) -> list[FloatArray]:
    """What a reference returned; an empty list if it is no three arrays."""
    try:
        q, v, a = (np.asarray(x, float) for x in motion)
    except (TypeError, ValueError):
        return []
    return [q, v, a]


def task_of(
    robot: Robot,
    reference: Reference | None,
    task: Mapping[str, PoseOfTime] | Iterable[str] | None,
    times: FloatArray,
    base: BasePath | None,
) -> Task:
    """Evaluate a reference and desired poses at some times, and check them.

    Raises `ShapeError` if neither is given, or returns something else than it should,
    `UnknownNameError` for a frame that the robot does not have, and `PathError` if the reference
    jumps.
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
    parts = _arrays(reference(0.0))
    shapes = [x.shape for x in parts]
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


def starts_of(
    robot: Robot,
    task: Task,
    q0: ArrayLike | None,
    v0: ArrayLike | None,
    count: int,
    spread: ArrayLike,
    seed: int,
) -> tuple[FloatArray, FloatArray]:
    """Positions and velocities, shape (n, nq), (n, nv)."""
    for name, given, least in (("starts", count, 1), ("seed", seed, 0)):
        if type(given) is not int or given < least:
            raise ShapeError(f"{name} is {given!r}, expected an integer from {least} on", name=name)
    width = each(
        "spread", spread, robot.nv, "a number >= 0", lambda x: np.isfinite(x) & (x >= 0.0),
        ", one a speed",
    )  # fmt: skip
    if task.start is not None:
        q0 = _closed(robot, task.start[0]) if q0 is None else checked("q0", q0, robot.nq)
        if v0 is None:
            rates = np.broadcast_to(task.start[1], (*q0.shape[:-1], robot.nv))
            v0 = _rates(robot, q0, rates)
    places = None if q0 is None else numbers("q0", q0)
    if places is not None and places.ndim == 2:
        if count != 1 or width.any():
            raise ShapeError(
                f"q0 has shape {places.shape}, these are the starts: give one position, (nq,), for "
                "starts= and spread=",
                name="starts",
            )
        if not len(places):
            raise ShapeError(
                f"q0 has shape {places.shape}: there is no start", name="q0", given=places.shape
            )
        v = np.zeros(robot.nv) if v0 is None else numbers("v0", v0)
        rows = np.broadcast_to(v, (len(places), v.shape[-1])) if v.ndim == 1 else v
        return start_state(robot, places, rows, 2)
    q, v = start_state(robot, q0, v0, 1)
    return _spread(robot, q, v, count, width, seed)


def _spread(
    robot: Robot, q: FloatArray, v: FloatArray, count: int, width: FloatArray, seed: int
) -> tuple[FloatArray, FloatArray]:
    """The first start, and normally distributed ones about it."""
    positions, velocities = [q], [v]
    free = np.ones(robot.nv)
    if robot.nc:
        free[:] = 0.0
        for name in robot.independent_joints:
            free[robot.joints[name].v] = 1.0
    for row in range(1, count):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(row,)))
        moved = robot.integrate(q, free * width * rng.standard_normal(robot.nv))
        if robot.nc:
            moved = robot.assemble(moved, hold=robot.independent_joints, near=q)
        positions.append(moved)
        velocities.append(_rates(robot, moved, v))
    return np.array(positions), np.array(velocities)


def _closed(robot: Robot, q: FloatArray) -> FloatArray:
    """A posture with closed loops and the motors at given positions."""
    if not robot.nc:
        return q
    robot = robot.at(0.0)
    if np.abs(robot.loop_residual(q)).max() < START_CLOSED:
        return q
    return np.asarray(robot.assemble(q, hold=robot.independent_joints))


def _rates(robot: Robot, q: FloatArray, v: FloatArray) -> FloatArray:
    """Speeds that are consistent with closed loops."""
    if not robot.nc or not v.any():
        return np.array(v, float)
    found = [
        robot.consistent_velocity(x, rates, hold=robot.independent_joints)
        for x, rates in zip(q.reshape(-1, robot.nq), v.reshape(-1, robot.nv), strict=True)
    ]
    return np.reshape(found, v.shape)
