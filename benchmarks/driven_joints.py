"""What driven joints and reactions cost beside plain dynamics: times as ratios, in one process.

Targets: hybrid dynamics of a Panda with three driven joints within 1.3 of forward dynamics, all
joint wrenches within 1.5 of inverse dynamics.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from contestants import load

import robodyn as rd

ROUNDS = 200
BATCH = 4096


def main() -> None:
    rd.set_num_threads(1)
    _, robot = load("panda")
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, BATCH, robot.nv))
    driven = (0, 3, 6)
    free = [k for k in range(robot.nv) if k not in driven]
    cases = {
        "inverse dynamics": (robot.function("inverse_dynamics"), (q, v, a)),
        "joint wrenches": (robot.function("joint_wrenches"), (q, v, a)),
        "forward dynamics": (robot.function("forward_dynamics"), (q, v, a)),
        "hybrid dynamics": (
            robot.function("hybrid_dynamics", controlled=driven),
            (q, v, a[:, list(driven)], a[:, free]),
        ),
    }
    calls: dict[tuple[str, str], Callable[[], object]] = {}
    for name, (f, arrays) in cases.items():
        rows = [np.ascontiguousarray(x[0]) for x in arrays]
        batch = [np.ascontiguousarray(x) for x in arrays]
        one, many = f(*rows), f(*batch)
        calls[name, "one"] = lambda f=f, rows=rows, one=one: f(*rows, out=one)
        calls[name, "batch"] = lambda f=f, batch=batch, many=many: f(*batch, out=many)
    best = dict.fromkeys(calls, np.inf)
    for _ in range(ROUNDS):  # all take turns, so that noise hits all
        for key, call in calls.items():
            repeat = 20 if key[1] == "one" else 1
            start = time.perf_counter()
            for _ in range(repeat):
                call()
            best[key] = min(best[key], (time.perf_counter() - start) / repeat)
    print("| Panda | one state [ns] | ratio | a state of 4096 [ns] | ratio | operations |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, beside in (
        ("joint wrenches", "inverse dynamics"),
        ("hybrid dynamics", "forward dynamics"),
    ):
        one, many = best[name, "one"], best[name, "batch"]
        count = sum(cases[name][0].operations.values())
        print(
            f"| {name} beside {beside} | {1e9 * one:.0f} | {one / best[beside, 'one']:.2f} | "
            f"{1e9 * many / BATCH:.0f} | {many / best[beside, 'batch']:.2f} | {count} |"
        )


if __name__ == "__main__":
    main()
