"""``robodyn bench``: times of the main functions of a robot on this machine."""

from __future__ import annotations

import argparse
import functools
import math
import time
import timeit
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.cli.options.output import print_json
from robodyn.cli.options.robot import add_robot, loaded
from robodyn.cli.options.values import add, number, whole
from robodyn.codegen.llvm.target.target import chosen_target
from robodyn.errors import RobodynError
from robodyn.urdf import write

#: Arguments of the timed methods by name, and the name of the same function in Pinocchio.
FUNCTIONS = {
    "inverse_dynamics": ("q v a", "rnea"),
    "forward_dynamics": ("q v a", "aba"),
    "mass_matrix": ("q", "crba"),
    "bias_forces": ("q v", "nonLinearEffects"),
    "gravity_forces": ("q", "computeGeneralizedGravity"),
    "coriolis_matrix": ("q v", "computeCoriolisMatrix"),
    "frame_poses": ("q", "framesForwardKinematics"),
    "frame_jacobians": ("q", ""),
    "center_of_mass": ("q", "centerOfMass"),
    "joint_wrenches": ("q v a", ""),
}

#: Shortest time interval that is measured [s]; shorter calls are repeated.
TIMED = 2e-3

#: Number of random states; a batch repeats them.
STATES = 64


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_robot(parser, default="puma560", bases=("fixed", "floating"))
    add(parser, "--batch", "states of a batch (default 4096)", whole(1), metavar="N", default=4096)
    text = "for each number: the least of as many runs as fit in (default 0.2)"
    seconds = number(above=0.0, unit="s")
    add(parser, "--seconds", text, seconds, metavar="TIME", default=0.2)


def run(arguments: argparse.Namespace) -> int:
    """Run the command, and return the exit status."""
    rd.set_compilation("eager")  # calls are timed, not compilation
    robot = loaded(arguments)
    states = _states(robot)
    theirs, why = _pinocchio(robot)
    found: list[dict[str, Any]] = []
    for name, (takes, _) in FUNCTIONS.items():
        try:
            times = _times(robot, name, [states[x] for x in takes.split()], arguments)
        except RobodynError as error:
            found.append({"name": name, "problem": str(error)})
            continue
        if name in theirs:
            times["pinocchio_ns"] = 1e9 * _shortest_time(theirs[name], arguments.seconds)
            times["ratio"] = times["pinocchio_ns"] / times["one_state_ns"]
        found.append({"name": name, **times})
    threads, cpu = rd.get_num_threads(), chosen_target().cpu
    if arguments.json:
        print_json(
            "bench", robot=robot.name, cpu=cpu, threads=threads, batch=arguments.batch,
            functions=found, not_compared=why or None,
        )  # fmt: skip
        return 0
    print(
        f"{robot.name}, nv {robot.nv}; robodyn {rd.__version__}, {cpu}; nanoseconds for a state: "
        f"alone, in a batch of {arguments.batch}, and that on {threads} threads\n"
    )
    _print(found)
    if why:
        print(f"\nPinocchio: not compared, {why}")
    return 0


def _print(found: list[dict[str, Any]]) -> None:
    print(f"{'':18} {'alone':>10} {'batch':>10} {'threads':>10} {'Pinocchio':>10}")
    for row in found:
        if "problem" in row:
            print(f"{row['name']:18} {row['problem']}")
            continue
        line = f"{row['name']:18} {row['one_state_ns']:10.0f} {row['batch_ns']:10.1f}"
        line += f" {row['batch_threads_ns']:10.1f}"
        if "ratio" in row:
            line += f" {row['pinocchio_ns']:10.0f} ({row['ratio']:.1f} x)"
        print(line)


def _states(robot: rd.Robot) -> dict[str, Any]:
    """Random states with closed loops."""
    rng = np.random.default_rng(0)
    q = np.array([robot.random(rng) for _ in range(STATES)])
    v, a = rng.normal(size=(2, STATES, robot.nv))
    if robot.nc:
        v = robot.consistent_velocity(q, v)
        a = robot.consistent_acceleration(q, v, a)
    return {"q": q, "v": v, "a": a}


def _times(
    robot: rd.Robot, name: str, states: list[Any], arguments: argparse.Namespace
) -> dict[str, float]:
    """Times of a method per state [ns]: for one state, in a batch, in a batch on all threads."""
    method, threads = getattr(robot, name), rd.get_num_threads()
    one = [np.array(x[0]) for x in states]
    many = [np.resize(x, (arguments.batch, x.shape[1])) for x in states]
    found = {"one_state_ns": 1e9 * _shortest_time(lambda: method(*one), arguments.seconds)}
    try:
        for label, count in (("batch_ns", 1), ("batch_threads_ns", threads)):
            rd.set_num_threads(count)
            taken = _shortest_time(lambda: method(*many), arguments.seconds)
            found[label] = 1e9 * taken / arguments.batch
    finally:
        rd.set_num_threads(threads)
    return found


def _shortest_time(call: Callable[[], object], seconds: float) -> float:
    """Shortest time of a call [s], among all calls that fit into ``seconds``."""
    call()  # compiles it
    timer = timeit.Timer(call)
    count, taken, best = 1, timer.timeit(1), math.inf
    while taken < TIMED:
        count *= 2
        taken = timer.timeit(count)
    end = time.perf_counter() + seconds
    while not math.isfinite(best) or time.perf_counter() < end:
        best = min(best, timer.timeit(count) / count)
    return best


def _pinocchio(robot: rd.Robot) -> tuple[Mapping[str, Callable[[], object]], str]:
    """Calls of Pinocchio for a random state of the robot, and the reason if there are none."""
    try:
        import pinocchio as pin
    except ImportError:
        return {}, "it is not installed (pip install pin)"
    if robot.nc:
        return {}, "its functions of these names are those of trees, and the robot has loops"
    root = [pin.JointModelFreeFlyer()] if robot.base == "floating" else []
    try:
        model = pin.buildModelFromXML(write(robot.mechanism), *root)
    except (ValueError, RuntimeError) as error:
        return {}, f"it refuses the robot: {error}"
    if model.nv != robot.nv:
        return {}, f"it has {model.nv} speeds of this robot, not {robot.nv}"
    data, q = model.createData(), pin.randomConfiguration(model)
    rng = np.random.default_rng(0)
    given = {"q": q, "v": rng.normal(size=model.nv), "a": rng.normal(size=model.nv)}
    calls: dict[str, Callable[[], object]] = {}
    for name, (takes, theirs) in FUNCTIONS.items():
        if theirs:
            states = [given[x] for x in takes.split()]
            calls[name] = functools.partial(getattr(pin, theirs), model, data, *states)
    return calls, ""
