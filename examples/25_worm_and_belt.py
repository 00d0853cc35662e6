"""An arm with a worm and a belt: motors of a catalogue, their heat, what falls without power."""

import dataclasses
import sys

import numpy as np

import robodyn as rd

HEAT = {"winding_resistance": 0.7, "housing_resistance": 1.6, "winding_time_constant": 30,
        "housing_time_constant": 1200, "temperature_limit": 130}  # fmt: skip
SIZES = ("M1", 6e-5, 0.07, 0.6, 12), ("M2", 2e-4, 0.09, 0.3, 25), ("M3", 6e-4, 0.14, 0.25, 40)
COLUMNS = ("name", "rotor_inertia", "torque_constant", "resistance", "current")
MOTORS = [{**dict(zip(COLUMNS, x, strict=True)), "voltage": 48, **HEAT} for x in SIZES]
GEARS = [
    {"name": "worm", "gear_ratio": 60, "efficiency": 0.45},
    {"name": "belt", "gear_ratio": 25, "efficiency": 0.95},
]
PERIOD, MIDDLE, SWING = 2.0, np.array([-2.2, 1.0]), np.array([0.5, 0.7])


def swing(t: float | np.ndarray, k: int) -> tuple:
    """Position, velocity and acceleration of a joint that goes to and fro."""
    w, p = 2 * np.pi / PERIOD, 0.3 + k
    q = MIDDLE[k] + SWING[k] * np.sin(w * t + p)
    return q, SWING[k] * w * np.cos(w * t + p), -(w**2) * (q - MIDDLE[k])


def main() -> dict[str, object]:
    joints, bare = ("shoulder", "elbow"), rd.Actuator()
    motors = {"actuators": dict.fromkeys(joints, bare), "rotor_model": "armature"}
    load = rd.load("double_pendulum", **motors)
    load = load.with_(payload={"lower": rd.Inertia(1.5, rd.Pose((0, 0, -1)))})
    paths = {name: rd.JointPath(lambda t, k=k: swing(t, k)) for k, name in enumerate(joints)}
    cycle = {"controlled": paths, "duration": PERIOD, "step": 1e-3, "limits": "ignore"}
    choice = rd.simulate(load, **cycle).motor_choice(MOTORS, gears=GEARS)
    heat = rd.Winding((0.7, 1.6), (30.0, 1200.0), 130.0)
    motor = rd.Motor(0.14, 0.25, voltage=48.0, current=40.0, thermal=heat)
    worm = rd.Actuator(60.0, 6e-4, efficiency=0.45, motor=motor)
    belt = dataclasses.replace(worm, gear_ratio=25.0, efficiency=0.95)
    robot = load.with_(actuators={"shoulder": worm, "elbow": belt})
    run = rd.simulate(robot, **cycle)
    fallen = rd.simulate(robot, q0=run.q[-1], duration=1.0, integrator="auto", limits="ignore")
    return {"load": load, "run": run, "choice": choice, "fallen": fallen}


def check(result: dict[str, object]) -> None:
    run, table = result["run"], result["run"].sizing()
    load = result["load"].inverse_dynamics(run.q, run.v, run.a) / [60.0, 25.0]
    speed, rate = run.v * [60.0, 25.0], run.a * [60.0, 25.0]
    share = np.where(load * speed > 0.0, [1 / 0.45, 1 / 0.95], [0.0, 2 - 1 / 0.95])
    torques, clear = load * share + 6e-4 * rate, (abs(run.v) > 0.02).all(axis=1)
    np.testing.assert_allclose(table.torques[clear], torques[clear], rtol=1e-6, atol=1e-9)
    for k, row in enumerate(table.values()):  # the mean of the loss warms, as one that lasts
        loss = 0.25 * np.mean((table.torques[:-1, k] / 0.14) ** 2)
        assert 0.0 < row.electric.winding_temperature - 25.0 - 2.3 * loss < 0.1 * 2.3 * loss
    assert result["choice"].fitting["shoulder"] == ("M3 + worm",)
    worm, belt = abs(result["fallen"].q[-1] - result["fallen"].q[0])
    assert worm < 0.011 and belt > 0.3  # the worm creeps by friction_speed, 0.01 rad/s


def draw(result: dict[str, object], path: str) -> None:
    from matplotlib.figure import Figure

    run, fallen, table = result["run"], result["fallen"], result["run"].sizing()
    axes = (figure := Figure(figsize=(8, 7), layout="constrained")).subplots(3)
    axes[0].plot(run.t, table.currents, label=list(table))
    axes[1].plot(run.t, table.supply, label="both")
    axes[2].plot(fallen.t, fallen.q, label=list(table))
    for axis, name in zip(axes, ("current [A]", "supply [W]", "no power [rad]"), strict=True):
        axis.set(xlabel="time [s]", ylabel=name)
        axis.legend()
    figure.savefig(path)


if __name__ == "__main__":
    check(result := main())
    print(result["choice"], result["run"].sizing(), sep="\n\n")
    if sys.argv[1:]:
        draw(result, sys.argv[1])
