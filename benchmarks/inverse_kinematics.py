"""Success and time of inverse kinematics over random poses that can be reached, as a table.

The robots are those of example-robot-data, which Pinocchio's package brings. Poses are those of
random postures within the limits; the search starts at the neutral posture. Times of single poses
are the least of some repeats of each pose; batches are all poses at once.

Where they are installed (``pip install roboticstoolbox-python pin-pink quadprog``) two others stand
beside it: the toolbox's ``ik_LM``, in C++, as it comes, with up to 100 random starts, and pink's
``solve_ik``, a step of differential kinematics, repeated up to 200 times from the same start. Both
stop at the same residual of 1e-9.

    python benchmarks/inverse_kinematics.py [--poses 1000]
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from pathlib import Path

import numpy as np
import pinocchio
from scipy.spatial.transform import Rotation

import robodyn as rd

rd.set_compilation("eager")  # calls are timed

ROBOTS = {
    "Panda": ("panda_description/urdf/panda.urdf", "panda_link8"),
    "UR5": ("ur_description/urdf/ur5_robot.urdf", "tool0"),
    "xArm7": ("xarm_description/urdf/xarm7.urdf", "link7"),
}


def folder() -> Path:
    """Where the robots are."""
    for parent in Path(pinocchio.__file__).parents:
        found = parent / "share" / "example-robot-data" / "robots"
        if found.is_dir():
            return found
    raise SystemExit("example-robot-data is not beside Pinocchio: pip install example-robot-data")


def least(call, repeats: int) -> float:
    """The least time of some calls [s]."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def measured(robot: rd.Robot, frame: str, poses: int, repeats: int) -> list[str]:
    """A row of the table."""
    rng = np.random.default_rng(0)
    X = robot.frame_pose(np.array([robot.random(rng) for _ in range(poses)]), frame)
    start = time.perf_counter()
    robot.inverse_kinematics({frame: X[0]})
    first = time.perf_counter() - start
    singles = np.array(
        [least(lambda x=x: robot.inverse_kinematics({frame: x}), repeats) for x in X]
    )
    batch = least(lambda: robot.inverse_kinematics({frame: X}), repeats)
    found = robot.inverse_kinematics({frame: X})
    assert np.abs(robot.frame_pose(found.q, frame) - X)[found.converged].max() < 1e-8
    return [
        f"{found.converged.mean():.1%}",
        f"{np.median(singles) * 1e6:.1f}",
        f"{singles.mean() * 1e6:.1f}",
        f"{batch / poses * 1e6:.1f}",
        f"{first:.2f}",
    ]


def by_toolbox(robot: rd.Robot, frame: str):
    """A function from a pose to a posture, and whether it was found, of roboticstoolbox."""
    import roboticstoolbox as rtb

    chain, link = [], frame
    joints = {joint.child: joint for joint in robot.mechanism.joints}
    while link in joints:
        chain.insert(0, joints[link])
        link = joints[link].parent
    parts, moving = [], 0
    for joint in chain:
        parts.append(rtb.ET.SE3(joint.origin.matrix))
        if joint.nv:
            turn = np.eye(4)  # z to the axis of the joint
            turn[:3, :3] = Rotation.align_vectors([joint.axis], [[0.0, 0.0, 1.0]])[0].as_matrix()
            limits = joint.limits.lower, joint.limits.upper
            around = rtb.ET.Rz(jindex=moving, qlim=limits)
            parts += [rtb.ET.SE3(turn), around, rtb.ET.SE3(turn.T)]
            moving += 1
    whole = rtb.ETS(parts)
    q = robot.random(0)
    assert np.allclose(whole.fkine(q[:moving]).A, robot.frame_pose(q, frame))
    start = robot.neutral()[: whole.n]

    def solve(X: np.ndarray) -> tuple[np.ndarray, bool]:
        found = whole.ik_LM(X, q0=start, tol=0.5e-18, joint_limits=True)
        return found.q, bool(found.success)

    return solve


def by_pink(path: Path, frame: str, start: np.ndarray):
    """The same of pink."""
    import pink
    from pink.tasks import FrameTask

    model = pinocchio.buildModelFromUrdf(str(path))
    task = FrameTask(frame, position_cost=1.0, orientation_cost=1.0)
    q0 = np.r_[start, np.zeros(model.nq - len(start))]

    def solve(X: np.ndarray) -> tuple[np.ndarray, bool]:
        there = pink.Configuration(model, model.createData(), q0)
        task.set_target(pinocchio.SE3(X))
        for _ in range(200):
            if np.linalg.norm(task.compute_error(there)) < 1e-9:
                return there.q, True
            try:
                v = pink.solve_ik(there, [task], 1.0, solver="quadprog", safety_break=False)
            except (pink.exceptions.PinkError, ValueError):
                return there.q, False
            there.integrate_inplace(v, 1.0)
        return there.q, False

    return solve


def beside(robot: rd.Robot, path: Path, frame: str, poses: int) -> list[str]:
    """Success and median time of the others, where they are installed."""
    rng = np.random.default_rng(0)
    X = robot.frame_pose(np.array([robot.random(rng) for _ in range(poses)]), frame)
    cells = []
    for name, solve in (
        ("roboticstoolbox", lambda: by_toolbox(robot, frame)),
        ("pink", lambda: by_pink(path, frame, robot.neutral())),
    ):
        if importlib.util.find_spec(name) is None:
            cells.append("not installed")
            continue
        found, own = [], solve()
        for x in X[: 200 if name == "pink" else poses]:
            start = time.perf_counter()
            _, success = own(x)
            found.append((time.perf_counter() - start, success))
        times, reached = np.array(found).T
        cells.append(f"{reached.mean():.1%}, {np.median(times) * 1e6:.0f} us")
    return cells


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--poses", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args()
    print(
        "| robot | reached | median [us] | mean [us] | in a batch [us a pose] | first call [s] | "
        "roboticstoolbox | pink |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name, (path, frame) in ROBOTS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            robot = rd.load(folder() / path, strict=False)
        cells = measured(robot, frame, chosen.poses, chosen.repeats)
        cells += beside(robot, folder() / path, frame, chosen.poses)
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
