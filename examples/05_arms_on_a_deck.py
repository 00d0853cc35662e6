"""Two arms on a ship's deck: one holds its tool still in the world while the other one works."""

import sys

import numpy as np
from scipy.spatial.transform import Rotation

import robodyn as rd

TOOL, RATE = "left_grasp", 20.0  # [1/s], how fast an error of the tool's pose dies out
WORK = rd.JointPath(lambda t: (np.cos(3 * t) / 2 - 1.5, -1.5 * np.sin(3 * t), -4.5 * np.cos(3 * t)))


def deck(t: float | np.ndarray) -> rd.BaseMotion:
    """Heave of 0.2 m in 5 s and pitch of 5 degrees in 7 s, from rest; one time or many."""
    side, up, outer = *np.eye(3)[1:], np.multiply.outer
    A, w, B, k = 0.1, 2 * np.pi / 5, np.radians(2.5), 2 * np.pi / 7
    return rd.BaseMotion.from_world(
        position=outer(A * (1 - np.cos(w * t)), up),
        quat_xyzw=Rotation.from_rotvec(outer(B * (1 - np.cos(k * t)), side)).as_quat(),
        linear_velocity=outer(A * w * np.sin(w * t), up),
        angular_velocity=outer(B * k * np.sin(k * t), side),
        linear_acceleration=outer(A * w**2 * np.cos(w * t), up),
        angular_acceleration=outer(B * k**2 * np.cos(k * t), side),
    )


def main(duration: float = 4.0, step: float = 4e-3) -> dict[str, object]:
    robot = rd.load("dual_arm", base="moving")
    left = [robot.joints[name].v.start for name in robot.joint_names if name.startswith("left_")]
    elbow = robot.joints["right_elbow_pitch"]
    q0 = robot.neutral()
    q0[left], q0[elbow.q] = (-0.5, 0.3, 0.2, -1.3, 0.1, 0.4, 0.1), WORK(0.0)[0]
    still = robot.frame_pose(q0, TOOL, base=deck(0.0))

    def hold(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Torques with which the tool's acceleration in the world brings it back to rest."""
        base, a = deck(t), np.zeros(robot.nv)
        a[elbow.v], a[left] = WORK(t)[2], -2.0 * v[left]  # damps what seven joints leave free
        X = robot.frame_pose(q, TOOL, base=base)
        turned = Rotation.from_matrix(X[:3, :3] @ still[:3, :3].T).as_rotvec()
        error = np.concatenate([X[:3, 3] - still[:3, 3], turned])
        twist = robot.frame_twist(q, v, TOOL, axes="world", base=base)
        unforced = robot.frame_acceleration(q, v, a, TOOL, axes="world", classical=True, base=base)
        J = robot.frame_jacobian(q, TOOL, axes="world", base=base)[:, left]
        a[left] -= np.linalg.pinv(J) @ (unforced + 2 * RATE * twist + RATE**2 * error)
        return robot.inverse_dynamics(q, v, a, base=base)

    others = [n for n in robot.joint_names if not n.startswith("left_") and n != elbow.name]
    driven = {"controlled": {elbow.name: WORK}, "locked": others}
    path = rd.BasePath.from_function(deck)
    run = rd.simulate(robot, hold, q0=q0, duration=duration, step=step, base=path, **driven)
    moved = robot.frame_pose(run.q, TOOL, base=deck(run.t))[:, :3, 3] - still[:3, 3]
    wrenches = robot.joint_wrenches(run.q, run.v, run.a, base=deck(run.t)).in_frame("world")
    return {"robot": robot, "run": run, "moved": moved, "reaction": wrenches["base"]}


def momentum(robot: rd.Robot, run: rd.Trajectory, after: float) -> np.ndarray:
    q, v, base = run.q + after * run.v, run.v + after * run.a, deck(run.t + after)
    P, c = robot.momentum(q, v, base=base), robot.center_of_mass(q, base=base)
    return np.hstack([P[:, :3], P[:, 3:] + np.cross(c, P[:, :3])])  # about the world's origin


def check(result: dict[str, object], h: float = 1e-5) -> None:
    robot, run = result["robot"], result["run"]
    assert np.linalg.norm(result["moved"], axis=1).max() < 1e-3
    rate = (momentum(robot, run, h) - momentum(robot, run, -h)) / (2 * h)
    down = robot.total_mass * np.array([0.0, 0.0, -9.81])
    moment = np.cross(robot.center_of_mass(run.q, base=deck(run.t)), down)
    weight = np.hstack([np.broadcast_to(down, moment.shape), moment])
    np.testing.assert_allclose(result["reaction"], rate - weight, atol=1e-4)


def draw(result: dict[str, object], path: str) -> None:
    from matplotlib.figure import Figure

    t, figure = result["run"].t, Figure((9, 6), layout="constrained")
    rises = 1e3 * deck(t).pose[:, 2, 3, None]
    rows = ((rises, "deck rises by [mm]"), (1e6 * result["moved"], "tool moves by [um]"),
            (result["reaction"][:, :3], "deck exerts [N]"))  # fmt: skip
    for axis, (y, label) in zip(figure.subplots(3, sharex=True), rows, strict=True):
        for k, name in enumerate("xyz"[-y.shape[1] :], start=3 - y.shape[1]):
            axis.plot(t, y[:, k - 3], color=f"C{k}", label=name)
        axis.set(ylabel=label)
    axis.set(xlabel="time [s]")
    axis.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path)


if __name__ == "__main__":
    result = main()
    check(result)
    motors = np.abs(result["run"].tau / result["robot"].gear_ratios).max()
    force, moment = np.abs(result["reaction"]).max(axis=0).reshape(2, 3)
    print(f"the tool moves by             {1e6 * np.abs(result['moved']).max():.1f} um")
    print(f"largest torque of a motor     {motors:.3f} N m")
    print(f"the deck exerts, in x, y, z   {force.round(1)} N, {moment.round(1)} N m at most")
    if sys.argv[1:]:
        draw(result, sys.argv[1])
