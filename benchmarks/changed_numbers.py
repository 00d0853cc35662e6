"""Robots that change their numbers: a new mass and 100 steps, payloads, masses by environment.

For each robot, CPU time [ms] of `with_(payload=)`, of the first motion of 100 steps of `rk4` that
the copy makes, and of a second one; then of bearing forces and motor torques of many payloads, a
copy each, and all at once as rows of parameters. The first copy of a robot, which traces and
compiles, is told apart. Many four-bars with masses of their own: steps of a CPU second by `rollout`
with rows of parameters under a law of Python, and by `step_function(parameters=True)`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import robodyn as rd
from robodyn.description import Inertia

rd.set_compilation("eager")  # calls are timed


def cpu_time(work: Callable[[], object]) -> tuple[float, object]:
    """How long some work takes [ms], and what it gives."""
    start = time.thread_time()
    made = work()
    return 1e3 * (time.thread_time() - start), made


def load_of(mass: float) -> Inertia:
    """A payload without symmetry."""
    return Inertia.from_matrix(mass, (0.02, 0.01, 0.1), mass * np.diag([0.01, 0.02, 0.015]))


def new_mass(name: str, repeats: int) -> tuple[float, ...]:
    """Least time of a changed copy, its first motion and its second; and of all of the first."""
    robot = rd.load(name)
    link, q0 = robot.link_names[-1], robot.neutral()
    _ = rd.simulate(robot, q0=q0, duration=0.1, step=1e-3)
    times = []
    for k in range(repeats + 1):
        changing, copy = cpu_time(lambda k=k: robot.with_(payload={link: load_of(1.0 + k)}))
        assert isinstance(copy, rd.Robot)

        def move(copy: rd.Robot = copy) -> object:
            return rd.simulate(copy, q0=q0, duration=0.1, step=1e-3)

        times.append((changing, cpu_time(move)[0], cpu_time(move)[0]))
    best = np.min(times[1:], axis=0)
    return (*best.tolist(), sum(times[0][:2]))


def study(name: str, payloads: int) -> tuple[float, float]:
    """Wrenches in all joints and motor torques of many payloads: the first, and one more [ms]."""
    robot = rd.load(name)
    link, q = robot.link_names[-1], robot.neutral()
    v, a = np.zeros((2, robot.nv))

    def one(mass: float) -> object:
        copy = robot.with_(payload={link: load_of(mass)})
        return copy.inverse_dynamics(q, v, a), copy.joint_wrenches(q, v, a)

    first, _ = cpu_time(lambda: one(0.5))
    whole, _ = cpu_time(lambda: [one(1.0 + 1e-3 * k) for k in range(payloads)])
    return first, whole / payloads


def study_of_rows(name: str, payloads: int) -> tuple[float, float]:
    """The same study at once: the first time, and once more [ms]."""
    robot = rd.load(name)
    link, q = robot.body_names[-1], robot.neutral()
    v, a = np.zeros((2, robot.nv))
    own = robot.inertial_parameters
    load = robot.with_(payload={link: load_of(1.0)}).inertial_parameters - own
    rows = own + np.linspace(0.1, 5.0, payloads)[:, None] * load
    parameters = dict(zip(robot.parameter_names, rows.T, strict=True))

    def whole() -> object:
        robots = robot.with_(parameters=parameters)
        return robots.inverse_dynamics(q, v, a), robots.joint_wrenches(q, v, a)

    return cpu_time(whole)[0], cpu_time(whole)[0]


def environments(coordinates: str, count: int, steps: int) -> tuple[float, float]:
    """Steps of many robots in a CPU second by a rollout, whose robots are known, and a function."""
    robot, rng = rd.load("four_bar", coordinates=coordinates), np.random.default_rng(0)
    rows = robot.inertial_parameters * rng.uniform(0.8, 1.2, (count, 1))
    robots = robot.with_(parameters=dict(zip(robot.parameter_names, rows.T, strict=True)))
    q = np.tile(robot.neutral(), (count, 1))
    v = tau = np.zeros((count, robot.nv))
    f = rd.step_function(robot, step=1e-3, tau=True, parameters=True)
    out = np.empty_like(q), np.empty_like(v)
    options = {"duration": 1e-3 * steps, "step": 1e-3, "limits": "ignore"}

    def moved() -> object:
        return rd.rollout(robots, lambda t, q, v: tau, q, v, **options)

    def stepped() -> object:
        return [f(0.0, q, v, tau, rows, out=out) for _ in range(steps)]

    least = [min(cpu_time(work)[0] for _ in range(6)) for work in (moved, stepped)]
    return 1e3 * count * steps / least[0], 1e3 * count * steps / least[1]


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", default=["double_pendulum", "arm7", "palletizer"])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--payloads", type=int, default=200)
    options = parser.parse_args()
    print("| robot | `with_` | first motion | second motion | first copy and motion | [ms]")
    print("|---|---|---|---|---|")
    for name in options.robots:
        print(f"| {name} | " + " | ".join(f"{x:.2f}" for x in new_mass(name, options.repeats)), "|")
    print("\n| robot | first payload | each payload | [ms]\n|---|---|---|")
    for name in options.robots:
        first, each = study(name, options.payloads)
        print(f"| {name} | {first:.1f} | {each:.2f} |")
    print(f"\n| robot | {options.payloads} at once, first time | once more | [ms]\n|---|---|---|")
    for name in options.robots:
        first, again = study_of_rows(name, options.payloads)
        print(f"| {name} | {first:.1f} | {again:.2f} |")
    rd.set_num_threads(1)  # the time of the others would not count
    print("\n| 4096 four-bars | `rollout` of 100 steps | `step_function` | [steps / CPU s]")
    print("|---|---|---|")
    for coordinates in ("tree", "minimal"):
        found = environments(coordinates, 4096, 100)
        print(f"| {coordinates} | " + " | ".join(f"{x:.2g}" for x in found), "|")


if __name__ == "__main__":
    main()
