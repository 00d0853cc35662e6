"""``robodyn sim``, as a person calls it."""

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from support.bundled import bundled

import robodyn as rd
from robodyn.cli import main
from robodyn.controllers import JointPD, PointToPoint

SHORT = ["--duration", "0.3", "--no-plot"]
LOOPS = [name for name in rd.robots() if bundled(name).nc]


@pytest.fixture
def sim(tmp_path, monkeypatch, capsys):
    """Run it in an empty folder; status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        status = main(["sim", *arguments])
        told = capsys.readouterr()
        return status, told.out, told.err

    return run


@pytest.mark.parametrize(
    ("name", "error", "torque"),
    [("puma560", r"\S+ rad\n", r"\S+ N m;"), ("scara", r"\S+ rad, \S+ m\n", r"\S+ N m, \S+ N;")],
)
def test_the_summary_has_the_units_of_the_joints(name, error, torque, sim):
    status, out, err = sim(name, *SHORT)
    assert status == 0, err
    assert re.search(f"tracking error +{error}", out)
    assert re.search(f"largest torque +{torque}", out)


def loaded(name, robot):
    return rd.Trajectory.load(name, robot)


def tracking_error(out):
    return float(re.search(r"largest tracking error +(\S+)", out)[1])


@pytest.mark.parametrize("name", rd.robots())
def test_every_robot_follows_sines(name, sim):
    status, out, err = sim(name, "--duration", "0.4", "--no-plot")
    assert (status, err) == (0, "")
    assert out.startswith(f"{name}: 0.4 s in 400 steps of rk4; energy gained ")
    assert tracking_error(out) < (0.05 if name == "scara" else 5e-4)  # its screw rubs
    robot = rd.load(name)
    run = loaded(f"out/{name}.csv", robot)
    assert len(run) == 401
    assert run.loop_residual.max() < 1e-9
    motors = [k for x in robot.actuated_joints for k in range(*robot.joints[x].v.indices(99))]
    assert np.abs(run.v[:, motors]).max() > 1e-3


@pytest.mark.parametrize("name", ["puma560", "prosthesis", "palletizer", "stewart", "two_feet"])
def test_steps_are_all_that_keeps_it_from_its_reference(name, sim):
    """Forces are held within steps: half as long ones, half the error, and nothing beside it."""
    errors = []
    for step in ("1e-3", "5e-4"):
        _, out, _ = sim(name, "--duration", "0.1", "--step", step, "--no-plot")
        errors.append(tracking_error(out))
    assert errors[0] < 2e-4
    assert abs(2.0 * errors[1] - errors[0]) < 0.1 * errors[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_as_a_process(name, tmp_path):
    command = [sys.executable, "-m", "robodyn", "sim", name, "--controller", "computed-torque"]
    done = subprocess.run(
        [*command, *SHORT], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert tracking_error(done.stdout) < 5e-4
    assert done.stderr == ""
    assert len(loaded(tmp_path / "out" / f"{name}.csv", rd.load(name))) == 301


def test_it_is_what_the_library_does(double, sim):
    """Options say what `robodyn.simulate` is told."""
    options = ["--controller", "none", "--start", "shoulder=0.3", "--speed", "elbow=-2"]
    options += ["--integrator", "heun", "--step", "0.002", "--every", "3", "--npz", "a.npz"]
    options += ["--wrench", "lower=1,2,3", "--payload", "lower=0.5,0,0,-0.7"]
    assert sim("double_pendulum", *options, *SHORT)[0] == 0
    carrying = double.with_(payload={"lower": rd.Inertia(0.5, pose((0.0, 0.0, -0.7)))})
    run = rd.simulate(
        carrying, q0=[0.3, 0.0], v0=[0.0, -2.0], duration=0.3, step=0.002, every=3,
        integrator="heun", wrenches={"lower": [1, 2, 3, 0, 0, 0]},
    )  # fmt: skip
    read = loaded("a.npz", carrying)
    for name in ("t", "q", "v", "a", "tau"):
        np.testing.assert_array_equal(getattr(read, name), getattr(run, name))


def pose(xyz):
    from robodyn.description import Pose

    return Pose(xyz=xyz)


def test_sines_stay_below_the_speeds_that_joints_may_have(sim, tmp_path):
    """Slow joints get slow sines, at four fifths of their limit."""
    text = rd.urdf.write(rd.load("pan_tilt").mechanism)
    slow = re.sub(r'(<limit [^>]*)velocity="[^"]*"', r'\1velocity="0.05"', text)
    (tmp_path / "slow.urdf").write_text(slow)
    robot = rd.load(tmp_path / "slow.urdf")
    np.testing.assert_array_equal(robot.velocity_limits, 0.05)
    assert sim("slow.urdf", "--duration", "25", "--step", "0.01", "--no-plot")[0] == 0
    run = loaded("out/pan_tilt.csv", robot)
    np.testing.assert_allclose(np.abs(run.v).max(axis=0), 0.04, rtol=0.05)


def test_springs_of_a_batch_are_those_of_its_heaviest_posture(pan_tilt, sim):
    options = ["--batch", "5", "--seed", "1", "--controller", "pd", "--goal", "tilt=0.3"]
    assert sim("pan_tilt", *options, *SHORT)[0] == 0
    run = loaded("out/pan_tilt.npz", pan_tilt)
    felt = np.diagonal(pan_tilt.mass_matrix(run.q[0]), axis1=-2, axis2=-1)
    assert felt[:, 0].argmax() > 0
    k = 400.0 * felt.max(axis=0)
    goal = run.q[0].copy()
    goal[:, pan_tilt.joints["tilt"].q] = 0.3
    reference = PointToPoint(run.q[0], goal, 0.3)
    pd = JointPD(pan_tilt, reference, k, 2.0 * np.sqrt(k * felt.max(axis=0)))
    for t, q, v, tau in zip(run.t, run.q, run.v, run.tau, strict=True):
        np.testing.assert_allclose(tau, pd(t, q, v), atol=1e-9)


@pytest.mark.slow
def test_hold_holds(sim):
    for name in ("puma560", "stewart", "palletizer"):
        assert sim(name, "--controller", "hold", *SHORT)[0] == 0
        run = loaded(f"out/{name}.csv", rd.load(name))
        assert np.abs(run.v).max() < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("controller", ["pd", "computed-torque"])
def test_from_point_to_point(controller, sim):
    options = ["--controller", controller, "--goal", "drive1=0.4", "--arrival", "0.5"]
    status, _, _ = sim("delta", *options, "--duration", "1", "--no-plot")
    run = loaded("out/delta.csv", rd.load("delta"))
    assert status == 0
    end = {name: float(run[name].q[-1]) for name in ("drive1", "drive2", "drive3")}
    assert end == pytest.approx({"drive1": 0.4, "drive2": 0, "drive3": 0}, abs=5e-3)


def test_a_payload_that_the_controller_knows(sim):
    errors = []
    for known in ([], ["--payload-known"]):
        _, out, _ = sim("puma560", "--payload", "2", *known, *SHORT)
        errors.append(tracking_error(out))
    assert errors[1] < 0.1 * errors[0]


def test_a_posture_of_a_linkage(sim):
    joints = ["--start", "crank_drive=1", "--speed", "crank_drive=2"]
    assert sim("four_bar", "--controller", "none", *joints, *SHORT)[0] == 0
    run = loaded("out/four_bar.csv", rd.load("four_bar"))
    assert (run["crank_drive"].q[0], run["crank_drive"].v[0]) == pytest.approx((1.0, 2.0))
    assert sim("four_bar", "--near", "crank_drive=0.7", "--controller", "none", *SHORT)[0] == 0
    run = loaded("out/four_bar.csv", rd.load("four_bar"))
    assert run["crank_drive"].q[0] == pytest.approx(0.7)


def test_a_random_start_is_that_of_its_seed(four_bar, sim):
    assert sim("four_bar", "--seed", "4", "--controller", "none", *SHORT)[0] == 0
    run = loaded("out/four_bar.csv", four_bar)
    np.testing.assert_allclose(run.q[0], four_bar.random(4), atol=1e-9)


def test_a_batch(five_bar, sim):
    status, out, _ = sim("five_bar", "--batch", "3", "--seed", "2", *SHORT)
    assert status == 0
    assert "0.3 s 3 times in 300 steps" in out
    assert tracking_error(out) < 5e-4
    run = loaded("out/five_bar.npz", five_bar)
    rng = np.random.default_rng(2)
    np.testing.assert_allclose(run.q[0], [five_bar.random(rng) for _ in range(3)], atol=1e-9)
    options = ["--batch", "2", "--controller", "none", "--stop-when", "shoulder > 3.5"]
    assert sim("double_pendulum", *options, *SHORT)[0] == 0


@pytest.mark.slow
def test_a_floating_base(sim):
    start = ["--start", "floating_base=0,0,1,0,0,0,1", "--controller", "none"]
    assert sim("arm7", "--base", "floating", *start, *SHORT)[0] == 0
    run = loaded("out/arm7.csv", rd.load("arm7", base="floating"))
    np.testing.assert_allclose(run.q[-1, 2], 1.0 - 0.5 * 9.81 * 0.09, rtol=1e-6)
    assert sim("stewart", "--base", "floating", *SHORT)[0] == 0


TABLE = "t,x,y,z,qx,qy,qz,qw\n" + "".join(f"{t},0,0,{t * t},0,0,0,1\n" for t in (0, 0.1, 0.2, 0.3))


@pytest.mark.slow
def test_a_base_that_moves(sim, tmp_path):
    """It holds the weight, and accelerates upwards by 2 m/s^2."""
    (tmp_path / "lift.csv").write_text(TABLE)
    assert sim("puma560", "--base-path", "lift.csv", "--controller", "hold", *SHORT)[0] == 0
    robot = rd.load("puma560", base="moving")
    run = loaded("out/puma560.csv", robot)
    up = rd.BaseMotion.from_world(linear_acceleration=(0, 0, 2.0))
    zero = np.zeros(6)
    np.testing.assert_allclose(
        run.tau[0], robot.inverse_dynamics(run.q[0], zero, zero, base=up), atol=1e-6
    )


def test_limits_are_told_once(sim):
    options = ["--limits", "enforce", "--payload", "15", "--duration", "1", "--no-plot"]
    status, out, err = sim("puma560", *options)
    assert (status, err) == (0, "")
    assert "limit left              the velocity of 'joint2'" in out
    assert "up to 100 % of the limit" in out


def test_conditions_that_hold_at_the_start_of_some_motion(sim):
    status, _, err = sim("five_bar", "--batch", "3", "--stop-when", "left_drive > 2")
    assert status == 2
    assert re.search(r"holds at the start of motion \d already: it is 2.7", err)


def test_conditions_that_end_it(sim):
    options = ["--controller", "none", "--start", "shoulder=0.5", "--duration", "5", "--no-plot"]
    status, out, _ = sim("double_pendulum", *options, "--stop-when", "shoulder < -0.1")
    assert status == 0
    assert re.search(r"at 0\.\d+ +shoulder < -0.1", out)
    run = loaded("out/double_pendulum.csv", rd.load("double_pendulum"))
    assert run.q[-1, 0] == pytest.approx(-0.1, abs=1e-9)
    sim("double_pendulum", *options, "--stop-when", "speed of elbow > 0.5")
    run = loaded("out/double_pendulum.csv", rd.load("double_pendulum"))
    assert run.v[-1, 1] == pytest.approx(0.5, abs=1e-9)
    cut = ["--controller", "none", "--speed", "crank_drive=6", "--stop-when", "rocker_pin < -0.4"]
    assert sim("four_bar", *cut, *SHORT)[0] == 0
    run = loaded("out/four_bar.csv", rd.load("four_bar"))
    assert run["rocker_pin"].q[-1] == pytest.approx(-0.4, abs=1e-9)


def test_stops_and_ground(sim):
    arm = ["--controller", "none", "--seed", "3", "--duration", "0.6", "--no-plot"]
    _, out, _ = sim("arm7", *arm, "--stops", "rigid,0.5")
    assert "shoulder_pitch at its lower stop" in out
    assert sim("arm7", *arm, "--stops", "compliant,1e4,0.1")[0] == 0
    pendulum = ["--controller", "none", "--start", "shoulder=1", "--duration", "1", "--no-plot"]
    lowest = []
    below = ["--ground", "lower=0,0,-1", "--ground-height", "-1.7"]
    touching = rd.Ground({"point1": ("lower", (0.0, 0.0, -1.0))}, height=-1.7)
    for options, ground in (([], ()), (below, touching)):
        assert sim("double_pendulum", *pendulum, *options)[0] == 0
        robot = rd.load("double_pendulum", ground=ground)
        run = loaded("out/double_pendulum.csv", robot)
        X = robot.frame_pose(run.q, "lower")
        lowest.append((X[:, 2, 3] - X[:, 2, 2]).min())
    assert lowest[0] < -1.75 < -1.72 < lowest[1]


@pytest.mark.slow
def test_files(double, sim, tmp_path):
    files = ["--csv", "a.csv", "--npz", "b.npz", "--plot", "c.svg", "--bag", "d.mcap", "--to", "e"]
    status, out, _ = sim("double_pendulum", *files, "--duration", "0.1")
    assert status == 0
    names = ["a.csv", "b.npz", "c.svg", "d.mcap", "e"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert [name for name in names if f"written                 {name}\n" in out] == names
    motions = [loaded(name, double) for name in names if name != "c.svg"]
    for run in motions[1:]:
        np.testing.assert_allclose(run.q, motions[0].q, atol=1e-12)
    sim("double_pendulum", "--duration", "0.1", "--out", "deep/er", "--plot", "--npz")
    assert sorted(p.name for p in (tmp_path / "deep/er").iterdir()) == [
        "double_pendulum.npz", "double_pendulum.png",
    ]  # fmt: skip


def test_a_motion_that_breaks_down(sim):
    """What came before is written, and the status says that it is not all."""
    options = ["--controller", "none", "--start", "shoulder=2", "--step", "0.5", "--speed"]
    status, _, err = sim(
        "double_pendulum", *options, "elbow=50", "--duration", "500", "--no-plot",
        "--integrator", "euler",
    )  # fmt: skip
    assert status == 2
    assert "no longer finite" in err
    assert err.count("robodyn: ") == err.count("\n")
    run = loaded("out/double_pendulum.csv", rd.load("double_pendulum"))
    assert 1 < len(run) < 1001


def test_energy_that_does_not_add_up_is_told_in_a_line(sim):
    options = ["--controller", "none", "--start", "shoulder=2", "--step", "0.05"]
    status, _, err = sim("double_pendulum", *options, "--integrator", "euler", "--no-plot")
    assert status == 0
    assert err.startswith("robodyn: warning: the energy of the motion")
    assert err.count("\n") == 1


WRONG = [
    (["--step", "0"], "--step is '0', expected a number > 0 [s]"),
    (["--step", "x"], "--step is 'x'"),
    (["--duration", "-1"], "--duration is '-1', expected a number >= 0 [s]"),
    (["--duration", "nan"], "--duration is 'nan'"),
    (["--tolerance", "0", "--integrator", "adaptive"], "--tolerance is '0'"),
    (["--tolerance", "1e-6"], "steps of given length"),
    (["--every", "0"], "--every is '0', expected a whole number >= 1"),
    (["--every", "1.5"], "--every is '1.5'"),
    (["--integrator", "rk5"], "--integrator is 'rk5', expected one of euler"),
    (["--controller", "lqr"], "expected one of none, hold, pd, computed-torque"),
    (["--reference", "square"], "--reference is 'square'"),
    (["--base", "wobbly"], "--base is 'wobbly', expected one of fixed, floating, moving"),
    (["--base", "moving"], "--base moving needs --base-path"),
    (["--limits", "maybe"], "--limits is 'maybe', expected one of ignore, report, enforce"),
    (["--stiffness", "1,2"], "--stiffness is 1,2, expected a number >= 0, or 6"),
    (["--stiffness", "-1"], "--stiffness is -1, expected a number >= 0, or 6"),
    (["--damping", "stiff"], "--damping is 'stiff'"),
    (["--amplitude", "0"], "--amplitude is '0'"),
    (["--goal", "joint1=1", "--amplitude", "1"], "--amplitude is for --reference sine"),
    (["--goal", "elbow=1"], "--goal: 'elbow' is no motor of 'puma560'; there are joint1"),
    (["--goal", "joint1"], "--goal is 'joint1', expected JOINT=POSITION"),
    (["--reference", "point-to-point"], "needs --goal"),
    (["--controller", "none", "--stiffness", "1"], "--stiffness is given, but --controller none"),
    (["--start", "joint1"], "--start is 'joint1', expected JOINT=POSITION"),
    (["--start", "joint1=1", "--start", "joint1=2"], "--start gives 'joint1' twice"),
    (["--start", "joint1=1,2"], "joint 'joint1' got 2 numbers, expected a number"),
    (["--start", "jont1=1"], "did you mean 'joint1'"),
    (["--speed", "jont1=1"], "did you mean 'joint1'"),
    (["--near", "joint1=1"], "--near is for closed linkages"),
    (["--seed", "-1"], "--seed is '-1', expected a whole number >= 0"),
    (["--batch", "0"], "--batch is '0', expected a whole number >= 1"),
    (["--batch", "2", "--csv"], "--csv holds one motion"),
    (["--batch", "2", "--tolerance", "1e-6"], "--tolerance does not go with --batch"),
    (["--payload", "heavy"], "--payload is 'heavy', expected a number >= 0 [kg]"),
    (["--payload", "link6=1,2"], "--payload is 'link6=1,2', expected"),
    (["--payload", "hand=1"], "no link 'hand'"),
    (["--payload-known"], "but no --payload"),
    (["--wrench", "link6=1"], "--wrench is 'link6=1', expected LINK=FX,FY,FZ or"),
    (["--wrench", "hand=1,0,0"], "hand"),
    (["--stops", "rubber"], "--stops is 'rubber', expected rigid"),
    (["--stops", "rigid,2"], "--stops is 'rigid,2'"),
    (["--stops", "compliant"], "--stops is 'compliant'"),
    (["--stop-when", "joint1"], "--stop-when is 'joint1', expected"),
    (["--stop-when", "joint1 > x"], "--stop-when is 'joint1 > x', expected"),
    (["--stop-when", "jont1 > 1"], "did you mean 'joint1'"),
    (["--stop-when", "joint1 > -9"], "holds at the start already"),
    (["--ground", "link6=1"], "--ground is 'link6=1', expected LINK=X,Y,Z"),
    (["--ground-height", "1"], "but no --ground LINK=X,Y,Z"),
    (["--ground", "link6=0,0,0", "--ground-stiffness", "0"], "--ground-stiffness is '0'"),
    (["--stabilization", "1,2,3"], "--stabilization is '1,2,3', expected ALPHA"),
    (["--csv", "a.txt"], "--csv is 'a.txt', expected a name ending in .csv"),
    (["--plot", "a.txt"], "a.txt"),
    (["--plot", "--no-plot"], "contradict"),
    (["--csv", "no/a.csv"], "--csv: cannot write 'no/a.csv': no such folder: 'no'"),
    (["--npz", "no/a.npz"], "--npz: cannot write 'no/a.npz': no such folder: 'no'"),
    (["--plot", "no/a.png"], "--plot: cannot write 'no/a.png': no such folder: 'no'"),
    (["--bag", "no/a.mcap"], "--bag: cannot write 'no/a.mcap': no such folder: 'no'"),
    (["--to", "no/a"], "--to: cannot write 'no/a': no such folder: 'no'"),
    (["--csv", "there.csv"], "'there.csv' is a folder"),
    (["--to", "."], "--to: '.' is there already; give the name of a new folder"),
    (["--to", "there.csv"], "'there.csv' is there already"),
    (["--bag", "there.csv"], "'there.csv' is there already"),
    (["--out", "file/deep"], "--out: cannot make the folder 'file/deep'"),
    (["--base-path", "none.csv"], "--base-path: cannot read 'none.csv': No such file"),
    (["--base-path", "file"], "file, line 1: 'hello', expected eight numbers"),
    (["--base-path", "short.csv"], "is about 0 s to 0.3 s, the motion lasts from 0 to 4 s"),
    (["--base-path", "back.csv"], "t = 0.2 s comes after 0.3 s"),
]


@pytest.mark.parametrize(("arguments", "told"), WRONG, ids=lambda x: " ".join(x)[:40])
def test_what_makes_no_sense_is_one_line(arguments, told, sim, tmp_path, monkeypatch):
    """And nothing was simulated for it."""
    (tmp_path / "there.csv").mkdir()
    (tmp_path / "file").write_text("hello")
    (tmp_path / "short.csv").write_text(TABLE)
    (tmp_path / "back.csv").write_text(f"{TABLE}0.2,0,0,0,0,0,0,1\n")
    before = sorted(tmp_path.iterdir())
    status, out, err = sim("puma560", *arguments)
    assert status == 2
    assert told in err
    assert err.startswith("robodyn: ")
    assert err.count("\n") == 1
    assert out == ""
    assert [x for x in sorted(tmp_path.iterdir()) if x.name != "out"] == before


def test_random_postures_are_near_nothing(sim):
    for more in (["--seed", "1"], ["--batch", "2"]):
        status, _, err = sim("four_bar", "--near", "crank_drive=1", *more)
        assert status == 2
        assert "--near does not go with --seed or --batch" in err


def test_a_joint_without_a_coordinate_of_its_own(sim):
    status, _, err = sim("four_bar", "--start", "rocker_pin=0.1")
    assert status == 2
    assert "--near looks for a posture near it" in err


def test_pictures_need_an_extra(sim, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, out, _ = sim("double_pendulum", "--duration", "0.01")
    assert status == 0
    assert "no picture: drawing a trajectory needs matplotlib" in out
    status, out, err = sim("double_pendulum", "--duration", "0.01", "--plot", "a.png")
    assert (status, out) == (2, "")
    assert "[plot]" in err


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["double_pendulum", "four_bar"])
def test_ctrl_c_keeps_what_there_is(robot, tmp_path):
    """A terminal shows a bar; after a signal the files have what was simulated."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "robodyn", "sim", robot, "--controller", "none"]
    command += ["--duration", "2e4", "--every", "1000", "--npz", "run.npz", "--no-plot"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, text=True
    ) as process:
        os.close(theirs)
        shown = b""
        while shown.count(b"\r  [") < 4:
            shown += os.read(ours, 1000)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=250)
        shown += os.read(ours, 10_000)
    os.close(ours)
    assert process.returncode == 130
    assert re.search(rb"%\r\nrobodyn: interrupted at \S+ s of 20000 s", shown)
    run = loaded(tmp_path / "run.npz", rd.load(robot))
    assert 50.0 <= run.t[-1] < 2e4
    assert out.startswith(f"{robot}: {run.t[-1]:g} s in ")
    assert "written                 run.npz" in out
