"""Spatial linkages in minimal coordinates against the same linkages with constraints."""

import dataclasses

import numpy as np
import pytest
from support import planar_linkages as pl, spatial_linkages as sl
from support.minimal_pairs import GRAVITY, Pair, close
from support.random_mechanisms import random_inertia

import robodyn as rd
from robodyn import urdf
from robodyn.description import Joint, Link, Loop, Mechanism, Pose
from robodyn.equations.catalogue import trace
from robodyn.symbolic.evaluate import evaluate

#: Kinds of the joints of both chains; the last of the second is independent, and all others follow.
RINGS = [
    (("universal", "prismatic"), ("revolute",)),
    (("universal", "revolute"), ("prismatic",)),
    (("prismatic", "universal"), ("revolute",)),
    (("revolute", "universal"), ("revolute",)),
    (("universal",), ("prismatic", "revolute")),
    (("universal",), ("continuous", "revolute")),
    (("universal", "prismatic"), ("helical",)),
    (("universal", "prismatic"), ("cylindrical",)),
    (("universal", "prismatic"), ("planar",)),
]


def check_shortly(pair):
    pair.check_loops()
    pair.check_dynamics()
    pair.check_christoffel()


@pytest.mark.slow
def test_a_hexapod_agrees_with_its_constrained_form():
    pair = Pair("stewart")
    assert pair.robot.joint_names == ("foot1", "leg1", "ball1")
    assert (pair.robot.nq, pair.robot.nv) == (7, 6)
    assert set(pair.robot.dependent_joints) == {
        f"{n}{k}" for n in ("foot", "leg") for k in range(2, 7)
    }
    pair.check()


@pytest.mark.slow
@pytest.mark.parametrize("base", ["floating", "moving"])
def test_a_hexapod_on_a_base_that_moves(base):
    pair = Pair("stewart", base, rotor_model="armature")
    pair.check_loops()
    pair.check_dynamics()


@pytest.mark.parametrize("base", ["fixed", "moving"])
def test_a_steering_agrees_with_its_constrained_form(base):
    pair = Pair("steering", base)
    assert pair.robot.joint_names[-1] == "rack"
    pair.check()


@pytest.mark.parametrize("independent", ["left_kingpin", "right_kingpin"])
def test_a_steering_driven_at_a_wheel(independent):
    pair = Pair(pl.with_independent(urdf.load_mechanism("steering"), independent))
    assert pair.robot.joint_names == (independent,)
    check_shortly(pair)


@pytest.mark.parametrize(("one", "other"), RINGS)
def test_every_place_of_three_axes_that_follow(one, other):
    """Universal joints whose axes are not at right angles, slides beside their centres."""
    pair = Pair(sl.linkage(one, other), seed=1)
    assert pair.robot.joint_names == ("driver",)
    check_shortly(pair)


def test_a_loop_with_a_joint_of_its_user():
    def curled(q):
        angle = q[0] + 0.3 * q[0] * q[1]
        c, s = rd.cos(angle), rd.sin(angle)
        return [[c, -s, 0.0, q[1]], [s, c, 0.0, q[0] * q[1]], [0.0, 0.0, 1.0, 0.2 * s]]

    plain = sl.linkage(("universal", "prismatic"), ("revolute",))
    driver = dataclasses.replace(plain.joints[-1], kind="map", map=rd.JointMap(2, curled))
    pair = Pair(dataclasses.replace(plain, joints=(*plain.joints[:-1], driver)), seed=1)
    assert pair.robot.nv == 2
    check_shortly(pair)


@pytest.mark.parametrize(("one", "other"), RINGS[:1] + RINGS[3:5])
def test_two_hinges_whose_axes_meet(one, other):
    name = f"one{one.index('universal')}"
    plain = sl.linkage(one, other)
    pair, universal = Pair(sl.with_hinges(plain, name), seed=1), Pair(plain, seed=1)
    check_shortly(pair)
    angles = universal.robot.dependent_positions(pair.q)[name]
    hinges = pair.robot.dependent_positions(pair.q)
    close(np.array([hinges[f"{name}a"], hinges[f"{name}b"]]), angles)


def test_two_hinges_with_a_small_angle():
    """Frames of the equations are not where the axes meet, then."""
    plain = sl.linkage(("universal", "prismatic"), ("revolute",))
    first = plain.joints[0]
    axis2 = np.array(first.axis) + 0.04 * np.array(first.axis2)
    axis2 = tuple(float(x) for x in axis2 / np.linalg.norm(axis2))
    joints = (dataclasses.replace(first, axis2=axis2), *plain.joints[1:])
    pair = Pair(sl.with_hinges(dataclasses.replace(plain, joints=joints), "one0"), seed=1)
    assert pair.robot.model.bodies.linkages[0].centre[1] != 0.0
    check_shortly(pair)


def test_a_universal_joint_against_its_direction():
    pair = Pair(sl.against_the_joint())
    assert pair.robot.dependent_joints == ("slide", "cross")
    check_shortly(pair)


@pytest.mark.parametrize("one", [("revolute",), ("prismatic",), ("spherical", "revolute")])
@pytest.mark.parametrize("driver", ["revolute", "prismatic"])
def test_a_rod_between_two_points(one, driver):
    pair = Pair(sl.linkage(one, (driver,), "distance"), seed=1)
    assert len(pair.robot.dependent_joints) == 1
    check_shortly(pair)


@pytest.mark.parametrize("name", ["stewart", "steering"])
def test_linkages_are_found_in_any_orientation(name):
    """All links with other frames, the base too, so that no axis is along another frame's."""
    mechanism, frames = pl.reframed(urdf.load_mechanism(name), np.random.default_rng(5))
    mechanism = dataclasses.replace(mechanism, actuators=())
    turned = Pair(mechanism, rigid=True)
    check_shortly(turned)
    if name == "steering":
        plain = Pair(dataclasses.replace(urdf.load_mechanism(name), actuators=()))
        close(turned.q, plain.q)
        ground = frames["frame"][:3, :3]
        robot = turned.robot.with_(gravity=ground.T @ GRAVITY)
        program = trace("forward_dynamics", robot.model.setup)
        found = evaluate(program, plain.q, plain.v, plain.tau)[0]
        close(found, plain.small("forward_dynamics", plain.q, plain.v, plain.tau))


@pytest.mark.parametrize("name", ["stewart", "steering"])
def test_speeds_are_derivatives_of_positions(name):
    pair = Pair(name)
    r, t, h = pair.robot, pair.tree, 1e-6
    B = r.speed_map(pair.q)
    close(B, pair.B)
    for k, e in enumerate(np.eye(r.nv)):
        ahead, behind = (r.expand(r.integrate(pair.q, s * h * e)) for s in (1.0, -1.0))
        close(t.difference(behind, ahead) / (2 * h), B[:, k], 1e-8)  # error of the step: h^2


@pytest.mark.parametrize("name", ["stewart", "steering"])
def test_motors_wherever_they_are(name):
    """Forces in any joints do the same work at the independent speeds, and move the same."""
    pair = Pair(name)
    r, t = pair.robot, pair.tree
    tau = np.random.default_rng(3).normal(size=t.nv)
    mapped = r.torque_map(pair.q) @ tau
    close(mapped @ pair.v, tau @ pair.V)
    a = pair.small("forward_dynamics", pair.q, pair.v, mapped)
    found = r.expand_acceleration(pair.q, pair.v, a)
    M, h = pair.large("mass_matrix", pair.Q), pair.large("bias_forces", pair.Q, pair.V)
    K = pair.large("loop_jacobian", pair.Q)
    k = pair.large("loop_bias", pair.Q, pair.V)
    system = np.block([[M, K.T], [K, np.zeros((len(K), len(K)))]])
    expected = np.linalg.solve(system, np.concatenate([tau - h, -k]))[: t.nv]
    close(found, expected, 1e-8)


@pytest.mark.slow
def test_motors_of_the_legs():
    """What motors in dependent joints must give: the same with constraints, and mapped back."""
    pair = Pair("stewart")
    q, v, a = pair.q, pair.v, pair.a
    legs = [pair.tree.joints[f"leg{k}"].v.start for k in range(1, 7)]
    force = np.zeros(pair.tree.nv)
    wanted = pair.small("inverse_dynamics", q, v, a)
    force[legs] = np.linalg.solve(pair.robot.torque_map(q)[:, legs], wanted)
    moved = rd.load("stewart", gravity=GRAVITY).inverse_dynamics(pair.Q, pair.V, pair.A)
    close(moved, force, 1e-8)


def test_maps_of_robots_without_loops():
    robot = rd.load("puma560", coordinates="minimal")
    q = robot.random(0)
    np.testing.assert_array_equal(robot.speed_map(q), np.eye(6))
    np.testing.assert_array_equal(robot.torque_map(np.stack([q, q])), [np.eye(6)] * 2)


BRANCHES = (1, -1, 2, -2)


@pytest.mark.parametrize("branch", BRANCHES)
def test_all_ways_to_assemble_a_loop(branch):
    mechanism = sl.linkage(("universal", "prismatic"), ("revolute",))
    pair = Pair(mechanism, branches={"loop": branch})
    assert pair.robot.branches == {"loop": branch}
    check_shortly(pair)
    drawn = rd.load(mechanism, coordinates="minimal")
    same = np.allclose(pair.robot.expand(drawn.neutral()), drawn.tree_form.neutral(), atol=1e-9)
    assert same == (drawn.branches == {"loop": branch})


def test_branches_are_different_postures():
    mechanism = sl.linkage(("universal", "prismatic"), ("revolute",))
    postures = [
        rd.load(mechanism, coordinates="minimal", branches={"loop": branch}).expand([0.1])
        for branch in BRANCHES
    ]
    gaps = [np.abs(a - b).max() for k, a in enumerate(postures) for b in postures[:k]]
    assert min(gaps) > 0.1


def leg_over_a_slide():
    """A leg from the origin to a ball that slides along the vertical at x = 1 m."""
    links = tuple(
        Link(name, random_inertia(np.random.default_rng(2)))
        for name in ("ground", "barrel", "rod", "carriage")
    )
    joints = (
        Joint("foot", "universal", "ground", "barrel"),
        Joint("leg", "prismatic", "barrel", "rod", axis=(0.8, 0.0, 0.6)),
        Joint("slide", "prismatic", "ground", "carriage", Pose((1.0, 0.0, 0.75)), pl.Z,
              independent=True),
    )  # fmt: skip
    ball = Loop("ball", "spherical", "rod", "carriage", Pose((1.0, 0.0, 0.75)))
    return Mechanism("over_a_slide", links, joints, (ball,))


def test_a_leg_along_the_first_axis_of_its_universal_joint():
    """There the barrel can turn about the leg, so that nothing determines its speeds."""
    pair = Pair(leg_over_a_slide())
    pair.check()
    r = pair.robot
    for ask in (r.speed_map, lambda q: r.forward_dynamics(q, [1.0], [0.0])):
        # the end of the leg's reach, by rounding on this side of it or beyond
        with pytest.raises(
            (rd.SingularError, rd.InconsistentStateError),
            match=r"loop 'ball' of .* (is at a dead point: .* slide|cannot get there)",
        ):
            ask([-0.75])
    # beside it, all digits but those of the small angle are there
    for angle in (1e-3, 1e-6):
        q = [angle - 0.75]
        found = r.expand(q)
        np.testing.assert_allclose(r.tree_form.loop_residual(found), 0.0, atol=1e-12)
        turned = r.dependent_positions(q)["leg"]
        np.testing.assert_allclose(turned, np.hypot(1.0, angle) - 1.25, atol=1e-15)


def test_a_rack_pulled_too_far():
    r = rd.load("steering", coordinates="minimal")
    assert np.isfinite(r.expand(np.linspace(-0.07, 0.07, 9)[:, None])).all()
    assert np.isnan(r.expand([0.4])).any()
    with pytest.raises(rd.InconsistentStateError, match="does not close"):
        r.forward_dynamics([0.4], [0.0], [0.0])


def test_motors_that_cannot_be_independent_follow():
    """A hexapod driven at its legs; marked joints are kept, or it is an error."""
    marked = pl.with_independent(urdf.load_mechanism("stewart"), "leg3")
    robot = rd.load(marked, coordinates="minimal")
    assert "leg3" in robot.joint_names
    assert robot.nv == 6
    legs = pl.with_independent(urdf.load_mechanism("stewart"), *(f"leg{k}" for k in range(1, 7)))
    with pytest.raises(rd.TopologyError, match=r"'ball2': too few of its joints can follow"):
        rd.load(legs, coordinates="minimal")


def test_loops_of_the_family_without_closed_form():
    plain = sl.linkage(("revolute", "revolute", "prismatic"), ("revolute",))
    with pytest.raises(rd.TopologyError, match=r"'loop': .*no universal joint"):
        rd.load(plain, coordinates="minimal")
    ball = sl.linkage(("spherical",), ("helical",), "distance")
    with pytest.raises(rd.TopologyError, match=r"'loop': .*no joint with one axis"):
        rd.load(ball, coordinates="minimal")
