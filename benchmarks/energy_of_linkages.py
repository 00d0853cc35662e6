"""What a minute costs in energy: every bundled linkage for 60 s, by rk4 at 1 ms.

Nothing damps them and no motor acts, so that energy only changes its form. The goal: the sum stays
within 1e-4 of what is exchanged. The starts are those of the test of ten seconds at longer steps,
but for the palletizer, which from there comes to stand at a singular posture after 50 s.
With ``--variational N``: a double pendulum for N steps of the variational integrator, whose energy
swings and goes nowhere.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import robodyn as rd

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "laws")]

from test_closed_energy import MINUTES  # noqa: E402  (found where tests are)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[*MINUTES])
    parser.add_argument("--duration", type=float, default=60.0)
    parser.add_argument("--step", type=float, default=1e-3)
    parser.add_argument("--variational", type=float, metavar="N")
    given = parser.parse_args()
    if given.variational:
        many_steps(int(given.variational))
        return
    for name in given.names:
        motion = MINUTES[name]
        robot = motion.robot(name)
        q0, v0 = motion.start(robot)
        began = time.perf_counter()
        run = rd.simulate(
            robot, q0=q0, v0=v0, duration=given.duration, step=given.step, limits="ignore"
        )
        took = time.perf_counter() - began
        exchanged = np.ptp(robot.potential_energy(run.q))
        gained = run.energy - run.energy[0]
        drift = np.abs(gained).max() / exchanged
        print(
            f"{name:14s} {drift:8.1e} of {exchanged:8.3g} J, end {gained[-1]:+.1e} J, "
            f"gaps {run.loop_residual.max():.1e}, {took:.0f} s",
            flush=True,
        )


def many_steps(count: int, step: float = 5e-3) -> None:
    """Means and swings of the energy over the quarters of a motion."""
    robot = rd.load("double_pendulum", passive=False)
    run = rd.simulate(
        robot, q0=[1.0, -0.5], duration=count * step, step=step, integrator="variational",
        every=100, limits="ignore",
    )  # fmt: skip
    for part in np.array_split(run.energy - run.energy[0], 4):
        print(f"mean {part.mean():+.2e} J, swing {np.ptp(part):.2e} J")


if __name__ == "__main__":
    main()
