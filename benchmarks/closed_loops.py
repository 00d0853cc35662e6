"""Times of closed linkages in robodyn and Pinocchio side by side, as Markdown tables.

Pinocchio: ``constraintDynamics`` and ``lcaba``, with a point closure for each cut joint; planar
loops make one of its three rows redundant, which its proximal solver is made for. Both stop where
another iteration changes little, so their errors stand beside their times: the greatest over some
states, relative to the greatest acceleration, against ``constraintDynamics`` iterated until nothing
changes. It has no batches, so batches are held against its single calls, and no inverse dynamics of
closed loops: that is held against ours of the open tree. The walker is left out there: what holds
its floating torso is no motor.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from versus_pinocchio import BATCH, cpu, least, row
from walker import walker

import robodyn as rd
from robodyn.description import Mechanism

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles.pinocchio_closed import PinocchioClosed
from oracles.rigid_tree import rigid_tree

ROBOTS: dict[str, str | Mechanism] = {
    "four_bar": "four_bar",
    "five_bar": "five_bar",
    "stewart": "stewart",
    "walker": walker(),
}
#: Accuracy at which Pinocchio's proximal solver stops, its regularisation, its iterations: of the
#: regularisations 1e-9 to 1e-4 the one that is fastest for both with errors below 1e-6 throughout.
PROXIMAL = (1e-8, 1e-5, 20)
#: The same, until nothing changes.
CONVERGED = (1e-15, 1e-6, 200)
AGREEMENT = 1e-6
#: States in which errors are looked for.
STATES = 8


@dataclass
class Case:
    """A mechanism in both libraries, with states whose loops are closed."""

    name: str
    robot: rd.Robot
    model: Any
    constraints: Any
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray


class Solver:
    """One of Pinocchio's two ways to accelerations."""

    def __init__(self, c: Case, name: str, proximal: tuple[float, float, int]) -> None:
        self.solve, self.model, self.data = getattr(pin, name), c.model, c.model.createData()
        self.models = pin.StdVec_RigidConstraintModel()
        self.datas = pin.StdVec_RigidConstraintData()
        for constraint in c.constraints:
            self.models.append(constraint)
            self.datas.append(constraint.createData())
        if name == "lcaba":
            pin.computeJointMinimalOrdering(c.model, self.data, self.models)
        else:
            pin.initConstraintDynamics(c.model, self.data, self.models, self.datas)
        self.settings = pin.ProximalSettings(*proximal)

    def __call__(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Accelerations."""
        names = {**vars(self), "q": q, "v": v, "t": tau}
        return np.array(eval(self.text(""), names))

    def names(self, suffix: str) -> dict[str, Any]:
        """What its statement needs, each with this suffix."""
        return {f"{key}{suffix}": value for key, value in vars(self).items()}

    @staticmethod
    def text(suffix: str) -> str:
        """The statement that is timed."""
        own = ("solve", "model", "data", "models", "datas", "settings")
        solve, model, data, models, datas, settings = (f"{name}{suffix}" for name in own)
        return f"{solve}({model}, {data}, q, v, t, {models}, {datas}, {settings})"


def case(name: str) -> Case:
    robot = rd.load(ROBOTS[name], passive=False)
    there = PinocchioClosed(rigid_tree(robot.mechanism), robot.gravity, points=True)
    rng = np.random.default_rng(0)
    q = np.array([robot.random(rng) for _ in range(STATES)])
    q = np.tile(q, (BATCH // STATES, 1))
    v, tau = rng.normal(size=(2, BATCH, robot.nv))
    v = robot.consistent_velocity(q, v)
    return Case(name, robot, there.model, there.constraints, q, v, tau)


def errors(c: Case) -> dict[str, float]:
    """Greatest relative errors of accelerations; both libraries have to compute the same."""
    exact = Solver(c, "constraintDynamics", CONVERGED)
    contestants = {
        "constraintDynamics": Solver(c, "constraintDynamics", PROXIMAL),
        "lcaba": Solver(c, "lcaba", PROXIMAL),
        "robodyn": c.robot.forward_dynamics,
    }
    worst = dict.fromkeys(contestants, 0.0)
    for q, v, tau in zip(c.q[:STATES], c.v, c.tau, strict=False):
        expected = exact(q, v, tau)
        for name, solve in contestants.items():
            error = np.abs(solve(q, v, tau) - expected).max() / np.abs(expected).max()
            worst[name] = max(worst[name], error)
    for name, error in worst.items():
        assert error < AGREEMENT, f"{c.name}: accelerations of {name} are off by {error}"
    return worst


def forward(c: Case, seconds: float) -> dict[str, float]:
    """Time of one state [ns]: single calls, and batches."""
    f = c.robot.function("forward_dynamics")
    names = {"rd": rd, "robot": c.robot, "f": f}
    names |= Solver(c, "constraintDynamics", PROXIMAL).names("1")
    names |= Solver(c, "lcaba", PROXIMAL).names("2")
    for key, x in (("q", c.q), ("v", c.v), ("t", c.tau)):
        names[key], names[f"{key}s"] = x[0].copy(), x
        names[f"{key}4"] = x.astype(np.float32)
    names["out"] = np.empty((BATCH, c.robot.nv))
    names["out4"] = np.zeros(names["out"].shape, np.float32)
    one = {
        "constraintDynamics": Solver.text("1"),
        "lcaba": Solver.text("2"),
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


def forward_row(c: Case, seconds: float) -> tuple[list[str], list[str]]:
    """Labels and cells: Pinocchio's times with their errors, ours with ratios to its faster one."""
    times, wrong = forward(c, seconds), errors(c)
    theirs = ("constraintDynamics", "lcaba")
    reference = min(times[name] for name in theirs)
    cells = [f"{times.pop(name):.0f} (error {wrong[name]:.0e})" for name in theirs]
    cells += [f"{t:.0f} ({reference / t:.1f}x)" for t in times.values()]
    labels = [*theirs, *times, "our error"]
    return ["nv", *labels], [str(c.robot.nv), *cells, f"{wrong['robodyn']:.0e}"]


def inverse_row(c: Case, seconds: float) -> tuple[list[str], list[str]]:
    """Labels and cells: times of the closed linkage with ratios to those of its open tree."""
    times = inverse(c, seconds)
    cells = [f"{t:.0f}" for t in times.values()]
    cells[1] += f" ({times['closed'] / times['tree']:.1f}x)"
    cells[3] += f" ({times['closed, batch'] / times['tree, batch']:.1f}x)"
    return list(times), cells


def posture_row(c: Case, seconds: float) -> tuple[list[str], list[str]]:
    """Labels and cells: closed postures, drawn and assembled near others, alone and in batches."""
    names = {"robot": c.robot, "q": c.q[0] + 0.01, "qs": c.q + 0.01}
    one = {"random": "robot.random(0)", "assemble": "robot.assemble(q)"}
    many = {
        "random, batch": f"robot.random(0, size={BATCH})",
        "assemble, batch": "robot.assemble(qs)",
    }
    times = least({**one, **many}, names, seconds)
    return list(times), [f"{1e9 * t / (BATCH if k in many else 1):.0f}" for k, t in times.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    seconds = 0.3 if parser.parse_args().quick else 3.0
    rd.set_num_threads(1)
    versions = f"robodyn {rd.__version__}, Pinocchio {pin.__version__}, numpy {np.__version__}"
    print(f"{datetime.date.today()}, {cpu()}, {versions}, Python {platform.python_version()}.\n")
    cases = [case(name) for name in ROBOTS]
    held = [c for c in cases if c.name != "walker"]
    for title, made, shown in (
        ("Forward dynamics", forward_row, cases),
        ("Inverse dynamics", inverse_row, held),
        ("Postures", posture_row, held),
    ):
        lines = []
        for c in shown:
            labels, cells = made(c, seconds)
            lines.append(row(c.name, *cells))
        print(f"{title} [ns a state]:\n")
        print(row("linkage", *labels), "|---|" + "---:|" * len(labels), *lines, "", sep="\n")


if __name__ == "__main__":
    main()
