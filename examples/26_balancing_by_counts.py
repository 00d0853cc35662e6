"""A Furuta pendulum that balances by the counts of two encoders, as its microcontroller does it.

A Kalman filter makes a state of whole counts, an LQR torques of that, and a converter of eight bits
rounds these. Somebody leans on the motor meanwhile, which the filter finds and the law cancels.
"""

from __future__ import annotations

import sys
import tempfile

import numpy as np

import robodyn as rd
from robodyn.controllers import LQR, KalmanFilter, OutputFeedback, Saturated

URDF = """<robot name="furuta"><link name="ground"/>
  <joint name="arm" type="continuous"><parent link="ground"/><child link="beam"/>
    <axis xyz="0 0 1"/><dynamics damping="0.01"/></joint>
  <link name="beam"><inertial><mass value="0.3"/>
    <inertia ixx="1e-4" ixy="0" ixz="0" iyy="2e-3" iyz="0" izz="2e-3"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="beam"/><child link="rod"/>
    <origin xyz="0.2 0 0"/><axis xyz="1 0 0"/><dynamics damping="5e-4"/></joint>
  <link name="rod"><inertial><origin xyz="0 0 -0.15"/><mass value="0.12"/>
    <inertia ixx="9e-4" ixy="0" ixz="0" iyy="9e-4" iyz="0" izz="2e-5"/></inertial></link>
</robot>"""
DT, UNIT, UP, REST = 2e-3, 4096 / (2 * np.pi), np.array([0.0, np.pi]), np.zeros(2)
LIMIT, PUSH = 0.4, 0.03


def controller(robot: rd.Robot) -> Saturated:
    """What the microcontroller does every two milliseconds."""
    model = robot.linearize(UP, REST, REST, outputs=["counts"])
    A = np.block([[model.A, model.B], [np.zeros((1, 5))]])  # with a torque that nobody knows
    B, C = np.vstack([model.B, [[0.0]]]), np.hstack([model.C, np.zeros((2, 1))])
    names = {"states": (*model.states, "force:arm"), "inputs": model.inputs}
    whole = rd.StateSpace(A, B, C, model.D, outputs=model.outputs, **names)
    noise = [1e-9, 1e-9, 1e-5, 1e-5, 1e-6], 1 / 12  # of rounding, in counts squared
    found = KalmanFilter(whole, *noise, dt=DT)
    law = LQR(robot, UP, state=[4.0, 8.0, 0.1, 0.1], effort=20.0, dt=DT)
    lqg = OutputFeedback(law, found, quantum=1.0, compensate=True)
    return Saturated(lqg, LIMIT, quantum=LIMIT / 128)


def main() -> dict[str, object]:
    counts = rd.Sensor(lambda q, v, a: q * UNIT, joint=["arm", "hinge"], name="counts")
    robot = rd.load(URDF, actuators={"arm": rd.Actuator()}, sensors=[counts])
    law = controller(robot)
    leaning = robot.with_(forces=[rd.Force(lambda q, v, t: [PUSH], joint="arm")])
    run = rd.simulate(leaning, law, q0=UP + np.array([0.3, 0.1]), duration=5.0, step=DT)
    with tempfile.TemporaryDirectory() as folder:
        path = rd.export(robot, ["control"], "c", folder, controller=law, dtype="float", step=DT)
        header = (path / "furuta.h").read_text()
    print(next(line for line in header.splitlines() if "mul" in line).strip(" *"))
    push = float(run.controller_state["force:arm"][-500:, 0].mean())
    print(f"leans with {push:.3f} N m, and ends {np.abs(run.q[-1] - UP).max():.4f} rad away")
    return {"run": run, "push": push, "header": header}


def check(found: dict[str, object]) -> None:
    assert abs(found["push"] - PUSH) < 0.002
    assert np.abs(found["run"].q[-500:] - UP).max() < 0.01
    assert "const float counts[2]" in found["header"]


def draw(result: dict[str, object], path: str) -> None:
    result["run"].plot(path, panels=["positions", "torques", "state: force:arm"])


if __name__ == "__main__":
    check(result := main())
    if sys.argv[1:]:
        draw(result, sys.argv[1])
