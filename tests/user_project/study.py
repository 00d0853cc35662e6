"""An event, an action of one's own, and a sweep over gains and loads."""

from __future__ import annotations

import numpy as np
from controller import SoftHold
from numpy.typing import NDArray
from robots import picker

import robodyn as rd
from robodyn import events

LOAD = rd.Inertia.from_matrix(2.0, (0.0, 0.0, 0.0), 1e-3 * np.eye(3))


def is_out(t: float, q: NDArray[np.float64], v: NDArray[np.float64]) -> float:
    """Zero where the gripper has come out by 0.2 m."""
    return float(q[2]) - 0.2


def nudge(state: events.State) -> events.Change:
    """A knock on the waist."""
    return events.Change(v=state.v + np.array([0.5, 0.0, 0.0]))


def picking() -> rd.Trajectory:
    """The picker reaches out, catches a load, and is knocked."""
    robot = picker()
    hold = SoftHold(robot, np.array([0.5, 0.3, 0.4]), stiffness=150.0, damping=40.0)
    catch = rd.Event(is_out, events.grasp("gripper", LOAD), direction=1, name="catch")
    knock = rd.Event(0.8, nudge, name="knock")
    return rd.simulate(
        robot,
        hold,
        duration=1.5,
        step=2e-3,
        integrator="rk4",
        limits="report",
        events=[catch, knock],
    )


def droop(stiffness: float, load: float) -> dict[str, float]:
    """How far the shoulder sinks under a load that the controller does not know [rad]."""
    known = picker()
    hold = SoftHold(known, known.neutral(), stiffness, damping=60.0)
    carried = rd.Inertia.from_matrix(load, (0.0, 0.0, 0.0), np.zeros((3, 3)))
    robot = known.with_(payload={"gripper": carried}, passive=True)
    run = rd.simulate(robot, hold, duration=3.0, step=2e-3, limits="ignore")
    return {"droop": float(run.q[-1, 1])}


def droops() -> rd.SweepTable:
    return rd.sweep(droop, {"stiffness": [200.0, 400.0], "load": [0.0, 2.0]}, errors="raise")
