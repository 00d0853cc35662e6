"""Times of the solve that reveals the rank, by each of its methods, as a Markdown table.

``M a = force + K^T lam``, ``K a = -k`` of linkages: single systems from Python, and batches.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from versus_pinocchio import cpu, least, row

import robodyn as rd
from robodyn.closed_loops.solvers import constrained_accelerations

ROBOTS = ("four_bar", "five_bar", "bricard", "two_feet", "palletizer", "delta", "stewart")
METHODS = ("kkt", "schur", "nullspace", "partition")
BATCH = 1000


def systems(robot: rd.Robot) -> tuple[np.ndarray, ...]:
    """M, force, K and k at closed postures."""
    rng = np.random.default_rng(0)
    q = np.array([robot.random(rng) for _ in range(8)])
    q = np.tile(q, (BATCH // 8, 1))
    v, tau = rng.normal(size=(2, BATCH, robot.nv))
    v = robot.consistent_velocity(q, v)
    force = tau - robot.bias_forces(q, v)
    return robot.mass_matrix(q), force, robot.loop_jacobian(q), robot.loop_bias(q, v)


def times(many: tuple[np.ndarray, ...], seconds: float) -> list[str]:
    """Times of a method [us]: a single system, and a system of a batch."""
    names: dict[str, Any] = {"solve": constrained_accelerations, "many": many}
    names["one"] = [x[0].copy() for x in many]
    calls = {f"{m} {k}": f"solve(*{k}, {m!r})" for k in ("one", "many") for m in METHODS}
    found = least(calls, names, seconds)
    return [
        f"{1e6 * found[f'{m} one']:.1f}, {1e6 * found[f'{m} many'] / BATCH:.2f}" for m in METHODS
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    seconds = 0.5 if parser.parse_args().quick else 4.0
    start = time.perf_counter()
    constrained_accelerations(np.eye(2), np.ones(2), np.ones((1, 2)), np.zeros(1))
    print(f"{cpu()}, robodyn {rd.__version__}.\n")
    print(f"First solve of the process: {time.perf_counter() - start:.2f} s.\n")
    print("Microseconds of a single system, and of each of a batch:\n")
    print(row("linkage", "nv, nc, rank", *METHODS))
    print("|---|---|" + "---:|" * len(METHODS))
    for name in ROBOTS:
        many = systems(rd.load(name))
        nc, nv = many[2].shape[1:]
        rank = constrained_accelerations(*many).rank
        print(row(name, f"{nv}, {nc}, {rank.min()}", *times(many, seconds)))


if __name__ == "__main__":
    main()
