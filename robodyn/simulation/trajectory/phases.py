"""Parts of a trajectory: its phases, which the first robot has coordinates for, and its motions."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import ShapeError
from robodyn.model.joint_info import followed
from robodyn.robot import Robot
from robodyn.simulation.control.running_controller import joined_states
from robodyn.simulation.loads.prescribed_loads import Surroundings
from robodyn.simulation.trajectory.computed_fields import COMPUTED
from robodyn.simulation.trajectory.states.event_record import EventRecord

#: `robodyn.Trajectory`, which uses this file.
Motion = TypeVar("Motion", bound=Any)


def joined(phases: Sequence[Motion], events: tuple[EventRecord, ...]) -> Motion:
    """One `Trajectory` from those of its phases.

    In phases of other robots, the joints of the first robot are found by name. If a joint has no
    coordinates there, its accelerations and torques are NaN; if it does not exist, all values are.
    """
    first = phases[0]
    if len(phases) == 1:
        return dataclasses.replace(first, **COMPUTED, events=events)
    parts = [_as_seen_from(first.robot, phase) for phase in phases]
    q, v, a, tau = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    t = np.concatenate([phase.t for phase in phases])
    recorded = joined_states([phase.controller_state for phase in phases], [*map(len, phases)])
    states = {"t": t, "q": q, "v": v, "a": a, "tau": tau, "controller_state": recorded}
    return dataclasses.replace(first, **states, **COMPUTED, events=events, phases=tuple(phases))


def at_instants(phases: Sequence[Motion], times: FloatArray) -> list[Motion]:
    """Each phase at its own of some instants; where one ends and another begins, the later one."""
    starts = [float(phase.t[0]) for phase in phases]
    place = np.searchsorted(starts, times, side="right") - 1
    own = [phase.resample(times[place == k]) for k, phase in enumerate(phases)]
    return [phase for phase in own if len(phase)] or own[:1]


def _as_seen_from(robot: Robot | None, phase: Any) -> tuple[FloatArray, ...]:
    """Positions, speeds, accelerations and torques of the joints of another robot."""
    own, arrays = phase.robot, (phase.q, phase.v, phase.a, phase.tau)
    assert robot is not None and own is not None
    if own.joint_names == robot.joint_names and (own.nq, own.nv) == (robot.nq, robot.nv):
        return arrays
    then = own.at(phase.t)
    positions = then.joint_positions(phase.q)
    speeds = then.joint_velocities(phase.q, phase.v)
    sizes = (robot.nq, robot.nv, robot.nv, robot.nv)
    q, v, a, tau = found = tuple(np.full((len(phase), size), np.nan) for size in sizes)
    positions = {name: followed(x, own.joints[name]) for name, x in positions.items()}
    for name in robot.joint_names:
        joint, there = robot.joints[name], own.joints.get(name)
        for whole, values, at in ((q, positions, joint.q), (v, speeds, joint.v)):
            if name in values:
                whole[:, at] = np.reshape(values[name], (len(phase), -1))
        if there is not None and there.v.stop - there.v.start == joint.v.stop - joint.v.start:
            a[:, joint.v], tau[:, joint.v] = phase.a[:, there.v], phase.tau[:, there.v]
    return found


def slice_phases(phases: Sequence[Any], index: Any) -> tuple[Any, ...]:
    """The parts of phases that an index of all samples takes, in its order.

    Of a single sample it is its phase at that sample. A phase that an index leaves and comes back
    to has several parts.
    """
    if not phases:
        return ()
    if not phases[0].t.ndim:  # those of a single sample already
        return (phases[0][index],)
    kept = np.arange(sum(map(len, phases)))[index]
    starts = np.cumsum([0, *map(len, phases)])
    owner = np.searchsorted(starts, kept, side="right") - 1
    own = kept - starts[owner]
    if not kept.ndim:
        return (phases[owner][own],)
    parts = np.split(np.arange(len(kept)), np.flatnonzero(np.diff(owner)) + 1)
    return tuple(phases[owner[part[0]]][own[part]] for part in parts if len(part))


def motion_of_batch(fields: Mapping[str, Any], place: tuple[int, ...]) -> dict[str, Any]:
    """The fields of one of several motions, by its index."""
    batch = np.shape(fields["q"])[1:-1]
    try:
        k = tuple(range(size)[operator.index(i)] for size, i in zip(batch, place, strict=True))
    except (TypeError, ValueError, IndexError):
        raise ShapeError(
            f"there is no motion {place}: this trajectory has motions of shape {batch}",
            name="place",
            given=place,
            expected=batch,
        ) from None
    names = ("q", "v", "a", "tau", "energy", "loop_residual")
    at: Any = (slice(None), *k)
    found: dict[str, Any] = {name: fields[name][at] for name in names if name in fields}
    found["controller_state"] = {name: x[at] for name, x in fields["controller_state"].items()}
    robot = fields["robot"]
    found["robot"] = robot if robot is None or not k else robot.of_rows(k[-1])
    happened = (event for event in fields["events"] if event.motion in ((), k))
    found["events"] = tuple(replace(event, motion=()) for event in happened)
    return {**found, "surroundings": _acting(fields, k)}


def _acting(fields: Mapping[str, Any], k: tuple[int, ...]) -> Surroundings:
    """Base motion and wrenches of one motion; those that are functions, at its samples."""
    given: Surroundings = fields["surroundings"]
    if callable(given.wrenches):
        given = given.sampled(*(fields[name] for name in ("t", "q", "v")))
    return given.for_motion(*k)
