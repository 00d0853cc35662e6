"""What a cut joint carries beside its constraint: damping, motors, marks."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import robodyn as rd
from robodyn import urdf
from robodyn.errors import ShapeError, TopologyError, UrdfError


def four_bar(joint, **changes):
    """The bundled one with something changed in a joint."""
    mechanism = urdf.load_mechanism("four_bar")
    joints = tuple(
        dataclasses.replace(j, **changes) if j.name == joint else j for j in mechanism.joints
    )
    return dataclasses.replace(mechanism, joints=joints)


def moving():
    robot = rd.load("four_bar")
    q = robot.neutral()
    return robot, q, robot.consistent_velocity(q, [5.0, 0.0, 0.0], hold=["crank_drive"])


@pytest.mark.parametrize("what", ["damping", "friction"])
def test_damping_of_a_cut_joint_brakes(what):
    robot, q, v = moving()
    damped = rd.load(four_bar("rocker_pin", **{what: 0.5}))
    a, b = (r.forward_dynamics(q, v, np.zeros(3)) for r in (robot, damped))
    assert np.abs(a - b).max() > 1e-3


@pytest.mark.parametrize("cut", ["crank_drive", "crank_pin", "rocker_pivot", "rocker_pin"])
def test_damping_is_the_same_wherever_the_loop_is_cut(cut):
    """Every joint has some; the links accelerate as they do with another joint cut."""
    mechanism = urdf.load_mechanism("four_bar")
    damped = [dataclasses.replace(j, damping=0.3, friction=0.2) for j in mechanism.joints]
    text = urdf.write(dataclasses.replace(mechanism, joints=tuple(damped), actuators=()))
    found = {}
    for marked in ("rocker_pin", cut):
        mark = f'<joint name="{marked}" '
        assert mark in text
        robot = rd.load(text.replace(mark, f'{mark}cut="true" '))
        assert [c.name for c in robot.loops] == [marked]
        q = robot.neutral()
        assert np.abs(q).max() < 1e-12
        v = np.linalg.svd(robot.loop_jacobian(q))[2][-1]  # the motion that the loop leaves
        v = v / robot.frame_twist(q, v, "crank")[4] * 5.0
        a = robot.forward_dynamics(q, v, np.zeros(3))
        found[marked] = robot.frame_acceleration(q, v, a, "crank")
        again = rd.load(urdf.write(robot.mechanism))
        np.testing.assert_allclose(again.forward_dynamics(q, v, np.zeros(3)), a, rtol=1e-12)
    np.testing.assert_allclose(found[cut], found["rocker_pin"], atol=1e-9)


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        ('<dynamics spring_stiffness="1"/>', "no spring"),
        ('<dynamics damping="-1"/>', "negative"),
        ('<mimic joint="rocker_pivot"/>', "cannot mimic"),
    ],
)
def test_what_a_joint_that_closes_a_loop_cannot_have(inner, words):
    loop = (
        '<loop name="more" type="spherical"><predecessor link="crank"/><successor link="rocker"/>'
        f"{inner}</loop></robot>"
    )
    text = urdf.write(urdf.load_mechanism("four_bar")).replace("</robot>", loop)
    with pytest.raises(UrdfError, match=words):
        rd.load(text)


def test_a_spring_in_a_cut_joint_is_refused():
    with pytest.raises(TopologyError, match="spring"):
        rd.load(four_bar("rocker_pin", stiffness=1.0))


PINS = ("crank_drive", "crank_pin", "rocker_pivot", "rocker_pin")


@pytest.mark.parametrize("without", PINS[1:])  # the first has one in the file
def test_the_joint_without_a_motor_is_cut(without):
    motors = [name for name in PINS if name != without]
    robot = rd.load("four_bar", actuators={name: rd.Actuator() for name in motors})
    assert set(robot.actuated_joints) == set(motors)
    assert [cut.name for cut in robot.loops] == [without]


def test_a_loop_of_motors_is_refused():
    with pytest.raises(TopologyError, match=r"rocker_pin.* has a motor"):
        rd.load("four_bar", actuators={name: rd.Actuator() for name in PINS})


def test_any_joint_of_a_loop_can_be_marked_as_cut(tmp_path):
    """As the message about springs in cut joints advises."""
    path = tmp_path / "four_bar.urdf"
    urdf.write(urdf.load_mechanism("four_bar"), path)
    mark = '<joint name="rocker_pivot" '
    assert mark in path.read_text()
    robot = rd.load(path.read_text().replace(mark, f'{mark}cut="true" '))
    assert [c.name for c in robot.loops] == ["rocker_pivot"]


def test_the_function_behind_a_method_honours_loops():
    robot, q, v = moving()
    f, tau = robot.function("forward_dynamics"), np.zeros(3)
    np.testing.assert_allclose(f(q, v, tau), robot.forward_dynamics(q, v, tau), atol=1e-9)


@pytest.mark.parametrize("wrong", ["q", "v", "tau"])
@pytest.mark.parametrize("size", [2, 4])
def test_shapes_of_constrained_dynamics(wrong, size):
    robot, q, v = moving()
    given = {"q": q, "v": v, "tau": np.zeros(3)}
    robot.constrained_dynamics(*given.values())
    given[wrong] = np.ones(size)
    with pytest.raises(ShapeError, match=rf"{wrong} has shape \({size},\), expected .*3") as caught:
        robot.constrained_dynamics(*given.values())
    assert caught.value.name == wrong
