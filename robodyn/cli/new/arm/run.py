"""An arm: load it, check it, move it by two controllers, draw the motions.

python run.py        writes posture.png, computed_torque.png, own.png and csv files into out
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import robodyn as rd
from robodyn.controllers import ComputedTorque, PointToPoint

HERE = Path(__file__).parent

START, GOAL = np.array([0.0, 0.5, 1.0]), np.array([1.2, -0.4, 1.8])

#: Gains of the controller of our own, by joint [N m/rad], [N m s/rad].
STIFFNESS, DAMPING = np.array([300.0, 500.0, 150.0]), np.array([30.0, 50.0, 10.0])


def check(robot: rd.Robot) -> None:
    """Look whether the arm is the one that was meant, before its numbers count."""
    assert robot.joint_names == ("turn", "shoulder", "elbow"), robot.joint_names
    # Stretched out level, the arm is held by the moment of its weights about the shoulder.
    level, rest = np.array([0.0, np.pi / 2, 0.0]), np.zeros(3)
    expected = -9.81 * (2.5 * 0.2 + 1.5 * (0.4 + 0.15))
    torque = robot.gravity_forces(level)[1]
    assert abs(torque - expected) < 1e-9, (torque, expected)
    # Forward dynamics undo inverse dynamics.
    tau = robot.inverse_dynamics(START, rest, [1.0, -2.0, 0.5])
    assert np.allclose(robot.forward_dynamics(START, rest, tau), [1.0, -2.0, 0.5])
    x, y, z = robot.frame_pose(START, "tool")[:3, 3]
    print(f"{robot.name}: {robot.total_mass:g} kg, tool at ({x:.3f}, {y:.3f}, {z:.3f}) m")


class OwnController:
    """A controller of your own: a spring and a damper at each joint, and the weight held."""

    def __init__(self, robot: rd.Robot, reference: PointToPoint) -> None:
        self.robot, self.reference = robot, reference

    def __call__(
        self, t: float, q: NDArray[np.float64], v: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Torques of shape (nv,)."""
        q_wanted, v_wanted, _ = self.reference(t)
        tau = STIFFNESS * (q_wanted - q) + DAMPING * (v_wanted - v)
        return np.asarray(tau + self.robot.gravity_forces(q))


def main(out: Path = HERE / "out") -> dict[str, rd.Trajectory]:
    """Simulate both controllers, and write pictures and tables into a folder."""
    out.mkdir(exist_ok=True)
    robot = rd.load(HERE / "arm.urdf")
    check(robot)
    robot.plot(START, out / "posture.png")

    reference = PointToPoint(START, GOAL, 1.5)
    # The arm carries 0.5 kg at the tool, of which the controllers do not know.
    loaded = robot.with_(payload={"tool": rd.Inertia(0.5)})
    runs = {}
    for name, controller in (
        ("computed_torque", ComputedTorque(robot, reference, stiffness=400.0)),
        ("own", OwnController(robot, reference)),
    ):
        run = rd.simulate(loaded, controller, q0=START, duration=2.0, step=1e-3)
        error = np.abs(run.q - np.array([reference(t)[0] for t in run.t.tolist()])).max()
        used = np.abs(run.tau / robot.effort_limits).max()
        print(f"{name:16} error {error:.4f} rad at most, {100 * used:.0f} % of the torque limits")
        run.plot(out / f"{name}.png")
        run.save(out / f"{name}.csv")
        runs[name] = run
    return runs


if __name__ == "__main__":
    main()
