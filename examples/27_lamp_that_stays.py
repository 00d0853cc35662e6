"""A desk lamp on a parallelogram: friction in its four pins holds it, and a push moves it."""

import sys
import warnings

import numpy as np

import robodyn as rd
from robodyn.description import Pose

ARM, BAR, HEAD, ROD = 0.4, 0.06, 0.6, 0.05  # arm, distance of its bars [m]; masses [kg]
STATIC, ANGLE = 1.3, -0.4  # static over kinetic friction; of the arm, upwards is negative [rad]
PINS = {"shoulder": 1, "lower_pin": 1, "wrist": -1, "pin": -1}  # speeds over that of the arm
MOMENT = (HEAD + ROD) * 9.81 * ARM * np.cos(ANGLE)  # of all weights about the shoulder [N m]


def lamp(friction: float) -> rd.Robot:
    """Two bars of equal length carry the head, so that it stays level; all pins rub alike."""
    rod = rd.Inertia.from_matrix(ROD, [ARM / 2, 0, 0], np.diag([0, 1, 1]) * ROD * ARM**2 / 12)
    head = rd.Inertia.from_matrix(HEAD, [0, 0, 0], np.eye(3) * 1e-3)
    links = rd.Link("base"), rd.Link("upper", rod), rd.Link("lower", rod), rd.Link("head", head)
    end, below, y = Pose((ARM, 0, 0)), Pose((0, 0, -BAR)), (0.0, 1.0, 0.0)
    pins = (
        rd.Joint("shoulder", "continuous", "base", "upper", axis=y, friction=friction),
        rd.Joint("lower_pin", "continuous", "base", "lower", below, y, friction=friction),
        rd.Joint("wrist", "continuous", "upper", "head", end, y, friction=friction),
    )
    closing = rd.Loop("pin", "continuous", "lower", "head", end, below, y, friction=friction)
    return rd.load(rd.Mechanism("lamp", links, pins, loops=(closing,)))


def moved(robot: rd.Robot, duration: float, push: float = 0.0) -> rd.Trajectory:
    """The motion from rest; a push on the head, downwards, grows at a rate [N/s] until 0.6 s."""
    q0 = [-ANGLE if name == "wrist" else ANGLE for name in robot.joint_names]
    law = rd.DryFriction(static=STATIC)

    def wrenches(t: float) -> dict[str, list[float]]:
        return {"head": [0, 0, -push * t if t < 0.6 else 0.0, 0, 0, 0]}

    return rd.simulate(robot, q0=q0, duration=duration, step=2e-3, wrenches=wrenches, friction=law)


def main() -> dict[str, np.ndarray]:
    enough = MOMENT / (4.0 * STATIC)  # by virtual work: each pin turns as fast as the arm
    frictions = enough * np.array([0.8, 0.98, 1.02, 1.2])
    falls = np.array([np.ptp(moved(lamp(x), 0.1).q[:, 0]) for x in frictions])
    run = moved(lamp(1.5 * enough), 1.5, push=6.0)
    with warnings.catch_warnings(action="ignore", category=rd.errors.SingularWarning):
        forces = run.friction_forces  # how the pins share the weight is not determined
    return {
        "falls": falls,
        "t": run.t,
        "angle": run.q[:, 0],
        "holding": sum(forces[x] * way for x, way in PINS.items()),
        "slides": np.array([event.time for event in run.events if "slides" in event.name]),
        "push": (1.5 - 1.0) * MOMENT / (ARM * np.cos(ANGLE)) / 6.0,
    }


def check(found: dict[str, np.ndarray]) -> None:
    """Enough friction holds it; it breaks away when predicted, and stays where it was left."""
    np.testing.assert_array_equal(found["falls"] == 0.0, [False, False, True, True])
    np.testing.assert_allclose(found["slides"], found["push"], rtol=1e-6)
    left = found["angle"][found["t"] > 1.2]
    assert left[0] > ANGLE + 0.05 and (left == left[0]).all()
    np.testing.assert_allclose(found["holding"][-1] * np.cos(ANGLE), -MOMENT * np.cos(left[0]))


def draw(found: dict[str, np.ndarray], path: str) -> None:
    from matplotlib.figure import Figure

    upper, lower = (figure := Figure((8, 5), layout="constrained")).subplots(2, sharex=True)
    upper.plot(found["t"], np.degrees(-found["angle"]))
    upper.set(ylabel="arm [degrees]", title="pushed ever harder for 0.6 s, then let go")
    lower.plot(found["t"], found["holding"])
    lower.set(xlabel="t [s]", ylabel="friction of all pins [N m]")
    figure.savefig(path)


if __name__ == "__main__":
    check(result := main())
    if sys.argv[1:]:
        draw(result, sys.argv[1])
