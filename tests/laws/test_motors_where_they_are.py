"""Motors at joints that follow others: the same machine in tree and in minimal coordinates, and
described the other way round. Torques of motors by virtual work."""

import dataclasses
import warnings

import numpy as np
import pytest
from support.comparison import close_within
from support.compiled_c import c_library, pointers

import robodyn as rd
from robodyn import controllers as rc
from robodyn.description import Mimic
from robodyn.errors import LimitWarning
from robodyn.ros import Engine, Settings, TrajectoryContent, TrajectoryPoint
from robodyn.ros.states.throttled_logger import ThrottledLogger
from robodyn.simulation.loads.column_names import coordinate_names, speed_names

close = close_within(1e-9)


def linkage(name, motors, independent=(), **options):
    """A bundled linkage with motors at some joints, in minimal and in tree coordinates."""
    described = rd.load(name).mechanism
    joints = tuple(
        dataclasses.replace(joint, independent=joint.name in independent)
        for joint in described.joints
    )
    described = dataclasses.replace(described, joints=joints, actuators=())
    actuators = {
        joint: rd.Actuator(5.0 + k, 1e-4, viscous=1e-4, torque_limit=1.0)
        for k, joint in enumerate(motors)
    }
    given = {"actuators": actuators, **options}
    return rd.load(described, coordinates="minimal", **given), rd.load(described, **given)


def _level():
    robot = rd.load("five_bar")
    plane = np.eye(4)
    plane[:3, 3] = robot.frame_pose(robot.neutral(), frame="right_rod")[:3, 3]
    return rd.FrameConstraint("level", "point_on_plane", (("world", plane), "right_rod"))


def bundled(name, **options):
    return rd.load(name, coordinates="minimal", **options), rd.load(name, **options)


def _locked():
    m, t = bundled("two_feet")
    held = {"neck": 0.1}
    return m.with_(locked=held), t.with_(locked=held)


COUPLED = rd.Transmission.differential("both", ("left_elbow", "right_elbow"), (2.0, 3.0))
DRIVES = ("left_drive", "right_drive")

#: Machines in minimal and in tree coordinates.
PAIRS = {
    "coupler": lambda: linkage("four_bar", ["crank_pin"], ["crank_drive"]),
    "two motors": lambda: linkage("four_bar", ["crank_drive", "crank_pin"], ["crank_drive"]),
    "elbows": lambda: linkage("five_bar", ["left_elbow", "right_elbow"], DRIVES),
    "differential": lambda: linkage(
        "five_bar", ["left_elbow", "right_elbow"], DRIVES, transmissions=[COUPLED]
    ),
    "constrained": lambda: linkage("five_bar", ["left_elbow"], DRIVES, constraints=[_level()]),
    "hexapod": lambda: bundled("stewart"),
    "floating hexapod": lambda: bundled("stewart", base="floating"),
    "quadruped": lambda: bundled("two_feet"),
    "locked": _locked,
}

#: Limits of what motors give.
OF_FORCES = ("effort", "motor torque")

#: Of which each motor can be asked for any force.
DETERMINED = ("coupler", "elbows", "differential", "constrained", "hexapod", "floating hexapod")


def marked(names):
    """Names of machines, of which some take long to compile."""
    slow = ("hexapod", "floating hexapod", "quadruped", "locked")
    return [pytest.param(x, marks=pytest.mark.slow) if x in slow else x for x in names]


@pytest.fixture(scope="module", params=marked(PAIRS))
def pair(request):
    return PAIRS[request.param]()


@pytest.fixture(scope="module", params=marked(DETERMINED))
def determined(request):
    return PAIRS[request.param]()


def at_motors(t):
    return [k for x in t.actuated_joints for k in range(t.joints[x].v.start, t.joints[x].v.stop)]


def states(m, *, rest=False):
    """A state in minimal and in tree coordinates."""
    rng = np.random.default_rng(1)
    q = m.random(rng)
    v, a = (0.3 * rng.normal(size=m.nv) * (not rest) for _ in range(2))
    if m.nc:
        v = m.consistent_velocity(q, v)
        a = m.consistent_acceleration(q, v, a)
    return (q, v, a), (m.expand(q), m.expand_velocity(q, v), m.expand_acceleration(q, v, a))


def test_torques_and_powers(pair):
    m, t = pair
    (q, v, a), (Q, V, A) = states(m)
    f = t.inverse_dynamics(Q, V, A)
    own = 6 if t.base == "floating" else 0
    B = m.actuation_matrix(q)
    close(B, m.torque_map(q)[:, at_motors(t)])
    close((B @ f[at_motors(t)])[own:], m.inverse_dynamics(q, v, a)[own:])
    close(m.motor_torques(q, v, a), t.motor_torques(Q, V, A)[at_motors(t)])
    close(m.motor_power(q, v, a), t.motor_power(Q, V, A)[at_motors(t)])
    moved = m.transmission_matrix @ (B.T @ v)
    close(m.motor_power(q, v, a), m.motor_torques(q, v, a) * moved)
    batch = m.motor_torques(np.stack([q, q]), v, a)
    close(batch, [m.motor_torques(q, v, a)] * 2)
    single = m.motor_torques(*(x.astype(np.float32) for x in (q, v, a)))
    assert single.dtype == np.float32
    close(single, m.motor_torques(q, v, a), 1e-4)


def test_wrenches(pair):
    m, t = pair
    (q, v, a), (Q, V, A) = states(m)
    expected = t.joint_wrenches(Q, V, A)
    given = m.inverse_dynamics(q, v, a)
    for found in (m.joint_wrenches(q, v, a), m.joint_wrenches(q, v, tau=given)):
        for name in expected:
            close(found[name], expected[name], 1e-8)
        for name in expected.motor if hasattr(expected.motor, "__iter__") else t.joint_names:
            close(found.motor[name], expected.motor[name], 1e-8)


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("locked", [{}, {"left_drive": 0.1}])
def test_too_few_motors(base, locked):
    """Forces where there is no motor are refused, in both kinds of coordinates."""
    bar = rd.load("five_bar").mechanism
    one = dataclasses.replace(bar, actuators=(("left_drive", rd.Actuator(2.0)),))
    m, t = (rd.load(one, coordinates=x, base=base) for x in ("minimal", "tree"))
    m, t = (x.with_(locked=locked) for x in (m, t))
    (q, v, _), (Q, V, _) = states(m)
    a = m.forward_dynamics(q, v, 0.0 * v)
    for x, state in ((m, (q, v, a)), (t, (Q, V, m.expand_acceleration(q, v, a)))):
        close(x.motor_torques(*state), 0.0 * x.motor_torques(*state))
        assert np.isfinite(x.joint_wrenches(*state)["right_drive"]).all()
        more = np.zeros(x.nv)
        more[-1] = 1.0
        more = x.consistent_acceleration(state[0], 0.0 * state[1], more) if x.nc else more
        other = state[0], state[1], state[2] + more
        for method in ("motor_torques", "motor_power", "joint_wrenches"):
            with pytest.raises(rd.ActuationError, match="of 'five_bar' cannot produce these"):
                getattr(x, method)(*other)


def test_wrenches_of_a_motion_whose_forces_are_elsewhere():
    """A joint without a motor is driven, and another pushed: the forces of the motion count."""
    bar = rd.load("five_bar").mechanism
    one = dataclasses.replace(bar, actuators=(("left_drive", rd.Actuator(2.0)),))
    m, t = (rd.load(one, coordinates=x) for x in ("minimal", "tree"))
    start = m.neutral()
    push = {"duration": 0.05, "step": 1e-3, "limits": "ignore"}
    run = rd.simulate(m, lambda t, q, v: [0.1, 0.2], q0=start, **push)
    tau = np.array([0.1, 0.0, 0.0, 0.0])
    tau[t.joints["left_elbow"].v] = 0.2
    expected = rd.simulate(t, lambda t, q, v: tau, q0=m.expand(start), **push)
    found, wanted = run.joint_wrenches(), expected.joint_wrenches()
    for name in ("left_drive", "left_elbow", "right_drive"):
        close(found[name], wanted[name], 1e-5)
    with pytest.raises(rd.ActuationError):
        m.joint_wrenches(run.q[0], run.v[0], run.a[0])
    engine = Engine(m)
    q, v, a, forces = engine.observe()
    close(engine.wrenches(a, forces)["left_drive"], m.joint_wrenches(q, v, a)["left_drive"])


def test_linear_models_at_rest(pair):
    """Poles do not depend on the choice of coordinates of a robot that stays at rest."""
    m, t = pair
    (q, v, a), (Q, V, A) = states(m, rest=True)
    if m.base == "floating":
        return  # it falls
    x = m.linearize(q, v, m.inverse_dynamics(q, v, a))
    y = t.linearize(Q, V, t.inverse_dynamics(Q, V, A))
    assert x.inputs == y.inputs == tuple(f"tau:{name}" for name in t.actuated_joints)
    close(x.acceleration, 0.0, 1e-7)
    close(np.poly(x.poles), np.poly(y.poles), 1e-6)
    s = 3.0 + 1.0j  # transfer functions to a link that moves
    link = t.link_names[-1]
    x = m.linearize(q, v, m.inverse_dynamics(q, v, a), outputs=[link])
    y = t.linearize(Q, V, t.inverse_dynamics(Q, V, A), outputs=[link])
    of = (z.C @ np.linalg.solve(s * np.eye(len(z.A)) - z.A, z.B) for z in (x, y))
    close(next(of), next(of), 1e-6)


def pushed(m, t, forces, limits):
    """The same forces of motors, in both kinds of coordinates.

    Forces are held for a step: along the coordinates in the one, at the motors in the other.
    """
    (q, v, _), (Q, V, _) = states(m)
    over = np.zeros(t.nv)
    over[at_motors(t)] = forces
    options = {"duration": 1e-4, "step": 1e-6, "limits": limits}
    with warnings.catch_warnings(action="ignore", category=LimitWarning):
        minimal = lambda s, x, w: m.actuation_matrix(x) @ forces  # noqa: E731
        return (
            rd.simulate(m, minimal, q0=q, v0=v, **options),
            rd.simulate(t, lambda s, x, w: over, q0=Q, v0=V, **options),
        )


def test_sizing(determined):
    m, t = determined
    forces = np.linspace(0.2, 0.5, len(at_motors(t)))
    x, y = pushed(m, t, forces, "ignore")
    close(x.motor_torques, y.motor_torques[:, at_motors(t)])
    found, expected = x.sizing(), y.sizing()
    assert [*found] == [*expected] == [*t.actuated_joints]
    close(found.speeds, expected.speeds, 1e-8)
    for one, other in zip(found.rows, expected.rows, strict=True):
        assert one.motor == other.motor
        assert one.torque_unit == other.torque_unit
        assert one.torque_limit == other.torque_limit
        assert one.speed_limit == other.speed_limit
        assert one.rms_torque == pytest.approx(other.rms_torque, rel=1e-8)
        assert one.peak_power == pytest.approx(other.peak_power, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("limits", ["enforce", "ignore"])
def test_limits(determined, limits):
    m, t = determined
    much = 5.0 * (m.motor_torque_limits * m.gear_ratios).max()
    x, y = pushed(m, t, np.full(len(at_motors(t)), much), limits)
    close(x.motor_torques, y.motor_torques[:, at_motors(t)])
    most = np.abs(x.motor_torques).max(axis=0)
    assert (most <= m.motor_torque_limits * (1.0 + 1e-9)).all() == (limits == "enforce")
    told = [
        [(n.joint, n.limit, n.bound) for n in run.limit_violations if n.limit in OF_FORCES]
        for run in (x, y)
    ]
    assert sorted(told[0]) == sorted(told[1])
    assert bool(told[0]) == (limits == "ignore")


@pytest.mark.parametrize("name", marked(["coupler", "elbows", "hexapod", "quadruped"]))
def test_controllers_that_follow(name):
    """Torques that motors produce, whatever joint carries them: the error dynamics is exact."""
    m, _ = PAIRS[name]()
    (q, v, _), _ = states(m)
    rest = np.zeros(m.nv)
    wanted = lambda s: (q, rest, rest)  # noqa: E731
    tau = rc.ComputedTorque(m, wanted, stiffness=30.0, damping=5.0)(0.0, q, v)
    close(m.forward_dynamics(q, v, tau), -5.0 * v)
    tau = rc.JointPD(m, wanted, stiffness=30.0, damping=5.0)(0.0, q, v)
    close(tau, m.inverse_dynamics(q, rest, rest) - 5.0 * v)


@pytest.mark.parametrize("name", marked(["coupler", "constrained", "hexapod", "elbows"]))
def test_regulators(name):
    m, t = PAIRS[name]()
    q = m.neutral()
    effort = 10.0 ** np.linspace(-1.0, 1.0, len(at_motors(t)))
    law = rc.LQR(m, q, effort=effort)
    assert law.model.inputs == tuple(f"tau:{name}" for name in t.actuated_joints)
    assert law.gains.shape == (len(at_motors(t)), len(law.model.A))
    assert np.linalg.eigvals(law.model.A - law.model.B @ law.gains).real.max() < 0.0
    holding = rc.LQR(t, m.expand(q), effort=effort).holding
    close(law.holding, holding)
    rest = np.zeros(m.nv)
    close(law(0.0, q, rest), m.actuation_matrix(q) @ holding)
    # far from its posture the motors keep what they gave there
    tau = law(0.0, (other := states(m)[0][0]), rest)
    part = np.linalg.lstsq(m.actuation_matrix(other), tau)[0]
    close(m.actuation_matrix(other) @ part, tau)
    run = rd.simulate(m, law, q0=q, v0=1e-3 * m.consistent_velocity(q, rest + 1.0), duration=0.05)
    assert [*run.sizing()] == [*t.actuated_joints]


@pytest.mark.slow
def test_saturation():
    """Torques of motors are cut, not those of coordinates."""
    m, t = PAIRS["hexapod"]()
    (q, v, _), _ = states(m)
    pull = np.linspace(-9e3, 9e3, 6)
    tau = rc.Saturated(lambda s, x, w: m.actuation_matrix(x) @ pull, robot=m)(0.0, q, v)
    top = (t.motor_torque_limits * t.gear_ratios)[at_motors(t)]
    limits = np.minimum(top, t.effort_limits[at_motors(t)])
    close(np.linalg.solve(m.actuation_matrix(q), tau), np.clip(pull, -limits, limits))


@pytest.mark.slow
def test_fastest_motions_keep_limits_of_motors():
    m, _ = PAIRS["elbows"]()
    q = m.neutral()
    goal = q + np.array([0.2, -0.1])
    path = rc.TimeOptimal(rc.PointToPoint(q, goal, 1.0), 1.0, robot=m)
    times = np.linspace(0.0, path.duration, 60)[1:-1]
    torques = np.array([m.motor_torques(*path(s)) for s in times])
    shares = np.abs(torques) / m.motor_torque_limits
    assert shares.max() <= 1.0 + 1e-3
    assert np.median(shares.max(axis=1)) > 0.9  # it uses them


# -- described the other way round -----------------------------------------------------------------

INERTIA = rd.Inertia(1.0, rd.Pose((0, 0, 0.1)), ixx=0.01, iyy=0.01, izz=0.01)
LINKS = tuple(rd.Link(x, None if x == "ground" else INERTIA) for x in ("ground", "left", "right"))
MOTOR = {"right": rd.Actuator(10.0, 1e-3, viscous=1e-3, torque_limit=0.05)}


def _gripper(left=None, right=None, couplings=(), **options):
    joints = (
        rd.Joint("left", "revolute", "ground", "left", axis=(0, 1, 0), mimic=left),
        rd.Joint(
            "right", "revolute", "ground", "right", rd.Pose((0.2, 0, 0)), (0, 1, 0), mimic=right
        ),
    )  # fmt: skip
    described = rd.Mechanism("gripper", LINKS, joints, couplings=couplings)
    return rd.load(described, actuators=MOTOR, **options)


FOLLOWERS = {
    "mimic": lambda: _gripper(right=Mimic("left", -2.0)),
    "coupling": lambda: _gripper(couplings=(rd.Coupling("c", "left", "right", ratio=-2.0),)),
    "function": lambda: rd.load(
        rd.Mechanism("gripper", LINKS, _gripper(right=None).mechanism.joints),
        couplings=[rd.Follower("right", lambda x: -2.0 * x, of="left")],
        actuators=MOTOR,
    ),
}


@pytest.mark.parametrize("kind", FOLLOWERS)
def test_a_motor_at_a_joint_that_follows(kind):
    leading, follows = _gripper(left=Mimic("right", -0.5)), FOLLOWERS[kind]()
    assert follows.actuated_joints == leading.actuated_joints == ("right",)
    q, v, a = 0.4, 1.0, 3.0
    one, other = ([q], [v], [a]), ([-q / 2], [-v / 2], [-a / 2])
    close(follows.motor_torques(*other), leading.motor_torques(*one))
    close(follows.motor_power(*other), leading.motor_power(*one))
    close(follows.motor_torque_limits, leading.motor_torque_limits)
    close(follows.actuation_matrix(other[0]), [[-2.0]])
    close(follows.inverse_dynamics(*other, actuated=["right"]), follows.inverse_dynamics(*other))
    model = follows.linearize([0.0], [0.0], None)
    assert model.inputs == ("tau:right",)
    expected = leading.linearize([0.0], [0.0], None)
    close(model.poles, expected.poles)
    close(-2.0 * model.B, expected.B)
    for limits in ("enforce", "ignore"):
        x = rd.simulate(follows, lambda t, q, v: [50.0], duration=0.02, limits=limits)
        y = rd.simulate(leading, lambda t, q, v: [-25.0], duration=0.02, limits=limits)
        close(x.motor_torques, y.motor_torques)
        assert [*x.sizing()] == [*y.sizing()] == ["right"]
        close(x.sizing().torques, y.sizing().torques)
        close(x.sizing().speeds, y.sizing().speeds, 1e-8)
        assert [n.limit for n in x.limit_violations] == [n.limit for n in y.limit_violations]
        assert x.sizing()["right"].torque_utilisation == pytest.approx(
            y.sizing()["right"].torque_utilisation
        )
    close(rc.GravityCompensation(follows)(0.0, [0.3], [0.0]), follows.gravity_forces([0.3]))
    law = rc.LQR(follows, [0.0], state=[4.0, 4.0])  # twice as far, and twice as fast
    close(law.gains, -2.0 * rc.LQR(leading, [0.0]).gains)


def test_a_weak_motor_that_gives_a_small_part_limits_what_both_give():
    """Torques that least squares share as 1 to 10, on the way of the joint that leads."""
    motors = {"left": rd.Actuator(torque_limit=1.0), "right": rd.Actuator(torque_limit=1e3)}
    robot = _gripper(right=Mimic("left", 10.0)).with_(actuators=motors)
    run = rd.simulate(robot, lambda t, q, v: [-1e4], duration=0.002, limits="enforce")
    close(run.tau[:, 0], np.full(len(run.t), -101.0))


def test_a_function_that_is_not_linear():
    """The torque changes with the posture: power is what it is at the coordinate."""
    robot = rd.load(
        rd.Mechanism("gripper", LINKS, _gripper().mechanism.joints),
        couplings=[rd.Follower("right", lambda x: rd.sin(2.0 * x), of="left")],
        actuators=MOTOR,
    )
    for q in (0.1, 0.7):
        state = [q], [0.5], [0.2]
        slope = 2.0 * np.cos(2.0 * q)
        tau = robot.inverse_dynamics(*state)
        close(robot.motor_torques(*state), tau / (10.0 * slope))
        close(robot.motor_power(*state), tau * 0.5)
        close(robot.transmission_matrix @ (robot.actuation_matrix([q]).T @ [0.5]), 5.0 * slope)
    # at rest its forces turn with the posture
    q, h = 0.3, 1e-4
    f = robot.gravity_forces([q]) / (2.0 * np.cos(2.0 * q))
    held = robot.linearize([q], [0.0], robot.gravity_forces([q]))
    ahead, behind = (
        robot.forward_dynamics([x], [0.0], robot.actuation_matrix([x]) @ f) for x in (q + h, q - h)
    )
    assert held.A[1, 0] == pytest.approx((ahead - behind)[0] / (2.0 * h), rel=1e-6)


def test_motors_at_both_joints_share():
    """Of two motors for one motion, the forces are those of least norm."""
    both = rd.load(
        _gripper(right=Mimic("left", -2.0)).mechanism, actuators={"left": rd.Actuator(5.0, 1e-3)}
    )
    assert both.actuated_joints == ("left", "right")
    state = [0.2], [1.0], [2.0]
    tau = both.inverse_dynamics(*state)[0]
    close(both.motor_torques(*state) * both.gear_ratios, tau * np.array([1.0, -2.0]) / 5.0)


def hand(kind, motors, **options):
    """A four-bar with two fingers at its last link, of which the second follows the first."""
    described = rd.load("four_bar").mechanism
    last = described.links[-1].name
    lead = None if kind == "function" else Mimic("one", -2.0)
    fingers = (
        rd.Joint("one", "revolute", last, "left", rd.Pose((0, 0, 0.1)), axis=(0, 1, 0)),
        rd.Joint(
            "two", "revolute", last, "right", rd.Pose((0.1, 0, 0.1)), (0.6, 0.8, 0), mimic=lead
        ),
    )
    joints = tuple(
        dataclasses.replace(joint, independent=joint.name == "crank_drive")
        for joint in described.joints
    )
    described = dataclasses.replace(
        described, links=(*described.links, *LINKS[1:]), joints=(*joints, *fingers), actuators=()
    )
    actuators = {name: rd.Actuator(5.0 + k, 1e-4) for k, name in enumerate(motors)}
    if kind == "function":
        options["couplings"] = [rd.Follower("two", lambda x: rd.sin(-2.0 * x), of="one")]
    options["actuators"] = actuators
    return rd.load(described, coordinates="minimal", **options), rd.load(described, **options)


@pytest.mark.slow
@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("kind", ["mimic", "function"])
@pytest.mark.parametrize("motors", [("crank_drive", "two"), ("crank_pin", "two")])
def test_motors_at_joints_that_follow_beside_a_loop(motors, kind, base):
    """Where they have no speeds in tree coordinates either."""
    m, t = hand(kind, motors, base=base)
    assert m.actuated_joints == t.actuated_joints == motors
    (q, v, a), (Q, V, A) = states(m)
    close(m.motor_torques(q, v, a), t.motor_torques(Q, V, A))
    close(m.motor_power(q, v, a), t.motor_power(Q, V, A))
    given = m.inverse_dynamics(q, v, a)
    expected = t.joint_wrenches(Q, V, A)
    for found in (m.joint_wrenches(q, v, a), m.joint_wrenches(q, v, tau=given)):
        for name in expected:
            close(found[name], expected[name], 1e-8)
    rest, still = 0.0 * v, 0.0 * V
    weight = rc.GravityCompensation(t)(0.0, Q, still)
    close(rc.GravityCompensation(m)(0.0, q, rest), m.torque_map(q) @ weight)
    law = rc.ComputedTorque(m, lambda s: (q, rest, rest))
    same = rc.ComputedTorque(t, lambda s: (Q, still, still))
    found = m.forward_dynamics(q, rest, law(0.0, q, rest))
    close(m.expand_acceleration(q, rest, found), t.forward_dynamics(Q, still, same(0.0, Q, still)))
    if base == "fixed":
        close(t.inverse_dynamics(Q, V, A, actuated=motors), t.inverse_dynamics(Q, V, A))
        x = m.linearize(q, rest, m.inverse_dynamics(q, rest, rest))
        y = t.linearize(Q, still, t.inverse_dynamics(Q, still, still))
        assert x.inputs == y.inputs == tuple(f"tau:{name}" for name in motors)
        close(np.poly(x.poles), np.poly(y.poles), 1e-8)


def test_motors_that_share_a_motion_keep_their_limits():
    """The efforts that act are those that they share within their limits."""
    motors = {
        "left": rd.Actuator(5.0, torque_limit=2.0),
        "right": rd.Actuator(10.0, torque_limit=0.05),
    }
    both = rd.load(_gripper(right=Mimic("left", -2.0)).mechanism, actuators=motors)
    for wanted in (50.0, -50.0, 1.0):
        run = rd.simulate(both, lambda t, q, v: [wanted], duration=0.01, limits="enforce")  # noqa: B023
        assert run.limit_violations == ()
        shares = np.abs(run.motor_torques[0]) / both.motor_torque_limits
        assert shares.max() == pytest.approx(1.0 if abs(wanted) > 2.0 else 0.8, rel=1e-6)
    assert run.tau[0] == 1.0  # within the limits: as it is


# -- commands of ROS -------------------------------------------------------------------------------


def test_commands_are_efforts_of_motors(pair):
    """The same efforts accelerate the same machine alike, in both kinds of coordinates."""
    m, t = pair
    made, other = Engine(m), Engine(t)
    # joints with more than one axis have names with numbers
    assert {x.split("[")[0] for x in made.joints} == {*m.actuated_joints} == {*t.actuated_joints}
    efforts = dict(zip(made.joints, np.linspace(-0.4, 0.5, len(made.joints)), strict=True))
    made.command([*efforts.values()])
    other.command([efforts[x] for x in other.joints])
    a, A = (x.observe()[2] for x in (made, other))
    if t.nv and m.nc:
        a = m.consistent_acceleration(made.q, made.v, a)
    close(m.expand_acceleration(made.q, made.v, a), A, 1e-7)
    B = m.actuation_matrix(made.q)
    close(made.observe()[3], B @ [*efforts.values()])
    made.advance(20)
    run = rd.simulate(
        m, lambda t, q, v: m.actuation_matrix(q) @ [*efforts.values()], q0=m.neutral(),
        duration=0.02, step=1e-3, integrator="semi_implicit", limits="ignore",
    )  # fmt: skip
    close(made.q, run.q[-1])
    shafts = np.linalg.solve(m.transmission_matrix.T, [*efforts.values()])
    if np.linalg.matrix_rank(B) == len(shafts):
        close(made.motor_torques(made.observe()[3]), shafts, 1e-7)
        again = made.commanded.efforts(made.q, made.observe()[3])  # as a listener publishes them
        close(again, [*efforts.values()], 1e-7)


def test_efforts_of_motors_are_cut_to_their_limits():
    """Of each motor: the others give what they are asked for."""
    m, _ = PAIRS["elbows"]()
    said: list[str] = []
    made = Engine(m, log=ThrottledLogger(said.append))
    top = np.abs(m.gear_ratios) * m.motor_torque_limits
    made.command([10.0 * top[0], 0.3 * top[1]])
    close(made.observe()[3], m.actuation_matrix(made.q) @ [top[0], 0.3 * top[1]])
    beside, _ = PAIRS["two motors"]()  # one is at the joint along which efforts act
    made = Engine(beside, log=ThrottledLogger(said.append))
    top = np.abs(beside.gear_ratios) * beside.motor_torque_limits * [1.0, -1.0]
    made.command(1e6 * top)
    close(made.observe()[3], beside.actuation_matrix(made.q) @ top)
    assert any("cut" in text for text in said)
    differential, _ = PAIRS["differential"]()
    made = Engine(differential)
    made.command([1e3, -1e3])
    torques = made.motor_torques(made.observe()[3])
    assert np.abs(torques).max() == pytest.approx(1.0, rel=1e-9)
    assert np.abs(torques).max() <= 1.0 + 1e-9


def test_motors_at_joints_that_follow_take_efforts_alone():
    m, _ = PAIRS["elbows"]()
    words = "left_elbow, right_elbow .* take efforts alone; give joints= .*left_drive, right_drive"
    with pytest.raises(rd.ActuationError, match=words):
        Engine(m, Settings(interfaces=("position",)))
    made = Engine(m)
    with pytest.raises(rd.ActuationError, match="left_elbow of 'five_bar' follow"):
        made.follow(TrajectoryContent(("left_elbow",), (TrajectoryPoint(1.0, (0.1,)),)))
    made = Engine(m, Settings(interfaces=("position",)), joints=DRIVES)  # as the message says
    made.command(made.q[:2] + 0.1)
    made.advance(200)
    close(made.q[:2], m.neutral()[:2] + 0.1, 1e-2)


def test_advice_about_such_motors_names_what_takes_positions():
    """Not a ball, and no other coordinates for a robot that has those of its tree."""
    arm = rd.load("double_pendulum", couplings=[rd.Follower("elbow", rd.sin, of=["shoulder"])])
    ball = rd.Joint("ball", "spherical", "lower", "ball")
    body = rd.Link("ball", rd.Inertia.from_matrix(1.0, (0, 0, -0.1), np.eye(3)))
    described = dataclasses.replace(
        arm.mechanism,
        links=(*arm.mechanism.links, body),
        joints=(*arm.mechanism.joints, ball),
        actuators=(("elbow", rd.Actuator(5.0)),),
    )
    with pytest.raises(rd.ActuationError, match=r"joints= of its coordinates \(shoulder\)$"):
        Engine(rd.load(described), Settings(interfaces=("position",)))


# -- exported code ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hexapod", "two motors", "differential", "mimic"])
def test_an_fmu_takes_forces_of_motors(name, tmp_path):
    fmpy = pytest.importorskip("fmpy")
    robot = FOLLOWERS[name]() if name in FOLLOWERS else PAIRS[name]()[0]
    asked = ["step", "forward_dynamics", "actuation_matrix"]
    (path,) = rd.export(robot, asked, "fmu", tmp_path / "unit", step=1e-3).iterdir()
    about = fmpy.read_model_description(str(path))
    inputs = [x.name for x in about.modelVariables if x.causality == "input"]
    assert inputs == [f"{x}.force" for x in robot.actuated_joints]
    forces = np.linspace(-0.4, 0.5, len(inputs))
    names = [f"{x}.position" for x in coordinate_names(robot)]
    names += [f"{x}.speed" for x in speed_names(robot)]
    found = fmpy.simulate_fmu(
        str(path), stop_time=0.02, output_interval=0.01, output=names,
        start_values=dict(zip(inputs, forces, strict=True)),
    )  # fmt: skip
    run = rd.simulate(
        robot, lambda t, q, v: robot.actuation_matrix(q) @ forces, duration=0.02, step=1e-3,
        limits="ignore",
    )  # fmt: skip
    expected = np.concatenate([run.q[-1], run.v[-1]])
    np.testing.assert_allclose([found[-1][x] for x in names], expected, rtol=0, atol=1e-12)
    assert np.abs(expected - np.concatenate([run.q[0], run.v[0]])).max() > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hexapod", "two motors", "differential", "mimic"])
def test_code_for_motors(name, tmp_path):
    robot = FOLLOWERS[name]() if name in FOLLOWERS else PAIRS[name]()[0]
    folder = rd.export(robot, ["motor_torques"], "c", tmp_path / "code")
    sources = [str(x) for x in folder.glob("*.c") if not x.name.startswith("test_")]
    code = c_library(tmp_path, sources, "-ffp-contract=off")[f"{robot.name}_motor_torques"]
    rng = np.random.default_rng(5)
    for _ in range(5):
        q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
        expected = robot.motor_torques(q, v, a)
        found = np.zeros(len(robot.gear_ratios))
        code(*pointers(q, v, a, found))
        close(found, expected, 1e-8)
