"""A four-bar linkage: load it, check it, turn its crank by a controller, draw the motion.

python run.py        writes posture.png, motion.png and motion.csv into the folder out
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import robodyn as rd

HERE = Path(__file__).parent

#: The crank is to turn with 6 rad/s, and has half a second to come to that.
SPEED, RAMP = 6.0, 0.5

#: Of the controller: torque for a speed that is 1 rad/s too low [N m s/rad].
GAIN = 0.5


def check(robot: rd.Robot) -> None:
    """Look whether the linkage is the one that was meant, before its numbers count."""
    # A linkage of four bars moves in one way: one degree of freedom, whatever is redundant.
    assert robot.dof == 1, f"{robot.dof} degrees of freedom: a length or an axis is wrong"
    # A posture in which the loop is closed, near where all joints are at zero.
    q = robot.neutral()
    assert np.abs(robot.loop_residual(q)).max() < 1e-9
    # The torque that holds the linkage is the slope of its potential energy along its motion.
    rest = np.zeros(robot.nv)
    way = robot.consistent_velocity(q, [1.0, 0.0, 0.0], hold=["drive"])
    ahead, behind = (robot.assemble(q + s * way, hold=["drive"]) for s in (1e-4, -1e-4))
    slope = (robot.potential_energy(ahead) - robot.potential_energy(behind)) / 2e-4
    torque = robot.inverse_dynamics(q, rest, rest)[0]
    assert abs(torque - slope) < 1e-5, (torque, slope)
    print(f"{robot.name}: {robot.dof} degree of freedom, holding torque {torque:.4f} N m")


class CrankSpeed:
    """A controller of your own: the torque that holds the linkage, and a gain on the speed."""

    def __init__(self, robot: rd.Robot) -> None:
        self.robot = robot
        self.drive = robot.joints["drive"].v.start  # where the motor stands in v and tau

    def __call__(
        self, t: float, q: NDArray[np.float64], v: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Torques of shape (nv,), zero but for the motor."""
        rest = np.zeros(self.robot.nv)
        tau = np.array(self.robot.inverse_dynamics(q, rest, rest))
        wanted = SPEED * min(t / RAMP, 1.0)
        tau[self.drive] += GAIN * (wanted - v[self.drive])
        return tau


def main(out: Path = HERE / "out") -> rd.Trajectory:
    """Simulate two seconds, and write pictures and a table into a folder."""
    out.mkdir(exist_ok=True)
    robot = rd.load(HERE / "four_bar.urdf")
    check(robot)

    controller = CrankSpeed(robot)
    run = rd.simulate(robot, controller, q0=robot.neutral(), duration=2.0, step=1e-3)
    print(f"crank at the end: {run.v[-1, controller.drive]:.3f} rad/s")
    # What the motor put in, and neither moves the links nor was lost in dampers, is an error.
    print(f"energy that nothing explains: {np.abs(run.audit.unexplained).max():.1e} J")

    # Forces in all joints at the end, those of the joint that closes the loop among them.
    q, v, a = run.q[-1], run.v[-1], run.a[-1]
    wrenches = robot.joint_wrenches(q, v, a)
    print(f"force in pin_c: {np.linalg.norm(wrenches['pin_c'][:3]):.2f} N")

    robot.plot(q, out / "posture.png", wrenches=wrenches)
    run.plot(out / "motion.png")
    run.save(out / "motion.csv")
    return run


if __name__ == "__main__":
    main()
