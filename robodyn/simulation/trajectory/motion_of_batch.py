"""One of several motions that were simulated at once."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn.errors import ShapeError
from robodyn.simulation.loads.prescribed_loads import Surroundings
from robodyn.simulation.trajectory.states.event_record import EventRecord


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
    acting = _acting(fields, k)
    return {**found, "surroundings": acting, "events": _happened(fields["events"], k)}


def _acting(fields: Mapping[str, Any], k: tuple[int, ...]) -> Surroundings:
    """Base motion and wrenches of one motion; those that are functions, at its samples."""
    given: Surroundings = fields["surroundings"]
    if callable(given.wrenches):
        given = given.sampled(*(fields[name] for name in ("t", "q", "v")))
    return given.for_motion(*k)


def _happened(events: tuple[EventRecord, ...], k: tuple[int, ...]) -> tuple[EventRecord, ...]:
    """Events of one motion."""
    return tuple(replace(event, motion=()) for event in events if event.motion in ((), k))
