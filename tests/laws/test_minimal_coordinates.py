"""Planar linkages in minimal coordinates against the same linkages with constraints.

Reduced by hand: ``M_red = B^T M B`` and so on [PyMbs (11)], where B and b' are checked against the
rows of the loops.
"""

import dataclasses

import numpy as np
import pytest
from support import planar_linkages as pl
from support.minimal_pairs import GRAVITY, Pair, close
from support.pymbs_linkages import crank_slider, crank_slider_angles, four_bar, four_bar_angles

import robodyn as rd
from robodyn import urdf
from robodyn.equations.catalogue import trace
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.evaluate import evaluate

BUNDLED = (
    "four_bar", "crank_slider", "five_bar", "palletizer", "watt", "stephenson", "excavator"
)  # fmt: skip

#: Mechanism and its independent joint: every pair of joints that can follow.
PAIRS = [
    *((pl.four_bar, name) for name in ("crank", "crank_pin", "rocker")),
    *((pl.crank_and_slider, name) for name in ("crank", "slide", "rod_pin")),
    *((pl.swinging_block, name) for name in ("crank", "rod_slide", "slide")),
    *((pl.yoke, name) for name in ("crank", "slide", "cross_slide")),
]


@pytest.mark.parametrize("base", ["fixed", "floating", "moving"])
@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_linkages_agree_with_their_constrained_form(name, base):
    pair = Pair(name, base)
    pair.check()
    motors = [joint for joint, _ in urdf.load_mechanism(name).actuators]
    assert [n for n in pair.robot.joint_names if n != "floating_base"] == [
        n for n in pair.tree.joint_names if n in motors
    ]


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", ["four_bar", "palletizer"])
def test_the_joints_that_close_loops_brake_too(name, base):
    mechanism = urdf.load_mechanism(name)
    joints, loops = (
        tuple(
            x if x.kind == "fixed" else dataclasses.replace(x, damping=0.3, friction=0.2)
            for x in movers
        )
        for movers in (mechanism.joints, mechanism.loops)
    )
    pair = Pair(dataclasses.replace(mechanism, joints=joints, loops=loops), base)
    assert all(cut.damping for cut in pair.tree.loops)
    pair.check_dynamics()


@pytest.mark.parametrize(("make", "independent"), PAIRS)
def test_every_pair_of_joints_can_follow(make, independent):
    pair = Pair(pl.with_independent(make(), independent), seed=1)
    assert pair.robot.joint_names == (independent,)
    pair.check()


def test_two_slides_follow_a_crank_of_the_second_chain():
    mechanism = pl.with_independent(pl.swinging_block(), "crank")
    (pin,) = mechanism.loops
    turned = dataclasses.replace(
        pin,
        predecessor=pin.successor,
        successor=pin.predecessor,
        X_predecessor=pin.X_successor,
        X_successor=pin.X_predecessor,
    )
    pair = Pair(dataclasses.replace(mechanism, loops=(turned,)), seed=1)
    assert pair.robot.dependent_joints == ("rod_slide", "slide")
    pair.check_loops()
    pair.check_dynamics()


@pytest.mark.parametrize("independent", ["rack", "left_kingpin"])
def test_a_steering_rack(independent):
    """Balls close its loops; the other wheel follows by way of the rack."""
    pair = Pair(pl.with_independent(pl.steering(), independent))
    assert pair.robot.joint_names == (independent,)
    pair.check()


@pytest.mark.parametrize("rotor_model", ["exact", "armature"])
@pytest.mark.parametrize("base", ["fixed", "moving"])
def test_a_rotor_whose_joint_follows(rotor_model, base):
    mechanism = pl.with_independent(urdf.load_mechanism("five_bar"), "left_drive", "left_elbow")
    pair = Pair(mechanism, base, rotor_model=rotor_model)
    assert "right_drive" in pair.robot.dependent_joints
    pair.check()


def test_cylinders_follow_the_arms_they_move():
    mechanism = dataclasses.replace(urdf.load_mechanism("excavator"), actuators=())
    pivots = ("swing", "boom_pivot", "arm_pivot", "bucket_pivot")
    pair = Pair(pl.with_independent(mechanism, *pivots))
    assert pair.robot.joint_names == pivots
    pair.check()


def test_a_slide_at_the_end_of_the_file_is_not_cut():
    plain = pl.crank_and_slider()
    crank, slide, pin = plain.joints
    rod = dataclasses.replace(pin, parent="crank_link", origin=pl.at(0.1, 0.3))
    wrist = dataclasses.replace(
        pin, name="wrist", parent="rod", child="block", origin=pl.at(0.8, -0.2)
    )
    mechanism = dataclasses.replace(plain, joints=(crank, rod, wrist, slide), loops=())
    pair = Pair(pl.with_independent(mechanism, "crank"))
    assert pair.robot.dependent_joints == ("rod_pin", "slide")
    pair.check()


@pytest.mark.parametrize("make", [pl.four_bar, pl.crank_and_slider, pl.swinging_block])
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_planes_are_found_in_any_orientation(make, base):
    mechanism, frames = pl.reframed(pl.with_independent(make(), "crank"), np.random.default_rng(3))
    Pair(mechanism, base).check()
    plain = Pair(pl.with_independent(make(), "crank"))
    turned = Pair(mechanism, rigid=True)
    close(turned.q, plain.q)
    ground = frames["ground"][:3, :3]
    robot = turned.robot.with_(gravity=ground.T @ GRAVITY)
    args = plain.q, plain.v, plain.tau
    close(robot.forward_dynamics(*args), plain.robot.forward_dynamics(*args))


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_linkages_with_other_link_frames(name):
    mechanism, _ = pl.reframed(
        dataclasses.replace(urdf.load_mechanism(name), actuators=()), np.random.default_rng(5)
    )
    motors = [joint for joint, _ in urdf.load_mechanism(name).actuators]
    Pair(pl.with_independent(mechanism, *motors)).check()


@pytest.mark.parametrize(
    ("make", "independent"),
    [
        *((pl.four_bar, name) for name in ("crank", "rocker")),
        *((pl.crank_and_slider, name) for name in ("crank", "slide", "rod_pin")),
        (pl.swinging_block, "slide"),
    ],
)
def test_both_branches(make, independent):
    mechanism = pl.with_independent(make(), independent)
    one = Pair(mechanism)
    other = Pair(mechanism, branches={"pin": -one.robot.branches["pin"]})
    other.check()
    assert other.robot.branches == {"pin": -one.robot.branches["pin"]}
    q = one.robot.neutral()
    close(one.robot.expand(q), one.tree.neutral())
    assert np.abs(other.robot.expand(q) - one.tree.neutral()).max() > 0.1


@pytest.mark.parametrize(
    ("make", "angles", "u", "du", "expected", "digits"),
    [
        (four_bar, four_bar_angles, np.pi / 2, 0.0, 0.90091837, 1e-8),
        (four_bar, four_bar_angles, np.pi / 2, 1.3, 1.08845663, 1e-8),
        (four_bar, four_bar_angles, 1.2, -0.7, 1.72904706, 1e-8),
        (four_bar, four_bar_angles, -1.3, 0.5, -0.95104415, 1e-8),
        (crank_slider, crank_slider_angles, 0.0, 0.0, 29.43, 1e-5),
        (crank_slider, crank_slider_angles, 0.7, 0.0, 6.78476, 1e-5),
        (crank_slider, crank_slider_angles, 0.7, 2.0, 3.81523, 1e-5),
        (crank_slider, crank_slider_angles, -2.1, 3.0, -9.62491, 1e-5),
    ],
)
def test_linkages_of_pymbs(make, angles, u, du, expected, digits):
    """The crank and slider of PyMbs itself takes H of one branch and B of the other."""
    mechanism = pl.with_independent(make(), "A")
    turn, middle, last = angles(u)
    for branch in (1, -1):
        robot = rd.load(mechanism, coordinates="minimal", branches={"C": branch})
        found = robot.expand([u])
        gap = np.remainder(found - [turn, middle - turn, last] + 1.0, 2 * np.pi) - 1.0
        if np.abs(gap).max() < 1e-9:
            break
    assert np.abs(gap).max() < 1e-9
    assert robot.forward_dynamics([u], [du], [0.0])[0] == pytest.approx(expected, abs=digits)


@pytest.mark.parametrize("name", ["five_bar", "crank_slider"])
@pytest.mark.parametrize("quantity", ["forward_dynamics", "mass_matrix", "inverse_dynamics"])
def test_derivatives_are_those_of_the_closed_form(name, quantity):
    pair = Pair(name)
    program = trace(quantity, pair.robot.model.setup)
    state = [pair.q, pair.v, pair.tau][: len(program.inputs)]
    exact = evaluate(jacobian(program, "q"), *state)[0]
    for k in range(pair.robot.nq):
        moved = [pair.q + 1e-30j * np.eye(pair.robot.nq)[k], *state[1:]]
        step = evaluate(program, *moved, dtype=complex)[0].imag / 1e-30
        close(exact[..., k], step)


@pytest.mark.parametrize("name", BUNDLED)
def test_joint_wrenches_are_those_of_the_constrained_form(name):
    pair = Pair(name)
    r, t = pair.robot, pair.tree
    found = r.joint_wrenches(pair.q, pair.v, tau=pair.tau, wrenches={r.link_names[-1]: np.ones(6)})
    tau = np.zeros(t.nv)
    for joint in r.joint_names:
        tau[t.joints[joint].v] = pair.tau[r.joints[joint].v]
    expected = t.joint_wrenches(pair.Q, pair.V, tau=tau, wrenches={t.link_names[-1]: np.ones(6)})
    assert set(found) == set(expected)
    for joint in expected:
        close(found[joint], expected[joint], 1e-7)


def test_energy_stays_and_the_motion_is_that_with_constraints():
    options = {"passive": False, "gravity": GRAVITY}
    robot = rd.load("watt", coordinates="minimal", **options)
    tree = robot.tree_form
    q0, v0 = robot.neutral() + 0.2, np.array([3.0])
    run = rd.simulate(robot, q0=q0, v0=v0, duration=0.5, step=1e-3)
    energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q)
    close(energy, energy[0], 1e-6)
    again = rd.simulate(
        tree, q0=robot.expand(q0), v0=robot.expand_velocity(q0, v0), duration=0.5, step=1e-3
    )
    ends = robot.expand(run.q[-1]), again.q[-1]
    close(*(np.exp(1j * angles) for angles in ends), 1e-6)


@pytest.mark.parametrize("batch", [False, True])
def test_where_a_loop_cannot_close_methods_say_so(batch):
    """Always, and not only in the first call; functions give what is not a number."""
    robot = rd.load("excavator", coordinates="minimal")
    q, still = robot.neutral(), np.zeros(4)
    q[robot.joints["boom_cylinder"].q] = 40.0
    assert np.isnan(robot.dependent_positions(q)["boom_pivot"])
    assert np.isnan(robot.function("forward_dynamics")(q, still, still)).any()
    given = np.stack([robot.neutral(), q]) if batch else q
    says = "loop 'boom_piston_pin' of 'excavator' does not close at q = "
    for ask in (
        robot.mass_matrix,
        robot.frame_poses,
        robot.joint_positions,
        robot.speed_map,
        lambda q: robot.forward_dynamics(q, still, still),
        lambda q: robot.joint_wrenches(q, still, still),
        lambda q: robot.impact(q, still, "bucket", (0, 0, 0), None),
    ):
        for _ in range(2):
            with pytest.raises(rd.InconsistentStateError, match=says) as caught:
                ask(given)
            assert caught.value.loops == ("boom_piston_pin",)
            assert "while the other loops keep their branches" in str(caught.value)
            assert caught.value.q == pytest.approx(q)
            assert caught.value.rows == ((1,) if batch else ())


def test_a_motion_that_leaves_what_a_loop_can_do():
    robot = rd.load("excavator", coordinates="minimal")
    push = np.zeros(4)
    push[robot.joints["boom_cylinder"].v] = 1e7
    with pytest.raises(rd.SimulationError, match="does not close") as caught:
        rd.simulate(robot, lambda t, q, v: push, duration=3.0, limits="ignore")
    assert 0.0 < caught.value.trajectory.t[-1] < caught.value.time


def test_loops_that_are_no_loops_and_robots_without_any():
    robot = rd.load("puma560", coordinates="minimal")
    assert robot.tree_form is robot
    assert robot.dependent_positions(robot.neutral()) == {}
    q = robot.random(0)
    np.testing.assert_array_equal(robot.expand(q), q)
    np.testing.assert_array_equal(robot.expand_velocity(q, q), q)


def test_which_joints_follow():
    robot = rd.load("four_bar", coordinates="minimal")
    assert robot.dependent_joints == ("crank_pin", "rocker_pivot")
    assert robot.joints["crank_pin"].q == slice(0, 0)
    assert robot.coordinates == "minimal"
    assert robot.with_(passive=False).nc == 0
    q = np.linspace(-3.0, 3.0, 7)[:, None]
    found = robot.dependent_positions(q)
    np.testing.assert_allclose(found["crank_pin"], robot.expand(q)[:, 1], rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(robot.tree_form.loop_residual(robot.expand(q)), 0.0, atol=1e-12)


def test_choice_of_independent_joints_without_motors():
    mechanism = dataclasses.replace(urdf.load_mechanism("five_bar"), actuators=())
    robot = rd.load(mechanism, coordinates="minimal")
    assert robot.joint_names == ("left_drive", "left_elbow")


def test_gears_between_cranks_leave_one_freedom():
    mechanism = urdf.load_mechanism("five_bar")
    joints = tuple(
        dataclasses.replace(joint, mimic=rd.description.Mimic("left_drive", -0.5, 0.1))
        if joint.name == "right_drive" else joint
        for joint in mechanism.joints
    )  # fmt: skip
    pair = Pair(dataclasses.replace(mechanism, joints=joints, actuators=mechanism.actuators[:1]))
    assert pair.robot.joint_names == ("left_drive",)
    pair.check()


def test_a_six_bar_driven_in_its_five_bar_loop_has_no_closed_form():
    mechanism = dataclasses.replace(urdf.load_mechanism("stephenson"), actuators=())
    driven = pl.with_independent(mechanism, "dyad_pivot")
    with pytest.raises(rd.TopologyError, match=r"'coupler_tip_pin'.*only two at a time"):
        rd.load(driven, coordinates="minimal")
    assert rd.load(mechanism, coordinates="minimal").nv == 1


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("bricard", "hinge6"),
        ("delta", "ball"),
    ],
)
def test_loops_without_closed_form_are_named(name, told):
    with pytest.raises(rd.TopologyError, match=told):
        rd.load(name, coordinates="minimal")


def test_a_spring_needs_the_angle():
    springs = {"crank_pin": (1.0, 0.0)}
    driven = pl.with_independent(urdf.load_mechanism("four_bar"), "crank_drive")
    with pytest.raises(rd.TopologyError, match="springs"):
        rd.load(driven, coordinates="minimal", springs=springs)
    pair = Pair("four_bar", springs=springs)
    copy = rd.load("four_bar", coordinates="minimal").with_(springs=springs)
    assert copy.joint_names == pair.robot.joint_names == ("crank_pin",)
    pair.check()
    pair = Pair("crank_slider", springs={"cylinder": (100.0, 0.1)})
    pair.check()


def test_branches_are_checked():
    with pytest.raises(rd.UnknownNameError, match="rocker_pin"):
        rd.load("four_bar", coordinates="minimal", branches={"rocker": 1})
    with pytest.raises(rd.UnknownNameError, match="branch"):
        rd.load("four_bar", coordinates="minimal", branches={"rocker_pin": 2})
    with pytest.raises(rd.UnknownNameError, match="minimal"):
        rd.load("four_bar", coordinates="minima")


def test_a_posture_between_branches_asks_which():
    """Stretched out at zero: coupler and rocker in line."""
    joints = tuple(
        dataclasses.replace(joint, origin=pl.at(*origin))
        for joint, origin in zip(
            pl.four_bar().joints, ((0.0, 0.0), (0.0, 0.3), (1.0, 0.3)), strict=True
        )
    )
    pin = dataclasses.replace(
        pl.four_bar().loops[0], X_predecessor=pl.at(0.4, 0.0), X_successor=pl.at(-0.6, 0.0)
    )
    mechanism = pl.with_independent(
        dataclasses.replace(pl.four_bar(), joints=joints, loops=(pin,)), "crank"
    )
    with pytest.raises(rd.TopologyError, match="branches"):
        rd.load(mechanism, coordinates="minimal")
