"""Units of FMI: validated and run by fmpy, compared with simulations."""

import errno
from collections import Counter
from xml.etree import ElementTree
from zipfile import ZipFile

import numpy as np
import pytest

import robodyn as rd
from robodyn.controllers import Filtered, JointPD, Saturated, SineReference
from robodyn.errors import FileError, MissingFileError

fmpy = pytest.importorskip("fmpy")
STEP = 1e-3


def exported(robot, functions, folder, **options):
    """The path of an FMU without faults."""
    from fmpy.validation import validate_fmu

    into = rd.export(robot, functions, "fmu", folder / "code", step=STEP, **options)
    (path,) = into.iterdir()
    assert path.name == f"{robot.name}.fmu"
    assert validate_fmu(str(path)) == []
    return path


class Unit:
    """An instance of an FMU, whose variables have names."""

    def __init__(self, path, folder):
        from fmpy.fmi3 import FMU3Slave

        about = fmpy.read_model_description(str(path))
        unpacked = fmpy.extract(str(path), unzipdir=str(folder / "unpacked"))
        self.places = {x.name: x.valueReference for x in about.modelVariables}
        self.said = []
        self.fmu = FMU3Slave(
            guid=about.instantiationToken,
            unzipDirectory=unpacked,
            modelIdentifier=about.coSimulation.modelIdentifier,
            instanceName="one",
        )
        self.fmu.instantiate(logMessage=lambda *x: self.said.append(x[-1].decode()))

    def begin(self, start_time=0.0, **values):
        self.fmu.enterInitializationMode(startTime=start_time)
        for name, x in values.items():
            self[name.replace("__", ".")] = x
        self.fmu.exitInitializationMode()

    def step(self, time, steps=1):
        self.fmu.doStep(currentCommunicationPoint=time, communicationStepSize=steps * STEP)

    def __getitem__(self, name):
        return self.fmu.getFloat64([self.places[name]])[0]

    def __setitem__(self, name, value):
        self.fmu.setFloat64([self.places[name]], [value])

    def all(self, ending):
        return np.array([self[x] for x in self.places if x.endswith(ending)])


@pytest.fixture
def refused():
    """Calls that an FMU refuses."""
    from fmpy.fmi1 import FMICallException

    return pytest.raises(FMICallException)


def test_a_linkage_under_a_controller_with_memory(five_bar, tmp_path):
    q0 = five_bar.neutral()
    inner = JointPD(
        five_bar, SineReference(q0, 0.1 * np.ones(4), np.ones(4)), stiffness=50.0, damping=5.0
    )
    controller = Saturated(Filtered(inner, cutoff=20.0, order=2))
    path = exported(five_bar, ["step", "center_of_mass"], tmp_path, controller=controller)
    run = rd.simulate(five_bar, controller, q0=q0, duration=0.2, step=STEP, limits="ignore")
    names = five_bar.joint_names
    outputs = [f"{x}.{y}" for y in ("position", "speed", "force") for x in names]
    outputs += [f"center_of_mass[{k}]" for k in (1, 2, 3)]
    found = fmpy.simulate_fmu(
        str(path), stop_time=0.2, step_size=STEP, output_interval=4 * STEP, output=outputs
    )
    at = slice(None, None, 4)
    columns = [run.q[at], run.v[at], run.tau[at], five_bar.center_of_mass(run.q[at])]
    np.testing.assert_allclose(found["time"], run.t[at], atol=1e-12)
    values = np.stack([found[x] for x in outputs], axis=-1)
    np.testing.assert_allclose(values, np.concatenate(columns, axis=-1), rtol=0, atol=1e-11)
    assert np.abs(run.q[-1] - q0).max() > 1e-2


@pytest.fixture(scope="module")
def floating(tmp_path_factory):
    """A robot with a quaternion and sensors, its FMU, and the folder of that."""
    sensors = [rd.Sensor("imu", at="camera", name="imu")]
    robot = rd.load("pan_tilt", base="floating", sensors=sensors)
    folder = tmp_path_factory.mktemp("fmu")
    return robot, exported(robot, ["step", "measure"], folder), folder


def test_units_are_the_products_that_their_names_say(floating):
    with ZipFile(floating[1]) as content:
        root = ElementTree.fromstring(content.read("modelDescription.xml"))
    found = {}
    for unit in root.iter("Unit"):
        over, _, under = unit.get("name").partition("/")
        wanted = Counter()
        for part, way in (*((x, 1) for x in over.split(".")), (under, -1)):
            newton = {"kg": 1, "m": 1, "s": -2}
            for base, power in (newton if part == "N" else {part: 1}).items():
                wanted[base] += way * power
        found[unit.get("name")] = {x: y for x, y in wanted.items() if y and x not in ("", "1")}
        for base in unit.iter("BaseUnit"):
            assert {x: int(y) for x, y in base.attrib.items()} == found[unit.get("name")]
    assert {"N.m", "N", "rad/s", "m/s"} <= found.keys()


def test_forces_are_inputs_and_sensors_outputs(floating, tmp_path):
    robot, path, _ = floating
    unit = Unit(path, tmp_path)
    forces = np.random.default_rng(0).normal(size=(4, robot.nv))
    places = [x for x in unit.places if x.endswith(".force")]
    unit.begin(pan__speed=0.4, tilt__position=0.2)
    q0, v0 = robot.neutral(), np.zeros(robot.nv)
    q0[robot.joints["tilt"].q], v0[robot.joints["pan"].v] = 0.2, 0.4
    run = rd.simulate(
        robot, lambda t, q, v: forces[int(t / STEP / 5 + 1e-6) % 4], q0=q0, v0=v0,
        duration=20 * STEP, step=STEP, limits="ignore",
    )  # fmt: skip
    for k in range(4):
        unit.fmu.setFloat64([unit.places[x] for x in places], forces[k])
        shown = robot.measure(run.q[5 * k], run.v[5 * k], tau=forces[k])["imu"]
        found = [unit[x] for x in unit.places if x.startswith("imu.")]
        np.testing.assert_allclose(found, shown, rtol=0, atol=1e-10)
        unit.step(5 * k * STEP, 5)
        np.testing.assert_allclose(unit.all(".position"), run.q[5 * k + 5], rtol=0, atol=1e-12)
        np.testing.assert_allclose(unit.all(".speed"), run.v[5 * k + 5], rtol=0, atol=1e-12)
    assert unit["time"] == pytest.approx(20 * STEP)


def test_states_of_a_unit_are_kept_and_reset(floating, tmp_path):
    _, path, _ = floating
    unit = Unit(path, tmp_path)
    fresh = unit.fmu.getFMUState()
    unit.begin(pan__speed=1.0)
    unit["tilt.force"] = 0.3
    unit.step(0.0, 3)
    kept = unit.fmu.getFMUState()
    data = unit.fmu.serializeFMUState(kept)
    unit.step(3 * STEP, 4)
    end = unit.all("n")
    unit["tilt.force"] = -0.3  # also inputs are part of a state
    for state in (kept, unit.fmu.deserializeFMUState(data)):
        unit.fmu.setFMUState(state)
        assert unit["time"] == pytest.approx(3 * STEP)
        unit.step(3 * STEP, 4)
        assert (unit.all("n") == end).all()
        unit.fmu.freeFMUState(state)
    for begin_anew in (unit.fmu.reset, lambda: unit.fmu.setFMUState(fresh)):
        begin_anew()
        assert unit["pan.speed"] == 0.0 and unit["tilt.force"] == 0.0
        unit.begin(pan__speed=1.0)
        unit["tilt.force"] = 0.3
        unit.step(0.0, 7)
        np.testing.assert_allclose(unit.all("n"), end, rtol=0, atol=1e-15)
    unit.fmu.terminate()
    unit.fmu.freeInstance()


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        (lambda x: x.step(0.0), "the motion has not begun"),
        (lambda x: (x.begin(), x.step(0.0, 1.5)), "no multiple of 0.001 s"),
        (lambda x: (x.begin(), x.step(STEP)), "does not begin where"),
        (lambda x: (x.begin(), x.begin()), "reset it first"),
        (lambda x: (x.begin(), x.__setitem__("pan.speed", 1.0)), "before the motion begins"),
        (lambda x: x.__setitem__("pan.force", np.nan), "not finite"),
        (lambda x: x.__setitem__("imu.fx", 1.0), "cannot be set"),
        (lambda x: x.fmu.getFloat64([1000]), "no variable of this reference"),
        (lambda x: x.fmu.getInt32([0]), "no variables of type Int32"),
        (lambda x: (x.begin(pan__speed=1e200), x.step(0.0)), "not finite"),
        (lambda x: x.fmu.enterEventMode(), "does not have this function"),
    ],
)
def test_what_a_unit_refuses(floating, tmp_path, refused, calls, words):
    _, path, _ = floating
    unit = Unit(path, tmp_path)
    with refused:
        calls(unit)
    assert words in unit.said[-1]


def test_a_motion_that_depends_on_time_begins_at_zero(double, floating, tmp_path, refused):
    still = Unit(floating[1], tmp_path)  # nothing here depends on time
    still.begin(start_time=2.0)
    still.step(2.0, 3)
    assert still["time"] == pytest.approx(2.0 + 3 * STEP)
    controller = JointPD(
        double, SineReference(np.zeros(2), [0.1, 0.1], [1.0, 1.0]),
        stiffness=10.0, damping=1.0,
    )  # fmt: skip
    unit = Unit(exported(double, ["step"], tmp_path, controller=controller), tmp_path / "other")
    with refused:
        unit.begin(start_time=2.0)
    assert "begins at zero" in unit.said[-1]


def test_a_robot_that_time_moves(tmp_path):
    clock = rd.Constraint("clock", lambda q, t: q[0] - 0.3 * rd.sin(2.0 * t), "crank_drive")
    robot = rd.load("four_bar", constraints=[clock])
    path = exported(robot, ["step"], tmp_path)
    names = [f"{x}.{y}" for y in ("position", "speed") for x in robot.joint_names]
    found = fmpy.simulate_fmu(str(path), stop_time=0.1, output_interval=0.1, output=names)[-1]
    q0 = robot.at(0.0).assemble()
    v0 = robot.at(0.0).consistent_velocity(q0, np.zeros(3))
    run = rd.simulate(robot, q0=q0, v0=v0, duration=0.1, step=STEP, limits="ignore")
    expected = np.concatenate([run.q[-1], run.v[-1]])
    np.testing.assert_allclose([found[x] for x in names], expected, rtol=0, atol=1e-11)
    # as C, with a test of its own, and with the start of a model
    c = rd.export(robot, ["step", "forward_dynamics"], "c", tmp_path / "c")
    assert "q[FOUR_BAR_NQ]" in (c / "test_four_bar.c").read_text()
    into = rd.export(robot, ["forward_dynamics"], "modelica", tmp_path / "modelica")
    text = (into / "four_bar.mo").read_text()
    assert "der(v) = accelerations(q, v, tau, stabilization, time);" in text
    start = text[text.index("v_start[3] = {") + 14 :].split("}")[0]
    np.testing.assert_allclose([float(x) for x in start.split(",")], v0, rtol=1e-12)


def test_references_that_only_python_knows_are_inputs(tmp_path):
    robot = rd.load("double_pendulum")
    wanted = [np.array([0.3, -0.2]), np.array([0.1, 0.4]), np.array([1.0, 2.0])]
    controller = JointPD(robot, lambda t: wanted, stiffness=10.0, damping=1.0)
    asked = ["step", "mass_matrix", "forward_dynamics", "kinetic_energy", "control"]
    path = exported(robot, asked, tmp_path, controller=controller)
    about = fmpy.read_model_description(str(path))
    assert float(about.coSimulation.fixedInternalStepSize) == STEP
    run = rd.simulate(robot, controller, duration=0.05, step=STEP, limits="ignore")
    numbers = np.concatenate(wanted)
    signals = [f"reference0[{k + 1}]" for k in range(6)]
    assert [x.name for x in about.modelVariables if x.causality == "input"] == signals
    unit = Unit(path, tmp_path)
    unit.begin(**dict(zip(signals, numbers, strict=True)))
    unit.step(0.0, 50)
    q, v, tau, joints = run.q[-1], run.v[-1], run.tau[-1], robot.joint_names
    np.testing.assert_allclose(unit.all(".position"), q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(unit.all(".force"), tau, rtol=0, atol=1e-10)
    outputs = {"kinetic_energy": robot.kinetic_energy(q, v)}
    M, a = robot.mass_matrix(q), robot.forward_dynamics(q, v, tau)
    outputs |= {f"mass_matrix[{i + 1},{j + 1}]": M[i, j] for i in (0, 1) for j in (0, 1)}
    outputs |= {f"forward_dynamics[{i + 1}]": a[i] for i in (0, 1)}
    assert set(outputs) == {x for x in unit.places if not x.startswith(("time", "ref", *joints))}
    for name, x in outputs.items():
        assert unit[name] == pytest.approx(x, rel=0, abs=1e-9)


def test_a_library_knows_its_description(floating, tmp_path):
    from fmpy.fmi3 import FMU3Slave

    unpacked = fmpy.extract(str(floating[1]), unzipdir=str(tmp_path))
    other = FMU3Slave(
        guid="another", unzipDirectory=unpacked, modelIdentifier="pan_tilt", instanceName="one"
    )
    with pytest.raises(Exception, match="instantiate"):
        other.instantiate()


def test_the_same_unit_is_written_twice(floating, tmp_path):
    robot, path, _ = floating
    assert exported(robot, ["step", "measure"], tmp_path).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("functions", "options", "words"),
    [
        (["mass_matrix"], {}, "add 'step'"),
        (["step"], {"dtype": "float"}, "computes with doubles"),
        (["step", "assemble"], {}, "does not assemble"),
        (["step", "joint_wrenches"], {}, "'joint_wrenches' shows loads of joints"),
        (["step", "measure"], {}, "the sensor 'pin' shows loads of joints"),
        (["step", ("inverse_dynamics", {"wrenches": ["coupler"]})], {}, "takes 'wrench"),
        ({"step": "step", "time": "kinetic_energy"}, {}, "two variables .* 'time'"),
    ],
)
def test_what_is_no_unit_leaves_nothing(tmp_path, functions, options, words):
    sensors = [rd.Sensor("wrench", joint="crank_drive", name="pin")]
    robot = rd.load("four_bar", sensors=sensors)
    with pytest.raises(rd.SettingsError, match=words):
        rd.export(robot, functions, "fmu", tmp_path / "code", **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("compiler", "error", "words"),
    [
        ("no-such-compiler", MissingFileError, "no C compiler 'no-such-compiler'"),
        ("false", FileError, "cannot compile"),
    ],
)
def test_without_a_compiler_nothing_is_left(tmp_path, monkeypatch, compiler, error, words):
    monkeypatch.setenv("CC", compiler)
    with pytest.raises(error, match=words):
        rd.export(rd.load("double_pendulum"), ["step"], "fmu", tmp_path / "code")
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    """Sources are compiled in a folder for temporary files, which may be on a disk of its own."""

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_text", full)
    with pytest.raises(FileError, match="No space left"):
        rd.export(rd.load("double_pendulum"), ["step"], "fmu", tmp_path / "code")
    assert not list(tmp_path.iterdir())
