"""The same robots in robodyn and in Pinocchio, and a check that they agree."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

import robodyn as rd

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles.pinocchio_oracle import PinocchioOracle

rd.set_compilation("eager")  # calls are timed

#: Relative to the largest number of a result.
AGREEMENT = 1e-9
FINGERS = ("panda_finger_joint1", "panda_finger_joint2")
#: Name -> (file, base, joints locked). Talos: mimicking gripper joints, which robodyn eliminates
#: and Pinocchio reads as free; talos_reduced is the same to both.
ROBOTS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "panda": ("panda_description/urdf/panda.urdf", "fixed", FINGERS),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "fixed", ()),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", "floating", ()),
    "talos_reduced": ("talos_data/robots/talos_reduced.urdf", "floating", ()),
    "talos": ("talos_data/robots/talos_full_v2.urdf", "floating", ()),
}


def folder() -> Path:
    """Where example-robot-data has its robots."""
    spec = importlib.util.find_spec("pinocchio")
    assert spec is not None and spec.origin is not None
    for parent in Path(spec.origin).parents:
        for prefix in ("share", "cmeel.prefix/share"):
            found = parent / prefix / "example-robot-data" / "robots"
            if found.is_dir():
                return found
    raise SystemExit("example-robot-data is not installed: pip install example-robot-data")


@dataclass
class Pair:
    """One robot in both libraries, with a batch of states for each."""

    name: str
    robot: rd.Robot
    model: Any
    oracle: PinocchioOracle
    ours: tuple[np.ndarray, ...]
    theirs: tuple[np.ndarray, ...]


def load(name: str) -> tuple[Path, rd.Robot]:
    file, base, locked = ROBOTS[name]
    path = folder() / file
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # couplings of motors, which take no part here
        robot = rd.load(path, base=base, passive=False)
    return path, robot.with_(locked=dict.fromkeys(locked, 0.0)) if locked else robot


def pair(name: str, states: int) -> Pair:
    _, base, locked = ROBOTS[name]
    path, robot = load(name)
    root = [pin.JointModelFreeFlyer()] if base == "floating" else []
    model = pin.buildModelFromUrdf(str(path), *root)
    if locked:
        ids = [model.getJointId(joint) for joint in locked]
        model = pin.buildReducedModel(model, ids, pin.neutral(model))
    oracle = PinocchioOracle(path, robot, model)
    rng = np.random.default_rng(0)
    steps = rng.uniform(-1.0, 1.0, (states, robot.nv))
    q = robot.integrate(np.tile(robot.neutral(), (states, 1)), steps)
    v, a = rng.normal(size=(2, states, robot.nv))
    theirs = (np.array([oracle.q(x) for x in q]), v @ oracle.G.T, a @ oracle.G.T)
    check(robot, oracle, q[0], v[0], a[0])
    return Pair(name, robot, model, oracle, (q, v, a), theirs)


def check(robot: rd.Robot, oracle: PinocchioOracle, q: Any, v: Any, a: Any) -> None:
    """Both compute the same."""
    tau = oracle.inverse_dynamics(q, v, a)
    for got, expected in (
        (robot.inverse_dynamics(q, v, a), tau),
        (robot.mass_matrix(q), oracle.mass_matrix(q)),
        (robot.forward_dynamics(q, v, tau), a),
    ):
        error = np.abs(got - expected).max() / np.abs(expected).max()
        assert error < AGREEMENT, f"{robot.name}: results differ by {error}"
