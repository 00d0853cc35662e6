"""Times of swing-ups by iterative LQR, and of what they are made of, as a table.

A cart with a motor and a pole that hangs from it, a double pendulum with a motor at its elbow, and
six joints that reach for a posture, by Euler steps and by RK4. Times are CPU times, the least of
some repeats, but the first, which compiles or reads from the disk.

    python benchmarks/optimal_control.py [--repeats 5]
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.controllers import LQR, QuadraticCost, TimeVaryingLQR, iterative_lqr

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.cart_poles import cart_pole

rd.set_compilation("eager")  # calls are timed

SMALL = [0.1, 0.1, 0.01, 0.01]


def tasks() -> dict[str, tuple[rd.Robot, np.ndarray, QuadraticCost, dict[str, Any]]]:
    """Robots, what they are to reach, what it costs, and the time that they have."""
    cart = cart_pole(10.0)
    acrobot = rd.load("double_pendulum", actuators={"elbow": rd.Actuator()})
    found = {}
    for name, robot, goal, final, given in (
        ("cart and pole", cart, [0.0, np.pi], 200.0, {"duration": 2.0, "step": 0.02}),
        ("acrobot", acrobot, [np.pi, 0.0], 500.0, {"duration": 4.0, "step": 0.04, "limits": 15.0}),
    ):
        weights = [final, final, final / 10, final / 10]
        cost = QuadraticCost(robot, goal, state=SMALL, effort=0.01, final=weights)
        found[name] = robot, np.array(goal), cost, given
    arm = rd.load("puma560", passive=False)
    posture = np.array([0.8, -0.2, 0.4, -0.6, 0.3, 1.0])
    reach = QuadraticCost(arm, posture, state=0.1, effort=1e-3, final=[1e3] * 6 + [1e2] * 6)
    for integrator in ("euler", "rk4"):
        given = {"duration": 1.0, "step": 0.01, "limits": 1e6, "integrator": integrator}
        found[f"puma560, {integrator}"] = arm, posture, reach, given
    return found


def timed(call) -> tuple[float, object]:
    """How long a call takes [s], and what it returns."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore")
    print(
        "| robot | steps | iterations | first [s] | warm [s] | a step, iteration [us] | law [ms] |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, (robot, goal, cost, given) in tasks().items():

        def swing(robot=robot, cost=cost, given=given):
            return iterative_lqr(robot, cost, q0=np.zeros(robot.nq), **given)

        first, plan = timed(swing)
        warm = min(timed(swing)[0] for _ in range(repeats))
        assert plan.converged and np.abs(plan.run.q[-1] - goal).max() < 0.02
        stand, by = LQR(robot, goal), given.get("integrator", "rk4")

        def along(robot=robot, plan=plan, stand=stand, by=by):
            return TimeVaryingLQR(robot, plan.run, then=stand, integrator=by)

        law = min(timed(along)[0] for _ in range(repeats))
        count = len(plan.costs) - 1
        print(
            f"| {name} | {len(plan.run) - 1} | {count} | {first:.2f} | {warm:.2f} | "
            f"{1e6 * warm / count / (len(plan.run) - 1):.1f} | {1e3 * law:.1f} |"
        )


if __name__ == "__main__":
    main()
