"""Times to trace and to call for the first time: Talos and chains of links, as a Markdown table.

Tracing: from the robot to the program. First call: machine code from the program, nothing on disk,
and the call itself.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from dataclasses import dataclass

import numpy as np

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism, Pose
from robodyn.model.settings import Settings
from robodyn.robot import Robot

rd.set_compilation("eager")  # calls are timed

QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
LENGTHS = (50, 100, 200)
#: Mass matrices of longer chains are not what anyone compiles.
LONGEST_MATRIX = 50
INERTIA = Inertia(1.0, Pose((0.1, 0.01, 0.02)), 0.01, 0.001, 0.002, 0.02, 0.003, 0.03)


@dataclass
class Times:
    """Of one quantity of one robot [s]."""

    trace: float
    operations: int
    first_call: float


def chain(length: int) -> rd.Robot:
    """Links one after the other, each turned against the last, axes y and z in turns."""
    links = [Link("link0")] + [Link(f"link{k + 1}", INERTIA) for k in range(length)]
    joints = [
        Joint(
            f"joint{k}",
            "revolute",
            f"link{k}",
            f"link{k + 1}",
            Pose((0.2, 0.0, 0.0), (0.3, 0.0, 0.0)),
            (0.0, 1.0, 0.0) if k % 2 else (0.0, 0.0, 1.0),
        )
        for k in range(length)
    ]
    return Robot(Mechanism(f"chain{length}", tuple(links), tuple(joints)), Settings())


def measured(robot: rd.Robot, quantity: str, repeats: int) -> Times:
    """Least time of tracing, which is not kept, and the time of one first call."""
    best = float("inf")
    for _ in range(repeats):
        fresh = Robot(robot.mechanism, robot.model.settings)
        start = time.perf_counter()
        f = fresh.function(quantity)
        best = min(best, time.perf_counter() - start)
    q = robot.neutral()
    arrays = [q, *(np.zeros(robot.nv) for _ in f.inputs[1:])]
    start = time.perf_counter()
    f(*arrays)
    return Times(best, sum(f.operations.values()), time.perf_counter() - start)


def robots(talos: bool) -> dict[str, rd.Robot]:
    """All of the table by name; Talos comes with a package that may not be there."""
    chains = {f"chain of {length}": chain(length) for length in LENGTHS}
    if not talos:
        return chains
    from contestants import load

    return {name: load(name)[1] for name in ("talos_reduced", "talos")} | chains


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="of tracing")
    parser.add_argument("--no-talos", action="store_true", help="where it is not installed")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ROBODYN_CACHE_DIR"] = folder
        print("| robot | quantity | operations | trace [ms] | first call [ms] |")
        print("|---|---|---|---|---|")
        for name, robot in robots(not arguments.no_talos).items():
            for quantity in QUANTITIES:
                if quantity == "mass_matrix" and robot.nv > LONGEST_MATRIX:
                    continue
                t = measured(robot, quantity, arguments.repeats)
                print(
                    f"| {name} | {quantity} | {t.operations} | {t.trace * 1e3:.1f} "
                    f"| {t.first_call * 1e3:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
