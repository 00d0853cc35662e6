"""Times of closed linkages in robodyn and Pinocchio side by side, as Markdown tables.

Pinocchio: ``constraintDynamics`` with a point closure for each cut joint; planar loops make one of
its three rows redundant, which its proximal solver is made for. It has no batches, so batches are
held against its single calls, and no inverse dynamics of closed loops: that is held against ours of
the open tree.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from versus_pinocchio import BATCH, cpu, least, row

import robodyn as rd

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles.pinocchio_closed import PinocchioClosed
from oracles.rigid_tree import rigid_tree

ROBOTS = ("four_bar", "five_bar", "stewart")
#: Regularisation, accuracy and iterations of Pinocchio's proximal solver.
PROXIMAL = (1e-12, 1e-8, 20)
AGREEMENT = 1e-6


@dataclass
class Case:
    """A mechanism in both libraries, with states whose loops are closed."""

    robot: rd.Robot
    model: Any
    constraints: Any
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray


def case(name: str) -> Case:
    robot = rd.load(name, passive=False)
    there = PinocchioClosed(rigid_tree(robot.mechanism), robot.gravity, points=True)
    rng = np.random.default_rng(0)
    q = np.array([robot.random(rng) for _ in range(8)])
    q = np.tile(q, (BATCH // 8, 1))
    v, tau = rng.normal(size=(2, BATCH, robot.nv))
    made = Case(robot, there.model, there.constraints, q, robot.consistent_velocity(q, v), tau)
    check(made)
    return made


def theirs(c: Case) -> dict[str, Any]:
    """What a call of Pinocchio takes."""
    data = c.model.createData()
    models = pin.StdVec_RigidConstraintModel()
    datas = pin.StdVec_RigidConstraintData()
    for constraint in c.constraints:
        models.append(constraint)
        datas.append(constraint.createData())
    pin.initConstraintDynamics(c.model, data, models, datas)
    mu, accuracy, iterations = PROXIMAL
    settings = pin.ProximalSettings(accuracy, mu, iterations)
    return {
        "theirs": pin.constraintDynamics,
        "model": c.model,
        "data": data,
        "models": models,
        "datas": datas,
        "settings": settings,
    }


def check(c: Case) -> None:
    """Both compute the same."""
    names = theirs(c)
    for k in range(8):
        q, v, tau = c.q[k], c.v[k], c.tau[k]
        ours = c.robot.forward_dynamics(q, v, tau)
        a = pin.constraintDynamics(
            c.model, names["data"], q, v, tau, names["models"], names["datas"], names["settings"]
        )
        error = np.abs(ours - a).max() / np.abs(a).max()
        assert error < AGREEMENT, f"{c.robot.name}: accelerations differ by {error}"


def forward(c: Case, seconds: float) -> dict[str, float]:
    """Time of one state [ns]: single calls, and batches."""
    f = c.robot.function("forward_dynamics", rows=c.robot.loops_analysis.rows)
    names = {"rd": rd, "robot": c.robot, "f": f, **theirs(c)}
    for key, x in (("q", c.q), ("v", c.v), ("t", c.tau)):
        names[key], names[f"{key}s"] = x[0].copy(), x
        names[f"{key}4"] = x.astype(np.float32)
    names["out"] = np.empty((BATCH, c.robot.nv))
    names["out4"] = np.zeros(names["out"].shape, np.float32)
    one = {
        "Pinocchio": "theirs(model, data, q, v, t, models, datas, settings)",
        "function": "f(q, v, t)",
        "method": "robot.forward_dynamics(q, v, t)",
    }
    many = {
        "batch": "f(qs, vs, ts, out)",
        "float32 batch": "f(q4, v4, t4, out4)",
        "batch, method": "robot.forward_dynamics(qs, vs, ts)",
    }
    times = least({**one, **many}, names, seconds)
    return {key: 1e9 * t / (BATCH if key in many else 1) for key, t in times.items()}


def inverse(c: Case, seconds: float) -> dict[str, float]:
    """Time of one state [ns]: open tree and closed linkage."""
    cuts = {cut.name for cut in c.robot.loops}
    joints = tuple(joint for joint in c.robot.mechanism.joints if joint.name not in cuts)
    tree = rd.load(dataclasses.replace(c.robot.mechanism, joints=joints, loops=()), passive=False)
    a = c.robot.forward_dynamics(c.q, c.v, c.tau)
    names = {"rd": rd, "robot": c.robot, "tree": tree, "qs": c.q, "vs": c.v, "a_s": a}
    names |= {"q": c.q[0].copy(), "v": c.v[0].copy(), "a": a[0].copy()}
    times = least(
        {
            "tree": "tree.inverse_dynamics(q, v, a)",
            "closed": "robot.inverse_dynamics(q, v, a)",
            "tree, batch": "tree.inverse_dynamics(qs, vs, a_s)",
            "closed, batch": "robot.inverse_dynamics(qs, vs, a_s)",
        },
        names,
        seconds,
    )
    return {key: 1e9 * t / (BATCH if "batch" in key else 1) for key, t in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    seconds = 0.3 if parser.parse_args().quick else 3.0
    rd.set_num_threads(1)
    print(f"{cpu()}, robodyn {rd.__version__}, Pinocchio {pin.__version__}.\n")
    lines, back = [], []
    for name in ROBOTS:
        c = case(name)
        times = forward(c, seconds)
        reference = times.pop("Pinocchio")
        ratios = [f"{t:.0f} ({reference / t:.1f}x)" for t in times.values()]
        lines.append((row(name, f"{reference:.0f}", *ratios), ("Pinocchio", *times)))
        times = inverse(c, seconds)
        pairs = [f"{t:.0f}" for t in times.values()]
        pairs[1] += f" ({times['closed'] / times['tree']:.1f}x)"
        pairs[3] += f" ({times['closed, batch'] / times['tree, batch']:.1f}x)"
        back.append((row(name, *pairs), tuple(times)))
    for title, table in (("Forward dynamics", lines), ("Inverse dynamics", back)):
        print(f"{title} [ns a state]:\n")
        print(row("linkage", *table[0][1]))
        print("|---|" + "---:|" * len(table[0][1]), *(line for line, _ in table), "", sep="\n")


if __name__ == "__main__":
    main()
