"""Joints that are functions of others: cams, chains of them, and loops with a known solution."""

import dataclasses

import numpy as np
import pytest

import robodyn as rd
from robodyn.description import Mimic
from robodyn.description.traced_explicit_loop import Linear, TracedExplicitLoop
from robodyn.model.turns import nearest_turns
from robodyn.symbolic.evaluate import evaluate

CRANK, ROD = 0.1, 0.3
SPIN = (0.0, 0.0, 1.0)


def link(name, mass, x):
    return rd.Link(name, rd.Inertia.from_matrix(mass, (x, 0.0, 0.0), 0.01 * np.eye(3)))


def turning(name, parent, child, at=(0.0, 0.0, 0.0), **values):
    return rd.Joint(name, "revolute", parent, child, rd.Pose(at), axis=SPIN, **values)


def slider_crank(**changes):
    """A crank, a rod and a slider that are not joined, and a flap on the slider."""
    links = (rd.Link("base"), link("crank", 1.0, 0.05), link("rod", 0.5, 0.15))
    joints = (
        rd.Joint("a", "continuous", "base", "crank", axis=SPIN),
        turning("b", "crank", "rod", (CRANK, 0.0, 0.0)),
        rd.Joint("c", "prismatic", "base", "slider", damping=1.0),
        turning("t", "slider", "flap", (0.0, 0.1, 0.0), damping=0.1, friction=0.05, stiffness=2.0),
    )
    motors = ("t", rd.Actuator(gear_ratio=20.0, rotor_inertia=1e-4)), ("a", rd.Actuator())
    made = rd.Mechanism(
        "slider_crank",
        (*links, link("slider", 0.3, 0.0), link("flap", 0.4, 0.02)),
        joints,
        actuators=motors,
    )
    return dataclasses.replace(made, **changes)


PIN = rd.Loop("pin", "revolute", "rod", "slider", rd.Pose((ROD, 0.0, 0.0)), axis=SPIN)
DOWN = (0.0, -9.81, 0.0)


def flap(a):
    return 0.3 * rd.sin(a) + 0.1 * a * a


def closed(u, v):
    across = CRANK * rd.sin(u[0]) + ROD * rd.sin(u[0] + v[0])
    return [CRANK * rd.cos(u[0]) + ROD * rd.cos(u[0] + v[0]) - v[1], across]


def nearly(u):
    return [-u[0] - rd.sin(u[0]) * CRANK / ROD, CRANK * rd.cos(u[0]) + ROD]


LOOP = rd.ExplicitLoop("loop", closed, "a", ("b", "c"), nearly, iterations=6)
CAM = rd.Follower("t", flap, of="a")


@pytest.fixture(scope="module")
def explicit():
    return rd.load(slider_crank(), gravity=DOWN, couplings=[LOOP, CAM])


@pytest.fixture(scope="module")
def multiplied():
    """The same by constraints: an independent way to all of it."""
    cam = rd.Constraint("cam", lambda q: q[1] - flap(q[0]), ("a", "t"))
    made = slider_crank(loops=(PIN,))
    return rd.load(made, gravity=DOWN, constraints=[cam], near={"a": 0.4, "c": 0.38})


def states(robot, count=4):
    rng = np.random.default_rng(3)
    q, v = 0.6 * rng.normal(size=(count, robot.nq)), rng.normal(size=(count, robot.nv))
    return q, v, rng.normal(size=(count, robot.nv))


def whole(robot, multiplied, q, v):
    """State of the robot with constraints."""
    x, w = robot.joint_positions(q), robot.joint_velocities(q, v)
    names = multiplied.joint_names
    return np.stack([x[n] for n in names], -1), np.stack([w[n] for n in names], -1)


def test_a_cam_has_the_equations_of_lagrange():
    cam = rd.Link("cam", rd.Inertia.from_matrix(2.0, (0.05, 0.0, 0.0), 0.01 * np.eye(3)))
    lift = rd.Joint("lift", "prismatic", "base", "tappet", damping=0.3)
    links = rd.Link("base"), cam, link("tappet", 0.5, 0.0)
    made = rd.Mechanism("cam", links, (turning("turn", "base", "cam"), lift))
    law = rd.Follower("lift", lambda q: 0.1 + 0.02 * rd.cos(q) + 0.005 * rd.sin(2.0 * q), of="turn")
    robot = rd.load(made, gravity=DOWN, couplings=[law])
    assert (robot.nq, robot.nv, robot.nc) == (1, 1, 0)
    assert robot.joints["lift"].follows == ("turn",)
    q, v, a = states(robot)
    slope = -0.02 * np.sin(q) + 0.01 * np.cos(2.0 * q)
    bend = -0.02 * np.cos(q) - 0.02 * np.sin(2.0 * q)
    M = 0.01 + 2.0 * 0.05**2 + 0.5 * slope**2
    h = 0.5 * slope * bend * v**2 + 0.3 * slope**2 * v + 2.0 * 9.81 * 0.05 * np.cos(q)
    np.testing.assert_allclose(robot.mass_matrix(q)[..., 0], M, rtol=1e-13)
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), M * a + h, rtol=1e-12, atol=1e-14)


def test_joints_follow_as_constraints_would_have_them(explicit, multiplied):
    q, v, tau = states(explicit)
    x, w = whole(explicit, multiplied, q, v)
    assert np.abs(multiplied.loop_residual(x)).max() < 1e-13
    assert np.abs(np.einsum("kij,kj->ki", multiplied.loop_jacobian(x), w)).max() < 1e-13
    forces = np.zeros_like(x)
    forces[:, multiplied.joints["a"].v] = tau
    wanted = multiplied.forward_dynamics(x, w, forces)
    found = explicit.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(found, wanted[:, multiplied.joints["a"].v], rtol=1e-9)
    for name in ("kinetic_energy", "potential_energy"):
        one, other = (getattr(x, name) for x in (explicit, multiplied))
        state = ((q, v), (x, w)) if name == "kinetic_energy" else ((q,), (x,))
        np.testing.assert_allclose(one(*state[0]), other(*state[1]), rtol=1e-12)


def test_wrenches_in_joints_are_those_of_a_constraint():
    made = slider_crank(actuators=())
    cam = rd.Constraint("cam", lambda q: q[1] - flap(q[0]), ("a", "t"))
    robot = rd.load(made, gravity=DOWN, couplings=[CAM])
    tied = rd.load(made, gravity=DOWN, constraints=[cam])
    q, v, a = np.array([0.4, -0.3, 0.2]), np.array([0.7, 1.1, -0.4]), np.array([0.5, 0.2, 1.0])
    x, w = whole(robot, tied, q, v)
    tau = robot.inverse_dynamics(q, v, a)
    forces = np.array([tau[robot.joints[n].v][0] if n != "t" else 0.0 for n in tied.joint_names])
    b = tied.forward_dynamics(x, w, forces)
    one, other = robot.joint_wrenches(q, v, a), tied.joint_wrenches(x, w, b)
    for name in "abct":
        if name == "b":
            np.testing.assert_allclose(one[name], other[name], atol=1e-11)
            continue
        for found in (one, other):  # where on the bodies the force of the cam acts is not said
            with pytest.raises(rd.UndeterminedWrenchError, match="ties several joints"):
                found[name]


def test_hits_and_motions_agree_with_constraints(explicit, multiplied):
    q, v, _ = states(explicit, 1)
    x, w = whole(explicit, multiplied, q, v)
    blow = {"flap": [0.1, 0.2, 0.0, 0.0, 0.0, 0.01]}
    one, other = explicit.impulses(q[0], v[0], blow), multiplied.impulses(x[0], w[0], blow)
    np.testing.assert_allclose(one.v, other.v[multiplied.joints["a"].v], rtol=1e-10)
    run = rd.simulate(explicit, q0=q[0], v0=v[0], duration=0.3, step=1e-3)
    assert np.abs(run.audit.unexplained).max() < 1e-8
    wanted = rd.simulate(multiplied, q0=x[0], v0=w[0], duration=0.3, step=1e-3)
    ends = explicit.joint_positions(run.q[-1])
    for name in multiplied.joint_names:
        place = multiplied.joints[name].q.start
        assert abs(ends[name] - wanted.q[-1, place]) < 1e-7


def test_minimal_coordinates_go_with_cams(explicit):
    made = slider_crank(loops=(PIN,))
    minimal = rd.load(
        made, gravity=DOWN, couplings=[CAM], coordinates="minimal", near={"a": 0.4, "c": 0.38}
    )
    assert minimal.joint_names == ("a",) and set(minimal.dependent_joints) == {"b", "c"}
    q, v, a = states(minimal)
    np.testing.assert_allclose(
        minimal.inverse_dynamics(q, v, a), explicit.inverse_dynamics(q, v, a), rtol=1e-11
    )
    one, other = minimal.joint_positions(q), explicit.joint_positions(q)
    for name in "abct":
        np.testing.assert_allclose(one[name], other[name], atol=1e-13)


def chain():
    """A floating base, a chain of joints that follow, a screw among them, and a mimic of one."""
    names = ("base", "one", "two", "three", "four")
    joints = (
        turning("a", "base", "one"),
        turning("b", "one", "two", (0.3, 0.0, 0.1)),
        rd.Joint("c", "helical", "two", "three", rd.Pose((0.3, 0, 0)), axis=(0, 1, 0), pitch=0.02),
        turning("d", "three", "four", (0.0, 0.3, 0.0), mimic=Mimic("c", 2.0, 0.1)),
    )
    made = rd.Mechanism("chain", tuple(link(x, 1.0, 0.1) for x in names), joints)
    given = [
        rd.Follower("c", lambda a, b: a * b + rd.sin(b), of=("a", "b")),
        rd.Follower("b", np.polynomial.Polynomial([0.1, 0.5, 0.2]), of="a"),
    ]
    return rd.load(made, base="floating", couplings=given)


def test_laws_of_chains_of_followers():
    robot = chain()
    assert robot.joint_names == ("floating_base", "a")
    rng = np.random.default_rng(5)
    q = robot.random(rng)
    v, a = rng.normal(size=(2, robot.nv))
    x = robot.joint_positions(q)
    b = 0.1 + 0.5 * x["a"] + 0.2 * x["a"] ** 2
    c = x["a"] * b + np.sin(b)
    assert np.allclose([x["b"], x["c"], x["d"]], [b, c, 2.0 * c + 0.1], rtol=1e-14)
    h = 1e-6
    ahead, behind = robot.integrate(q, h * v), robot.integrate(q, -h * v)
    speeds = robot.joint_velocities(q, v)
    for name in "abcd":
        slope = (robot.joint_positions(ahead)[name] - robot.joint_positions(behind)[name]) / (2 * h)
        assert abs(speeds[name] - slope) < 1e-8
    tau = robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), a, atol=1e-10)
    # what is put in is what energies gain
    energy = [
        robot.kinetic_energy(*state) + robot.potential_energy(state[0])
        for state in ((robot.integrate(q, s * v), v + s * a) for s in (h, -h))
    ]
    assert abs((energy[0] - energy[1]) / (2 * h) - tau @ v) < 1e-6 * (1.0 + abs(tau @ v))
    found = robot.derivatives("forward_dynamics", q, v, tau)["q"]
    step = h * np.eye(robot.nv)
    numeric = [
        (
            robot.forward_dynamics(robot.integrate(q, dq), v, tau)
            - robot.forward_dynamics(robot.integrate(q, -dq), v, tau)
        )
        / (2 * h)
        for dq in step
    ]
    np.testing.assert_allclose(found, np.transpose(numeric), atol=2e-6 * np.abs(found).max())


def test_changed_copies_keep_following(explicit):
    load = rd.Inertia.from_matrix(1.0, (0.0, 0.0, 0.0), 0.01 * np.eye(3))
    loaded = explicit.with_(payload={"slider": load})
    fresh = rd.load(loaded.mechanism, gravity=DOWN)
    np.testing.assert_allclose(loaded.mass_matrix([0.7]), fresh.mass_matrix([0.7]), rtol=1e-13)
    rows = explicit.with_(parameters={"slider.m": [0.3, 1.3]})
    heavy = explicit.with_(parameters={"slider.m": 1.3})
    np.testing.assert_allclose(rows.mass_matrix([0.7])[1], heavy.mass_matrix([0.7]), rtol=1e-13)
    still = explicit.with_(locked={"a": 0.7})
    assert still.nv == 0 and not still.mechanism.followers
    np.testing.assert_allclose(
        still.frame_pose([], "flap"), explicit.frame_pose([0.7], "flap"), atol=1e-14
    )
    free = rd.load(slider_crank(), gravity=DOWN)
    two = free.with_(couplings=[rd.Follower("t", lambda a, b: a * b, of=("a", "b"))])
    half = two.with_(locked={"a": 0.4})
    x = half.joint_positions(half.neutral() + 0.5)
    assert abs(x["t"] - 0.4 * x["b"]) < 1e-15
    assert half.joint_names == ("b", "c")
    assert abs(half.joint_velocities(half.neutral() + 0.5, [2.0, 1.0])["t"] - 0.8) < 1e-15


def test_constraints_may_be_about_joints_that_follow():
    joints = ("c", "b")
    cam = rd.Follower("c", lambda a: 0.4 + 0.1 * rd.cos(a), of="a")
    tie = rd.Constraint("tie", lambda q: q[0] - 0.5 * q[1] * q[1] - 0.4, joints)
    robot = rd.load(slider_crank(), couplings=[cam], constraints=[tie])
    q, v, h = np.array([0.3, -0.6, 0.2]), np.array([0.7, -1.1, 0.4]), 1e-6
    rate = (robot.loop_residual(q + h * v) - robot.loop_residual(q - h * v)) / (2 * h)
    np.testing.assert_allclose(robot.loop_jacobian(q) @ v, rate, atol=1e-9)
    rate = (robot.loop_jacobian(q + h * v) - robot.loop_jacobian(q - h * v)) @ v / (2 * h)
    np.testing.assert_allclose(robot.loop_bias(q, v), rate, atol=1e-8)


def root(u):
    return [rd.sqrt(u[0] + 1.0), 0.0]


def test_dead_points_and_open_loops_are_refused():
    square = rd.ExplicitLoop(
        "square", lambda u, v: [v[0] * v[0] - u[0] - 1.0, v[1]], "a", ("b", "c"), root
    )
    robot = rd.load(slider_crank(), couplings=[square])
    v = np.zeros(robot.nv)
    assert np.isfinite(robot.bias_forces([-0.99, 0.0], v)).all()
    for a in (-1.0, -1.0 + 1e-15):
        with pytest.raises(rd.SingularError, match=r"'square' .* dead point"):
            robot.bias_forces([a, 0.0], v)
    with pytest.raises(rd.InconsistentStateError, match="'square', by which b, c follow") as caught:
        robot.bias_forces([[0.0, 0.0], [-1.5, 0.0]], [v, v])
    assert caught.value.loops == ("square",) and caught.value.rows == (1,)
    assert np.isnan(robot.joint_positions([-1.5, 0.0])["b"])
    rng = np.random.default_rng(0)
    assert all(robot.random(rng)[0] > -1.0 for _ in range(20))
    slow = rd.ExplicitLoop("loop", closed, "a", ("b", "c"), nearly, iterations=1)
    robot = rd.load(slider_crank(), couplings=[slow])
    assert np.isfinite(robot.frame_pose([0.0, 0.0], "slider")).all()
    with pytest.raises(rd.InconsistentStateError, match="is no number"):
        robot.frame_pose([0.9, 0.0], "slider")


@pytest.mark.parametrize("least", [0.0, 1.5])
def test_solutions_are_tried_where_joints_may_be(least):
    half = rd.ExplicitLoop(
        "x",
        lambda u, v: [v[0] - rd.sqrt((u[0] - least + 1e-3) * (u[0] - least + 1e-3)) - 1.0],
        "a",
        "t",
        lambda u: [u[0] - least + 1.001],
    )
    with pytest.raises(rd.ShapeError, match="does not solve h"):
        rd.load(slider_crank(), couplings=[half])
    limits = rd.Limits(least, least + 2.0)
    joints = [
        dataclasses.replace(x, kind="revolute", limits=limits) if x.name == "a" else x
        for x in slider_crank().joints
    ]
    assert rd.load(slider_crank(joints=tuple(joints)), couplings=[half]).nv == 3


def follower(law, of="a", joint="t"):
    return lambda: [rd.Follower(joint, law, of=of)]


BAD = {
    "two numbers": (follower(lambda a: [a, a]), rd.ShapeError, "returns 2 numbers, expected 1"),
    "text": (follower(lambda a: "a"), rd.ShapeError, "expected 1 numbers"),
    "time": (follower(lambda a, t: a * t), rd.ShapeError, "takes the time"),
    "a size": (follower(lambda a: rd.sqrt(a * a)), rd.ShapeError, "slope is no number"),
    "a bend": (follower(lambda a: a * rd.sqrt(a * a)), rd.ShapeError, "not smooth at rest"),
    "nothing": (follower(lambda a: a * np.nan), rd.ShapeError, "not a finite number anywhere"),
    "unknown": (follower(lambda a: a, "nobody"), rd.UnknownNameError, "no joint 'nobody'"),
    "itself": (follower(lambda a: a, "t"), rd.ShapeError, "none of t"),
    "a circle": (
        lambda: [rd.Follower("t", rd.sin, of="b"), rd.Follower("b", rd.sin, of="t")],
        rd.TopologyError,
        "joints b, t follow one another in a circle",
    ),
    "twice": (
        lambda: [CAM, rd.ExplicitLoop("x", lambda u, v: [v[0]], "a", "t", lambda u: [0.0])],
        rd.TopologyError,
        "'t' follows others by 't' already",
    ),
    "no solution": (
        lambda: [rd.ExplicitLoop("x", closed, "a", ("b", "c"), lambda u: [0.1, 0.4])],
        rd.ShapeError,
        "does not solve h",
    ),
    "no coupling": (lambda: [PIN], rd.ShapeError, "expected a robodyn.Coupling"),
    "no equations": (
        lambda: [rd.ExplicitLoop("x", lambda u, v: [u[0]] * 2, "a", ("b", "c"), lambda u: [0.0])],
        rd.ShapeError,
        "returns 1 numbers, expected 2",
    ),
    "the same equation twice": (
        lambda: [
            rd.ExplicitLoop(
                "x", lambda u, v: [v[0] - u[0]] * 2, "a", ("b", "c"), lambda u: [u[0], 0.0]
            )
        ],
        rd.TopologyError,
        "'x' are no numbers there",
    ),
    "the same equation twice, solved": (
        lambda: [
            rd.ExplicitLoop("x", lambda u, v: [v[0]] * 2, "a", ("b", "c"), lambda u: [0.0] * 2, 3)
        ],
        rd.ShapeError,
        "does not determine b, c",
    ),
    "many": (
        lambda: [rd.ExplicitLoop("x", closed, "a", tuple("bcdef"), nearly)],
        rd.ShapeError,
        "expected 4 at most",
    ),
    "steps back": (
        lambda: [rd.ExplicitLoop("x", closed, "a", ("b", "c"), nearly, iterations=-1)],
        rd.ShapeError,
        "expected 0 or more",
    ),
    "two ways": (
        lambda: [rd.Follower("c", rd.sin, of="a"), rd.Coupling("z", "crank", "slider")],
        rd.TopologyError,
        "'c', which is a function of others",
    ),
}


@pytest.mark.parametrize("fault", BAD)
def test_faulty_followers_are_refused(fault):
    couplings, error, words = BAD[fault]
    with pytest.raises(error, match=words):
        rd.load(slider_crank(), couplings=couplings())


def test_laws_read_nothing_but_positions():
    seen = []

    def law(a):
        seen.append(a)
        return seen[0] + a

    assert rd.load(slider_crank(), couplings=[rd.Follower("t", law, of="a")]).nv == 3
    with pytest.raises(rd.ShapeError, match="symbols of another function"):
        rd.load(slider_crank(), couplings=[rd.Follower("t", lambda a: seen[0], of="a")])


def test_joints_that_follow_have_no_motion_of_their_own(explicit):
    with pytest.raises(rd.UnknownNameError, match="it follows a, whose speeds"):
        explicit.hybrid_dynamics([0.1], [0.0], controlled={"t": 1.0})
    with pytest.raises(rd.SettingsError, match="it follows a by the function of 'loop'; lock"):
        explicit.with_(locked={"b": 0.1})
    with pytest.raises(rd.SettingsError, match="contradicts 'loop'"):
        explicit.with_(locked={"a": 0.7, "b": 0.1})
    named = rd.load(slider_crank(), couplings=[CAM], symbols={"link slider mass": "m"})
    with pytest.raises(rd.SettingsError, match="joints that are functions"):
        named.function("mass_matrix", symbols=True)
    circle = [
        dataclasses.replace(x, mimic=Mimic("t")) if x.name == "c" else x
        for x in slider_crank().joints
    ]
    with pytest.raises(rd.TopologyError, match="in a circle"):
        rd.load(slider_crank(joints=tuple(circle)), couplings=[rd.Follower("t", rd.sin, of="c")])
    marked = [dataclasses.replace(x, independent=True) for x in slider_crank().joints]
    with pytest.raises(rd.TopologyError, match="'t' is marked as independent"):
        rd.load(slider_crank(joints=tuple(marked)), couplings=[CAM])


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_rotors_and_friction_of_motors_are_felt_by_what_leads(base):
    """Forces of the robot without its cam, put on what leads by virtual work."""
    motors = (
        ("a", rd.Actuator(3.0, 2e-3, mounted_on="base", viscous=0.01, coulomb=0.02)),
        ("t", rd.Actuator(5.0, 1e-3, mounted_on="slider", viscous=0.02)),
        ("b", rd.Actuator(2.0, 1e-3, axis=(0.0, 1.0, 0.0), mounted_on="crank")),
    )
    made = slider_crank(actuators=motors)
    belt = rd.Transmission("belt", ("a", "t"), [[0.5, 0.5], [0.5, -0.5]])
    free = rd.load(made, gravity=DOWN, transmissions=[belt], base=base)
    robot = rd.load(made, gravity=DOWN, transmissions=[belt], couplings=[CAM], base=base)
    rng = np.random.default_rng(0)
    q, (v, a) = robot.random(rng), rng.normal(size=(2, robot.nv))
    B, b, x = np.zeros((free.nv, robot.nv)), np.zeros(free.nv), np.zeros(free.nq)
    for name in robot.joint_names:
        own, whole = robot.joints[name], free.joints[name]
        B[whole.v, own.v] = np.eye(own.v.stop - own.v.start)
        x[whole.q] = q[own.q]
    lead, follow = robot.joints["a"].v.start, free.joints["t"].v.start
    angle = float(q[robot.joints["a"].q][0])
    x[free.joints["t"].q] = 0.3 * np.sin(angle) + 0.1 * angle**2
    B[follow, lead] = 0.3 * np.cos(angle) + 0.2 * angle
    b[follow] = (0.2 - 0.3 * np.sin(angle)) * v[lead] ** 2
    wanted = B.T @ free.inverse_dynamics(x, B @ v, B @ a + b)
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), wanted, atol=1e-12)
    np.testing.assert_allclose(robot.mass_matrix(q), B.T @ free.mass_matrix(x) @ B, atol=1e-13)
    assert abs(robot.kinetic_energy(q, v) - free.kinetic_energy(x, B @ v)) < 1e-12
    regressor = robot.function("dynamic_regressor").program
    (Y,) = evaluate(regressor, q, v, a)
    rigid = wanted + robot.elastic_forces(q)
    np.testing.assert_allclose(Y @ robot.dynamic_parameters, rigid, atol=1e-12)


def test_joints_that_functions_name_are_not_cut():
    closing = turning("pin", "rod", "slider", (ROD, 0.0, 0.0))
    made = slider_crank(actuators=())
    made = dataclasses.replace(made, joints=(*made.joints, closing))
    near = {"a": 0.4, "c": 0.38}
    robot = rd.load(made, couplings=[rd.Follower("t", rd.sin, of="pin")], near=near)
    assert not robot.joints["pin"].cut and len(robot.constraint_names) == 5
    q = robot.assemble(robot.neutral())
    x = robot.joint_positions(q)
    assert abs(x["t"] - np.sin(x["pin"])) < 1e-15
    # where a function names all joints of a loop, one of them is a joint on half of a link
    law = rd.Follower("t", lambda a, b, c, p: a + b * c * p, of=("a", "b", "c", "pin"))
    robot = rd.load(made, couplings=[law], near=near)
    x = robot.joint_positions(robot.neutral())
    assert abs(x["t"] - (x["a"] + x["b"] * x["c"] * x["pin"])) < 1e-15
    # the joint that leads has a coordinate in minimal coordinates, too, and counts its turns
    minimal = rd.load(
        made, couplings=[rd.Follower("t", rd.sin, of="b")], near=near, coordinates="minimal"
    )
    assert minimal.joint_names == ("b",)
    robot = rd.load(made, couplings=[rd.Follower("t", lambda a: 0.1 * a, of="a")], near=near)
    limits = np.full(robot.nq, np.inf)
    start = robot.neutral()
    far = start + 2.0 * np.pi * (np.arange(robot.nq) == robot.joints["a"].q.start)
    assert nearest_turns(robot._model, start, far, -limits, limits)[0] == start[0]


def test_hinges_that_follow_are_not_merged():
    names = ("base", "one", "two", "three")
    links = (link("base", 1.0, 0.0), rd.Link("one"), rd.Link("two"), link("three", 1.0, 0.1))
    axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), SPIN)
    joints = tuple(
        rd.Joint(f"h{k}", "revolute", names[k], names[k + 1], axis=axis)
        for k, axis in enumerate(axes)
    )
    law = rd.Follower("h2", rd.sin, of="h1")
    robot = rd.load(rd.Mechanism("wrist", links, joints), merge_hinges=True, couplings=[law])
    assert robot.joint_names == ("h0", "h1")


def test_joints_that_move_no_mass_of_their_own_are_found():
    """A massless arm that follows carries a link, and what leads it is massless, too."""
    links = (rd.Link("base"), rd.Link("arm"), link("load", 1.0, 0.0), rd.Link("lever"))
    joints = turning("t", "base", "arm"), turning("b", "arm", "load"), turning("a", "base", "lever")
    law = rd.Follower("t", lambda a: rd.sqrt(0.2 - a), of="a")
    robot = rd.load(rd.Mechanism("arm", links, joints), gravity=(0, 0, 0), couplings=[law])
    assert robot.joint_names == ("b", "a")
    with pytest.raises(rd.SingularError, match="move no mass"):
        robot.forward_dynamics([0.1, 0.1], [0.0, 0.0], [1.0, 0.0])


@pytest.mark.slow
def test_limits_of_joints_that_follow_are_reported():
    joints = [
        dataclasses.replace(x, limits=rd.Limits(-0.15, 0.15)) if x.name == "t" else x
        for x in slider_crank().joints
    ]
    robot = rd.load(slider_crank(joints=tuple(joints)), gravity=DOWN, couplings=[LOOP, CAM])
    with pytest.raises(rd.SettingsError, match="joint 't' of 'slider_crank' is to have"):
        robot.with_(stops=rd.CompliantStops({"t": 1e3}, 1.0))
    rng = np.random.default_rng(0)
    drawn = [robot.random(rng) for _ in range(10)]
    assert np.abs(robot.joint_positions(drawn)["t"]).max() <= 0.15 + 1e-9
    near = {"a": 0.4, "c": 0.38}
    for coordinates in ("tree", "minimal"):
        made = slider_crank(joints=tuple(joints), loops=(PIN,))
        closed_robot = rd.load(made, couplings=[CAM], near=near, coordinates=coordinates)
        drawn = [closed_robot.random(rng) for _ in range(4)]
        assert np.abs(closed_robot.joint_positions(drawn)["t"]).max() <= 0.15 + 1e-9
    low = [
        dataclasses.replace(x, limits=rd.Limits(-1.0, -0.5)) if x.name == "t" else x for x in joints
    ]
    with pytest.raises(rd.AssemblyError, match="do so within their limits"):
        rd.load(
            slider_crank(joints=tuple(low)), couplings=[rd.Follower("t", lambda a: a * a, of="a")]
        ).random(rng)
    with pytest.warns(rd.errors.LimitWarning, match="position of 't'"):
        rd.simulate(robot, q0=[0.5], v0=[1.0], duration=0.3, step=0.01)


FILE = """<robot name="cam"><link name="ground"/>
<link name="cam"><inertial><origin xyz="0.01 0 0"/><mass value="0.8"/>
<inertia ixx="4e-4" iyy="4e-4" izz="8e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="tappet"><inertial><mass value="0.2"/>
<inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="continuous"><parent link="ground"/><child link="cam"/><axis xyz="0 1 0"/>
</joint>
<joint name="lift" type="prismatic"><parent link="ground"/><child link="tappet"/>
<axis xyz="0 0 1"/></joint>
{}</robot>"""


def test_files_have_polynomials_and_tables():
    text = FILE.format('<follower joint="lift" of="turn" polynomial="0.02 0 0.5 -1e-3"/>')
    robot = rd.load(text)
    assert abs(robot.joint_positions([0.3])["lift"] - (0.02 + 0.045 - 2.7e-5)) < 1e-15
    again = rd.urdf.parse(rd.urdf.write(robot.mechanism))[0]
    assert again == robot.mechanism
    x, y = [0.0, 0.5, 1.0, 2.0], [0.01, 0.02, 0.025, 0.01]
    words = (" ".join(map(str, z)) for z in (x, y))
    text = FILE.format('<follower joint="lift" of="turn" x="{}" y="{}"/>'.format(*words))
    robot = rd.load(text)
    curve = rd.Spline(x, y)
    assert abs(robot.joint_positions([0.7])["lift"] - curve(0.7)) < 1e-15
    assert rd.urdf.parse(rd.urdf.write(robot.mechanism))[0] == robot.mechanism
    angle = np.linspace(0.0, 2.0 * np.pi, 9, endpoint=False)
    heights = 0.01 * np.exp(np.sin(angle))
    around = rd.FourierSeries(angle, heights)
    rough = rd.FourierSeries(angle, heights, harmonics=2)
    for law in (rd.Spline(angle, heights, monotone=True), rough, around):
        turning = rd.load(FILE.format(""), couplings=[rd.Follower("lift", law, of="turn")])
        again = rd.load(rd.urdf.write(turning.mechanism))
        assert again.mechanism == turning.mechanism
        assert abs(again.joint_positions([1.1])["lift"] - law(1.1)) < 1e-15
    far = again.joint_positions([[0.7], [0.7 + 20.0 * np.pi]])["lift"]
    np.testing.assert_allclose(far, around(0.7), atol=1e-14)
    linear = rd.load(FILE.format(""), couplings=[rd.Coupling("rack", "cam", "tappet", 0.02, 0.1)])
    assert linear.joint_names == ("turn",)
    assert abs(linear.joint_positions([0.2])["lift"] - 0.104) < 1e-15
    given = rd.load(FILE.format("")).with_(couplings=[rd.Follower("lift", curve, of="turn")])
    assert given.mechanism == robot.mechanism
    other = given.with_(locked={"turn": 0.0}).mechanism
    assert other != robot.mechanism
    one = rd.load(FILE.format("")).with_(couplings=[rd.Follower("lift", rd.sin, of="turn")])
    with pytest.raises(rd.UrdfError, match=r"follower 'lift'.* polynomials and tables"):
        rd.urdf.write(one.mechanism)


SUMMED = 'joint="lift" offset="0.1">'


def test_a_sum_of_several_joints_is_read_and_written(puma):
    given = [
        TracedExplicitLoop.of_curve("joint5", ("joint1", "joint3"), Linear((0.5, -2.0), 0.1)),
        TracedExplicitLoop.of_curve("joint6", ("joint5",), Linear((3.0,))),
    ]
    mechanism = dataclasses.replace(puma.mechanism, followers=tuple(given))
    robot = rd.load(rd.urdf.write(mechanism))
    assert robot.mechanism.followers == rd.load(mechanism).mechanism.followers
    q, v = np.random.default_rng(0).normal(size=(2, robot.nv))
    places, speeds = robot.joint_positions(q), robot.joint_velocities(q, v)
    for values, offset in ((places, 0.1), (speeds, 0.0)):
        five = 0.5 * values["joint1"] - 2.0 * values["joint3"] + offset
        np.testing.assert_allclose(values["joint5"], five)
        np.testing.assert_allclose(values["joint6"], 3.0 * five)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('joint="lift" of="turn"', "has no law"),
        ('joint="lift" of="turn" x="0 1"', "has x: give polynomial"),
        ('joint="lift" of="turn" x="0 0" y="1 2"', "two numbers or more that increase"),
        ('joint="lift" of="turn" x="0 1" y="1 2 3"', "y has"),
        ('joint="lift" of="turn" polynomial="1 a"', "polynomial: 'a'"),
        ('joint="lift" of="turn" polynomial=""', "without coefficients"),
        ('joint="lift" of="turn" x="0 1" y="1 2" period="0.5"', "less than the period 0.5"),
        ('joint="lift" of="turn" x="0 1" y="1 2" period="2" harmonics="1.5"', "no number of sines"),
        ('joint="lift" of="turns" polynomial="1"', "no joint 'turns'"),
        ('joint="lift" of="lift" polynomial="1 2"', "in a circle"),
        ('joint="lift" polynomial="1 2"', "has no of"),
        (
            'joint="lift" of="turn" polynomial="1"/>'
            '<follower joint="lift" of="turn" polynomial="2"',
            "follows another already, in line",
        ),
        ('joint="lift" of="turn" coefficients="1 2"', "coefficients"),
        (f"{SUMMED}<of joint='turn'/><of joint='turn'/></follower><link name='x'", "twice"),
        (f"{SUMMED}<of joint='turns'/></follower><link name='x'", "no joint 'turns'"),
        (f"{SUMMED}<of joint='turn' multiplier='a'/></follower><link name='x'", "'a'"),
        (f"{SUMMED}<of joint='lift'/></follower><visual", "in a circle"),
    ],
)
def test_faulty_files_are_refused(written, words):
    with pytest.raises(rd.RobodynError, match=words):
        rd.load(FILE.format(f"<follower {written}/>"))


MODEL = """<mujoco><compiler angle="radian"/>
<default><geom contype="0" conaffinity="0"/></default><worldbody>
<body name="cam"><joint name="turn" axis="0 1 0" ref="0.2" damping="0.1"/>
<geom type="box" size="0.1 0.02 0.03" pos="0.03 0 0" mass="0.8"/>
<body name="arm" pos="0.2 0 0"><joint name="bend" axis="0 0 1" ref="-0.1"/>
<geom type="box" size="0.1 0.02 0.03" pos="0.1 0 0.02" mass="0.5"/></body></body>
<body name="tappet"><joint name="lift" type="slide" axis="0 0 1" ref="0.05" armature="0.3"/>
<geom type="box" size="0.1 0.02 0.03" mass="0.3"/></body></worldbody><equality>
<joint joint1="bend" joint2="turn" polycoef="0.1 0.4 -0.3 0.2 0.05"/>
<joint joint1="lift" joint2="bend" polycoef="0.02 0 0.15 0 -0.01"/></equality></mujoco>"""


def test_polynomials_of_mujoco_are_its_own():
    mujoco = pytest.importorskip("mujoco")
    robot = rd.load(MODEL)
    assert robot.joint_names == ("turn",) and not robot.nc
    model = mujoco.MjModel.from_xml_string(MODEL)
    data = mujoco.MjData(model)
    order = [model.joint(name).qposadr[0] for name in ("turn", "bend", "lift")]
    bend = np.polynomial.Polynomial([0.1, 0.4, -0.3, 0.2, 0.05])
    lift = np.polynomial.Polynomial([0.02, 0.0, 0.15, 0.0, -0.01])
    rng = np.random.default_rng(2)
    for turn, v, a in rng.normal(size=(4, 3)):
        x = turn - 0.2
        y = bend(x)
        data.qpos[order] = turn, -0.1 + y, 0.05 + lift(y)
        found = robot.joint_positions([turn])
        assert np.allclose(
            [found[n] for n in ("turn", "bend", "lift")], data.qpos[order], atol=1e-15
        )
        slope, curve = bend.deriv()(x), bend.deriv(2)(x)
        B = np.array([1.0, slope, lift.deriv()(y) * slope])
        c = lift.deriv(2)(y) * slope**2 + lift.deriv()(y) * curve
        b = np.array([0.0, curve, c]) * v * v
        data.qvel[order] = B * v
        mujoco.mj_forward(model, data)
        assert np.abs(data.efc_pos[:2]).max() < 1e-12  # MuJoCo, too, has them there
        given, inertial = np.zeros(3), np.zeros(3)
        given[order] = B * a + b
        mujoco.mj_mulM(model, data, inertial, given)
        force = data.qfrc_bias[order] - data.qfrc_passive[order]
        wanted = B @ (inertial[order] + force)
        np.testing.assert_allclose(robot.inverse_dynamics([turn], [v], [a]), [wanted], rtol=1e-9)
