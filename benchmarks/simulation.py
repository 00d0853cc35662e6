"""Times of simulations in robodyn and MuJoCo side by side in one process, as Markdown tables.

MuJoCo: ``mj_step`` in a loop of Python, which records nothing, and ``mujoco.rollout`` for many
motions. It gets the same bodies and joints, without contacts, friction and dampers; loops are
closed by its soft equality constraints. What a step costs in robodyn is the whole of `simulate`,
with its checks, samples of everything, and the look at energies and limits, over the number of
steps. Rollouts stand beside the time of the functions that a step calls, alone, as a batch: four
forward dynamics in a step of Runge and Kutta, and two corrections of loops. Machines are noisy: the
least of some times counts, and those that are compared take turns.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
from contestants import load
from versus_pinocchio import cpu, row

import robodyn as rd
from robodyn import controllers

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles.mujoco_closed import MujocoClosed
from oracles.rigid_tree import rigid_tree

STEP = 1e-3
#: Numbers of motions at once.
COUNTS = (16, 64, 256, 1024, 4096, 16384, 65536)
#: Robot-steps of a rollout, about: few motions make many steps.
WORK = 400_000
#: Goals: so many times the speed of MuJoCo's loop, and of its rollout, at least; a step above a
#: controller in Python at most so long [us]; a rollout at most so many times its kernels.
LOOP, ROLLOUT, ABOVE, KERNELS = 15.0, 40.0, 4.0, 1.3
#: Joints that stick and slide take at most so many times as long as smooth friction.
EXACT = 5.0
INTEGRATORS = {
    "rk4": (mujoco.mjtIntegrator.mjINT_RK4, 4),
    "euler": (mujoco.mjtIntegrator.mjINT_EULER, 1),
}


@dataclass
class Case:
    """A robot in both libraries, and where it starts."""

    name: str
    robot: rd.Robot
    there: MujocoClosed
    q: np.ndarray
    v: np.ndarray

    def at_start(self, integrator: str) -> None:
        """Set MuJoCo to the start."""
        self.there.model.opt.integrator = INTEGRATORS[integrator][0]
        self.there.model.opt.timestep = STEP
        mujoco.mj_resetData(self.there.model, self.there.data)
        self.there.set_state(self.q, self.v)


def case(name: str) -> Case:
    robot = rd.load("four_bar", passive=False) if name == "four_bar" else load(name)[1]
    there = MujocoClosed(rigid_tree(robot.mechanism), robot.gravity)
    q, v = robot.neutral(), np.zeros(robot.nv)
    if robot.nc:
        v = robot.consistent_velocity(q, np.ones(robot.nv))
    else:
        q = robot.integrate(q, np.linspace(-0.5, 0.5, robot.nv))
    return Case(name, robot, there, q, v)


def least(contestants: dict[str, Callable[[], Any]], times: int) -> dict[str, float]:
    """Least time of each [s], one after the other again and again."""
    found = dict.fromkeys(contestants, np.inf)
    for _ in range(times):
        for name, run in contestants.items():
            start = time.perf_counter()
            run()
            found[name] = min(found[name], time.perf_counter() - start)
    return found


# -- one motion -----------------------------------------------------------------------------------


def one_motion(c: Case, integrator: str, seconds: float, times: int) -> list[str]:
    """A row of the first table."""
    steps = round(seconds / STEP)
    robot, there, torques = c.robot, c.there, np.zeros(c.robot.nv)
    rest = np.zeros(robot.nv)
    there_and_back = controllers.SineReference(c.q, 0.1 + rest, 0.5 + rest)
    follows = controllers.ComputedTorque(robot, there_and_back)
    given = {"q0": c.q, "v0": c.v, "duration": seconds, "step": STEP, "integrator": integrator}

    def mujoco_loop() -> None:
        c.at_start(integrator)
        step, m, d = mujoco.mj_step, there.model, there.data
        for _ in range(steps):
            step(m, d)

    def constant(t: float, q: Any, v: Any) -> np.ndarray:
        return torques

    found = least(
        {
            "mujoco": mujoco_loop,
            "free": lambda: rd.simulate(robot, **given),
            "computed torque": lambda: rd.simulate(robot, follows, **given),
            "python": lambda: rd.simulate(robot, constant, **given),
            "controller": lambda: [constant(0.0, c.q, c.v) for _ in range(steps)],
        },
        times,
    )
    us = {name: x / steps * 1e6 for name, x in found.items()}
    above = us["python"] - us["controller"]
    return [
        c.name, integrator, f"{seconds:g}", f"{us['mujoco']:.2f}",
        *(f"{us[x]:.2f} ({us['mujoco'] / us[x]:.0f})" for x in ("free", "computed torque")),
        f"{above:.2f}",
    ]  # fmt: skip


def one_at_a_time(cases: list[Case], seconds: tuple[float, ...], times: int) -> list[str]:
    head = ["robot", "integrator", "motion [s]", "MuJoCo", "free", "computed torque", "Python"]
    lines = [
        f"A step [us], and how many times MuJoCo's loop is slower (goal {LOOP:.0f}); `Python`: "
        f"above the time of a plain controller (goal {ABOVE:.0f})",
        "",
        row(*head),
        row(*["---"] * len(head)),
    ]
    for c in cases:
        for integrator in INTEGRATORS:
            for x in seconds:
                lines.append(row(*one_motion(c, integrator, x, times)))
    return lines


# -- joints that stick ----------------------------------------------------------------------------


def sticking(times: int) -> list[str]:
    """A table of a second of an arm that swings until its joints stick, some of them again."""
    robot, steps = rd.load("arm7"), 1000
    v = np.array([0.05, 0.1, -0.2, 0.02, 0.5, 0.7, -0.3])
    head = ["changes of mode", "smooth [ms]", "exact [ms]", "times as long"]
    lines = [
        f"Joints of arm7 that stick and slide, {steps} steps (goal: {EXACT:g} times as long as "
        "smooth friction with a dozen changes of mode)",
        "",
        row(*head),
        row(*["---"] * len(head)),
    ]
    for g in (0.0, 0.05, 9.81):
        swinging, q = robot.with_(gravity=(0, 0, -g)), np.array([0, 0.3, 0, 0.6, 0.2, -0.4, 0.1])
        options = {"q0": q, "v0": v, "duration": steps * STEP, "step": STEP, "limits": "ignore"}
        moved = partial(rd.simulate, swinging, **options)
        laws = ("smooth", "exact")
        found = least({law: partial(moved, friction=law) for law in laws}, times)
        events = moved(friction="exact").events
        smooth, exact = (1e3 * found[x] for x in ("smooth", "exact"))
        ratio = f"{exact / smooth:.1f}"
        lines.append(row(str(len(events)), f"{smooth:.2f}", f"{exact:.2f}", ratio))
    return lines


# -- many motions ---------------------------------------------------------------------------------


def many_motions(c: Case, integrator: str, n: int, times: int) -> list[str]:
    """A row of the second table."""
    robot, stages = c.robot, INTEGRATORS[integrator][1]
    steps = max(4, min(2000, WORK // n))
    q, v = np.tile(c.q, (n, 1)), np.tile(c.v, (n, 1))
    tau, a = np.zeros((n, robot.nv)), np.empty((n, robot.nv))
    given = {"duration": steps * STEP, "step": STEP, "integrator": integrator, "limits": "ignore"}
    dynamics = robot.function("forward_dynamics")
    corrections = robot.function("loop_corrections") if robot.nc else None

    def kernels() -> None:
        for _ in range(steps):
            for _ in range(stages):
                dynamics(q, v, tau, out=a)
            for _ in range(2 if corrections else 0):
                corrections(q, v)

    contestants: dict[str, Callable[[], Any]] = {
        "kernels": kernels,
        "rollout": lambda: rd.rollout(robot, None, q, v, **given),
        "last": lambda: rd.rollout(robot, None, q, v, every=steps, **given),
    }
    if n <= 1024:
        contestants["mujoco"] = _mujoco_rollout(c, integrator, n, steps)
    found = least(contestants, times)
    ns = {name: x / (steps * n) * 1e9 for name, x in found.items()}
    theirs = ["", ""]
    if "mujoco" in ns:
        theirs = [f"{ns['mujoco']:.0f}", f"{ns['mujoco'] / ns['rollout']:.0f}"]
    return [
        c.name, integrator, str(n), f"{ns['kernels']:.0f}",
        *(f"{ns[x]:.0f} ({ns[x] / ns['kernels']:.2f})" for x in ("rollout", "last")),
        *theirs,
    ]  # fmt: skip


def _mujoco_rollout(c: Case, integrator: str, n: int, steps: int) -> Callable[[], Any]:
    c.at_start(integrator)
    m, whole = c.there.model, mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.empty(mujoco.mj_stateSize(m, whole))
    mujoco.mj_getState(m, c.there.data, start, whole)
    data = [mujoco.MjData(m) for _ in range(rd.get_num_threads())]
    states = np.tile(start, (n, 1))
    return lambda: mujoco.rollout.rollout(m, data, states, nstep=steps)


def many_at_once(cases: list[Case], counts: tuple[int, ...], times: int) -> list[str]:
    head = ["robot", "integrator", "motions", "kernels", "all samples", "last sample",
            "MuJoCo", "times as slow"]  # fmt: skip
    lines = [
        f"A step of a robot [ns], and over the time of what it calls (goal {KERNELS}); "
        f"`mujoco.rollout` beside it (goal {ROLLOUT:.0f} times as slow); {rd.get_num_threads()} "
        "threads",
        "",
        row(*head),
        row(*["---"] * len(head)),
    ]
    for c in cases:
        for integrator in INTEGRATORS:
            lines += [row(*many_motions(c, integrator, n, times)) for n in counts]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few motions, few times")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore", rd.errors.LimitWarning)
    warnings.simplefilter("ignore", rd.errors.EnergyWarning)
    cases = [case("panda"), case("four_bar")]
    print(f"{datetime.date.today()}, {cpu()}, Python {platform.python_version()}, "
          f"MuJoCo {mujoco.__version__}\n")  # fmt: skip
    seconds = (1.0,) if quick else (1.0, 10.0)
    print("\n".join(one_at_a_time(cases, seconds, 3 if quick else 10)), end="\n\n")
    print("\n".join(sticking(3 if quick else 20)), end="\n\n")
    counts = COUNTS[::3] if quick else COUNTS
    print("\n".join(many_at_once(cases, counts, 2 if quick else 5)))


if __name__ == "__main__":
    main()
