"""Parts of a motion: by joint name, by slices, at other instants, and what follows from it."""

import dataclasses
import math

import numpy as np
import pytest
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.description import JOINT_KINDS
from robodyn.simulation import EventRecord, JointMotion

BALL = """<robot name="ball"><link name="base"/><link name="bob"><inertial>
<origin xyz="0.1 0.2 -0.5"/><mass value="2"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.15"/></inertial></link>
<link name="tip"><inertial><origin xyz="0 0 -0.3"/><mass value="1"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.15"/></inertial></link>
<joint name="socket" type="spherical"><parent link="base"/><child link="bob"/></joint>
<joint name="knee" type="continuous"><parent link="bob"/><child link="tip"/>
<origin xyz="0 0 -0.5"/><axis xyz="0 1 0"/></joint></robot>"""


@pytest.fixture(scope="module")
def ball():
    return rd.load(BALL)


def swing(ball, step, **options):
    return rd.simulate(ball, v0=[1.0, -2.0, 1.5, 3.0], duration=0.4, step=step, **options)


@pytest.fixture(scope="module")
def linkage():
    robot = rd.load("four_bar")
    run = rd.simulate(robot, lambda t, q, v: [0.5, 0.2, 0.1], duration=0.3, limits="ignore")
    return robot, run


# -- joints ---------------------------------------------------------------------------------------


def test_a_joint_with_one_speed(linkage):
    robot, run = linkage
    crank, at = run["crank_drive"], robot.joints["crank_drive"]
    assert isinstance(crank, JointMotion)
    for name, where in (("q", at.q), ("v", at.v), ("a", at.v), ("tau", at.v)):
        np.testing.assert_array_equal(getattr(crank, name), getattr(run, name)[:, where.start])
    assert crank.t is run.t and len(crank) == len(run)


def test_a_cut_joint(linkage):
    robot, run = linkage
    (name,) = [n for n in robot.joints if robot.joints[n].cut]
    pin = run[name]
    # numpy 2.0 rounds an arc tangent by where its arrays stand in memory, on CPUs with AVX-512
    np.testing.assert_allclose(pin.q, robot.joint_positions(run.q)[name], rtol=1e-15)
    np.testing.assert_array_equal(pin.v, robot.joint_velocities(run.q, run.v)[name])
    assert not pin.tau.any()
    # in a plane, angles of the links around the loop add up, and so do their accelerations
    K = robot.loop_jacobian(run.q)
    assert np.abs(np.einsum("nij,nj->ni", K, run.a) + robot.loop_bias(run.q, run.v)).max() < 1e-8
    h = run.t[1] - run.t[0]
    middle = (pin.v[:-4] - 8 * pin.v[1:-3] + 8 * pin.v[3:-1] - pin.v[4:]) / (12 * h)
    np.testing.assert_allclose(pin.a[2:-2], middle, atol=1e-6 * np.abs(pin.a).max())


def test_a_cut_joint_of_a_linkage_that_a_clock_moves():
    """Its acceleration has the part that comes of time alone."""

    def turning(q, t):
        c, s = rd.cos(q[0] + 0.8 * t * t), rd.sin(q[0] + 0.8 * t * t)
        return [[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1]]

    robot = rd.load("four_bar", joint_maps={"crank_drive": rd.JointMap(1, turning)})
    run = rd.simulate(robot, duration=0.02, limits="ignore")
    (name,) = [n for n in robot.joints if robot.joints[n].cut]
    pin, h = run[name], run.t[1] - run.t[0]
    middle = (pin.v[:-4] - 8 * pin.v[1:-3] + 8 * pin.v[3:-1] - pin.v[4:]) / (12 * h)
    np.testing.assert_allclose(pin.a[2:-2], middle, atol=1e-7 * np.abs(pin.a).max())


def test_a_joint_with_several_speeds_and_its_axes(ball):
    run = swing(ball, 1e-2)
    socket = run["socket"]
    assert socket.q.shape == (41, 4) and socket.v.shape == (41, 3)
    axis = run["socket[1]"]
    assert axis.q is None and axis.name == "socket[1]"
    np.testing.assert_array_equal(axis.a, run.a[:, ball.joints["socket"].v][:, 1])
    one, last = run[7]["socket"], run[-1]["knee"]
    np.testing.assert_array_equal(one.q, socket.q[7])
    assert last.v == run.v[-1, 3] and "at 0.4 s" in repr(last)


@pytest.mark.parametrize("name", ["crank_driv", "rocker_pin[0]", "crank_drive[1]", "", "]", "[0]"])
def test_joints_that_are_not_there(linkage, name):
    with pytest.raises(rd.UnknownNameError) as caught:
        linkage[1][name]
    assert name != "crank_driv" or caught.value.suggestions[0] == "crank_drive"


def test_axes_that_are_not_there(ball):
    with pytest.raises(rd.UnknownNameError, match=r"socket\[3\].*socket\[0\]"):
        swing(ball, 1e-1)["socket[3]"]


def test_joints_of_a_motion_without_a_robot(linkage):
    bare = dataclasses.replace(linkage[1], robot=None)
    np.testing.assert_array_equal(bare["crank_pin"].v, linkage[1]["crank_pin"].v)
    np.testing.assert_array_equal(bare["crank_pin"].q, linkage[1]["crank_pin"].q)
    with pytest.raises(rd.UnknownNameError):
        bare["rocker_pin"]
    for ask in (lambda: bare.audit, lambda: bare.resample(0.1), lambda: bare.motor_torques):
        with pytest.raises(rd.SettingsError, match="does not know what moved"):
            ask()


# -- slices ---------------------------------------------------------------------------------------


def test_slices_keep_what_belongs_to_them(ball):
    events = tuple(EventRecord(t, "tick") for t in (0.05, 0.2, 0.4))
    run = dataclasses.replace(swing(ball, 1e-2, wrenches={"bob": np.arange(6.0)}), events=events)
    energy = run.energy
    part = run[10:31]
    assert part.robot is ball and part.joint_names == run.joint_names
    assert part.events == events[1:2] and part[::-1].events == events[1:2]
    assert run[20].events == events[1:2] and run[21].events == () and run[:0].events == ()
    np.testing.assert_array_equal(part.energy, energy[10:31])
    np.testing.assert_allclose(part[3].kinetic_energy, run.kinetic_energy[13], rtol=1e-14)
    np.testing.assert_allclose(
        part.joint_wrenches()["knee"], run.joint_wrenches()["knee"][10:31], rtol=1e-12
    )


def test_long_motions_are_computed_in_blocks(monkeypatch, ball):
    q0, v0 = np.tile(ball.neutral(), (3, 1)), np.random.default_rng(1).normal(size=(3, 4))
    many = rd.rollout(ball, None, q0, v0, duration=0.1, step=1e-3)
    energy, lost = many.energy, many.audit.unexplained
    monkeypatch.setattr("robodyn.simulation.trajectory.states.samples.BLOCK", 50)
    monkeypatch.setattr("robodyn.simulation.trajectory.states.energy_audit.BLOCK", 50)
    again = dataclasses.replace(many[:])
    del vars(again)["energy"]
    np.testing.assert_array_equal(again.energy, energy)
    np.testing.assert_array_equal(again.audit.unexplained, lost)


# -- what follows ---------------------------------------------------------------------------------


@pytest.mark.parametrize("turned", [1.0, -1.0])
def test_motor_torques_are_those_of_the_gears(turned):
    """Those of gears that turn backwards, too."""
    robot = rd.load("palletizer")
    motors = {
        name: dataclasses.replace(motor, gear_ratio=turned * motor.gear_ratio)
        for name, motor in robot.actuators.items()
    }
    robot = rd.load("palletizer", actuators=motors)
    ratios = robot.gear_ratios
    assert (turned * ratios > 1.0).any()
    run = rd.simulate(
        robot, lambda t, q, v: np.arange(robot.nv) + 1.0, duration=0.01, limits="ignore"
    )
    np.testing.assert_allclose(run.motor_torques * ratios, run.tau, rtol=1e-15)


def test_joint_wrenches_know_what_acts_from_outside():
    robot = rd.load("double_pendulum", base="moving")
    still = rd.BaseMotion.at_rest()
    lift = rd.BaseMotion(still.pose, still.twist, np.r_[0, 0, 2.0, 0, 0, 0])
    push = {"lower": np.r_[1.0, 2.0, 3.0, 0.1, 0.2, 0.3]}

    def base(t):
        return rd.BaseMotion.from_world(
            (0, 0, t * t), linear_velocity=(0, 0, 2 * t), linear_acceleration=(0, 0, 2)
        )

    run = rd.simulate(robot, q0=[0.5, 0.3], duration=0.02, wrenches=push, base=base)
    exact = robot.joint_wrenches(run.q[0], run.v[0], run.a[0], base=lift, wrenches=push)
    ours = run.joint_wrenches()
    for joint in ("shoulder", "elbow", "base"):
        np.testing.assert_allclose(ours[joint][0], exact[joint], rtol=1e-12, atol=1e-12)
    assert set(run.joint_wrenches(["elbow"])) == {"elbow", "base"}


def test_joint_wrenches_of_a_linkage_follow_from_its_forces(linkage):
    """The moment along each axis is the force that was applied, less what turns the rotor."""
    robot, run = linkage
    wrenches = run.joint_wrenches()
    passive = wrenches.passive
    motor = robot.actuators["crank_drive"]
    reflected = {"crank_drive": motor.gear_ratio**2 * motor.rotor_inertia, "crank_pin": 0.0}
    for name, inertia in reflected.items():
        moment = (wrenches[name] - passive[name]) @ np.r_[0, 0, 0, robot.joints[name].axis]
        joint = run[name]
        np.testing.assert_allclose(moment, joint.tau - inertia * joint.a, atol=1e-9)


# -- other instants -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in JOINT_KINDS if kind != "fixed"])
def test_resampling_is_of_fifth_order(kind):
    """On the manifold of a joint and an angle, against samples of a much finer motion."""
    robot = rd.load(random_mechanism(np.random.default_rng(3), [kind, "revolute"]), passive=False)
    v0 = 2.0 * np.random.default_rng(4).normal(size=robot.nv)
    exact = rd.simulate(robot, v0=v0, duration=0.4, step=1e-2 / 32)
    gaps = []
    for coarse in (exact[::64], exact[::32]):
        run = coarse.resample(exact.t)
        dq = np.abs(robot.difference(run.q, exact.q)).max()
        gaps.append([dq, np.abs(run.v - exact.v).max(), np.abs(run.a - exact.a).max()])
    orders = np.log2(np.divide(*gaps))
    assert (orders > [4.5, 3.6, 2.6]).all(), orders
    assert gaps[1][0] < 1e-6


def test_resampling_keeps_the_samples_there_are(ball):
    run = swing(ball, 1e-2)
    again = run.resample(run.t)
    for name in ("t", "q", "v", "a", "tau"):
        np.testing.assert_array_equal(getattr(again, name), getattr(run, name))
    between = run.resample(3e-3)
    np.testing.assert_allclose(np.linalg.norm(between["socket"].q, axis=1), 1.0, atol=1e-14)
    assert between.t[-1] == run.t[-1] and len(between) == 135
    assert len(run.resample([])) == 0
    with pytest.raises(rd.ShapeError, match="more than 50,000,000 samples"):
        run.resample(1e-12)


def test_resampled_loops_are_closed(linkage):
    robot, run = linkage
    between = run.resample(run.t[:-1] + 0.37e-3)
    assert between.loop_residual.max() < 1e-11
    K = robot.loop_jacobian(between.q)
    assert np.abs(np.einsum("nij,nj->ni", K, between.v)).max() < 1e-10


def test_forces_are_held_and_those_of_driven_joints_are_not(double):
    run = rd.simulate(
        double, lambda t, q, v: [0.0, t], duration=0.1, step=1e-2,
        controlled={"shoulder": lambda t: (0.1 * t**3, 0.3 * t**2, 0.6 * t)},
    )  # fmt: skip
    middle = run.resample(run.t[:-1] + 5e-3)
    np.testing.assert_array_equal(middle.tau[:, 1], run.tau[:-1, 1])
    np.testing.assert_allclose(middle.tau[:, 0], 0.5 * (run.tau[1:, 0] + run.tau[:-1, 0]))


@pytest.mark.parametrize(
    "times, said",
    [
        ([0.0, 0.41], "not continued beyond"),
        ([-1e-9, 0.1], "not continued beyond"),
        ([0.2, 0.1], "ascending"),
        ([[0.1]], "ascending"),
        ([math.nan], "not finite"),
        (0.0, "step > 0"),
        (-1.0, "step > 0"),
        ("fast", "real numbers"),
    ],
)
def test_instants_that_are_none(ball, times, said):
    with pytest.raises(rd.ShapeError, match=said):
        swing(ball, 1e-2).resample(times)


def test_nothing_is_known_of_no_samples(ball):
    with pytest.raises(rd.ShapeError, match="without samples"):
        swing(ball, 1e-2)[:0].resample([])


# -- one of many ----------------------------------------------------------------------------------


def test_one_of_many_motions():
    robot = rd.load("double_pendulum", base="moving")
    q0, v0 = np.random.default_rng(1).normal(size=(2, 3, 2))
    push = np.random.default_rng(2).normal(size=(3, 6))

    def base(t):
        return rd.BaseMotion.from_world(
            (0, 0, t * t), linear_velocity=(0, 0, 2 * t), linear_acceleration=(0, 0, 2)
        )

    def function(t, q, v):
        return {"lower": push * t, "upper": push[0]}

    for wrenches in (None, {"lower": push, "upper": push[0]}, function):
        options = {"duration": 0.02, "limits": "ignore", "base": base}
        many = rd.rollout(robot, None, q0, v0, wrenches=wrenches, **options)
        events = tuple(EventRecord(0.01, f"{k}", motion=(k,)) for k in range(3))
        many = dataclasses.replace(many, events=(EventRecord(0.0, "starts"), *events))
        one = many.motion(1)
        assert [event.name for event in one.events] == ["starts", "1"]
        np.testing.assert_array_equal(one.q, many.q[:, 1])
        np.testing.assert_array_equal(one.energy, many.energy[:, 1])
        ours, all_of_them = one.joint_wrenches()["base"], many.joint_wrenches()["base"]
        np.testing.assert_allclose(ours, all_of_them[:, 1], rtol=1e-13)
        np.testing.assert_allclose(
            one.audit.wrenches, many.audit.wrenches[:, 1],
            atol=1e-6 * (wrenches is function) + 1e-13,
        )  # fmt: skip
        np.testing.assert_array_equal(many.motion(-1).v, many.v[:, 2])


@pytest.mark.parametrize("place", [(), (3,), (0, 0), ("a",), (1.0,), (slice(2),)])
def test_motions_that_are_not_there(place):
    many = rd.rollout(rd.load("double_pendulum"), None, np.zeros((3, 2)), np.zeros((3, 2)))
    with pytest.raises(rd.ShapeError, match=r"motions of shape \(3,\)"):
        many.motion(*place)


@pytest.mark.parametrize("index", [None, True, [[1, 2]], np.zeros((41, 2), bool)])
def test_what_is_no_index_of_samples(ball, index):
    run = swing(ball, 1e-2)
    with pytest.raises(IndexError):
        run[index]
