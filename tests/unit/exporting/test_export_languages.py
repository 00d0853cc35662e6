"""Units in Python, MATLAB and Modelica: written, run and compared with the robot."""

import re
import zipfile

import numpy as np
import pytest
from support import modelica
from support.octave import literal, octave
from support.processes import python

import robodyn as rd

QUANTITIES = {"forward_dynamics": "forward_dynamics", "M": "mass_matrix", "end": "center_of_mass"}


@pytest.fixture(scope="module")
def robot():
    return rd.load("five_bar")


@pytest.fixture(scope="module")
def state(robot):
    rng = np.random.default_rng(3)
    q = robot.random(rng)
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    return q, v, rng.normal(size=robot.nv)


def test_a_module_of_python_needs_numpy_alone(robot, state, tmp_path):
    folder = rd.export(robot, QUANTITIES, "python", tmp_path / "code")
    assert [x.name for x in folder.iterdir()] == ["five_bar.py"]
    q, v, tau = state
    np.savez(tmp_path / "state.npz", q=q, v=v, tau=np.stack([tau, -tau]))
    script = f"""
import sys
import zipfile
import numpy as np
import five_bar
x = np.load({str(tmp_path / "state.npz")!r})
np.savez({str(tmp_path / "found.npz")!r}, M=five_bar.M(x["q"]), c=five_bar.end(x["q"]),
         a=five_bar.forward_dynamics(x["q"], x["v"], x["tau"]), names=five_bar.__all__)
assert not [x for x in sys.modules if x.startswith(("robodyn", "numba", "scipy"))]
"""
    environment = {"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    python("-W", "error", "-c", script, env=environment)
    with np.load(tmp_path / "found.npz") as found:
        assert found["names"].tolist() == ["M", "end", "forward_dynamics"]
        np.testing.assert_allclose(found["M"], robot.mass_matrix(q), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found["c"], robot.center_of_mass(q), rtol=1e-12, atol=1e-14)
        expected = [robot.forward_dynamics(q, v, x) for x in (tau, -tau)]
        np.testing.assert_allclose(found["a"], expected, rtol=1e-10, atol=1e-10)


def test_files_of_matlab(robot, state, tmp_path):
    folder = rd.export(robot, QUANTITIES, "matlab", tmp_path / "code")
    assert sorted(x.name for x in folder.iterdir()) == ["M.m", "end_.m", "forward_dynamics.m"]
    q, v, tau = state
    lines = octave(
        folder,
        f"printf(' %.17g', M({literal(q)}).'); disp(''); printf(' %.17g', end_({literal(q)}));"
        f"disp(''); printf(' %.17g', forward_dynamics({', '.join(map(literal, state))}));",
    ).splitlines()
    refused = "try; M(zeros(2, 2)); catch e; disp(e.message); end"
    assert octave(folder, refused).strip() == "q has the size [2 2], expected 4"
    expected = robot.mass_matrix(q), robot.center_of_mass(q), robot.forward_dynamics(q, v, tau)
    for line, x in zip(lines, expected, strict=True):
        found = np.array(line.split(), float).reshape(x.shape)
        np.testing.assert_allclose(found, x, rtol=1e-10, atol=1e-10)


def accelerations(package, robot, q, v, tau):
    """What the model of the package says of rates and accelerations, and its start."""
    model = package.classes["Motion"]
    values = {"q": q, "v": v, "tau": tau, "time": 0.25, "stabilization": (20.0, 20.0)}
    rates = {}
    for equation in model.equations:
        (state,) = equation.left.operands
        assert str(equation.left.operator) == "der"
        arguments = [values[x.name] for x in equation.right.operands]
        rates[state.name] = modelica.call(package, str(equation.right.operator), *arguments)
    return rates["q"], rates["v"]


def test_a_model_of_modelica_moves_as_the_robot(robot, state, tmp_path):
    folder = rd.export(robot, QUANTITIES, "modelica", tmp_path / "code")
    (file,) = folder.iterdir()
    assert file.name == "five_bar.mo"
    package = modelica.parsed(file.read_text())
    q, v, tau = state
    np.testing.assert_allclose(
        modelica.call(package, "M", q), robot.mass_matrix(q), rtol=1e-12, atol=1e-14
    )
    opened = q + 1e-4  # loops are pulled closed
    dq, a = accelerations(package, robot, opened, v, tau)
    np.testing.assert_allclose(dq, v)
    held = robot.function("forward_dynamics", stabilization=True)
    np.testing.assert_allclose(a, held(opened, v, tau, (20.0, 20.0)), rtol=1e-10, atol=1e-10)
    model = package.classes["Motion"]
    assert [x for x in model.symbols if "input" in model.symbols[x].prefixes] == ["tau"]
    for x in "qv":  # they begin there: a start that is not fixed is a guess
        assert f"{x}[4](start = {x}_start, each fixed = true)" in file.read_text()
    (start,) = re.findall(r"q_start\[4\] = {(.*)}", file.read_text())
    np.testing.assert_allclose([float(x) for x in start.split(",")], robot.neutral(), atol=1e-15)


def test_a_model_of_modelica_with_a_quaternion(tmp_path):
    robot = rd.load("pan_tilt", base="floating")
    folder = rd.export(robot, ["forward_dynamics"], "modelica", tmp_path / "code")
    package = modelica.parsed((folder / "pan_tilt.mo").read_text())
    rng = np.random.default_rng(4)
    q = robot.random(rng)
    v, tau = rng.normal(size=(2, robot.nv))
    dq, a = accelerations(package, robot, q, v, tau)
    np.testing.assert_allclose(dq, robot.coordinate_rates(q, v), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(a, robot.forward_dynamics(q, v, tau), rtol=1e-10, atol=1e-10)


def test_modelica_without_forward_dynamics_has_no_model(robot, tmp_path):
    folder = rd.export(robot, ["mass_matrix"], "modelica", tmp_path / "code")
    assert "model" not in (folder / "five_bar.mo").read_text()


@pytest.mark.parametrize(
    ("target", "name", "options", "words"),
    [
        ("modelica", "M", {"dtype": "float"}, "Modelica has one type of real numbers"),
        ("matlab", "a" * 64, {}, "has 64 letters, of which MATLAB reads 63"),
        ("modelica", "step", {}, "Modelica moves the robot by itself: leave 'step' out"),
    ],
)
def test_what_a_language_does_not_have_leaves_nothing(
    robot, tmp_path, target, name, options, words
):
    with pytest.raises(rd.SettingsError, match=words):
        asked = {name: "step" if name == "step" else "mass_matrix"}
        rd.export(robot, asked, target, tmp_path / "code", **options)
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def motion(robot, state):
    """Ten steps of the robot, by forces that stay the same."""
    q, v, tau = state
    options = {"duration": 0.01, "step": 1e-3, "limits": "ignore"}
    return rd.simulate(robot, lambda t, q, v: tau, q0=q, v0=v, **options)


def test_steps_in_python(robot, state, motion, tmp_path):
    # names of variables, which the functions that a step calls do not take
    asked = {"q": "forward_dynamics", "rounds": "loop_residual", "step": "step"}
    folder = rd.export(robot, asked, "python", tmp_path / "code")
    names = {}
    exec((folder / "five_bar.py").read_text(), names)
    assert {"q_", "rounds_", "step"} <= set(names["__all__"])
    q, v = (np.stack([x[0], x[0]]) for x in (motion.q, motion.v))
    for _ in range(10):
        q, v, residual = names["step"](q, v, state[2])
        assert residual.shape == (2, *np.shape(robot.function("loop_residual")(q[0])))
        assert np.abs(residual).max() < 1e-12
    np.testing.assert_allclose(q, [motion.q[-1]] * 2, rtol=0, atol=1e-12)
    np.testing.assert_allclose(v, [motion.v[-1]] * 2, rtol=0, atol=1e-11)


def test_assembly_in_python(robot, state, tmp_path):
    asked = {"close": ("assemble", {"hold": ["left_drive"]})}
    folder = rd.export(robot, asked, "python", tmp_path / "code")
    names = {}
    exec((folder / "five_bar.py").read_text(), names)
    guess = np.array([1e-2, -1e-2, 2e-2, 0.0]) + state[0]
    q, residual = names["close"](guess)
    held = robot.joints["left_drive"].q
    assert (q[held] == guess[held]).all()
    assert np.abs(residual).max() < 1e-12 and np.abs(robot.loop_residual(q)).max() < 1e-12
    assert np.abs(q - guess).max() > 1e-3


def test_assembly_that_cannot_succeed_ends(robot, tmp_path):
    asked = {"close": ("assemble", {"hold": ["left_drive", "right_drive"]})}
    guess = robot.neutral()
    guess[robot.joints["left_drive"].q] = -2.0
    folder = rd.export(robot, asked, "python", tmp_path / "python")
    names = {}
    exec((folder / "five_bar.py").read_text(), names)
    assert not np.abs(names["close"](guess)[1]).max() < 1e-3
    folder = rd.export(robot, asked, "matlab", tmp_path / "matlab")
    script = f"[q, residual] = close({literal(guess)}); disp(max(abs(residual)) < 1e-3)"
    assert octave(folder, script).strip() == "0"


def test_steps_in_matlab(robot, state, motion, tmp_path):
    folder = rd.export(robot, ["step"], "matlab", tmp_path / "code")
    start = (motion.q[0], motion.v[0], state[2])
    script = (
        "[q, v, tau] = deal({}, {}, {});"
        "for k = 1:10; [q, v, residual] = step(q, v, tau); end;"
        "printf(' %.17g', q); disp(''); printf(' %.17g', v); disp('');"
        "disp(all(abs(residual) < 1e-12) && iscolumn(q))"
    ).format(*map(literal, start))
    q, v, closed = octave(folder, script).splitlines()
    np.testing.assert_allclose(np.array(q.split(), float), motion.q[-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.array(v.split(), float), motion.v[-1], rtol=0, atol=1e-11)
    assert closed == "1"


@pytest.mark.parametrize("name", ["numpy", "math", "class"])
def test_a_module_hides_no_other(name, tmp_path):
    text = f'<robot name="{name}"><link name="base"/></robot>'
    folder = rd.export(rd.load(text), ["mass_matrix"], "python", tmp_path / "code")
    assert [x.name for x in folder.iterdir()] == [f"{name}_.py"]


@pytest.mark.parametrize("target", ["c", "cpp", "python", "matlab", "modelica", "fmu"])
def test_characters_that_are_not_seen_are_not_written(target, tmp_path):
    """Some turn the direction of the text that follows, and so what a reader sees of it."""
    odd = "turn\u202e\u2066x\u200b\u2028y"
    links = tuple(rd.Link(f"{odd}{k}", rd.Inertia(1.0, ixx=1.0, iyy=1.0, izz=1.0)) for k in (0, 1))
    joint = rd.Joint(odd, "revolute", links[0].name, links[1].name, axis=(0, 1, 0))
    robot = rd.load(rd.Mechanism(f"robot{odd}", links, (joint,)))
    try:
        written = rd.export(robot, ["forward_dynamics"], target, tmp_path / "out")
    except rd.SettingsError:
        assert target == "fmu"  # which has a step
        written = rd.export(robot, ["step"], target, tmp_path / "out.fmu", step=1e-3)
    files = [x for x in tmp_path.rglob("*") if x.is_file()]
    texts = {x.name: x.read_bytes().decode("utf-8", "ignore") for x in files if x.suffix != ".fmu"}
    for file in (x for x in files if x.suffix == ".fmu"):
        with zipfile.ZipFile(file) as archive:
            texts |= {
                name: archive.read(name).decode()
                for name in archive.namelist()
                if name.endswith((".c", ".h"))
            }
    assert written and texts
    for name, text in texts.items():
        assert not [x for x in text if not (x.isprintable() or x in "\t\n")], name
