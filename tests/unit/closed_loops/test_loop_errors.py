"""Loops that cannot close, guesses and shapes that do not fit, motors that cannot drive."""

import dataclasses
import re

import numpy as np
import pytest
from support.rigid_robots import load, state

import robodyn as rd
from robodyn import urdf
from robodyn.description import Loop, Pose

# -- loops that do not close -------------------------------------------------------------------


def stretched(length):
    """A four-bar whose rocker pin sits so far along the coupler."""
    mechanism = urdf.load_mechanism("four_bar")
    joints = tuple(
        dataclasses.replace(j, origin=Pose((length, 0.0, 0.0))) if j.name == "rocker_pin" else j
        for j in mechanism.joints
    )
    return dataclasses.replace(mechanism, joints=joints)


def test_a_start_beyond_a_limit_is_refused_with_the_limit():
    with pytest.raises(rd.SettingsError, match=r"near\['shoulder'\] is 5, beyond its limits -0\.7"):
        rd.load("palletizer", near={"shoulder": 5.0})
    rd.load("palletizer", near={"shoulder": -0.705})  # a limit, rounded by hand


def test_a_loop_to_the_world_is_told_what_joins_to_it():
    pendulum = rd.load("double_pendulum").mechanism
    loop = Loop("pin", "revolute", "world", "lower")
    with pytest.raises(rd.TopologyError, match=r"no link 'world'.*rd.FrameConstraint\(name, kind"):
        rd.load(dataclasses.replace(pendulum, loops=(loop,)), base="floating")


def test_a_loop_that_cannot_close_names_the_loop_and_the_gap():
    with pytest.raises(rd.TopologyError, match=r"rocker_pin.*off by 4\.22") as caught:
        rd.load(stretched(5.0)).neutral()
    assert "typing error" in str(caught.value)


@pytest.mark.parametrize("name", ["four_bar", "stewart", "bricard", "crank_slider"])
def test_open_loops_are_told_as_distances_of_their_frames(name):
    """Not as the largest component along some axis."""
    robot = rd.load(name)
    q = robot.integrate(robot.neutral(), 0.1 * np.random.default_rng(1).normal(size=robot.nv))
    with pytest.raises(rd.AssemblyError, match="are open by") as caught:
        rd.simulate(robot, q0=q, duration=0.1)
    told = re.search(r"are open by (\S+) m[^(]*\('(\w+)'\) at the start", str(caught.value))
    gaps = {gap.name: gap for gap in robot.loop_gaps(q)}
    gap = gaps[told[2]]
    assert float(told[1]) == pytest.approx(gap.distance, rel=6e-3)
    assert gap.residual == max(x.residual for x in gaps.values())


def test_driven_joints_that_begin_elsewhere_are_told(four_bar):
    """On a path from 0.5 rad, with the posture of zero."""
    drive = rd.JointPath(lambda t: (0.5 + t, 1.0, 0.0))
    options = {"controlled": {"crank_drive": drive}, "duration": 0.01}
    says = r"on its path: crank_drive at 0\.5\. .*hold=\['crank_drive'\]"
    with pytest.raises(rd.AssemblyError, match=says) as caught:
        rd.simulate(four_bar, q0=four_bar.neutral(), **options)
    assert caught.value.q[four_bar.joints["crank_drive"].q].item() == 0.5
    rd.simulate(four_bar, q0=caught.value.q, **options)


@pytest.mark.parametrize("what", ["dof", "neutral", "random"])
def test_all_that_needs_a_closed_posture_says_so(what):
    """Loading does not: a search that fails is no proof; another guess may lead to a posture."""
    robot = rd.load(stretched(5.0))
    with pytest.raises(rd.TopologyError, match="rocker_pin"):
        value = getattr(robot, what)
        if callable(value):
            value()


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("revolute", {"axis": (0.0, 0.6, 0.8)}),
        ("universal", {"axis": (0.0, 0.0, 1.0), "axis2": (0.8, 0.6, 0.0)}),
        ("helical", {"axis": (0.0, 0.0, 1.0), "pitch": 0.02}),
        ("distance", {"distance": 0.25}),
        ("spherical", {"damping": 0.3}),
    ],
)
def test_the_loop_to_paste_is_the_one_that_does_not_close(kind, given, tmp_path):
    """Frames, axes and numbers too: pasted, it is the same loop."""
    poses = Pose((5.0, 0.1, 0.2), (0.1, 0.2, 0.3)), Pose((-7.0, 0.0, 0.3), (0.5, 0.0, 0.0))
    mechanism = urdf.load_mechanism("four_bar")
    links = [link.name for link in mechanism.links]
    loop = Loop("bar", kind, links[0], links[1], *poses, **given)
    with pytest.raises(rd.TopologyError) as caught:
        rd.load(dataclasses.replace(mechanism, loops=(loop,))).neutral()
    pasted = str(caught.value).partition('<loop name="bar"')
    file = tmp_path / "robot.urdf"
    urdf.write(mechanism, file)
    file.write_text(file.read_text().replace("</robot>", "".join(pasted[1:]) + "</robot>"))
    (read,) = urdf.load_mechanism(file).loops
    assert read == loop


def test_loops_to_links_that_do_not_exist():
    loop = Loop("pin", "revolute", "coupler", "rockr")
    with pytest.raises(rd.RobodynError, match="rocker"):
        rd.load("four_bar", loops=[loop])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "hinge"}, "hinge"),
        ({"kind": "distance", "distance": 0.0}, "distance"),
        ({"kind": "distance", "distance": -1.0}, "distance"),
        ({"kind": "distance", "distance": float("nan")}, "distance"),
        ({"successor": "crank"}, "itself"),
        ({"kind": "floating"}, "floating"),
        ({"kind": "universal", "axis2": (1.0, 0.0, 0.0)}, "parallel"),
        ({"kind": "helical", "pitch": float("nan")}, "pitch"),
        ({"axis": (0.0, 0.0, 0.0)}, "unit vector"),
        ({"axis": (1.0, 0.0)}, "axis is .* expected 3 numbers"),
        ({"axis": "z"}, "axis is 'z', expected 3 numbers"),
        ({"X_predecessor": Pose((float("inf"), 0.0, 0.0))}, "finite"),
        ({"X_successor": np.eye(4)}, "expected a robodyn.Pose"),
        ({"name": "crank_pin"}, "given twice"),
        ({"name": None}, "name is None"),
    ],
)
def test_loops_that_mean_nothing(change, words):
    with pytest.raises(rd.RobodynError, match=words):
        loop = dataclasses.replace(Loop("extra", "spherical", "crank", "rocker"), **change)
        rd.load("four_bar", loops=[loop])


LINKS = "".join(f'<link name="{n}"/>' for n in ("base", "a", "b"))


def hinge(name, parent, child, attributes=""):
    return (
        f'<joint name="{name}" type="revolute"{attributes}><parent link="{parent}"/>'
        f'<child link="{child}"/><axis xyz="0 0 1"/></joint>'
    )


@pytest.mark.parametrize("tag", ["closure", "weld_joint", "loop_closure", "equality", "connect"])
def test_tags_that_look_like_closures_are_not_dropped(tag):
    text = f"<robot name='r'>{LINKS}{hinge('x', 'base', 'a')}{hinge('y', 'a', 'b')}<{tag}/></robot>"
    with pytest.raises(rd.UrdfError, match=tag):
        rd.load(text, allow_unphysical=True)


def test_a_cut_that_leaves_an_island():
    island = hinge("x", "base", "a") + hinge("y", "a", "b", ' cut="true"')
    with pytest.raises(rd.TopologyError, match="b"):
        rd.load(f"<robot name='r'>{LINKS}{island}</robot>", allow_unphysical=True)


# -- guesses and shapes ------------------------------------------------------------------------


def test_joints_held_that_contradict_each_other():
    robot = load("four_bar")
    with pytest.raises(rd.AssemblyError, match="rocker_pin") as caught:
        robot.assemble([0.5, 0.0, 0.0], hold=["crank_drive", "rocker_pivot"])
    error = caught.value
    assert error.q[0] == 0.5 and error.q[2] == 0.0
    np.testing.assert_allclose(error.residual, robot.loop_residual(error.q), atol=1e-12)
    with pytest.raises(rd.AssemblyError):
        robot.consistent_velocity(
            robot.neutral(), [1.0, 0.0, 0.0], hold=["crank_drive", "rocker_pivot"]
        )


def test_a_single_joint_may_be_held_by_its_name():
    robot = load("four_bar")
    q = robot.assemble([0.4, 0.0, 0.0], hold="crank_drive")
    assert q[0] == 0.4
    v = robot.consistent_velocity(q, [2.0, 0.0, 0.0], hold="crank_drive")
    assert v[0] == 2.0
    np.testing.assert_allclose(robot.loop_jacobian(q) @ v, 0.0, atol=1e-12)
    with pytest.raises(rd.UnknownNameError, match="crank_drive"):
        robot.assemble(q, hold=["crank_driv"])


def test_shapes_of_velocities():
    robot = load("four_bar")
    q = robot.neutral()
    for v in (np.zeros(2), np.zeros((2, 4)), 0.0):
        with pytest.raises(rd.ShapeError):
            robot.consistent_velocity(q, v)
        with pytest.raises(rd.ShapeError):
            robot.consistent_acceleration(q, np.zeros(3), v)
    many = robot.consistent_velocity(np.stack([q, q]), np.eye(3)[:2])
    assert many.shape == (2, 3)
    assert robot.consistent_velocity(q, np.eye(3)).shape == (3, 3)
    with pytest.raises(rd.ShapeError):
        robot.mobility(np.stack([q, q]))


# -- motors ------------------------------------------------------------------------------------


def test_accelerations_that_open_the_loops():
    robot = load("four_bar")
    q, v, _ = state(robot)
    for actuated in (None, robot.joint_names):
        with pytest.raises(rd.ActuationError, match="consistent_acceleration"):
            robot.inverse_dynamics(q, v, np.ones(3), actuated=actuated)
    a = robot.consistent_acceleration(q, v, np.ones(3))
    assert np.isfinite(robot.inverse_dynamics(q, v, a)).all()


@pytest.mark.parametrize("actuated", [(), ("left_drive",)])
def test_too_few_motors(actuated):
    robot = load("five_bar")
    q, v, a = state(robot)
    a = robot.consistent_acceleration(q, v, a)
    with pytest.raises(rd.ActuationError) as caught:
        robot.inverse_dynamics(q, v, a, actuated=actuated)
    direction = np.asarray(caught.value.direction)
    np.testing.assert_allclose(robot.loop_jacobian(q) @ direction, 0.0, atol=1e-9)
    for name in actuated:
        assert abs(direction[robot.joints[name].v.start]) < 1e-9
    with pytest.raises(rd.UnknownNameError):
        robot.inverse_dynamics(q, v, a, actuated=("left_drve",))


def test_controlled_accelerations_that_contradict_each_other():
    robot = load("four_bar")
    q, v, _ = state(robot)
    with pytest.raises(rd.ActuationError, match="contradict") as caught:
        robot.hybrid_dynamics(q, v, controlled={"crank_drive": 1.0, "rocker_pivot": 1e3})
    assert "crank_drive" in str(caught.value) and "rocker_pivot" in str(caught.value)
    assert np.shape(caught.value.direction) == (3,)


def test_links_without_mass_that_the_loops_leave_free():
    """A coupler without mass on balls turns about its line: the error names its joint."""
    mechanism = urdf.load_mechanism("four_bar")
    joints = tuple(
        dataclasses.replace(j, kind="spherical", damping=0.0) if j.name.endswith("_pin") else j
        for j in mechanism.joints
    )
    links = tuple(
        dataclasses.replace(link, inertia=None) if link.name == "coupler" else link
        for link in mechanism.links
    )
    robot = rd.load(dataclasses.replace(mechanism, joints=joints, links=links))
    with pytest.raises(rd.SingularError, match="without moving mass") as caught:
        robot.forward_dynamics(robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv))
    assert {name.partition("[")[0] for name in caught.value.joints} == {"crank_pin"}


def test_motors_that_cannot_are_told_by_name():
    robot = load("five_bar")
    q, v, a = state(robot)
    a = robot.consistent_acceleration(q, v, a)
    with pytest.raises(rd.ActuationError, match=r"motors at left_drive .* at right_drive"):
        robot.inverse_dynamics(q, v, a, actuated="left_drive")


def test_a_joint_called_as_that_of_the_floating_base():
    text = f"<robot name='r'>{LINKS}{hinge('floating_base', 'base', 'a')}{hinge('y', 'a', 'b')}"
    with pytest.raises(rd.TopologyError, match="rename"):
        rd.load(text + "</robot>", base="floating", allow_unphysical=True)


def test_a_second_motor_of_a_joint():
    motors = '<motor joint="x" gear_ratio="2"/><motor joint="x" gear_ratio="3"/>'
    text = f"<robot name='r'>{LINKS}{hinge('x', 'base', 'a')}{hinge('y', 'a', 'b')}{motors}</robot>"
    with pytest.raises(rd.UrdfError, match="second motor"):
        rd.load(text, allow_unphysical=True)


def test_a_child_that_was_meant_to_be_another_link():
    text = f"<robot name='r'>{LINKS}{hinge('x', 'base', 'a')}{hinge('y', 'base', 'a')}</robot>"
    with pytest.raises(
        rd.TopologyError, match="'a' is the child of 'x' and 'y': is it the right one"
    ):
        rd.load(text)
