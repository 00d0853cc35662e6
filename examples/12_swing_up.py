"""A double pendulum with a motor at its elbow alone swings up, and stands."""

import sys

import numpy as np

import robodyn as rd
from robodyn.controllers import LQR, QuadraticCost, Saturated, TimeVaryingLQR, iterative_lqr

UP = np.array([np.pi, 0.0])
MOST = 15.0  # [N m]
FINAL = [500.0, 500.0, 50.0, 50.0]  # weights of what is left of positions and speeds at the end


def main(duration: float = 8.0) -> dict[str, object]:
    robot = rd.load("double_pendulum", actuators={"elbow": rd.Actuator()})
    # forces of least cost, a number every 40 ms, within what the motor can do
    cost = QuadraticCost(robot, UP, state=[0.1, 0.1, 0.01, 0.01], effort=0.01, final=FINAL)
    plan = iterative_lqr(robot, cost, q0=[0.0, 0.0], duration=4.0, step=0.04, limits=MOST)
    # linear laws: along the motion, and then about the upright posture
    stand = LQR(robot, UP)
    law = Saturated(TimeVaryingLQR(robot, plan.run, then=stand), MOST)
    # the robot starts elsewhere and has a tool of 5 g that nobody knew of
    real = robot.with_(payload={"tip": rd.Inertia(0.005)})
    run = rd.simulate(real, law, q0=[0.05, -0.1], duration=duration, step=1e-3)
    return {"robot": robot, "plan": plan, "run": run}


def check(result: dict[str, object]) -> None:
    plan, run = result["plan"], result["run"]
    assert plan.converged
    assert np.abs(plan.run.q[-1] - UP).max() < 0.02
    assert np.abs(plan.run.tau).max() <= MOST and np.abs(run.tau[:, 1]).max() <= MOST
    assert np.abs(run.tau[:, 0]).max() == 0.0, "the shoulder is free"
    assert np.abs(run.q[-1] - UP).max() < 1e-3, "it stands"


def draw(result: dict[str, object], path: str) -> None:
    """Postures until it stands, the later the lighter, and the torque of the elbow."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    robot, plan, run = result["robot"], result["plan"].run, result["run"]
    figure = Figure(figsize=(9, 4), layout="constrained")
    space, time = figure.subplots(1, 2)
    shown = run.q[:4000:80]
    for k, q in enumerate(shown):
        tips = [robot.frame_pose(q, link)[:3, 3] for link in ("lower", "tip")]
        x, _, z = np.transpose([np.zeros(3), *tips])
        space.plot(x, z, color=colormaps["viridis"](k / len(shown)), linewidth=1)
    space.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", title="postures, every 80 ms")
    colors = figure.colorbar(ScalarMappable(Normalize(0.0, run.t[3999]), "viridis"), ax=space)
    colors.set_label("time [s]")
    time.step(plan.t, plan.tau[:, 1], where="post", label="planned", linewidth=3, alpha=0.5)
    time.plot(run.t, run.tau[:, 1], label="applied", linewidth=1)
    time.set(xlabel="time [s]", ylabel="torque of the elbow [N m]")
    time.legend()
    figure.savefig(path)


if __name__ == "__main__":
    check(result := main())
    print(result["plan"])
    print(f"it stands within {np.abs(result['run'].q[-1] - UP).max():.1e} rad")
    if sys.argv[1:]:
        draw(result, sys.argv[1])
