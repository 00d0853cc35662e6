"""Units in C: compiled without a warning, run and compared with the robot."""

import ctypes
import dataclasses
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from support.bundled import bundled
from support.compiled_c import c_library, pointers

import robodyn as rd
from robodyn.codegen import Function
from robodyn.controllers import Filtered, JointPD, PointToPoint, Saturated, SineReference
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import edge_of, inputs, sqrt

STRICT = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
REAL = {"double": np.float64, "float": np.float32}


@pytest.fixture(scope="module")
def robot():
    return bundled("five_bar")


def controller_of(robot):
    """One that remembers something."""
    wave = SineReference(robot.neutral(), 0.1 * np.ones(robot.nq), np.ones(robot.nq))
    return Filtered(JointPD(robot, wave, stiffness=50.0, damping=5.0), cutoff=20.0)


def library(folder, *options):
    """The library of the C files of a folder, compiled without a warning."""
    sources = sorted(str(x) for x in folder.glob("*.c") if not x.name.startswith("test_"))
    return c_library(folder, sources, *STRICT, *options)


@pytest.mark.parametrize("dtype", ["double", "float"])
def test_a_unit_without_warnings(robot, tmp_path, dtype):
    asked = {
        "default": "mass_matrix",
        "motor_torques": "motor_torques",
        "assemble": ("assemble", {"hold": ["left_drive"]}),
        "far": ("assemble", {"hold": ["left_drive", "right_drive"]}),
        "control": "control",
        "step": "step",
    }
    options = {"controller": controller_of(robot), "dtype": dtype}
    folder = rd.export(robot, asked, "c", tmp_path / "code", **options)
    files = ["CMakeLists.txt", "five_bar.c", "five_bar.h", "test_five_bar.c"]
    assert sorted(x.name for x in folder.iterdir()) == files
    c, real = library(folder), REAL[dtype]
    near = 1e-12 if dtype == "double" else 1e-4
    rng = np.random.default_rng(0)
    guess = (robot.neutral() + 0.01 * rng.normal(size=4)).astype(real)
    q, M, torques = np.zeros(4, real), np.zeros((4, 4), real), np.zeros(4, real)
    assert c.five_bar_assemble(*pointers(guess, q)) == 0
    assert np.abs(robot.loop_residual(q.astype(float))).max() < near
    assert q[0] == guess[0]
    c.five_bar_default(*pointers(q, M))
    np.testing.assert_allclose(M, robot.mass_matrix(q.astype(float)), rtol=near, atol=near)
    v = robot.consistent_velocity(q, rng.normal(size=4))
    a = robot.consistent_acceleration(q, v, rng.normal(size=4))
    c.five_bar_motor_torques(*pointers(q, v.astype(real), a.astype(real), torques))
    expected = robot.motor_torques(q.astype(float), v, a)
    np.testing.assert_allclose(torques, expected, rtol=near, atol=10 * near)
    guess[:] = -2.0, 0.0, 0.0, 0.0
    assert c.five_bar_far(*pointers(guess, q)) == 1
    guess[:] = np.nan
    assert c.five_bar_assemble(*pointers(guess, q)) == 2


def test_a_motion_is_that_of_a_simulation(robot, tmp_path):
    controller = controller_of(robot)
    folder = rd.export(robot, ["step"], "c", tmp_path / "code", controller=controller)
    c = library(folder)
    run = rd.simulate(robot, controller, duration=10.0, step=1e-3, limits="ignore")
    state = np.zeros(1000)  # more than a state has
    start = pointers(state, run.q[0].copy(), run.v[0].copy())
    assert c.five_bar_begin(*start) == 0
    for _ in range(10_000):
        assert c.five_bar_step(start[0]) == 0
    assert state[:1].view(np.uint64)[0] == 10_000
    np.testing.assert_allclose(state[1:5], run.q[-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(state[5:9], run.v[-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(state[9:13], run.tau[-2], rtol=0, atol=1e-10)


def test_steps_that_fail_leave_the_state(robot, tmp_path):
    c = library(rd.export(robot, ["step"], "c", tmp_path / "code"))
    q, v = robot.neutral(), np.zeros(4)
    state = np.zeros(1000)
    start = pointers(state, q, v)
    q[0] += 0.1
    assert c.five_bar_begin(*start) == 1  # as a simulation, it closes no more than 1e-3
    q[0] -= 0.0999
    assert c.five_bar_begin(*start) == 0
    assert np.abs(robot.loop_residual(state[1:5])).max() < 1e-12
    state[9] = np.inf
    before = state.copy()
    assert c.five_bar_step(start[0]) == 2
    assert (state == before).all()


@pytest.mark.slow
def test_the_sources_of_an_fmu_without_warnings(robot, tmp_path):
    options = {"controller": controller_of(robot)}
    folder = rd.export(robot, ["step", "center_of_mass"], "fmu", tmp_path / "code", **options)
    with zipfile.ZipFile(folder / "five_bar.fmu") as archive:
        archive.extractall(tmp_path / "unit")
    library(tmp_path / "unit" / "sources")


def said_by_itself(folder, *options):
    """What the test of a folder says, compiled without a warning."""
    command = ["cc", *STRICT, *options, *sorted(map(str, folder.glob("*.c"))), "-o", "test", "-lm"]
    subprocess.run(command, check=True, cwd=folder)
    return subprocess.run(["./test"], cwd=folder, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["double", "float"])
def test_a_unit_tests_itself(robot, tmp_path, dtype):
    asked = ["mass_matrix", "frame_poses", "step", "assemble", "kinetic_energy"]
    options = {"controller": controller_of(robot), "dtype": dtype}
    folder = rd.export(robot, asked, "c", tmp_path / "code", **options)
    done = said_by_itself(folder)
    assert (done.returncode, done.stdout) == (0, "0 failed\n")
    source = folder / "five_bar.c"
    text = source.read_text()
    body = text.index("void five_bar_mass_matrix")
    source.write_text(text[:body] + text[body:].replace("M[0] = ", "M[0] = 1 + ", 1))
    done = said_by_itself(folder)
    assert done.returncode == 1 and "mass_matrix, M[0] is" in done.stdout
    source.write_text(text.replace("state->steps++;", "return FIVE_BAR_OPEN;"))
    assert "the motion ends with result 1\n1 failed" in said_by_itself(folder).stdout


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["double", "float"])
@pytest.mark.parametrize("quantity", ["gravity_forces", "mass_matrix", "bias_forces"])
def test_constants_that_matter_are_all_compared(quantity, dtype, tmp_path):
    """A unit finds each constant that is wrong by 30 %, if that shows at some posture."""
    robot = rd.load("palletizer", coordinates="minimal")
    folder = rd.export(robot, [quantity], "c", tmp_path / "code", dtype=dtype)
    source, rng = folder / "palletizer.c", np.random.default_rng(1)
    text, real = source.read_text(), REAL[dtype]
    places = [*re.finditer(r"(?<![\w.])\d+\.\d+(?:e[+-]\d+)?", text)]
    states = [
        [rng.uniform(-0.4, 0.4, robot.nv).astype(real) for _ in range(quantity.count("bias") + 1)]
        for _ in range(20)
    ]
    expected = [getattr(robot, quantity)(*(x.astype(float) for x in s)) for s in states]
    shown = 0
    for k, place in enumerate(rng.choice(places, 16, replace=False)):
        wrong = repr(1.3 * float(place.group()))
        source.write_text(text[: place.start()] + wrong + text[place.end() :])
        made = tmp_path / f"{k}.so"
        command = ["cc", "-std=c99", "-shared", "-fPIC", str(source), "-o", str(made), "-lm"]
        subprocess.run(command, check=True)
        worst = 0.0
        for state, right in zip(states, expected, strict=True):
            out = np.zeros(right.shape, real)
            ctypes.CDLL(str(made))[f"palletizer_{quantity}"](*pointers(*state, out))
            worst = max(worst, np.abs(out - right).max() / np.abs(right).max())
        if worst > 1e-3:
            shown += 1
            assert said_by_itself(folder).returncode == 1, place.group()
    assert shown > 0


def test_two_units_of_one_robot_in_one_program(robot, tmp_path):
    law = controller_of(robot)
    rd.export(robot, ["control"], "c", tmp_path / "a", controller=law, dtype="float", name="law")
    rd.export(robot, ["step"], "c", tmp_path / "b", name="five bar plant")
    (tmp_path / "main.c").write_text(
        '#include "a/law.h"\n#include "b/five_bar_plant.h"\n'
        "int main(void) { five_bar_plant_state s; return sizeof s == LAW_NQ; }\n"
    )
    command = ["cc", *STRICT, "main.c", "a/law.c", "b/five_bar_plant.c", "-o", "main", "-lm"]
    subprocess.run(command, check=True, cwd=tmp_path)
    assert said_by_itself(tmp_path / "b").stdout == "0 failed\n"
    names = [
        x.name for x in rd.export(robot, ["step"], "python", tmp_path / "c", name="x").iterdir()
    ]
    assert names == ["x.py"]
    with pytest.raises(rd.SettingsError, match="name is ' '"):
        rd.export(robot, ["step"], "c", tmp_path / "d", name=" ")


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_header_says_which_number_is_which(base, tmp_path):
    robot = rd.load("palletizer", coordinates="minimal", base=base)
    text = (rd.export(robot, ["mass_matrix"], "c", tmp_path / "c") / "palletizer.h").read_text()
    for name in robot.joint_names:
        for letter in "qv":
            at = getattr(robot.joints[name], letter)
            (k,) = re.findall(rf"_{letter.upper()}_\w+ = (\d+), /\* {letter}\[.*\]: {name} ", text)
            assert int(k) == at.start
    motors = re.findall(r"PALLETIZER_MOTOR_\w+ = (\d+), /\* motor of (.*) \*/", text)
    assert motors == [(str(k), name) for k, name in enumerate(robot.actuated_joints)]
    assert f"PALLETIZER_NU = {len(motors)}" in text


def test_float_code_at_half_a_turn(tmp_path):
    """The smallest numbers of double precision are none in single precision."""
    K = np.diag([1.0, 2.0, 3.0, 0.4, 0.5, 0.6])
    force = rd.Force(lambda x, w, t: -(K @ x) - 0.1 * w, between=("upper", "lower"))
    robot = rd.load("double_pendulum", actuators={"elbow": rd.Actuator(2.0)}, forces=[force])
    slope = robot.function("inverse_dynamics").jacobian("q")
    asked = {"torques": "motor_torques", "slope": slope}
    folder = rd.export(robot, asked, "c", tmp_path / "code", dtype="float")
    c = library(folder)
    for angle in (0.7, np.pi):
        q, v, a = (np.array(x, np.float32) for x in ((0.3, angle), (0.5, 0.2), (0.1, 0.4)))
        tau = np.zeros(2, np.float32)
        c.double_pendulum_torques(*pointers(q, v, a, tau))
        expected = robot.motor_torques(*(x.astype(float) for x in (q, v, a)))
        np.testing.assert_allclose(tau, expected, rtol=1e-5)
    assert said_by_itself(folder).stdout == "0 failed\n"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::robodyn.errors.SingularWarning")
def test_a_motion_that_ends_is_tested_before(tmp_path):
    """The disc falls on its side, where its plane no longer tells along which point it rolls."""
    body = rd.Link("disc", rd.Inertia(0.8, ixx=0.004, iyy=0.004, izz=0.008))
    rolls = rd.Rolling("roll", "disc", (0, 0, 0), 0.15, axis=(0, 0, 1))
    disc = rd.load(rd.Mechanism("disc", (body,)), base="floating", constraints=[rolls])
    folder = rd.export(disc, ["step"], "c", tmp_path / "code")
    assert said_by_itself(folder).stdout == "0 failed\n"
    source = folder / "disc.c"
    source.write_text(source.read_text().replace("state->v[i] = v_next[i]", "state->v[i] = 0"))
    assert "steps, v[" in said_by_itself(folder).stdout


@pytest.mark.parametrize("dtype", ["double", "float"])
@pytest.mark.parametrize("limit", [0.02, 3.0, 400.0])
def test_a_unit_tries_both_sides_of_limits(limit, dtype, tmp_path):
    arm = rd.load("puma560", gravity=(0, 0, 0))
    reference = PointToPoint(np.zeros(6), np.ones(6), 1.0)
    cut = Saturated(JointPD(arm, reference, stiffness=10.0, damping=1.0), limits=limit)
    folder = rd.export(arm, ["control"], "c", tmp_path / "code", controller=cut, dtype=dtype)
    assert said_by_itself(folder).stdout == "0 failed\n"
    text = (folder / "test_puma560.c").read_text()
    expected = re.findall(r"const \w+ x3\[6\] = \{(.*)\};", text)
    found = np.array([[float(x.rstrip("f")) for x in row.split(",")] for row in expected])
    assert len(found) <= 8
    sizes = np.abs(found)
    assert np.isclose(sizes, limit, rtol=1e-5).any(axis=0).all()
    assert (sizes < 0.999 * limit).any(axis=0).all()


@pytest.mark.parametrize("quantity", ["impact", "never"])
def test_a_test_of_what_has_numbers_at_some_states_or_at_none(robot, tmp_path, quantity):
    if quantity == "impact":  # where bodies approach each other
        function = ("impact", {"frame": "left_rod"})
    else:
        graph = Graph()
        (x,) = inputs(graph, 0, 1)
        edge = edge_of(graph, sqrt(-(x * x) - 1.0))
        function = Function(Program("f", (Port("x", ()),), (Port("y", ()),), graph, (edge,)))
    folder = rd.export(robot, {"f": function}, "c", tmp_path / "code")
    assert ("compare(" in (folder / "test_five_bar.c").read_text()) == (quantity == "impact")
    assert said_by_itself(folder).stdout == "0 failed\n"


@pytest.mark.slow
def test_cmake_builds_a_unit(tmp_path):
    cmake = shutil.which("cmake") or shutil.which("cmake", path=str(Path(sys.executable).parent))
    if cmake is None:
        pytest.skip("cmake is not installed")
    robot = rd.load("pan_tilt", base="floating")
    folder = rd.export(robot, ["step", "center_of_mass"], "c", tmp_path / "code")
    for command in (["-S", ".", "-B", "build"], ["--build", "build"]):
        subprocess.run([cmake, *command], cwd=folder, check=True, capture_output=True)
    assert subprocess.run([folder / "build" / "test_pan_tilt"]).returncode == 0


MAIN = """
#include "five_bar.hpp"
#include <cmath>
#include <cstdio>

template <std::size_t n> void print(const std::array<five_bar::Real, n> &x)
{
    for (five_bar::Real y : x)
        std::printf(" %.17g", static_cast<double>(y));
    std::printf("\\n");
}

int main()
{
    std::array<five_bar::Real, five_bar::nq> q{}, v{};
    print(five_bar::mass_matrix(q));
    std::printf("%.17g\\n", static_cast<double>(five_bar::default_(q, v)));
    auto corrections = five_bar::loop_corrections(q, v);
    print(std::get<0>(corrections));
    print(five_bar::assemble(q));
    five_bar::Motion motion(q, v);
    for (int k = 0; k < 50; ++k)
        motion.step(STEP);
    for (double x : motion.state.q)
        std::printf(" %.17g", x);
    std::printf("\\n");
    try {
        five_bar::assemble({{NAN, 0, 0, 0}});
    } catch (const std::runtime_error &error) {
        std::printf("%s\\n", error.what());
    }
    try {
        q[0] = 1;
        five_bar::Motion(q, v);
    } catch (const std::runtime_error &error) {
        std::printf("%s\\n", error.what());
    }
}
"""


NAMED = """
#include "{name}.hpp"
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <ctime>
using namespace {name};
const std::array<double, 2> q = {{{{0, 0}}}}, v = {{{{0, 0}}}};
int main() {{ return kinetic_energy(q, v) != errno_(q, v); }}
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["printf", "std", "Math", "time", "test", "class", "isnan"])
def test_names_that_something_else_has(name, tmp_path):
    """Files, namespaces and targets of CMake are called after the robot."""
    pendulum = bundled("double_pendulum")
    robot = rd.load(dataclasses.replace(pendulum.mechanism, name=name))
    asked = {"kinetic_energy": "kinetic_energy", "errno": "kinetic_energy"}
    folder = rd.export(robot, asked, "cpp", tmp_path / "code")
    names = {"CMakeLists.txt", *(f"{name}_robot.{x}" for x in ("c", "h", "hpp"))}
    assert {x.name for x in folder.iterdir()} == names | {f"test_{name}_robot.c"}
    assert f"add_library({name}_robot " in (folder / "CMakeLists.txt").read_text()
    assert said_by_itself(folder, f"-I{folder}").stdout == "0 failed\n"
    (folder / "main.cpp").write_text(NAMED.format(name=f"{name}_robot"))
    (folder / f"test_{name}_robot.c").unlink()
    compiler = shutil.which("c++")
    assert compiler, "this test needs a C++ compiler named c++"
    command = [compiler, f"-I{folder}", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "main.cpp"]
    subprocess.run(command, check=True, cwd=folder)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["double", "float"])
def test_a_header_of_cpp(robot, tmp_path, dtype):
    asked = {"default": "kinetic_energy", "mass_matrix": "mass_matrix", "assemble": "assemble"}
    asked |= {"step": "step"}
    tau = np.array([0.5, 0.0, -0.25, 0.0])
    controller = None if dtype == "double" else controller_of(robot)
    options = {"controller": controller, "dtype": dtype}
    folder = rd.export(robot, asked, "cpp", tmp_path / "code", **options)
    assert {x.suffix for x in folder.iterdir()} == {".c", ".h", ".hpp", ".txt"}
    (folder / "test_five_bar.c").unlink()
    step = "" if controller else "{{0.5, 0.0, -0.25, 0.0}}"
    (folder / "main.cpp").write_text(MAIN.replace("STEP", step))
    strict = [x for x in STRICT if not x.startswith("-std")]
    objects = ["five_bar.o", "main.cpp", "-o", "main"]
    for command in (["cc", *STRICT, "-c", "five_bar.c"], ["g++", "-std=c++11", *strict, *objects]):
        subprocess.run(command, cwd=folder, check=True)
    done = subprocess.run(["./main"], cwd=folder, capture_output=True, text=True, check=True)
    *numbers, no_number, opened = done.stdout.splitlines()
    law = controller or (lambda t, q, v: tau)
    run = rd.simulate(robot, law, duration=0.05, step=1e-3, limits="ignore")
    q0 = robot.neutral()
    assert not q0.any()
    expected = robot.mass_matrix(q0).ravel(), [0.0], np.zeros(4), q0, run.q[-1]
    near = 1e-12 if dtype == "double" else 1e-5
    for line, values in zip(numbers, expected, strict=True):
        np.testing.assert_allclose(np.array(line.split(), float), values, rtol=near, atol=near)
    assert no_number == "five_bar: something is infinite or not a number"
    assert opened == "five_bar: the loops are open, or do not close"


def test_headers_say_which_numbers_are_currents_and_voltages(tmp_path):
    motor = rd.Motor(0.05, 0.3, inductance=2e-3)
    drive = rd.Actuator(20.0, motor=motor, command="voltage")
    robot = rd.load("double_pendulum", actuators={"elbow": drive})
    folder = rd.export(robot, "forward_dynamics", "c", tmp_path / "c")
    header = (folder / "double_pendulum.h").read_text()
    k = robot.joints["elbow_winding"].v.start
    assert f"/* v[{k}]: elbow_winding, its current [A], and its voltage [V] in tau */" in header
