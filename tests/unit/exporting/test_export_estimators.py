"""From encoder counts to forces in C, against a plant and a controller of other making."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.bundled import bundled
from support.compiled_c import pointers
from support.furuta import COUNTS, UP, by_pinocchio, encoders, furuta, upright
from support.lqg_by_hand import ByHand, moved
from test_export_c import STRICT, library

import robodyn as rd
from robodyn import controllers as rc

ROBOTS = Path(rd.__file__).parent / "urdf" / "robots"
DT, UNIT = 2e-3, COUNTS / (2.0 * np.pi)
STATE, EFFORT = np.diag([4.0, 8.0, 0.1, 0.1]), 20.0
PROCESS, MEASUREMENT = np.diag([1e-9, 1e-9, 1e-4, 1e-4]), np.diag([2e-6, 1e-6]) * UNIT**2


def controller_of(robot):
    rest = np.zeros(2)
    model = robot.linearize(UP, rest, rest, outputs=["encoders"])
    estimator = rc.KalmanFilter(model, PROCESS, MEASUREMENT, dt=DT)
    return rc.Saturated(rc.OutputFeedback(rc.LQR(robot, UP, STATE, EFFORT, dt=DT), estimator), 0.15)


class InC:
    """A controller of a folder, which is called with what its sensors show."""

    def __init__(self, folder, name, nv):
        self.c, self.name, self.nv = library(folder), name, nv
        self.memory = np.zeros(1000)
        getattr(self.c, f"{name}_controller_begin")(*pointers(self.memory))

    def __call__(self, *readings):
        step = getattr(self.c, f"{self.name}_controller_step")
        assert step(*pointers(self.memory, *(np.array(x, float) for x in readings))) == 0
        return self.memory[1 : 1 + self.nv].copy()


@pytest.fixture(scope="module")
def robot():
    return furuta([encoders(("arm", "hinge"), UNIT)])


@pytest.fixture(scope="module")
def folder(robot, tmp_path_factory):
    where = tmp_path_factory.mktemp("code") / "code"
    return rd.export(robot, ["control"], "c", where, controller=controller_of(robot), step=DT)


@pytest.mark.slow
def test_a_pendulum_balances_by_counts_as_in_another_simulation(folder):
    """Of encoders that show any number, to rounding; of whole counts it still stands."""
    rates, in_c = by_pinocchio(), InC(folder, "furuta", 2)
    hand = ByHand(*upright(), STATE, EFFORT, PROCESS, MEASUREMENT, DT, UP, limit=0.15, unit=UNIT)
    x = y = np.array([0.05, np.pi + 0.04, 0.0, 0.1])
    for _ in range(1000):
        x, y = (moved(rates, z, f(z[:2] * UNIT), DT) for z, f in ((x, in_c), (y, hand)))
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-9)
    assert np.abs(x[:2] - UP).max() < 5e-3
    in_c, x = InC(folder, "furuta", 2), np.array([0.05, np.pi + 0.04, 0.0, 0.1])
    for _ in range(3000):
        x = moved(rates, x, in_c(np.round(x[:2] * UNIT)), DT)
    assert np.abs(x[:2] - UP).max() < 5e-3


@pytest.mark.slow
def test_whole_counts_and_forces_of_a_converter(tmp_path):
    """What encoders round and a converter rounds is the same in code, in C and by hand."""
    robot, rest, quantum = furuta([encoders(("arm", "hinge"), UNIT)]), np.zeros(2), 0.15 / 64
    model = robot.linearize(UP, rest, rest, outputs=["encoders"])
    lqr = rc.LQR(robot, UP, STATE, EFFORT, dt=DT)
    lqg = rc.OutputFeedback(lqr, rc.KalmanFilter(model, PROCESS, MEASUREMENT, dt=DT), quantum=1.0)
    law = rc.Saturated(lqg, 0.15, quantum=quantum)
    folder = rd.export(robot, ["control"], "c", tmp_path / "code", controller=law, step=DT)
    in_c, rates = InC(folder, "furuta", 2), by_pinocchio()
    hand = ByHand(
        *upright(), STATE, EFFORT, PROCESS, MEASUREMENT, DT, UP, limit=0.15, unit=UNIT,
        quantum=quantum,
    )  # fmt: skip
    x = np.array([0.05, np.pi + 0.04, 0.0, 0.1])
    run = rd.simulate(robot, law, q0=x[:2], v0=x[2:], duration=0.6, step=DT)
    for q, v, tau in zip(run.q[:-1], run.v[:-1], run.tau[:-1], strict=True):
        np.testing.assert_allclose([*q, *v], x, rtol=0, atol=1e-9)
        counts = np.floor(x[:2] * UNIT + 0.5)
        u = hand(counts)
        np.testing.assert_allclose(in_c(counts), tau, rtol=0, atol=1e-12)
        np.testing.assert_allclose(tau[0], u[0], rtol=0, atol=1e-12)
        x = moved(rates, x, u, DT)
    assert len(np.unique(run.tau[:, 0])) < 129


@pytest.mark.slow
def test_an_arm_is_held_by_its_encoders_as_in_another_simulation(puma, tmp_path):
    pin = pytest.importorskip("pinocchio")
    names, path = puma.joint_names, ROBOTS / "puma560.urdf"
    motors = {name: rd.Actuator() for name in names}
    robot = rd.load("puma560", passive=False, actuators=motors, sensors=[encoders(names)])
    q0, rest = np.array([0.1, 0.3, -0.4, 0.2, 0.5, 0.1]), np.zeros(6)
    weights = np.diag([100.0] * 6 + [1.0] * 6), 0.01
    noise = np.diag([1e-9] * 6 + [1e-5] * 6), 1e-8 * np.eye(6)
    model = robot.linearize(q0, rest, robot.gravity_forces(q0), outputs=["encoders"])
    lqr = rc.LQR(robot, q0, *weights, dt=DT)
    lqg = rc.OutputFeedback(lqr, rc.KalmanFilter(model, *noise, dt=DT))
    folder = rd.export(robot, ["control"], "c", tmp_path / "code", controller=lqg, step=DT)

    pinocchio = pin.buildModelFromUrdf(str(path))
    data = pinocchio.createData()
    tau = pin.computeGeneralizedGravity(pinocchio, data, q0)
    pin.computeABADerivatives(pinocchio, data, q0, rest, tau)
    A, B = np.zeros((12, 12)), np.zeros((12, 6))
    A[:6, 6:], A[6:, :6], A[6:, 6:] = np.eye(6), data.ddq_dq, data.ddq_dv
    minv = np.triu(data.Minv)
    B[6:] = minv + np.triu(minv, 1).T
    hand = ByHand(A, B, *weights, *noise, DT, q0, tau, rounds=2000)

    def rates(x, u):
        return np.concatenate([x[6:], pin.aba(pinocchio, data, x[:6], x[6:], u)])

    in_c, start = InC(folder, "puma560", 6), np.concatenate([q0 + 0.01, rest])
    x = y = start
    states = [x]
    for _ in range(500):
        x, y = (moved(rates, z, f(z[:6]), DT) for z, f in ((x, in_c), (y, hand)))
        states.append(x)
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-9)
    assert np.abs(x[:6] - q0).max() < 0.3 * 0.01
    run = rd.simulate(
        robot, rc.Sampled(lqg, DT), q0=start[:6], duration=1.0, step=DT, limits="ignore"
    )
    np.testing.assert_allclose(np.hstack([run.q, run.v]), states, rtol=0, atol=1e-9)


def test_the_robot_and_its_controller_step_together(robot, folder, tmp_path):
    """In one program with the controller alone, under another name, and without a warning."""
    law = controller_of(robot)
    asked = {"controller": law, "step": DT, "name": "whole"}
    both = rd.export(robot, ["step", "control"], "c", tmp_path / "both", **asked)
    run = rd.simulate(robot, law, q0=UP + 0.05, duration=0.4, step=DT, limits="ignore")
    state, c = np.zeros(1000), library(both)
    assert c.whole_begin(*pointers(state, run.q[0].copy(), run.v[0].copy())) == 0
    for _ in range(200):
        assert c.whole_step(*pointers(state)) == 0
    np.testing.assert_allclose(state[1:5], [*run.q[-1], *run.v[-1]], rtol=0, atol=1e-10)
    (tmp_path / "main.c").write_text(
        f'#include "{folder}/furuta.h"\n#include "both/whole.h"\n'
        "int main(void) { furuta_controller a; whole_controller b; whole_state c;"
        " furuta_controller_begin(&a); whole_controller_begin(&b); c.tau[WHOLE_V_ARM] = 0.0;"
        " return FURUTA_Q_HINGE + WHOLE_NU + (int)c.tau[0] - 2; }\n"
    )
    command = ["cc", "main.c", f"{folder}/furuta.c", "both/whole.c", "-o", "main", "-lm"]
    subprocess.run(command, check=True, cwd=tmp_path)
    assert subprocess.run(["./main"], cwd=tmp_path, check=False).returncode == 0


@pytest.mark.parametrize("target", ["cpp", "python", "matlab", "modelica"])
def test_other_languages_have_the_controller(robot, tmp_path, target):
    folder = rd.export(
        robot, ["control"], target, tmp_path / "x", controller=controller_of(robot), step=DT
    )
    text = "".join(x.read_text() for x in folder.rglob("*") if x.is_file())
    assert "encoders" in text and "control" in text


def test_a_controller_that_fails_stays_as_it_was(robot, folder):
    in_c = InC(folder, "furuta", 2)
    in_c(UP * UNIT)
    before = in_c.memory.copy()
    step, wrong = in_c.c.furuta_controller_step, np.array([np.nan, 0.0])
    assert step(*pointers(in_c.memory, wrong)) == 2
    np.testing.assert_array_equal(in_c.memory, before)


@pytest.mark.parametrize("dtype", ["double", "float"])
def test_the_exported_test_finds_what_a_controller_forgets(robot, tmp_path, dtype):
    options = {"controller": controller_of(robot), "step": DT, "dtype": dtype}
    folder = rd.export(robot, ["control"], "c", tmp_path / "code", **options)
    command = ["cc", *STRICT, "furuta.c", "test_furuta.c", "-o", "test", "-lm"]

    def failed():
        subprocess.run(command, check=True, cwd=folder)
        return subprocess.run(["./test"], cwd=folder, check=False).returncode

    assert failed() == 0
    source = (folder / "furuta.c").read_text()
    for line in ("controller->tau[i] = tau[i];", "controller->memory[i] = memory[i];"):
        assert source.count(line) == 1
        changed = source.replace(line, line.replace("[i];", "[i] / 2;"))
        (folder / "furuta.c").write_text(changed)
        assert failed() == 1


@pytest.mark.slow
def test_controllers_of_a_state_have_one_too(double, tmp_path):
    law = rc.Filtered(rc.GravityCompensation(double), 20.0)
    options = {"controller": law, "dtype": "double", "step": 1e-3}
    folder = rd.export(double, ["control"], "c", tmp_path / "code", **options)
    in_c = InC(folder, "double_pendulum", 2)
    run = rd.simulate(double, law, q0=[0.3, 0.2], duration=0.2, step=1e-3, limits="ignore")
    for q, v, tau in zip(run.q[:-1], run.v[:-1], run.tau[:-1], strict=True):
        np.testing.assert_allclose(in_c(q, v), tau, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_operations_and_the_stack_are_as_the_compiler_says(tmp_path):
    robot = bundled("puma560")
    asked = ["inverse_dynamics", "mass_matrix", "forward_dynamics"]
    compiler = shutil.which("gcc")
    assert compiler, "this test needs gcc, which says how much of the stack code takes"
    for dtype in ("double", "float"):
        folder = rd.export(robot, asked, "c", tmp_path / dtype, dtype=dtype)
        header = (folder / "puma560.h").read_text()
        command = [compiler, "-std=c99", "-O2", "-fstack-usage", "-c", "puma560.c"]
        subprocess.run(command, check=True, cwd=folder)
        used = dict(re.findall(r":(\w+)\t(\d+)", (folder / "puma560.su").read_text()))
        for name in asked:
            (line,) = re.findall(
                rf"\* +([^*]*) bytes of stack\n \*/\nvoid puma560_{name}\(", header
            )
            counted, about = line.rsplit("; about ", 1)
            operations = {kind: n for kind, n in robot.function(name).operations.items() if n}
            assert counted == ", ".join(f"{n} {kind}" for kind, n in operations.items())
            assert abs(int(about) - int(used[f"puma560_{name}"])) < 0.4 * int(about) + 64


def test_names_that_become_the_same_have_places_of_their_own(tmp_path):
    urdf = """<robot name="odd"><link name="a"/>
      <joint name="b-c" type="continuous"><parent link="a"/><child link="d"/></joint>
      <link name="d"><inertial><mass value="1"/>
        <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
      <joint name="b_C" type="continuous"><parent link="d"/><child link="e"/></joint>
      <link name="e"><inertial><mass value="1"/>
        <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>"""
    robot = rd.load(urdf)
    folder = rd.export(robot, {"Q_B_C": "mass_matrix"}, "c", tmp_path / "code", name="ODD")
    header = (folder / "ODD.h").read_text()
    assert "ODD_Q_B_C = 0, /* q[0]: b-c */" in header
    assert "ODD_Q_B_C_2 = 1, /* q[1]: b_C */" in header
    assert library(folder).ODD_Q_B_C_


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["double", "float"])
def test_an_extended_filter_in_c(tmp_path, dtype):
    """Without a warning, and as in the simulation, in single precision to its digits."""
    imu = rd.Sensor("imu", at=("rod", [0.0, 0.02, -0.2]), name="imu")
    robot = furuta([rd.Sensor("turn", at="beam", name="turn"), imu])
    estimator = rc.ExtendedKalmanFilter(
        robot, ["turn", "imu"], [1e-7, 1e-7, 1e-4, 1e-4], [1e-4] + [1e-2] * 6, dt=DT,
        posture=[0.1, 0.7], initial=0.02,
    )  # fmt: skip
    law = rc.OutputFeedback(rc.GravityCompensation(robot), estimator)
    options = {"controller": law, "dtype": dtype, "step": DT}
    folder = rd.export(robot, ["control"], "c", tmp_path / "code", **options)
    c, real = library(folder), {"double": np.float64, "float": np.float32}[dtype]
    run = rd.simulate(robot, law, q0=[0.0, 0.9], duration=0.4, step=DT, limits="ignore")
    memory, state = np.zeros(1000, real), []
    c.furuta_controller_begin(*pointers(memory))
    first = 8 // memory.itemsize  # after the count of samples
    for k, q in enumerate(run.q):
        tau = run.tau[k - 1] if k else np.zeros(2)
        shown = robot.measure(q, run.v[k], tau=tau)
        given = [x.astype(real) for x in shown.values()]
        assert c.furuta_controller_step(*pointers(memory, *given)) == 0
        state.append(memory[first + 2 : first + 4].copy())
    expected = run.controller_state["position"]
    np.testing.assert_allclose(state, expected, atol=1e-10 if dtype == "double" else 1e-4)
    command = ["cc", "-std=c99", "furuta.c", "test_furuta.c", "-o", "test", "-lm"]
    subprocess.run(command, check=True, cwd=folder)
    assert subprocess.run(["./test"], cwd=folder, check=False).returncode == 0
