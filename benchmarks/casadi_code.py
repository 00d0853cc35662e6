"""Time of one forward dynamics as C of CasADi, as our C, and as machine code, as a Markdown table.

All are called from the same loop in C, with other states each time, and take turns. Pinocchio's
algorithms over CasADi's scalars are not among them: wheels of Pinocchio do not have them.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import robodyn as rd

ROBOTS = ("arm7", "four_bar", "palletizer")
COUNT = 2000  # calls a measurement
FLAGS = ("-O3", "-march=native", "-ffp-contract=fast", "-shared", "-fPIC", "-lm")

#: Calls a function with ``count`` states, one after the other.
LOOP = """
typedef void kernel(const double *, const double *, const double *, double *);
void repeat(
    void *f, long count, long n, const double *q, const double *v, const double *tau, double *a)
{
    for (long k = 0; k < count; k++)
        ((kernel *) f)(q + k % 64 * n, v + k % 64 * n, tau, a);
}
"""
#: The function that CasADi wrote, called as ours is.
SAME_CALL = """
void same(const double *q, const double *v, const double *tau, double *a)
{{
    const double *in[{inputs}] = {{q, v, tau}};
    double *out[{outputs}] = {{a}}, w[{work} + 1];
    long long iw[{integers} + 1];
    {name}(in, out, iw, w, 0);
}}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    rd.set_compilation("eager")
    print(
        "| forward dynamics [ns] | C of CasADi | `f.c_source()` | machine code |\n|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder:
        loop = compiled(LOOP, Path(folder, "loop"))
        for name in ROBOTS:
            times = measured(rd.load(name), loop, Path(folder), rounds)
            print(f"| {name} | {' | '.join(f'{x:.0f}' for x in times)} |", flush=True)


def measured(robot: rd.Robot, loop: Any, folder: Path, rounds: int) -> list[float]:
    """Least time of each [ns]."""
    f = robot.function("forward_dynamics")
    mine = compiled(f.c_source("mine"), folder / f"{robot.name}_mine")
    other = compiled(casadi_source(f, folder), folder / f"{robot.name}_casadi")
    addresses = [ctypes.cast(x, ctypes.c_void_p).value for x in (other.same, mine.mine)]
    rng = np.random.default_rng(0)
    q = np.array([robot.assemble(robot.random(rng)) for _ in range(64)])
    v = np.array([robot.consistent_velocity(x, rng.normal(size=robot.nv)) for x in q])
    tau, a = rng.normal(size=robot.nv), np.zeros(robot.nv)

    def run(address: int, count: int) -> None:
        loop.repeat(
            ctypes.c_void_p(address),
            ctypes.c_long(count),
            ctypes.c_long(robot.nv),
            *map(at, (q, v, tau, a)),
        )

    expected = f(q[0], v[0], tau)
    addresses.append(f.address)
    for address in addresses:
        a[:] = np.nan
        run(address, 1)
        np.testing.assert_allclose(a, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    return least([lambda x=x: run(x, COUNT) for x in addresses], rounds)


def casadi_source(f: Any, folder: Path) -> str:
    """C that CasADi writes of a function, and a function of it that is called as ours."""
    g = f.casadi()
    with contextlib.chdir(folder):  # it writes into the current folder alone
        g.generate("casadi.c")
    values = {"name": g.name(), "inputs": g.sz_arg(), "outputs": g.sz_res()}
    values |= {"work": g.sz_w(), "integers": g.sz_iw()}
    return (folder / "casadi.c").read_text() + SAME_CALL.format(**values)


def compiled(source: str, path: Path) -> Any:
    path.with_suffix(".c").write_text(source)
    target = path.with_suffix(".so")
    subprocess.run(["cc", path.with_suffix(".c"), "-o", target, *FLAGS], check=True)
    return ctypes.CDLL(str(target))


def at(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def least(calls: list[Callable[[], None]], rounds: int) -> list[float]:
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            began = time.perf_counter()
            call()
            best[k] = min(best[k], (time.perf_counter() - began) / COUNT * 1e9)
    return best


if __name__ == "__main__":
    main()
