"""How time and memory grow with mechanisms: chains, trees and scissors, as a Markdown table.

Each row is measured in a process of its own with nothing on disk. Load: the robot from its links
and joints. First: from there to the first result, equations and machine code included.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.chains import chain, crossed_scissors, scissors, tree

MAKERS = {
    "chain": chain, "tree": tree, "scissors": scissors, "crossed scissors": crossed_scissors
}  # fmt: skip
TREES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
#: What, how many links or loops, and which quantities.
ROWS = [
    *(("chain", count, TREES) for count in (10, 30, 100, 200)),
    *(("chain", count, TREES[:2]) for count in (400, 1000)),
    *(("tree", count, TREES) for count in (30, 126, 510, 1000)),
    *(("scissors", count, TREES[1:2]) for count in (2, 5, 10, 20, 50, 100)),
    *(("crossed scissors", count, TREES[1:2]) for count in (10, 30, 60, 100)),
]
#: Calls of which the fastest counts.
REPEATS = 30


def measure(what: str, count: int, quantity: str) -> str:
    """One row, measured in this process."""
    chain(2).gravity_forces(np.zeros(2))  # what all robots share
    begin = time.process_time()
    robot = MAKERS[what](count)
    loaded = time.process_time()
    q = robot.neutral()
    method, tau = getattr(robot, quantity), np.full(robot.nv, 0.1)
    arrays = (q,) if quantity == "mass_matrix" else (q, 0.0 * tau, tau)
    method(*arrays)
    done, best = time.process_time(), float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        method(*arrays)
        best = min(best, time.perf_counter() - start)
    memory = peak_memory()
    times = f"{loaded - begin:.2f} | {done - loaded:.2f} | {best * 1e6:.1f}"
    return f"| {what} of {count} | {quantity} | {times} | {memory:.0f} |"


def peak_memory() -> float:
    """Most memory of this process so far [MB]; Linux counts that of its parent in `getrusage`."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        return next(int(x.split()[1]) for x in lines if x.startswith("VmHWM")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--row", nargs=3, metavar=("WHAT", "COUNT", "QUANTITY"))
    arguments = parser.parse_args()
    if arguments.row:
        what, count, quantity = arguments.row
        print(measure(what, int(count), quantity))
        return
    print("| mechanism | quantity | load [s] | first [s] | call [us] | memory [MB] |")
    print("|---|---|---|---|---|---|")
    environment = {**os.environ, "ROBODYN_CACHE": "0", "ROBODYN_COMPILATION": "eager"}
    for what, count, quantities in ROWS:
        for quantity in quantities:
            command = [sys.executable, __file__, "--row", what, str(count), quantity]
            subprocess.run(command, env=environment, check=True)


if __name__ == "__main__":
    main()
