"""What robodyn must do wherever it is installed: obey mechanics, control, run its commands."""

from __future__ import annotations

import math
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import robodyn as rd
from robodyn.controllers import ComputedTorque, PointToPoint

PENDULUM = """<robot name="pendulum"><link name="ground"/><link name="bob"><inertial>
<origin xyz="0 0 -0.7"/><mass value="2"/>
<inertia ixx="0.3" ixy="0" ixz="0" iyy="0.3" iyz="0" izz="0.3"/></inertial></link>
<joint name="pin" type="continuous"><parent link="ground"/><child link="bob"/><axis xyz="0 1 0"/>
</joint></robot>"""


def a_pendulum_swings_as_the_book_says() -> None:
    robot = rd.load(PENDULUM)
    for angle in np.linspace(-3.0, 3.0, 7):
        a = robot.forward_dynamics([angle], [1.5], [0.4])
        expected = (0.4 - 2.0 * 9.81 * 0.7 * math.sin(angle)) / (0.3 + 2.0 * 0.7**2)
        np.testing.assert_allclose(a, [expected], rtol=1e-12)


def energy_stays(name: str, q0: object, tolerance: float) -> None:
    robot = rd.load(name, passive=False)
    q = robot.neutral() if q0 is None else np.asarray(q0, float)
    run = rd.simulate(robot, q0=q, duration=1.0, step=1e-3)
    energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q)
    moved = np.ptp(robot.kinetic_energy(run.q, run.v))
    assert moved > 1e-3, f"{name} does not move"
    assert np.ptp(energy) < tolerance * moved, f"{name}: {np.ptp(energy)} J of {moved} J"


def a_linkage_obeys_its_constraints() -> None:
    """K a + b = 0, and forces of constraint do no work."""
    robot = rd.load("four_bar", passive=False)
    q = robot.neutral()
    v = robot.consistent_velocity(q, np.ones(robot.nv))
    tau = np.zeros(robot.nv)
    tau[robot.joints["crank_drive"].v] = 0.7
    a = robot.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(robot.loop_jacobian(q) @ a, -robot.loop_bias(q, v), atol=1e-9)
    power = v @ (robot.mass_matrix(q) @ a + robot.bias_forces(q, v) - tau)
    assert abs(power) < 1e-9, power


def a_batch_is_its_rows() -> None:
    robot = rd.load("puma560")
    q = np.random.default_rng(0).normal(size=(37, robot.nq))
    M = robot.mass_matrix(q)
    np.testing.assert_allclose(M, [robot.mass_matrix(row) for row in q], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(M, np.swapaxes(M, 1, 2), rtol=1e-12, atol=1e-13)


def a_controller_gets_there() -> None:
    robot = rd.load("puma560")
    start, end = robot.neutral(), robot.neutral() + 0.2
    controller = ComputedTorque(robot, PointToPoint(start, end, 0.5))
    run = rd.simulate(robot, controller, q0=start, duration=0.5, step=1e-3)
    np.testing.assert_allclose(run.q[-1], end, atol=1e-3)


def the_commands_work() -> None:
    Path("pendulum.urdf").write_text(PENDULUM)
    for command, expected in (
        ("--version", f"robodyn {rd.__version__}"),
        ("check pendulum.urdf", "ok"),
        ("info four_bar", "cut: "),
        (f"new four_bar {tempfile.mkdtemp()}", "run.py"),
        ("doctor", "all is well"),
        ("sim double_pendulum --duration 0.1 --no-plot --out out", "largest torque"),
    ):
        done = subprocess.run(
            ["robodyn", *command.split()], capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout, done.stdout
