"""A palletizer on a carriage lifts a sack: torques of its motors, loads on its bearings."""

import sys

import numpy as np

import robodyn as rd

SACK = rd.Inertia.from_matrix(40.0, (0, 0, -0.25), np.diag([1.2, 1.0, 1.6]))
PINS = ("shoulder", "elbow", "crank_pin", "drive_rod_pin", "upper_tie_pin", "wrist")
START = {"waist": 0.0, "shoulder": 0.7, "crank_drive": 0.5, "flange_drive": 0.0}  # [rad]
END = {"waist": 1.2, "shoulder": 0.1, "crank_drive": -0.2, "flange_drive": -1.2}


def between(start: float, end: float, t: float | np.ndarray) -> tuple:
    """Position, velocity, acceleration, from rest to rest in two seconds."""
    half, w = (end - start) / 2, np.pi / 2
    return start + half * (1 - np.cos(w * t)), half * w * np.sin(w * t), half * w**2 * np.cos(w * t)


def carriage(t: float | np.ndarray) -> rd.BaseMotion:
    """2 m along the rail, the y axis; one time or many."""
    y, dy, ddy = (np.multiply.outer(part, [0.0, 1.0, 0.0]) for part in between(0.0, 2.0, t))
    return rd.BaseMotion.from_world(position=y, linear_velocity=dy, linear_acceleration=ddy)


def main(duration: float = 2.0, step: float = 0.02) -> dict[str, object]:
    robot = rd.load("palletizer", base="moving").with_(payload={"flange": SACK})
    q = robot.neutral()
    for name, start in START.items():
        q[robot.joints[name].q] = start
    q, path = robot.assemble(q, hold=START), rd.BasePath.from_function(carriage)
    drives = {n: rd.JointPath(lambda t, n=n: between(START[n], END[n], t)) for n in START}
    run = rd.simulate(robot, q0=q, duration=duration, step=step, base=path, controlled=drives)
    state, base = (run.q, run.v, run.a), carriage(run.t)
    loads = robot.joint_wrenches(*state, base=base, joints=PINS).bearing
    torques = robot.motor_torques(*state, base=base)
    return {"robot": robot, "run": run, "loads": loads, "torques": torques}


def check(result: dict[str, object], h: float = 1e-5) -> None:
    run, base = result["run"], carriage(result["run"].t)
    np.testing.assert_allclose(result["torques"] * result["robot"].gear_ratios, run.tau, atol=1e-6)
    rigid = result["robot"].with_(passive=False)  # no rotors, no friction
    tau = rigid.inverse_dynamics(run.q, run.v, run.a, base=base)
    loads = rigid.joint_wrenches(run.q, run.v, run.a, base=base)
    for k, name in enumerate(rigid.joint_names):  # S' F = tau
        along = loads[name][:, 3:] @ rigid.joints[name].axis
        np.testing.assert_allclose(along, tau[:, k], atol=1e-6)
    energy = []
    for s in (-h, h):
        q, v, at = run.q + s * run.v, run.v + s * run.a, {"base": carriage(run.t + s)}
        energy.append(rigid.kinetic_energy(q, v, **at) + rigid.potential_energy(q, **at))
    power = np.sum(tau * run.v, axis=1) + np.sum(loads["base"] * base.twist, axis=1)
    np.testing.assert_allclose(power, (energy[1] - energy[0]) / (2 * h), atol=1e-3)


def draw(result: dict[str, object], path: str) -> None:
    from matplotlib.figure import Figure

    t, robot = result["run"].t, result["robot"]
    shafts = {name: result["torques"][:, robot.joints[name].v.start] for name in START}
    forces = {name: np.linalg.norm(result["loads"][name][:, :3], axis=1) / 1e3 for name in PINS}
    parts = ("torque of the motor [N m]", shafts), ("force in the bearing [kN]", forces)
    axes = (figure := Figure(figsize=(9, 6), layout="constrained")).subplots(2, sharex=True)
    for axis, (title, curves) in zip(axes, parts, strict=True):
        axis.plot(t, np.transpose(list(curves.values())), label=list(curves))
        axis.set(ylabel=title)
        axis.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    axes[1].set(xlabel="time [s]")
    figure.savefig(path)


if __name__ == "__main__":
    result = main()
    check(result)
    forces = {name: np.linalg.norm(x[:, :3], axis=1).max() for name, x in result["loads"].items()}
    print(result["run"].sizing())
    print("forces in bearings:", ", ".join(f"{name} {x:.0f} N" for name, x in forces.items()))
    if sys.argv[1:]:
        draw(result, sys.argv[1])
