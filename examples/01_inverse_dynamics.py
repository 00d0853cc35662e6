"""Torques that hold and move a PUMA 560, and the way back."""

import sys

import numpy as np

import robodyn as rd


def main() -> dict[str, object]:
    robot = rd.load("puma560")
    q = np.array([0.0, -0.8, 0.6, 0.0, 0.5, 0.0])
    v = np.full(robot.nv, 0.5)
    a = np.array([1.0, 0.0, -1.0, 0.0, 2.0, 0.0])
    tau = robot.inverse_dynamics(q, v, a)
    back = robot.forward_dynamics(q, v, tau)
    found = {"tau": tau, "a": a, "back": back, "holding": robot.gravity_forces(q)}
    return found | {"robot": robot, "q": q, "wrenches": robot.joint_wrenches(q, v, a)}


def check(result: dict[str, object]) -> None:
    np.testing.assert_allclose(result["back"], result["a"], atol=1e-9)


def draw(result: dict[str, object], path: str) -> None:
    """The posture, with the forces in its joints."""
    result["robot"].plot(result["q"], path, wrenches=result["wrenches"])


if __name__ == "__main__":
    result = main()
    check(result)
    print("torques that hold it up [N m]:", result["holding"].round(3))
    print("torques for the motion [N m]: ", result["tau"].round(3))
    if sys.argv[1:]:
        draw(result, sys.argv[1])
