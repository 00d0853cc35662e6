"""Success and time of inverse kinematics over random poses that can be reached, as a table.

The robots are those of example-robot-data, which Pinocchio's package brings. Poses are those of
random postures within the limits; the search starts at the neutral posture. Times of single poses
are the least of some repeats of each pose; batches are all poses at once.

    python benchmarks/inverse_kinematics.py [--poses 1000]
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pinocchio

import robodyn as rd

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


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--poses", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args()
    print("| robot | reached | median [us] | mean [us] | in a batch [us a pose] | first call [s] |")
    print("|---|---|---|---|---|---|")
    for name, (path, frame) in ROBOTS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            robot = rd.load(folder() / path, strict=False)
        cells = measured(robot, frame, chosen.poses, chosen.repeats)
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
