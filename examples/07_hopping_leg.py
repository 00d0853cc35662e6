"""A leg of five bars lands and hops: its hips are sprung, and motors push while it stretches."""

import sys

import numpy as np

import robodyn as rd
from robodyn.description import Pose

BAR = rd.Inertia(0.2, Pose((0, 0, -0.125)), 1.1e-3, 0, 0, 1.1e-3, 0, 1e-4)  # 0.25 m long
END = Pose((0, 0, -0.25))
FLOOR = {"stiffness": 2e5, "damping": 0.5, "friction": 0.7, "friction_speed": 0.2}
START = {"height": 0.55, "left_hip": 0.4, "right_hip": 0.4, "left_knee": 1.0, "right_knee": 1.0}


def leg() -> rd.Robot:
    """A body on a vertical rail; two thighs, and two shanks that meet in the foot."""
    links = [rd.Link("rail"), rd.Link("body", rd.Inertia(4.0, Pose(), 0.05, 0, 0, 0.05, 0, 0.05))]
    joints = [rd.Joint("height", "prismatic", "rail", "body", axis=(0, 0, 1))]
    for side, y in (("left", 1), ("right", -1)):
        thigh, shank, hip = f"{side}_thigh", f"{side}_shank", Pose((-0.05 * y, 0, 0))
        links += [rd.Link(thigh, BAR), rd.Link(shank, BAR)]
        joints.append(rd.Joint(f"{side}_hip", "revolute", "body", thigh, hip, (0, y, 0)))
        joints.append(rd.Joint(f"{side}_knee", "revolute", thigh, shank, END, (0, -y, 0)))
    shanks = "left_shank", "right_shank"
    foot = rd.Loop("foot", "revolute", *shanks, END, END, axis=(0, 1, 0), damping=0.02)
    springs = {"left_hip": (80.0, 0.4), "right_hip": (80.0, 0.4)}  # [N m/rad], relaxed at [rad]
    floor = rd.Ground({"foot": (shanks[0], END.xyz)}, **FLOOR)
    mechanism = rd.Mechanism("leg", tuple(links), tuple(joints))
    return rd.load(mechanism, loops=[foot], springs=springs, near=START, ground=floor)


def main(duration: float = 1.7, step: float = 1e-4) -> dict[str, object]:
    robot = leg()
    hips = [robot.joints[name].v.start for name in ("left_hip", "right_hip")]

    def push(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """4 N m at each hip while the foot stands and the leg stretches."""
        tau = np.zeros(robot.nv)
        if v[hips].sum() < 0.0 and robot.ground_contacts(q, v)["foot"].depth > 1e-9:
            tau[hips] = -4.0
        return tau

    run = rd.simulate(robot, push, duration=duration, step=step)
    return {"robot": robot, "run": run, "foot": run.ground_contacts["foot"]}


def check(result: dict[str, object]) -> None:
    robot, run, force = result["robot"], result["run"], result["foot"].force[:, 2]
    h = np.diff(run.t)
    put_in = np.sum(run.tau[:-1] * (run.v[1:] + run.v[:-1]) / 2 * h[:, None], axis=1).cumsum()
    # damping and friction, and what the ground keeps: what speeds add to passive forces
    lossy = robot.passive_forces(run.q, run.v) - robot.passive_forces(run.q, 0 * run.v)
    power = -np.sum(lossy * run.v, axis=1)
    lost = ((power[1:] + power[:-1]) / 2 * h).cumsum()
    assert power.min() > -1e-9 and put_in[-1] > 5.0
    np.testing.assert_allclose(run.energy[1:] - run.energy[0], put_in - lost, atol=2e-3)
    pushed = ((force[1:] + force[:-1]) / 2 * h).sum() - robot.total_mass * 9.81 * run.t[-1]
    start, end = (robot.momentum(run.q[k], run.v[k])[2] for k in (0, -1))
    np.testing.assert_allclose(end - start, pushed, atol=2e-3)
    assert np.count_nonzero((force[1:] > 0.0) & (force[:-1] == 0.0)) >= 3  # landings


def draw(result: dict[str, object], path: str) -> None:
    from matplotlib.figure import Figure

    run, force = result["run"], result["foot"].force[:, 2]
    axes = (figure := Figure(figsize=(8, 6), layout="constrained")).subplots(3, sharex=True)
    labels = "height of the hip [m]", "force of the ground [N]", "energy [J]"
    for axis, y, label in zip(axes, (run.q[:, 0], force, run.energy), labels, strict=True):
        axis.plot(run.t, y)
        axis.set(ylabel=label)
        axis.fill_between(run.t, *axis.get_ylim(), where=force > 0.0, color="0.93", zorder=0)
    axes[0].set(title="the foot stands where it is grey")
    axes[-1].set(xlabel="time [s]")
    figure.savefig(path)


if __name__ == "__main__":
    check(result := main())
    run, force = result["run"], result["foot"].force[:, 2]
    print(f"{run.q[:, 0].max():.3f} m high; the ground pushes with up to {force.max():.0f} N")
    if sys.argv[1:]:
        draw(result, sys.argv[1])
