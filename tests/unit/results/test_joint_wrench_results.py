"""What `Robot.joint_wrenches` returns: batches, frames, parts, roles, names."""

import numpy as np
import pytest
from support.comparison import close_within
from support.random_mechanisms import random_mechanism

import robodyn as rd

close = close_within(1e-10)


def in_world(X_WB, wrench, about):
    force = X_WB[:3, :3] @ wrench[:3]
    return np.array([*force, *(X_WB[:3, :3] @ wrench[3:] + np.cross(X_WB[:3, 3] - about, force))])


@pytest.fixture(scope="module")
def robot():
    rng = np.random.default_rng(4)
    mechanism = random_mechanism(rng, ["revolute", "spherical", "fixed", "prismatic"], damping=0.2)
    return rd.load(mechanism, base="moving")


def state(robot, *batch):
    rng = np.random.default_rng(5)
    q = np.array([robot.random(rng) for _ in range(int(np.prod(batch)))])
    v, a = rng.normal(size=(2, *batch, robot.nv))
    base = rd.BaseMotion.from_world(
        rng.normal(size=(*batch, 3)), rng.normal(size=(*batch, 4)), *rng.normal(size=(4, *batch, 3))
    )
    return q.reshape(*batch, robot.nq), v, a, base


def row(base, i):
    return rd.BaseMotion(base.pose[i], base.twist[i], base.acceleration[i])


def test_parts_are_those_of_the_state_that_was_given_though_its_arrays_change(robot):
    q, v, a, base = state(robot, 1)
    push = {"link4": np.ones((1, 6))}
    expected = robot.joint_wrenches(q, v, a, wrenches=push, base=base)
    motor, world = dict(expected.motor), dict(expected.in_frame("world"))
    for _ in range(2):  # the second call goes to machine code
        arrays = [x.copy() for x in (q, v, a)]
        pushed, carried = {"link4": push["link4"].copy()}, row(base, slice(None))
        carried = rd.BaseMotion(*(x.copy() for x in vars(carried).values()))
        result = robot.joint_wrenches(*arrays, wrenches=pushed, base=carried)
        for x in (*arrays, pushed["link4"]):
            x[...] = 0.25
        for x in vars(carried).values():
            if x.flags.writeable:
                x[..., 0] = 0.25
        for joint in robot.joint_names:
            close(result.motor[joint], motor[joint])
            close(result.in_frame("world")[joint], world[joint])


def test_in_other_frames(robot):
    q, v, a, base = state(robot)
    found = robot.joint_wrenches(q, v, a, base=base)
    about = robot.frame_pose(q, "link2", base=base)
    R_WL = about[:3, :3]
    world, link2 = found.in_frame("world"), found.in_frame("link2")
    for name in found:
        child = "link0" if name == "base" else robot.joints[name].child
        X_WC = robot.frame_pose(q, child, base=base)
        close(world[name], in_world(X_WC, found[name], np.zeros(3)))
        expected = in_world(X_WC, found[name], about[:3, 3])
        close(link2[name], (expected.reshape(2, 3) @ R_WL).ravel())
        close(found.in_frame(child)[name], found[name])


def test_parts_add_up_and_a_fixed_joint_has_no_motor(robot):
    q, v, a, base = state(robot)
    names = ("joint2", "joint0")
    found = robot.joint_wrenches(q, v, a, joints=names, base=base)
    everything = robot.joint_wrenches(q, v, a, base=base)
    assert tuple(found) == (*names, "base")
    close(found["joint0"], everything["joint0"])
    assert not found.motor["joint2"].any() and not found.passive["joint2"].any()
    close(found.bearing["joint2"], found["joint2"])
    for name in names:
        close(found.motor[name] + found.passive[name] + found.bearing[name], found[name])
    assert "joint2" not in everything and "joint2" in found


def test_names_and_shapes_that_do_not_fit(robot):
    q, v, a, base = state(robot)
    found = robot.joint_wrenches(q, v, a, base=base)
    for wrong in (
        lambda: robot.joint_wrenches(q, v, a, joints=["joint00"], base=base),
        lambda: found["joint00"],
        lambda: found.motor["joint00"],
        lambda: robot.joint_wrenches(q, v, joints=["joint00"], base=base),
    ):
        with pytest.raises(rd.UnknownNameError) as unknown:
            wrong()
        assert "joint0" in unknown.value.suggestions
    with pytest.raises(rd.UnknownNameError):
        found.in_frame("link00")
    for roles in (
        {"controlled": {"joint0": 0.0}},
        {"tau": np.zeros(robot.nv)},
        {"locked": "joint0"},
    ):
        with pytest.raises(rd.ShapeError, match="both"):
            robot.joint_wrenches(q, v, a, base=base, **roles)
    with pytest.raises(rd.ShapeError):
        robot.joint_wrenches(q, v, a[:-1], base=base)


def test_a_joint_may_be_called_base():
    text = """<robot name="r"><link name="a"/><link name="b"><inertial><origin xyz="1 0 0"/>
    <mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
    <joint name="base" type="continuous"><parent link="a"/><child link="b"/>
    <origin xyz="5 0 3"/><axis xyz="0 0 1"/></joint></robot>"""
    found = rd.load(text).joint_wrenches([0.0], [0.0], [0.0])
    close(found.in_frame("world")["base"], [0.0, 0.0, 19.62, 0.0, -6 * 19.62, 0.0])


def test_results_say_what_they_hold(robot):
    q, v, a, base = state(robot, 2)
    found = robot.joint_wrenches(q, v, a, base=base)
    assert f"of each of (2,) states: {', '.join(found)}" in repr(found)
    assert repr(len(robot.base_parameters())) in repr(robot.base_parameters())


@pytest.mark.parametrize("name", ["joint_wrenches", "hybrid_joint_wrenches"])
def test_functions_of_minimal_coordinates_leave_out_no_loops(name):
    """Loops have no forces there, which those in joints need."""
    robot = rd.load("four_bar", coordinates="minimal")
    with pytest.raises(rd.UnknownNameError, match="take its tree_form"):
        robot.function(name, joints=("crank_drive",))
