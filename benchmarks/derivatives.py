"""Value and all derivatives of dynamics beside Pinocchio's, as a Markdown table, in one process.

Each robot's first call is timed without code on disk: tracing, compiling and the call. Then all
contestants take turns. A batch is of 256 states on one core; Pinocchio has none, so that its time
for one state stands for both.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

import numpy as np
import pinocchio as pin
from contestants import Pair, pair
from versus_pinocchio import least

import robodyn as rd

#: Quantity -> what Pinocchio calls it.
QUANTITIES = {
    "inverse_dynamics": "computeRNEADerivatives",
    "forward_dynamics": "computeABADerivatives",
}
STATES = 256


def check(p: Pair, quantity: str, found: tuple[np.ndarray, ...]) -> None:
    """Both compute the same."""
    state = [x[0] for x in p.ours]
    there = getattr(p.oracle, f"{quantity}_derivatives")(*state)
    for here, wanted in zip(found[1:], there, strict=True):
        assert np.abs(here - wanted).max() < 1e-8 * np.abs(wanted).max()


def row(p: Pair, quantity: str, seconds: float, batches: bool) -> str:
    start = time.perf_counter()
    f = p.robot.function(f"{quantity}_derivatives")
    one = [x[0].copy() for x in p.ours]
    found = f(*one)
    first = time.perf_counter() - start
    check(p, quantity, found)
    names: dict[str, Any] = {
        "f": f,
        "theirs": getattr(pin, QUANTITIES[quantity]),
        "model": p.model,
        "data": p.model.createData(),
        "out": found,
    }
    names |= {f"x{k}": x for k, x in enumerate(one)}
    names |= {f"y{k}": y[0].copy() for k, y in enumerate(p.theirs)}
    calls = {"there": "theirs(model, data, y0, y1, y2)", "here": "f(x0, x1, x2, out=out)"}
    if batches:
        many = [x[:STATES].copy() for x in p.ours]
        names |= {f"X{k}": x for k, x in enumerate(many)} | {"outs": f(*many)}
        calls["batch"] = "f(X0, X1, X2, out=outs)"
    times = {key: 1e6 * t for key, t in least(calls, names, seconds).items()}
    there, here = times["there"], times["here"]
    operations = f.operations["mul"] + f.operations["add"]
    columns = [p.name, quantity, str(operations), f"{first:.1f}", f"{there:.2f}", f"{here:.2f}"]
    columns.append(f"{there / here:.1f}")
    if batches:
        each = times["batch"] / STATES
        columns += [f"{each:.2f}", f"{there / each:.0f}"]
    return "| " + " | ".join(columns) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", default=["panda", "anymal", "talos_reduced"])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each row")
    parser.add_argument("--no-batches", action="store_true", help="time single states alone")
    given = parser.parse_args()
    os.environ["ROBODYN_CACHE"] = "0"
    rd.set_num_threads(1)
    heads = "robot", "value and derivatives of", "mul + add", "first call, s", "Pinocchio, us"
    print("|", " | ".join((*heads, "us", "ratio", "batch, us a state", "ratio")), "|")
    print("|---" * 9 + "|")
    for name in given.robots:
        p = pair(name, STATES)
        for quantity in QUANTITIES:
            print(row(p, quantity, given.seconds, not given.no_batches), flush=True)


if __name__ == "__main__":
    main()
