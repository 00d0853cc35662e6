"""Times of robodyn and Pinocchio side by side, in one process, as Markdown tables.

Each number is the least of many rounds in which all contestants take turns, so that what else the
machine does hits all of them.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys
import tempfile
import time
import timeit
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from contestants import ROBOTS, Pair, load, pair

import robodyn as rd

QUANTITIES = {"inverse_dynamics": "rnea", "mass_matrix": "crba", "forward_dynamics": "aba"}
BATCH = 4096
CALLS = ("Pinocchio", "out=", "new array", "method")
VECTORS = ("Pinocchio", "float64", "float32", "two threads")


def least(statements: dict[str, str], names: dict[str, Any], seconds: float) -> dict[str, float]:
    """Least time of each statement, taken in turns; what stands before ``;`` is not counted."""
    timers = {}
    for label, text in statements.items():
        setup, _, statement = text.rpartition(";")
        timers[label] = timeit.Timer(statement.strip(), setup or "pass", globals=names)
    counts = {}
    for label, timer in timers.items():
        timer.timeit(1)
        number, taken = 1, timer.timeit(1)
        while taken < 2e-3:
            number *= 2
            taken = timer.timeit(number)
        counts[label] = number
    best = dict.fromkeys(timers, float("inf"))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for label, timer in timers.items():
            best[label] = min(best[label], timer.timeit(counts[label]) / counts[label])
    return best


def single(p: Pair, quantity: str, seconds: float) -> dict[str, float]:
    """Time of one call [ns]."""
    f = p.robot.function(quantity)
    names: dict[str, Any] = {
        "f": f,
        "robot": p.robot,
        "theirs": getattr(pin, QUANTITIES[quantity]),
        "model": p.model,
        "data": p.model.createData(),
        "out": np.empty(f.outputs[0].shape),
    }
    names |= {f"x{k}": x[0].copy() for k, x in enumerate(p.ours)}
    names |= {f"y{k}": y[0].copy() for k, y in enumerate(p.theirs)}
    ours = ", ".join(f"x{k}" for k in range(len(f.inputs)))
    theirs = ours.replace("x", "y")
    calls = (
        f"theirs(model, data, {theirs})",
        f"f({ours}, out)",
        f"f({ours})",
        f"robot.{quantity}({ours})",
    )
    times = least(dict(zip(CALLS, calls, strict=True)), names, seconds)
    return {label: 1e9 * t for label, t in times.items()}


def batch(p: Pair, quantity: str, seconds: float) -> dict[str, float]:
    """Time of a state in a batch [ns]; Pinocchio has none for mass matrices."""
    f = p.robot.function(quantity)
    names: dict[str, Any] = {"f": f, "rd": rd, "out64": np.zeros((BATCH, *f.outputs[0].shape))}
    names["out32"] = names["out64"].astype(np.float32)
    takes = range(len(f.inputs))
    for k in takes:
        names[f"x{k}"] = p.ours[k]
        names[f"s{k}"] = p.ours[k].astype(np.float32)
        names[f"y{k}"] = np.asfortranarray(p.theirs[k].T)
    double, single_, theirs = (", ".join(f"{x}{k}" for k in takes) for x in "xsy")
    statements = {
        "float64": f"f({double}, out64)",
        "float32": f"f({single_}, out32)",
        # a call first, to start the threads
        "two threads": f"rd.set_num_threads(2); f({double}, out64); f({double}, out64)",
    }
    if quantity != "mass_matrix":
        names["theirs"] = getattr(pin, f"{QUANTITIES[quantity]}InParallel")
        names["pool"] = pin.ModelPool(p.model, 1)
        names["there"] = np.empty((p.model.nv, BATCH), order="F")
        statements["Pinocchio"] = f"theirs(1, pool, {theirs}, there)"
    for label in statements.keys() - {"two threads"}:
        statements[label] = f"rd.set_num_threads(1); {statements[label]}"
    times = least(statements, names, seconds)
    rd.set_num_threads(1)
    return {label: 1e9 * t / BATCH for label, t in times.items()}


def compilation(p: Pair, quantity: str, rounds: int) -> list[float]:
    """Seconds to: trace, compile for one state, compile for batches, load the two from disk."""
    best = [float("inf")] * 5
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            os.environ["ROBODYN_CACHE_DIR"] = cache
            marks = []
            for _ in range(2):  # the second finds what the first has compiled
                _, robot = load(p.name)
                marks.append(time.perf_counter())
                f = robot.function(quantity)
                marks.append(time.perf_counter())
                f(*(x[0] for x in p.ours[: len(f.inputs)]))
                marks.append(time.perf_counter())
                f(*(x[:64] for x in p.ours[: len(f.inputs)]))
                marks.append(time.perf_counter())
            taken = list(np.diff(marks))
            taken = [*taken[:3], *taken[5:]]
            best = [min(pair) for pair in zip(best, taken, strict=True)]
    del os.environ["ROBODYN_CACHE_DIR"]
    return best


def start_up(rounds: int) -> float:
    """Time [s] that the import adds to the start of Python."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    best = {}
    code = "import sys, robodyn; assert 'numba' not in sys.modules"
    for _ in range(3 * rounds):
        for text in ("pass", code):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", text], check=True, env=environment)
            best[text] = min(best.get(text, 9e9), time.perf_counter() - begin)
    return best[code] - best["pass"]


def cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), "?")


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def cells(times: dict[str, float], labels: tuple[str, ...], reference: float) -> list[str]:
    """Times with their ratio to a reference."""
    shown = [f"{times[labels[0]]:.0f}" if labels[0] in times else "-"]
    return shown + [f"{times[x]:.0f} ({reference / times[x]:.1f}x)" for x in labels[1:]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", metavar="robot", help=", ".join(ROBOTS))
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    options = parser.parse_args()
    unknown = sorted(set(options.robots) - set(ROBOTS))
    if unknown:
        parser.error(f"no robot {', '.join(unknown)}; there are {', '.join(ROBOTS)}")
    seconds, rounds = (0.3, 1) if options.quick else (3.0, 3)
    rd.set_num_threads(1)
    versions = f"robodyn {rd.__version__}, Pinocchio {pin.__version__}, numpy {np.__version__}"
    print(f"{datetime.date.today()}, {cpu()}, {versions}, Python {platform.python_version()}.")
    print(f"`import robodyn`: {start_up(rounds):.2f} s.\n")
    one, many, made = [], [], []
    for name in options.robots or ROBOTS:
        p = pair(name, BATCH)
        for quantity in QUANTITIES:
            times = single(p, quantity, seconds)
            one.append(row(name, quantity, *cells(times, CALLS, times["Pinocchio"])))
            vectors = batch(p, quantity, seconds)
            reference = vectors.get("Pinocchio", times["Pinocchio"])
            many.append(row(name, quantity, *cells(vectors, VECTORS, reference)))
            trace, a, b, c, d = compilation(p, quantity, rounds)
            cached = [f"{1e3 * x:.0f}" for x in (trace, c, d)]
            made.append(row(name, quantity, cached[0], f"{a:.2f}", f"{b:.2f}", *cached[1:]))
    kinds = ("trace [ms]", "one state [s]", "batch [s]", "cached [ms]", "cached batch [ms]")
    for title, labels, lines in (
        ("One call from Python [ns]", CALLS, one),
        (f"A state in a batch of {BATCH} [ns]", VECTORS, many),
        ("Making a function", kinds, made),
    ):
        print(f"{title}:\n")
        print(row("robot", "quantity", *labels))
        print("|---|---|" + "---:|" * len(labels), *lines, "", sep="\n")


if __name__ == "__main__":
    main()
