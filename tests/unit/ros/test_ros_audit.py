"""What a simulated robot behind commands does is looked at, as `simulate` does with a motion."""

import numpy as np
import pytest
from support.engines import engine
from support.slides import slides

import robodyn as rd
from robodyn.ros.engine.audit import TOGETHER
from robodyn.ros.engine.pacing import Stamps
from robodyn.ros.states.throttled_logger import ThrottledLogger


def hostile_efforts(made, rng):
    """Within the limits of the file, or large ones where there are none."""
    limit = made.commanded.effort
    return rng.uniform(-1.0, 1.0, len(limit)) * np.where(np.isfinite(limit), limit, 50.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["puma560", "delta", "five_bar", "watt", "steering"])
def test_states_under_hostile_efforts_are_those_that_can_be(name):
    """Energy within what the motors worked, by an independent sum; no error, and all is told."""
    made, said = engine(name, command_timeout=1e3)
    robot, rng, speeds = made.robot, np.random.default_rng(0), made.commanded.speeds
    done, tau = 0.0, np.zeros(len(speeds))

    def energies():
        return float(robot.kinetic_energy(made.q, made.v)), float(robot.potential_energy(made.q))

    heights = [energies()[1]]
    for k in range(4000):
        if k % 40 == 0:
            tau = hostile_efforts(made, rng)
        made.command(tau)
        v, broken = made.v[speeds], made.log.counts.get("broken", 0)
        made.advance(2)
        q, _, _, _ = made.observe()
        assert np.isfinite(q).all() and np.isfinite(made.v).all()
        if robot.nc:
            assert np.abs(robot.loop_residual(q)).max() < 1e-3
        kinetic, potential = energies()
        if made.log.counts.get("broken", 0) > broken:  # it begins anew, at rest
            done, heights = 0.0, []
        heights.append(potential)
        done += max(1e-3 * float(tau @ (v + made.v[speeds])), 0.0)
        assert kinetic <= 3.0 * (done + np.ptp(heights)) + 1e-2
    assert any("leaves a limit" in text or "broke down" in text for text in said), said


def test_nothing_is_told_of_a_closed_linkage_that_holds_still():
    """For so many steps that all is examined, singular postures too."""
    made, said = engine("four_bar", controller="gravity")
    made.advance(2 * TOGETHER)
    assert said == []


def test_energy_that_comes_from_nowhere_ends_a_motion():
    """A stiff spring under steps that are too long for it: its energy would grow without bound."""
    stiff = {"stiffness": 4.2e6, "limits": (-9.0, 9.0, 1e9, 9.0)}
    spring = slides(1.0, joint="slide", **stiff)
    made, said = engine(spring, ["slide"])
    made.q[0] = 1e-3
    given = 0.5 * 4.2e6 * 1e-6
    for _ in range(100):
        made.advance(5)
        assert spring.kinetic_energy(made.q, made.v) + spring.potential_energy(made.q) < 5 * given
    assert any("come from nowhere" in text and "lower the parameter step" in text for text in said)
    made, said = engine(spring, ["slide"], step=1e-5)
    made.q[0] = 1e-3
    for _ in range(100):
        made.advance(50)
    assert not said


def test_a_singular_posture_on_the_way_is_told():
    """A parallelogram, whose crank comes to where all its links lie on one line."""
    link = """<link name="{}"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    joint = """<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/>
      <origin xyz="{}"/><axis xyz="0 1 0"/></joint>"""
    robot = rd.load(
        f"""<robot name="flat"><link name="post"/>
        {"".join(link.format(name) for name in ("crank", "coupler", "rocker"))}
        {joint.format("drive", "post", "crank", "0 0 0")}
        {joint.format("pin", "crank", "coupler", "0 0 0.2")}
        {joint.format("pivot", "post", "rocker", "0.5 0 0")}
        <loop name="tip" type="revolute">
        <predecessor link="coupler"><origin xyz="0.5 0 0"/></predecessor>
        <successor link="rocker"><origin xyz="0 0 0.2"/></successor><axis xyz="0 1 0"/></loop>
        </robot>"""
    )
    made, said = engine(robot, ["drive"])
    made.q[:] = robot.assemble([0.8, -0.8, 0.8])
    made.v[:] = robot.consistent_velocity(made.q, [2.0, -2.0, 2.0], hold=["drive"])
    for _ in range(350):
        made.advance(5)
        q, v, _, _ = made.observe()
        assert np.isfinite(q).all() and np.isfinite(v).all()
    assert made.q[0] > 1.8  # it has passed a quarter of a turn
    assert any("comes to a singular posture" in text for text in said), said


@pytest.mark.parametrize("speeds", [1e200, 1e9, np.inf, np.nan])
def test_speeds_of_no_robot_end_a_motion(speeds):
    for name in ("puma560", "four_bar"):
        made, said = engine(name)
        start = made.q.copy()
        made.v[:] = speeds
        made.advance(20)
        assert np.abs(made.q - start).max() < 1.0 and np.abs(made.v).max() < 10.0
        assert any("broke down" in text for text in said)
        assert made.t == pytest.approx(0.02)


def test_stamps_do_not_run_back_unless_the_clock_is_set_back():
    stamps, s = Stamps(), 10**9
    given = [5 * s, 5 * s + 10, 5 * s + 4, 5 * s + 4, 6 * s, 6 * s - s // 2, 2 * s, 2 * s + 5]
    found = [stamps.next(x) for x in given]
    assert found[-2:] == [2 * s, 2 * s + 5]  # set back by seconds
    assert np.all(np.diff(found[:-2]) > 0)
    assert np.abs(np.subtract(found[:-2], given[:-2])).max() <= s // 2 + 1


def test_each_refusal_is_told_and_those_that_come_again_are_counted():
    said, now = [], [0.0]
    log = ThrottledLogger(said.append, 5.0, lambda: now[0])
    for text in ("a", "b", "a", "c", "a"):
        log.each(text)
    assert said == ["a", "b", "c"]
    now[0] = 6.0
    log.each("a")
    assert said[3:] == ["a (2 more like it)"]
    log.each("b")
    log.each("b")
    log("kind", "d")
    log("kind", "e")
    log.close()
    assert said[4:] == ["b", "d", "e (1 more like it)", "b (1 more like it)"]
    log.close()
    assert len(said) == 8


def test_very_many_different_refusals_are_counted():
    said, now = [], [0.0]
    log = ThrottledLogger(said.append, 5.0, lambda: now[0])
    for k in range(10_000):
        log.each(f"refusal {k}")
    assert len(said) < 100
    log.close()
    told = [text for text in said if text.startswith("refusal")]
    (counted,) = (text for text in said if "more like it" in text)
    assert len(told) + 1 + int(counted.partition("(")[2].split()[0]) == 10_000
    now[0] = 6.0
    log.each("another")
    assert said[-1] == "another"
