"""A palletizer weighs the sack on its flange: its motors swing it, and their torques tell."""

import dataclasses
import sys

import numpy as np

import robodyn as rd
from robodyn.controllers import ComputedTorque

NOISE = 10.0  # of the torques at the joints [N m]
SACK = rd.Inertia.from_matrix(35.0, (0.06, -0.04, -0.25), np.diag([1.2, 1.0, 1.6]))
EXPECTED = rd.Inertia.from_matrix(30.0, (0.0, 0.0, -0.25), np.eye(3))


def weighing(robot: rd.Robot, motion: rd.Excitation, seed: int) -> rd.Trajectory:
    """A run with the sack, with noisy torques of the motors."""
    full = robot.with_(payload={"flange": SACK})
    controller = ComputedTorque(robot.with_(payload={"flange": EXPECTED}), motion, stiffness=100.0)
    run = rd.simulate(full, controller, q0=motion.center, duration=motion.period, step=5e-3)
    motors = [robot.joints[name].v.start for name in robot.actuated_joints]
    tau = run.tau.copy()
    tau[:, motors] += np.random.default_rng(seed).normal(scale=NOISE, size=(len(tau), len(motors)))
    return dataclasses.replace(run, tau=tau)


def main() -> dict[str, object]:
    robot = rd.load("palletizer")
    motion = rd.excitation(
        robot.with_(payload={"flange": EXPECTED}),
        parameters=["flange"],
        period=6.0,
        acceleration=6.0,
        iterations=3,
    )
    run = weighing(robot, motion, seed=1)
    return {"robot": robot, "run": run, "found": rd.identify_payload(robot, run, "flange")}


def check(result: dict[str, object]) -> None:
    found, m, (x, y, _) = result["found"], SACK.mass, SACK.origin.xyz
    # a flange that stays level shows these four, and each lies within its error bars
    assert found.base.names == ("flange.m", "flange.hx", "flange.hy", "flange.Izz")
    truth = np.array([m, m * x, m * y, SACK.izz + m * (x**2 + y**2)])
    assert (np.abs(found.base.values - truth) < 4.0 * found.deviation).all()
    assert abs(found.inertia.mass - m) < 0.1
    np.testing.assert_allclose(found.noise, NOISE, rtol=0.1)


def draw(result: dict[str, object], path: str) -> None:
    from matplotlib.figure import Figure

    found, run, robot = result["found"], result["run"], result["robot"]
    axes = (figure := Figure((9, 7), layout="constrained")).subplots(4, sharex=True)
    for axis, name in zip(axes, robot.actuated_joints, strict=True):
        k = robot.joints[name].v.start
        axis.plot(run.t, run.tau[:, k], ".", color="0.6", markersize=3.0, label="measured")
        for one, label in ((found.carried, "with the sack"), (robot, "without it")):
            axis.plot(run.t, one.inverse_dynamics(run.q, run.v, run.a)[:, k], label=label)
        axis.set_ylabel(f"{name} [N m]")
    axes[0].legend(ncols=3, loc="lower right", bbox_to_anchor=(1, 1))
    axes[-1].set_xlabel("time [s]")
    figure.savefig(path)


if __name__ == "__main__":
    result = main()
    check(result)
    found, run, robot = result["found"], result["run"], result["robot"]
    for name, x, s in zip(found.base.names, found.base.values, found.deviation, strict=True):
        print(f"{name:11} {x:8.4f} +- {2.0 * s:.4f}")
    if sys.argv[1:]:
        draw(result, sys.argv[1])
