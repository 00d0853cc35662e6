"""What driven joints and reactions cost beside plain dynamics: times as ratios, in one process.

Targets: hybrid dynamics of a Panda with three driven joints within 1.3 of forward dynamics, all
joint wrenches within 1.5 of inverse dynamics. A batch keeps the ratio of the operations as long
as it stays in the caches of its core; beyond that the 48 numbers of a state cost what writing
them costs, which is shown beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from contestants import load

import robodyn as rd

ROUNDS = 200
#: States: of a batch within the caches of a core, and of one beyond them.
SMALL, BATCH = 256, 4096


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
    calls: dict[tuple[str, object], Callable[[], object]] = {}
    for name, (f, arrays) in cases.items():
        parts = {"one": [x[0] for x in arrays], SMALL: [x[:SMALL] for x in arrays], BATCH: arrays}
        for size, part in parts.items():
            part = [np.ascontiguousarray(x) for x in part]
            out = f(*part)
            calls[name, size] = lambda f=f, part=part, out=out: f(*part, out=out)
            first = out if isinstance(out, np.ndarray) else out[0]
            calls[f"writing {name}", size] = lambda first=first: first.fill(1.0)
    best = dict.fromkeys(calls, np.inf)
    for _ in range(ROUNDS):  # all take turns, so that noise hits all
        for key, call in calls.items():
            repeat = {"one": 20, SMALL: 4, BATCH: 1}[key[1]]
            start = time.perf_counter()
            for _ in range(repeat):
                call()
            best[key] = min(best[key], (time.perf_counter() - start) / repeat)
    print(
        f"| Panda | one state [ns] | ratio | {SMALL} states [ns each] | ratio | {BATCH} states "
        "[ns each] | ratio | of that, writing [ns] | operations | ratio |"
    )
    print("|---" + "|---:" * 9 + "|")
    for name, beside in (
        ("joint wrenches", "inverse dynamics"),
        ("hybrid dynamics", "forward dynamics"),
    ):
        cells = [f"{name} beside {beside}"]
        for size in ("one", SMALL, BATCH):
            rows = 1 if size == "one" else size
            cells.append(f"{1e9 * best[name, size] / rows:.0f}")
            cells.append(f"{best[name, size] / best[beside, size]:.2f}")
        cells.append(f"{1e9 * best[f'writing {name}', BATCH] / BATCH:.0f}")
        count, plain = (sum(cases[key][0].operations.values()) for key in (name, beside))
        cells += [str(count), f"{count / plain:.2f}"]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
