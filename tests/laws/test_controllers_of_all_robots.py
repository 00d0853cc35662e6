"""Controllers of trees, closed linkages, floating and moving bases: motors and nothing else."""

import dataclasses

import numpy as np
import pytest
from support.motions import heaving

import robodyn as rd
from robodyn.controllers import ComputedTorque, GravityCompensation, JointPD, PointToPoint
from robodyn.simulation.loads.driven_joints import independent

#: Trees with and without motors everywhere, linkages, one with more motors than motions, and bases.
ROBOTS = [
    ("puma560", "fixed"),
    ("prosthesis", "fixed"),
    ("caster_table", "fixed"),
    ("four_bar", "fixed"),
    ("palletizer", "fixed"),
    ("stewart", "fixed"),
    ("two_feet", "fixed"),
    ("satellite", "floating"),
    ("four_bar", "floating"),
    ("pan_tilt", "moving"),
    ("five_bar", "moving"),
]


class Case:
    """A robot in a random state, where its motors are, and a reference that it is away from."""

    def __init__(self, name, base, actuators=None):
        self.robot = robot = rd.load(name, base=base, actuators=actuators)
        rng = np.random.default_rng(3)
        self.base = heaving if base == "moving" else None
        self.at = {"base": heaving(0.3)} if self.base else {}
        self.q, v = robot.random(rng), rng.normal(size=robot.nv)
        self.v = robot.consistent_velocity(self.q, v) if robot.nc else v
        moved = [robot.joints[n].v for n in robot.actuated_joints]
        self.motors = [k for at in moved for k in range(at.start, at.stop)]
        self.goal = robot.integrate(self.q, 0.3 * rng.normal(size=robot.nv))
        self.speed, self.rate = rng.normal(size=(2, robot.nv))
        self.gains = rng.uniform(1.0, 3.0, (2, robot.nv))

    def reference(self, t):
        return self.goal, self.speed, self.rate

    def wanted(self):
        k, d = self.gains
        error = self.robot.difference(self.q, self.goal)
        return self.rate + d * (self.speed - self.v) + k * error

    def acceleration(self, tau):
        return self.robot.forward_dynamics(self.q, self.v, tau, **self.at)


@pytest.fixture(scope="module", params=ROBOTS, ids=lambda p: f"{p[0]}, {p[1]} base")
def case(request):
    return Case(*request.param)


def controllers(case):
    k, d = case.gains
    yield GravityCompensation(case.robot, case.base)
    yield JointPD(case.robot, case.reference, k, d, base=case.base)
    yield JointPD(case.robot, case.reference, k, d, gravity=False)
    yield ComputedTorque(case.robot, case.reference, k, d, base=case.base)


def test_never_a_torque_without_a_motor(case):
    passive = np.setdiff1d(np.arange(case.robot.nv), case.motors)
    for controller in controllers(case):
        tau = controller(0.3, case.q, case.v)
        assert tau.shape == (case.robot.nv,)
        assert not tau[passive].any(), type(controller).__name__
        if not (case.robot.name == "caster_table" and isinstance(controller, GravityCompensation)):
            assert np.abs(tau[case.motors]).max() > 1e-3


def test_gravity_compensation_holds(case):
    """With as many motors as motions nothing moves; else what motors hold is held."""
    robot = case.robot
    tau = GravityCompensation(robot, case.base)(0.3, case.q, case.v)
    rest = np.zeros(robot.nv)
    if robot.base == "floating":  # something holds the base
        tau[:6] = robot.inverse_dynamics(case.q, rest, rest)[:6]
    elif len(case.motors) < robot.dof:
        held = robot.inverse_dynamics(case.q, rest, rest, **case.at)
        np.testing.assert_allclose(tau[case.motors], held[case.motors], atol=1e-12)
        return
    a = robot.forward_dynamics(case.q, rest, tau, **case.at)
    np.testing.assert_allclose(a, 0.0, atol=1e-7)


def test_pd_by_hand(case):
    k, d = case.gains
    tau = JointPD(case.robot, case.reference, k, d, gravity=False)(0.3, case.q, case.v)
    error = case.robot.difference(case.q, case.goal)
    expected = k * error + d * (case.speed - case.v)
    np.testing.assert_allclose(tau[case.motors], expected[case.motors], atol=1e-12)
    weight = GravityCompensation(case.robot, case.base)(0.3, case.q, case.v)
    both = JointPD(case.robot, case.reference, k, d, base=case.base)(0.3, case.q, case.v)
    np.testing.assert_allclose(both, tau + weight, atol=1e-12)


def test_computed_torque_gives_motors_the_acceleration_of_their_gains(case):
    if not independent(case.robot, case.q, case.motors):
        assert case.robot.name == "two_feet"  # see the next test
        return
    k, d = case.gains
    tau = ComputedTorque(case.robot, case.reference, k, d, base=case.base)(0.3, case.q, case.v)
    a = case.acceleration(tau)
    scale = max(1.0, np.abs(a).max())
    np.testing.assert_allclose(a[case.motors], case.wanted()[case.motors], atol=1e-8 * scale)


def test_more_motors_than_motions_do_what_the_loops_allow():
    """Where the reference is possible, motors that loops tie together follow it exactly."""
    case = Case("two_feet", "fixed")
    robot = case.robot
    assert not independent(robot, case.q, case.motors)
    possible = robot.consistent_acceleration(case.q, case.v, case.rate)
    follow = ComputedTorque(robot, lambda t: (case.q, case.v, possible), *case.gains)
    a = case.acceleration(follow(0.0, case.q, case.v))
    np.testing.assert_allclose(a, possible, atol=1e-8 * np.abs(a).max())


def test_a_batch_is_its_rows(case):
    rows = [robot_state(case.robot, seed) for seed in range(3)]
    q, v = (np.array(x) for x in zip(*rows, strict=True))
    for controller in controllers(case):
        one_by_one = [controller(0.3, *row) for row in rows]
        scale = max(1.0, np.abs(one_by_one).max())
        np.testing.assert_allclose(controller(0.3, q, v), one_by_one, atol=1e-9 * scale)


def robot_state(robot, seed):
    rng = np.random.default_rng(seed)
    q, v = robot.random(rng), 0.3 * rng.normal(size=robot.nv)
    return q, robot.consistent_velocity(q, v) if robot.nc else v


def chain(axes):
    """Skew axes, one after the other, each with a body beside it."""
    text = '<robot name="chain"><link name="link0"/>'
    for k, axis in enumerate(axes, 1):
        text += f"""<link name="link{k}"><inertial><origin xyz="0.2 0.1 -0.1"/><mass value="{k}"/>
        <inertia ixx="0.1" ixy="0" ixz="0.02" iyy="0.2" iyz="0" izz="0.15"/></inertial></link>
        <joint name="joint{k}" type="continuous"><origin xyz="0.3 0 0.1"/><parent
        link="link{k - 1}"/><child link="link{k}"/><axis xyz="{axis}"/></joint>"""
    return text + "</robot>"


#: Joints that motors of others move, on trees, in a linkage, and of bases that move or float.
OTHERS = {
    "pendulum": ("double_pendulum", {"elbow": rd.Actuator()}, ("shoulder",), "fixed"),
    "chain": (
        chain(("0 0 1", "0 1 0", "0.6 0.8 0")),
        dict.fromkeys(("joint1", "joint2"), rd.Actuator()),
        ("joint2", "joint3"),
        "fixed",
    ),
    "linkage": ("five_bar", None, ("right_elbow", "left_drive"), "fixed"),
    "moving": ("double_pendulum", {"shoulder": rd.Actuator()}, ("elbow",), "moving"),
    "floating": ("satellite", {"clock": rd.Actuator()}, ("boom_swing",), "floating"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_motors_move_other_joints_as_wanted(name):
    """Partial feedback linearisation that is not collocated."""
    source, actuators, controlled, base = OTHERS[name]
    case = Case(source, base, actuators)
    k, d = case.gains
    controller = ComputedTorque(
        case.robot, case.reference, k, d, base=case.base, controlled=controlled
    )
    tau = controller(0.3, case.q, case.v)
    assert not np.delete(tau, case.motors).any()
    assert tau[case.motors].all()
    at = [case.robot.joints[joint].v.start for joint in controlled]
    wanted, a = case.wanted()[at], case.acceleration(tau)[at]
    np.testing.assert_allclose(a, wanted, atol=1e-8 * max(1.0, np.abs(tau).max()))
    both = controller(0.3, np.array([case.q, case.q]), np.array([case.v, 0.0 * case.v]))
    np.testing.assert_allclose(both[0], tau, rtol=1e-9)


def test_naming_the_motors_changes_nothing():
    case = Case("five_bar", "fixed")
    usual = ComputedTorque(case.robot, case.reference)
    named = dataclasses.replace(usual, controlled=reversed(case.robot.actuated_joints))
    np.testing.assert_array_equal(named(0.3, case.q, case.v), usual(0.3, case.q, case.v))


def test_joints_that_motors_cannot_control():
    robot = rd.load("double_pendulum", actuators={"elbow": rd.Actuator()})
    rest = np.zeros(2)

    def make(controlled, robot=robot):
        return ComputedTorque(robot, lambda t: (rest, rest, rest), controlled=controlled)

    with pytest.raises(rd.ActuationError, match=r"have 2 speeds and its motors 1 .joints: elbow"):
        make(("shoulder", "elbow"))
    with pytest.raises(rd.UnknownNameError, match=r"'sholder'.*did you mean 'shoulder'"):
        make("sholder")
    with pytest.raises(rd.ShapeError, match="controlled is 3"):
        make(3)
    # a joint about whose axis the other one, at right angles to it, has no inertia
    cross = rd.load(CROSS, actuators={"roll": rd.Actuator()})
    controller = make(("pitch",), cross)
    with pytest.raises(rd.ActuationError, match=r"controlled joints pitch .* not coupled"):
        controller(0.0, rest, rest)
    still = PointToPoint(rest, rest, 1.0)
    with pytest.raises(rd.SettingsError, match="no straight-line code"):
        rd.closed_loop(cross, dataclasses.replace(controller, reference=still))
    # and one that comes and goes with the posture: machine code gives no numbers there
    bent = dataclasses.replace(make(("shoulder",)), reference=still)
    lost = np.array([0.0, np.arccos(-2.0 / 3.0) + 1e-4])  # M12 = 1/3 + cos(elbow) / 2
    assert np.isnan(rd.closed_loop(robot, bent)(0.0, lost, rest)).any()
    with pytest.raises(rd.ActuationError, match=r"controlled joints shoulder .* not coupled"):
        bent(0.0, lost, rest)


CROSS = """<robot name="cross"><link name="base"/>
<link name="gimbal"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="disc"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="1"/></inertial></link>
<joint name="pitch" type="continuous"><parent link="base"/><child link="gimbal"/>
<axis xyz="0 1 0"/></joint>
<joint name="roll" type="continuous"><parent link="gimbal"/><child link="disc"/>
<axis xyz="1 0 0"/></joint></robot>"""


def test_what_falls_weighs_nothing():
    robot = rd.load("five_bar", base="moving")
    falling = rd.BaseMotion.from_world(linear_acceleration=robot.gravity)
    tau = GravityCompensation(robot, falling)(0.0, robot.neutral(), np.zeros(robot.nv))
    np.testing.assert_allclose(tau, 0.0, atol=1e-9)


def still_there(t):
    return np.zeros(2), np.zeros(2), np.zeros(2)


@pytest.mark.parametrize("make", [
    lambda robot, **base: GravityCompensation(robot, **base),
    lambda robot, **base: JointPD(robot, still_there, 1.0, 1.0, **base),
    lambda robot, **base: ComputedTorque(robot, still_there, **base),
])  # fmt: skip
def test_bases_that_do_not_fit(make):
    moving, fixed = rd.load("pan_tilt", base="moving"), rd.load("pan_tilt")
    with pytest.raises(rd.ShapeError, match="moving base: give the controller base="):
        make(moving)
    with pytest.raises(rd.ShapeError, match="has a fixed base"):
        make(fixed, base=heaving)
    with pytest.raises(rd.ShapeError, match=r"expected a robodyn[.]BaseMotion"):
        make(moving, base=[0.0, 0.0, 1.0])
    make(moving, base=rd.BaseMotion.at_rest())
