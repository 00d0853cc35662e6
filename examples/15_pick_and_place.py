"""An arm picks up a box and puts it down elsewhere: from poses of its hand to torques of motors."""

import sys

import numpy as np

import robodyn as rd
from robodyn import events
from robodyn.controllers import ComputedTorque, SCurve, TaskPath

ARM, MASS = rd.load("puma560"), 1.5  # [kg]
BOX = rd.Inertia.from_matrix(MASS, (0, 0, 0.1), 4e-3 * MASS * np.eye(3))  # in the hand
REST = np.array([0.0, -1.4, 3.2, 0.0, 1.2, 2.8])  # [rad]
LIMITS = {"velocity": 0.8 * ARM.velocity_limits, "acceleration": 4.0, "jerk": 40.0}
DOWN, TIME = np.diag([1.0, -1.0, -1.0, 1.0]), 0.8  # orientation of the hand; [s] up or down


def at(x: float, y: float, z: float) -> np.ndarray:
    """A pose of the hand, which points down."""
    return DOWN + np.outer([x, y, z, 0.0], [0.0, 0.0, 0.0, 1.0])


PICK, PLACE, ABOVE = at(0.45, 0.25, -0.1), at(0.5, -0.3, 0.05), at(0.0, 0.0, 0.2) - DOWN


def plan() -> tuple[list, np.ndarray]:
    """References, one after the other, and when each is done."""
    high = [ARM.inverse_kinematics({"flange": PICK + ABOVE}, REST).q]
    high.append(ARM.inverse_kinematics({"flange": PLACE + ABOVE}, high[0]).q)
    parts = []
    for q, before, spot in zip(high, (REST, high[0]), (PICK, PLACE), strict=True):
        low = TaskPath.line(ARM, "flange", spot + ABOVE, spot, TIME, q)
        up = TaskPath.line(ARM, "flange", spot, spot + ABOVE, TIME, low(TIME)[0])
        parts += [SCurve([before, q], **LIMITS), low, up]
    parts.append(SCurve([high[1], REST], **LIMITS))
    return parts, np.cumsum([getattr(part, "duration", TIME) for part in parts])


def main() -> dict[str, object]:
    parts, done = plan()

    def reference(t: float) -> tuple[np.ndarray, ...]:
        k = min(int(np.searchsorted(done, t, side="right")), len(parts) - 1)
        return parts[k](t - (done[k - 1] if k else 0.0))

    models = ARM, ARM.with_(payload={"flange": BOX})
    empty, loaded = (ComputedTorque(robot, reference, 900.0) for robot in models)
    happens = [
        rd.Event(done[1], [events.grasp("flange", BOX), events.switch(loaded)], name="grasp"),
        rd.Event(done[4], [events.drop("flange"), events.switch(empty)], name="drop"),
    ]
    run = rd.simulate(ARM, empty, q0=REST, duration=float(done[-1]), step=2e-3, events=happens)
    return {"run": run, "hand": ARM.frame_pose(run.q, "flange")[:, :3, 3], "done": done}


def check(found: dict[str, object]) -> None:
    run, hand, done = found["run"], found["hand"], found["done"]
    assert [event.name for event in run.events] == ["grasp", "drop"]
    for event, spot in zip(run.events, (PICK, PLACE), strict=True):
        assert np.linalg.norm(hand[run.t == event.time] - spot[:3, 3], axis=1).max() < 1e-4
        assert abs(event.dissipated) < 1e-6  # nothing strikes: hand and box are at rest
    for first, spot in ((0, PICK), (1, PICK), (3, PLACE), (4, PLACE)):  # up and down, nowhere else
        line = (run.t > done[first] + 1e-9) & (run.t < done[first + 1])
        assert np.abs(hand[line, :2] - spot[:2, 3]).max() < 1e-4
    np.testing.assert_allclose(run.phases[1].robot.total_mass - ARM.total_mass, MASS)
    assert not run.limit_violations
    assert np.abs(run.audit.unexplained).max() < 1e-3 * run.audit.exchanged
    np.testing.assert_allclose(run.q[-1], REST, atol=1e-4)


def draw(found: dict[str, object], path: str) -> None:
    found["run"].plot(path, panels=["positions", "torques", "torque utilisation", "energy"])


if __name__ == "__main__":
    check(found := main())
    print(f"picked up, put down, and back to rest after {found['done'][-1]:.2f} s")
    if sys.argv[1:]:
        draw(found, sys.argv[1])
