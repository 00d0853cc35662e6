"""Torques that hold and move a PUMA 560, and the way back."""

import numpy as np

import robodyn as rd


def main() -> dict[str, np.ndarray]:
    robot = rd.load("puma560")
    q = np.array([0.0, -0.8, 0.6, 0.0, 0.5, 0.0])
    v = np.full(robot.nv, 0.5)
    a = np.array([1.0, 0.0, -1.0, 0.0, 2.0, 0.0])
    tau = robot.inverse_dynamics(q, v, a)
    back = robot.forward_dynamics(q, v, tau)
    return {"tau": tau, "a": a, "back": back, "holding": robot.gravity_forces(q)}


def check(result: dict[str, np.ndarray]) -> None:
    np.testing.assert_allclose(result["back"], result["a"], atol=1e-9)


if __name__ == "__main__":
    result = main()
    check(result)
    print("torques that hold it up [N m]:", result["holding"].round(3))
    print("torques for the motion [N m]: ", result["tau"].round(3))
