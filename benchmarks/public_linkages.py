"""Public robots with closed loops, written for other programs, read back, and moved by MuJoCo.

``python benchmarks/public_linkages.py`` downloads them from GitHub, or takes those in ``--folder``,
which has a folder ``owner+name`` for each repository, and prints a table. Accelerations of all
links are compared with those of the robot that was read, relative to the largest: what is read back
in motion without torques, MuJoCo's at rest, with its equality constraints solved exactly.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import robodyn as rd

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.quick_code import compile_quickly

#: Repository, and path of a robot in it.
ROBOTS = (
    ("Gepetto/example-parallel-robots", "robots/5bar_linkage/robot.yaml"),
    ("Gepetto/example-parallel-robots", "robots/5bar_linkage_iso3d/robot.yaml"),
    ("Gepetto/example-parallel-robots", "robots/5bar_linkage_iso6d/robot.yaml"),
    ("Gepetto/example-parallel-robots", "robots/battobot_6d/robot.yaml"),
    ("Gepetto/example-parallel-robots", "robots/cassie_like/robot.yaml"),
    ("Gepetto/example-parallel-robots", "robots/digit_like/robot.yaml"),
    ("Gepetto/example-parallel-robots", "robots/digit_like_2legs/robot.yaml"),
    ("Gepetto/example-parallel-robots", "robots/digit_like_2legs_6D/robot.yaml"),
    ("Gepetto/example-parallel-robots", "robots/disney_like/robot.yaml"),
    ("Gepetto/example-parallel-robots", "robots/robot_delta/robot.yaml"),
    ("Gepetto/example-parallel-robots", "robots/talos_like/robot.yaml"),
    ("Gepetto/example-parallel-robots", "robots/wl16_like/robot.yaml"),
    ("RemcoKuijpers/delta_robot_simulation", "urdf/delta_robot.urdf"),
    ("osrf/gazebo_tutorials", "kinematic_loop/four_bar_sdf/model.sdf"),
    ("osrf/gazebo_tutorials", "kinematic_loop/four_bar_split_fixed_urdf/model.urdf"),
    ("ArchiRob/delta_2", "gazebo/models/delta_robot/model.sdf"),
    ("WPI-AIM/dvrk_env", "dvrk_description/ecm/ecm.sdf"),
    ("WPI-AIM/dvrk_env", "dvrk_description/psm/psm.sdf"),
    ("Rhoban/onshape-to-robot-examples", "planar-2dof/robot.xml"),
    ("google-deepmind/mujoco_menagerie", "agility_cassie/cassie.xml"),
    ("google-deepmind/mujoco_menagerie", "robotiq_2f85/2f85.xml"),
    ("hshi74/toddlerbot", "toddlerbot/descriptions/toddlerbot/toddlerbot_fixed.xml"),
)
SUFFIXES = (".xml", ".sdf", ".usda")
SECONDS = 600  # for a robot


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where repositories are, or go to")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print("| ".join(measured(arguments.one)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        print(
            "| robot | joints, motions | MJCF | by MuJoCo | SDF | USD |\n|---|---|---|---|---|---|"
        )
        for repository, path in ROBOTS:
            where = downloaded(repository, folder) / path
            command = [sys.executable, __file__, "--one", where]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
                cells = done.stdout.strip() or done.stderr.strip().rsplit("\n")[-1]
            except subprocess.TimeoutExpired:
                cells = f"more than {SECONDS} s"
            print(f"| {repository}, {path} | {cells} |", flush=True)


def downloaded(repository: str, folder: Path) -> Path:
    """The folder of a repository."""
    where = folder / repository.replace("/", "+")
    if not where.exists():
        source = f"https://github.com/{repository}"
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", source, where], check=True)
    return where


def loaded(path: Path, **options: Any) -> rd.Robot:
    return rd.load(path, strict=False, rotor_model="armature", **options)


def measured(path: Path) -> list[str]:
    """Cells of a robot."""
    compile_quickly()  # each program is called a few times
    warnings.simplefilter("ignore")
    robot = loaded(path)
    moved, still = accelerations(robot, seed=0), accelerations(robot)
    cells = [f"{len(robot.joint_names)}, {robot.dof}"]
    options = {"gravity": tuple(robot.gravity), "base": robot.base}
    with tempfile.TemporaryDirectory() as folder:
        for suffix in SUFFIXES:
            out = Path(folder, "robot").with_suffix(suffix)
            cell = said(lambda: read_back(robot, out, options, moved))  # noqa: B023
            cells.append(cell + (lacking(robot, out) if "e-1" not in cell else ""))
            if suffix == ".xml":
                cells.append(said(lambda: deviation(by_mujoco(out), still)))  # noqa: B023
    return cells


def said(call: Callable[[], float]) -> str:
    try:
        return f"{call():.0e}"
    except (rd.errors.RobodynError, ValueError) as error:
        return f"{type(error).__name__}: {error}".splitlines()[0][:90].replace("|", "/")


def lacking(robot: rd.Robot, out: Path) -> str:
    """What the format cannot say of what moves the robot."""
    try:
        lost = " ".join(rd.convert(robot, out).lost)
    except rd.errors.RobodynError:
        return ""
    words = {
        "links without mass": "links of no mass",
        "armature of joints": "armature",
        "forces between links": "springs",
    }
    words |= {
        "transmissions that couple": "transmissions",
        "damping and friction of ball": "damping",
    }
    found = [word for said, word in words.items() if said in lost]
    return f" (said: {', '.join(found)})" if found else ""


def read_back(robot: rd.Robot, out: Path, options: dict[str, Any], expected: Any) -> float:
    rd.convert(robot, out)
    if out.suffix == ".xml":
        options = {"gravity": options["gravity"]}  # the base floats by a joint of its own
    elif any(joint.kind == "floating" for joint in robot.mechanism.joints):
        options = options | {"base": "floating"}  # which is no joint there
    again = loaded(out, **options)
    if again.dof != robot.dof:
        raise ValueError(f"{again.dof} motions")
    return deviation(accelerations(again, twists(robot, 0)), expected)


def deviation(found: dict[str, Any], expected: dict[str, Any]) -> float:
    names = [name for name in expected if name in found]
    largest = max(1.0, *(float(np.abs(expected[name]).max()) for name in names))
    return max(float(np.abs(found[name] - expected[name]).max()) for name in names) / largest


def speeds(robot: rd.Robot, seed: int) -> Any:
    v = np.random.default_rng(seed).normal(size=robot.nv)
    return robot.consistent_velocity(robot.neutral(), v)


def twists(robot: rd.Robot, seed: int) -> dict[str, Any]:
    """Of all links, in axes of the world."""
    q, v = robot.neutral(), speeds(robot, seed)
    return {x: robot.frame_twist(q, v, x, axes="world") for x in robot.link_names}


def accelerations(
    robot: rd.Robot, like: dict[str, Any] | None = None, seed: int | None = None
) -> dict[str, Any]:
    """Of all links without torques, in axes of the world: at rest, at random or given speeds."""
    q, v = robot.neutral(), np.zeros(robot.nv)
    if seed is not None:
        v = speeds(robot, seed)
    if like is not None:
        names = [name for name in robot.link_names if name in like]
        J = [robot.frame_jacobian(q, x, axes="world") for x in names]
        K = robot.loop_jacobian(q)  # halves of links move with these links
        rows = np.concatenate([*(like[x] for x in names), np.zeros(len(K))])
        v = np.linalg.lstsq(np.vstack([*J, K]), rows, rcond=1e-9)[0]
    a = robot.forward_dynamics(q, v, np.zeros(robot.nv))
    options = {"axes": "world"}
    return {x: robot.frame_acceleration(q, v, a, x, **options) for x in robot.link_names}


def by_mujoco(path: Path) -> dict[str, Any]:
    """Of bodies at rest in the posture drawn, by MuJoCo's terms and rows of constraints."""
    model = mujoco.MjModel.from_xml_path(str(path))
    model.dof_frictionloss[:] = 0.0
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    n = model.nv
    M = np.zeros((n, n))
    try:
        mujoco.mj_fullM(model, data, M)
    except TypeError:  # before MuJoCo 4
        mujoco.mj_fullM(model, M, data.qM)
    equal = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    J = data.efc_J.reshape(-1, n)[: len(equal)][equal]
    _, s, Vt = np.linalg.svd(np.vstack([J, np.zeros((1, n))]))  # rows may be redundant
    free = Vt[np.count_nonzero(s > 1e-8 * s.max(initial=1.0)) :].T
    forces = data.qfrc_passive - data.qfrc_bias
    qacc = free @ np.linalg.solve(free.T @ M @ free, free.T @ forces)
    found = {}
    for body in range(1, model.nbody):
        linear, angular = np.zeros((2, 3, n))
        mujoco.mj_jacBody(model, data, linear, angular, body)
        found[model.body(body).name] = np.r_[linear @ qacc, angular @ qacc]
    return found


if __name__ == "__main__":
    main()
