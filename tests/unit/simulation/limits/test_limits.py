"""Limits of joints in a simulation: told, kept, or left alone."""

import dataclasses
import warnings

import numpy as np
import pytest
from support.bundled import bundled
from support.slides import slides

import robodyn as rd
from robodyn import urdf
from robodyn.cli import main
from robodyn.errors import LimitWarning
from robodyn.simulation.limits.bounds import effort_bounds
from robodyn.simulation.limits.joint_limits import limit_violations


def slider(limit, motor="", joint="prismatic"):
    """A mass of 2 kg on a rail along x: a force F moves it by F t^2 / 4."""
    return f"""<robot name="slider"><link name="base"/><link name="cart"><inertial><mass value="2"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="rail" type="{joint}"><parent link="base"/><child link="cart"/><axis xyz="1 0 0"/>
{limit}</joint>{motor}</robot>"""


LIMIT = '<limit lower="-1" upper="0.5" velocity="1.5" effort="97"/>'


def pushed(robot, force, **options):
    return rd.simulate(robot, lambda t, q, v: [force], duration=1.0, step=1e-2, **options)


def test_what_is_left_when_and_by_how_much():
    """A force of 4 N: v = 2 t passes 1.5 after 0.75 s, x = t^2 passes 0.5 after 0.7072 s."""
    robot = rd.load(slider(LIMIT))
    with pytest.warns(LimitWarning) as told:
        run = pushed(robot, 4.0)
    position, velocity = run.limit_violations
    assert (position.joint, position.limit, position.bound) == ("rail", "position", 0.5)
    assert position.start == pytest.approx(0.71) and position.time == pytest.approx(1.0)
    assert position.worst == pytest.approx(1.0) and position.unit == "m"
    assert (velocity.limit, velocity.bound, velocity.unit) == ("velocity", 1.5, "m/s")
    assert velocity.start == pytest.approx(0.76) and velocity.worst == pytest.approx(2.0)
    assert len(told) == 1
    text = str(told[0].message)
    assert "\n" not in text and "2 limits" in text and "'rail'" in text and "0.71 s" in text


def test_enforced_efforts_are_what_acts_and_is_recorded():
    robot = rd.load(slider(LIMIT))
    run = pushed(robot, 1e4, limits="enforce")
    assert np.array_equal(run.tau, np.full((101, 1), 97.0))
    np.testing.assert_allclose(run.a, 97.0 / 2.0)
    np.testing.assert_allclose(run.q[-1], 97.0 / 4.0)
    assert "effort" not in {violation.limit for violation in run.limit_violations}
    within = pushed(robot, -5.0, limits="enforce")
    assert np.array_equal(within.tau, np.full((101, 1), -5.0))


@pytest.mark.parametrize("limits", ["ignore", "report"])
def test_efforts_are_left_alone_unless_enforced(limits):
    with warnings.catch_warnings(record=True, action="always") as told:
        run = pushed(rd.load(slider(LIMIT)), 1e4, limits=limits)
    assert (run.tau == 1e4).all()
    assert len(told) == (limits == "report")


def test_a_motor_is_limited_through_its_gear():
    motor = '<motor joint="rail" gear_ratio="-10" torque_limit="0.5"/>'
    robot = rd.load(slider(LIMIT, motor))
    assert effort_bounds(robot).tolist() == [5.0]
    assert np.abs(pushed(robot, 1e4, limits="enforce").tau).max() == 5.0
    strong = rd.load(slider(LIMIT, motor.replace('"0.5"', '"1000"')))
    assert effort_bounds(strong).tolist() == [97.0]
    idle = rd.load(slider(LIMIT, motor.replace("-10", "0")))
    assert effort_bounds(idle).tolist() == [97.0]
    shaft = strong.motor_torques([0.0], [0.0], [0.0])
    assert np.abs(shaft).max() <= strong.motor_torque_limits[0]


def test_zero_counts_as_not_given(capsys, tmp_path):
    zeros = '<limit lower="-1" upper="1000" velocity="0" effort="0"/>'
    robot = rd.load(slider(zeros, '<motor joint="rail" torque_limit="0"/>'))
    run = pushed(robot, 50.0, limits="enforce")
    assert run.limit_violations == ()
    assert (run.tau == 50.0).all()
    (tmp_path / "zeros.urdf").write_text(slider(zeros))
    assert main(["check", str(tmp_path / "zeros.urdf")]) == 0
    assert "zero counts as not given" in capsys.readouterr().out


def test_many_motions_at_once():
    robot = rd.load(slider(LIMIT))
    force = np.array([[0.1], [-200.0], [300.0]])
    options = {"duration": 0.1, "step": 1e-2}
    start = np.zeros((3, 1)), np.zeros((3, 1))
    with pytest.warns(LimitWarning) as told:
        run = rd.rollout(robot, lambda t, q, v: force, *start, **options)
    assert len(told) == 1
    efforts = [violation for violation in run.limit_violations if violation.limit == "effort"]
    assert {(e.motion, e.bound, e.worst) for e in efforts} == {
        ((1,), -97.0, -200.0), ((2,), 97.0, 300.0),
    }  # fmt: skip
    cut = rd.rollout(robot, lambda t, q, v: force, *start, limits="enforce", **options)
    assert cut.tau[0].ravel().tolist() == [0.1, -97.0, 97.0]
    assert run[:1].limit_violations and run[0].limit_violations
    assert run[:0].limit_violations == ()


@pytest.mark.parametrize("motions", [1, 3, 40, 1000])
def test_the_first_and_the_worst_of_many_samples_of_many_motions(motions):
    """Wherever they stand, with motions beside them that have ended, and NaN from then on."""
    robot, rng = rd.load(slider(LIMIT)), np.random.default_rng(0)
    n = 50_000 // motions + 7
    t, zeros = np.arange(n) * 0.5, np.zeros((n, motions, 1))
    for _ in range(10):
        first, worst = np.sort(rng.choice(n, 2, replace=False))
        motion = int(rng.integers(motions))
        q = rng.uniform(-0.9, 0.4, zeros.shape)
        if motions > 1:
            q[n // 2 :, motion - 1] = np.nan
        q[first, motion], q[worst, motion] = -1.5, -2.0
        (found,) = limit_violations(robot, t, q, zeros, zeros)
        assert (found.start, found.time) == (t[first], t[worst])
        assert (found.bound, found.worst, found.motion) == (-1.0, -2.0, (motion,))


def test_a_motion_without_a_robot():
    run = rd.simulate(bundled("double_pendulum"), duration=0.01)
    alone = rd.Trajectory(run.t, run.q, run.v, run.a, run.tau, run.energy, run.loop_residual)
    with pytest.raises(rd.SettingsError, match="does not know what moved"):
        alone.limit_violations  # noqa: B018


def test_the_command(tmp_path, capsys):
    (tmp_path / "slider.urdf").write_text(slider(LIMIT.replace("97", "0.01")))
    command = ["sim", str(tmp_path / "slider.urdf"), "--out", str(tmp_path), "--no-plot"]
    command += ["--duration", "0.5"]
    assert main(command) == 0
    assert "the effort of 'rail'" in capsys.readouterr().out
    assert main([*command, "--limits", "ignore"]) == 0
    assert "the effort of 'rail'" not in capsys.readouterr().out
    assert main([*command, "--limits", "enforce"]) == 0
    assert "largest torque          0.01 N; up to" in capsys.readouterr().out


PENDULA = """<robot name="pendula"><link name="base"/>
<link name="a"><inertial><origin xyz="0 0 -1"/><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="b"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="free" type="continuous"><parent link="base"/><child link="a"/>
<axis xyz="0 1 0"/></joint>
<joint name="follower" type="revolute"><parent link="base"/><child link="b"/><axis xyz="0 1 0"/>
<mimic joint="free" multiplier="-2" offset="0.1"/>
<limit lower="-1" upper="1.5" velocity="0.7" effort="0"/></joint></robot>"""


@pytest.mark.parametrize("coordinates", ["tree", "minimal"])
def test_a_joint_that_is_cut(coordinates):
    text = urdf.write(bundled("four_bar").mechanism)
    head, tail = text.split('<joint name="rocker_pin"', 1)
    limited = tail.replace("continuous", "revolute", 1).replace(
        "</joint>", '<limit lower="-0.05" upper="0.4" velocity="0.5"/></joint>', 1
    )
    robot = rd.load(f'{head}<joint name="rocker_pin"{limited}', coordinates=coordinates)
    q = robot.neutral()
    path = {"crank_drive": lambda t: (t, 1.0, 0.0)}
    v = robot.consistent_velocity(q, np.eye(robot.nv)[0], hold=["crank_drive"])
    options = {"duration": 1.0, "step": 1e-2, "limits": "ignore"}
    run = rd.simulate(robot, q0=q, v0=v, controlled=path, **options)
    tree = robot.tree_form if coordinates == "minimal" else robot
    wide = [tree.frame_pose(robot.expand(x) if coordinates == "minimal" else x, link)
            for x in (run.q[0], run.q[-1]) for link in ("coupler", "rocker")]  # fmt: skip
    tilt = [np.arctan2(X[0, 2], X[0, 0]) for X in wide]  # about y
    turned = (tilt[3] - tilt[2]) - (tilt[1] - tilt[0])
    found = {violation.limit: violation for violation in run.limit_violations}
    assert found["position"].joint == found["velocity"].joint == "rocker_pin"
    last = robot.joint_positions(run.q[-1])["rocker_pin"]
    assert last == pytest.approx(turned, abs=1e-9)
    assert abs(found["position"].worst) >= abs(last) - 1e-12


@pytest.mark.parametrize("way", [1.0, -1.0])
@pytest.mark.parametrize("limits", [{"lower": -0.01}, {"upper": 0.01}])
def test_a_slider_that_is_cut_and_has_a_limit_on_one_side(limits, way):
    mechanism = bundled("crank_slider").mechanism
    joints = {joint.name: joint for joint in mechanism.joints}
    joints["cylinder"] = dataclasses.replace(joints["cylinder"], limits=rd.Limits(**limits))
    text = urdf.write(dataclasses.replace(mechanism, joints=tuple(joints.values())))
    robot = rd.load(text.replace('<joint name="cylinder" ', '<joint name="cylinder" cut="true" '))
    assert robot.joints["cylinder"].cut
    path = {"crank_drive": lambda t: (way * t, way, 0.0)}
    v0 = robot.consistent_velocity(robot.neutral(), [way, 0.0, 0.0], hold=["crank_drive"])
    options = {"duration": 0.6, "step": 1e-2, "limits": "ignore"}
    run = rd.simulate(robot, v0=v0, controlled=path, **options)
    x = run["cylinder"].q
    beyond = x.min() < -0.01 if "lower" in limits else x.max() > 0.01
    assert beyond == (("upper" in limits) == (way > 0.0))
    found = [violation for violation in run.limit_violations if violation.limit == "position"]
    assert [violation.joint for violation in found] == ["cylinder"] * int(beyond)
    assert all(violation.bound in limits.values() for violation in found)


@pytest.mark.parametrize("way", [1.0, -1.0])
@pytest.mark.parametrize("limits", [{"lower": -0.05}, {"upper": 0.05}, {"lower": 0.0}])
def test_an_angle_that_is_cut_and_has_a_limit_on_one_side(four_bar, limits, way):
    """It starts within its limit, and what it passes from there on is no whole turn."""
    joints = {joint.name: joint for joint in four_bar.mechanism.joints}
    joints["rocker_pin"] = dataclasses.replace(
        joints["rocker_pin"], kind="revolute", limits=rd.Limits(**limits)
    )
    robot = rd.load(dataclasses.replace(four_bar.mechanism, joints=tuple(joints.values())))
    assert robot.joints["rocker_pin"].cut
    q0 = robot.neutral()
    path = {"crank_drive": lambda t: (q0[0] + way * t, way, 0.0)}
    v0 = robot.consistent_velocity(q0, way * np.eye(robot.nv)[0], hold=["crank_drive"])
    options = {"duration": 1.0, "step": 1e-2, "limits": "ignore"}
    run = rd.simulate(robot, q0=q0, v0=v0, controlled=path, **options)
    worst = float(four_bar.joint_positions(run.q)["rocker_pin"][-1])
    beyond = worst < limits["lower"] if "lower" in limits else worst > limits["upper"]
    assert beyond == (("upper" in limits) == (way > 0.0))
    found = [violation for violation in run.limit_violations if violation.limit == "position"]
    assert [violation.joint for violation in found] == ["rocker_pin"] * int(beyond)
    assert all(x.worst == pytest.approx(worst, abs=1e-9) for x in found)
    np.testing.assert_allclose(run["rocker_pin"].q[-1], worst, atol=1e-9)


def test_a_joint_that_follows_where_time_does_something():
    wander = rd.Constraint("clock", lambda q, t: q[0] - 0.8 * t * t, ["free"])
    robot = rd.load(PENDULA, constraints=[wander])
    start = np.zeros((2, 1)), np.zeros((2, 1))
    run = rd.rollout(robot, None, *start, duration=1.0, step=1e-2, limits="ignore")
    position = next(x for x in run.limit_violations if x.limit == "position")
    assert position.joint == "follower" and position.worst == pytest.approx(-1.5, abs=1e-4)


@pytest.mark.parametrize("knee", [0.0, 0.6])
def test_a_motor_weakens_the_same_way_in_both_directions(knee):
    """A mirrored push gives the mirrored motion."""
    robot = slides(2.0, limits=(-9.0, 9.0, 0.5, 6.0))
    there, back = (
        rd.simulate(
            robot, lambda t, q, v, push=push: [push], duration=1.0, limits=rd.MotorLimits(knee)
        )
        for push in (50.0, -50.0)
    )
    np.testing.assert_array_equal(back.v, -there.v)
    np.testing.assert_array_equal(back.tau, -there.tau)
    assert there.v.max() < 0.51
    assert there.tau[0, 0] == 6.0 and abs(there.tau[-1, 0]) < 0.2
