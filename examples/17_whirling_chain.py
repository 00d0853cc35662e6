"""A chain of rods hangs from a spindle: at which speeds does it whirl out?"""

import sys

import numpy as np

import robodyn as rd
from robodyn.description import Pose

RODS, LENGTH, MASS = 3, 0.4, 0.5  # number; each [m, kg]


def chain() -> rd.Robot:
    """Rods on pins that are parallel and turn with a spindle; they have no thickness."""
    inertia = MASS * LENGTH**2 / 12 * np.diag([1.0, 1.0, 0.0])
    rod = rd.Inertia.from_matrix(MASS, [0.0, 0.0, -LENGTH / 2], inertia)
    names = [f"rod{k}" for k in range(RODS)]
    links = [rd.Link("ceiling"), rd.Link("shaft"), *(rd.Link(name, rod) for name in names)]
    joints = [rd.Joint("spindle", "continuous", "ceiling", "shaft", axis=(0.0, 0.0, 1.0))]
    for k, (above, name) in enumerate(zip(["shaft", *names], names, strict=False)):
        below = Pose((0.0, 0.0, -LENGTH if k else 0.0))
        axis = (0.0, 1.0, 0.0)
        joints.append(rd.Joint(f"pin{k}", "continuous", above, name, below, axis, damping=1e-3))
    return rd.load(rd.Mechanism("chain", tuple(links), tuple(joints)))


def whirling(robot: rd.Robot, speed: float, angle: float) -> rd.SteadyMotion:
    """The steady motion near a chain that stands out by an angle at its top."""
    q, v = np.zeros(robot.nq), np.zeros(robot.nv)
    q[1], v[0] = angle, speed
    return robot.steady_motion(q, v, locked=["spindle"])


def main() -> dict[str, np.ndarray]:
    robot = chain()
    at_rest = robot.linearize(np.zeros(robot.nq), np.zeros(robot.nv), None, locked=["spindle"])
    print("swings with", ", ".join(f"{x.natural_frequency:.2f} rad/s" for x in at_rest.modes))
    speeds = np.arange(2.0, 9.1, 1.0)
    rows = []
    for speed in speeds:
        hanging, out = whirling(robot, speed, 0.0), whirling(robot, speed, 1.2)
        growth = hanging.model.poles.real.max()
        rows.append((hanging.stability == "stable", growth, abs(out.q[1]), out.tau[0]))
        print(f"{speed:.0f} rad/s: hanging is {hanging.stability}; out {abs(out.q[1]):.2f} rad")
    stable, growth, angle, torque = np.array(rows).T
    return {
        "frequencies": at_rest.natural_frequencies[::2],
        "speeds": speeds,
        "hanging is stable": stable.astype(bool),
        "growth": growth,
        "angle": angle,
        "torque": torque,
    }


def check(found: dict[str, np.ndarray]) -> None:
    """It hangs up to its lowest natural frequency, and then whirls out, the farther the faster."""
    slow = found["speeds"] < found["frequencies"][0]
    np.testing.assert_array_equal(found["hanging is stable"], slow)
    assert (found["angle"][slow] < 1e-6).all() and (np.diff(found["angle"][~slow]) > 0.0).all()
    assert (found["growth"][~slow] > 0.1).all()
    np.testing.assert_allclose(found["torque"], 0.0, atol=1e-6)  # steady: nothing is needed


def draw(found: dict[str, np.ndarray], path: str) -> None:
    from matplotlib.figure import Figure

    upper, lower = (figure := Figure((8, 5), layout="constrained")).subplots(2, sharex=True)
    upper.plot(found["speeds"], np.degrees(found["angle"]), "o-")
    upper.set(ylabel="it stands out by [degrees]")
    lower.plot(found["speeds"], found["growth"], "o-")
    lower.set(xlabel="speed of the spindle [rad/s]", ylabel="growth when hanging [1/s]")
    for axis in (upper, lower):
        axis.axvline(found["frequencies"][0], color="gray", linestyle=":")
    upper.set(title="dotted: lowest natural frequency")
    figure.savefig(path)


if __name__ == "__main__":
    check(result := main())
    if sys.argv[1:]:
        draw(result, sys.argv[1])
