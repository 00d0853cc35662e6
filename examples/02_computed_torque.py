"""A seven-joint arm moves from rest to rest under computed torque."""

import sys

import numpy as np

import robodyn as rd
from robodyn.controllers import ComputedTorque, PointToPoint


def main() -> dict[str, object]:
    robot = rd.load("arm7", passive=False)
    rng = np.random.default_rng(4)
    start, goal = robot.random(rng), robot.random(rng)
    # such a motion is at most 1.875 times as fast as its mean
    duration = 2.0 * float(np.max(np.abs(robot.difference(start, goal)) / robot.velocity_limits))
    controller = ComputedTorque(robot, PointToPoint(start, goal, duration), stiffness=400.0)
    run = rd.simulate(robot, controller, q0=start, duration=duration, step=1e-3)
    work = np.sum(0.5 * (run.v[1:] + run.v[:-1]) * run.tau[:-1]) * 1e-3
    return {
        "error": float(np.abs(run.q[-1] - goal).max()),
        "work": float(work),
        "gain": float(run.energy[-1] - run.energy[0]),
        "run": run,
    }


def check(result: dict[str, object]) -> None:
    assert result["error"] < 2e-3
    # what the motors put in is what the arm has gained
    assert abs(result["work"] - result["gain"]) < 1e-2 * max(1.0, abs(result["gain"]))


def draw(result: dict[str, object], path: str) -> None:
    result["run"].plot(path)


if __name__ == "__main__":
    result = main()
    check(result)
    print(f"distance from the goal  {result['error']:.2e} rad")
    print(f"work of the motors      {result['work']:.4f} J")
    print(f"energy gained           {result['gain']:.4f} J")
    if sys.argv[1:]:
        draw(result, sys.argv[1])
