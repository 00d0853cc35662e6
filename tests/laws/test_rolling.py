"""Wheels and balls that roll on planes: known motions, and loads by Newton and Euler."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from support.caster_table import RADIUS, caster_table
from support.interpreted import interpreted
from support.newton_euler import imbalance, slip_rate

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism, Pose

M, RB = 0.8, 0.15
BALL = Inertia.from_matrix(M, (0.0, 0.0, 0.0), 0.4 * M * RB**2 * np.eye(3))
DISC = Inertia.from_matrix(M, (0.0, 0.0, 0.0), np.diag([0.25, 0.5, 0.25]) * M * RB**2)
SPIN = 2.0


def height(z):
    X = np.eye(4)
    X[2, 3] = z
    return X


def balanced(robot, q, v, a, wrenches, gravity=(0.0, 0.0, -9.81)):
    def poses(t):
        x = robot.integrate(q, t * v + 0.5 * t * t * a)
        return dict(zip(robot.frame_names, robot.frame_poses(x), strict=True))

    return imbalance(robot, wrenches, poses, gravity) < 1e-8 and slip_rate(robot, q, v, a) < 1e-6


def test_the_axle_of_a_pushed_cart_carries_what_moves_the_wheel():
    """A cart of 2 kg is pushed by 10 N; the wheel's moment of inertia counts as 2 kg more."""
    m, J, r = 3.0, 0.02, 0.1

    def body(mass, moment):
        return Inertia.from_matrix(mass, (0.0, 0.0, 0.0), moment * np.eye(3))

    cart = Mechanism(
        "cart",
        (Link("rail"), Link("cart", body(2.0, 1.0)), Link("wheel", body(m, J))),
        (
            Joint("x", "prismatic", "rail", "cart", axis=(1.0, 0.0, 0.0)),
            Joint("axle", "continuous", "cart", "wheel", axis=(0.0, 1.0, 0.0)),
        ),
    )
    roll = rd.Rolling("roll", "wheel", (0, 0, 0), r, axis=(0, 1, 0), on=("world", height(-r)))
    robot = interpreted(cart, constraints=[roll], gravity=(0, 0, 0), actuators={"x": rd.Actuator()})
    assert (robot.nc, robot.dof) == (3, 1)
    a = robot.forward_dynamics([0.0, 0.0], [0.0, 0.0], [10.0, 0.0])
    np.testing.assert_allclose(a, [10.0 / 7.0, 100.0 / 7.0], rtol=1e-12)
    loads = robot.joint_wrenches([0.0, 0.0], [0.0, 0.0], a)
    np.testing.assert_allclose(loads["axle"], [50.0 / 7.0, 0, 0, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(loads["roll"], [-20.0 / 7.0, 0, 0, 0, 2.0 / 7.0, 0], atol=1e-12)
    np.testing.assert_allclose(loads.motor["x"], [10.0, 0, 0, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(loads.motor["axle"], 0.0, atol=1e-12)


def turntable(t):
    c, s = rd.cos(SPIN * t), rd.sin(SPIN * t)
    return [[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


@pytest.mark.parametrize("options", [{}, {"stabilization": (20.0, 20.0)}])
def test_a_ball_on_a_turntable_goes_round_at_two_sevenths_of_its_rate(options):
    roll = rd.Rolling("roll", "ball", (0, 0, 0), RB, on=("world", turntable))
    ball = Mechanism("ball", (Link("ball", BALL),))
    robot = rd.load(ball, base="floating", constraints=[roll])
    q = np.array([0.5, 0.2, RB, 0, 0, 0, 1])
    v = robot.at(0.0).consistent_velocity(q, [0.1, 0.3, 0, 0, 0, 0.4])
    contact = v[:3] + np.cross(v[3:], [0.0, 0.0, -RB])
    np.testing.assert_allclose(contact, np.cross([0.0, 0.0, SPIN], q[:3]), atol=1e-12)
    point = np.array([0.0, RB, 0.0])
    towards = v[:3] + np.cross(v[3:], point)
    hit = robot.at(0.0).impact(q, v, "ball", point, -towards)
    after = hit.v[:3] + np.cross(hit.v[3:], [0.0, 0.0, -RB])
    np.testing.assert_allclose(after, contact, atol=1e-12)  # the table goes on turning
    period = 2 * np.pi / (2.0 / 7.0 * SPIN)
    run = rd.simulate(robot, q0=q, v0=v, duration=period, step=period / 2000, **options)
    np.testing.assert_allclose(run.q[-1, :3], q[:3], atol=1e-4)
    center = 0.5 * (run.q[0, :2] + run.q[1000, :2])
    distance = np.linalg.norm(run.q[:, :2] - center, axis=1)
    np.testing.assert_allclose(distance, distance[0], atol=1e-4)
    assert distance[0] > 0.1
    np.testing.assert_allclose(run.q[:, 2], RB, atol=1e-6)
    if not options:  # the table works on the ball
        audit = run.audit
        np.testing.assert_allclose(audit.constraints, audit.kinetic - audit.kinetic[0], atol=1e-7)
        assert np.ptp(audit.constraints) > 0.1
        assert np.abs(audit.unexplained).max() < 1e-7


def test_a_belt_works_on_a_ball_without_time():
    """Rows of speeds that ask for motion; energies add up with the work that they do."""

    def belt(X, twist):
        v, w = X[:3, :3] @ twist[:3], X[:3, :3] @ twist[3:]
        return [X[2, 3] - RB, v[0] - RB * w[1] - 0.7, v[1] + RB * w[0]]

    roll = rd.FrameConstraint("belt", belt, (("world", np.eye(4)), ("ball", np.eye(4))))
    ball = Mechanism("ball", (Link("ball", BALL),))
    robot = rd.load(ball, base="floating", constraints=[roll], gravity=(1.0, 0.0, -9.81))
    assert not robot.depends_on_time
    q = np.array([0.0, 0.0, RB, 0.0, 0.0, 0.0, 1.0])
    v = robot.consistent_velocity(q, np.zeros(6))
    run = rd.simulate(robot, q0=q, v0=v, duration=0.5, step=2e-3)
    speed = robot.frame_twist(run.q[-1], run.v[-1], "ball", axes="world")[0]
    np.testing.assert_allclose(speed, v[0] + 0.5 * 5.0 / 7.0, rtol=1e-6)
    audit = run.audit
    assert np.abs(audit.unexplained).max() < 1e-9
    friction = -2.0 / 7.0 * M  # on the ball, along x
    np.testing.assert_allclose(audit.constraints[-1], 0.7 * friction * 0.5, rtol=1e-6)


def test_a_ball_that_rolls_off_a_ball_leaves_it_at_ten_seventeenths_of_the_height():
    """Rows as a user writes them: all three speeds of the contact, of which one follows."""
    distance = 0.5 + RB

    def on_ball(X, twist):
        v, w = X[:3, :3] @ twist[:3], X[:3, :3] @ twist[3:]
        length = rd.sqrt(X[:3, 3] @ X[:3, 3])
        return [length - distance, *(v - RB * np.cross(w, X[:3, 3] / length))]

    roll = rd.FrameConstraint("roll", on_ball, (("world", np.eye(4)), ("ball", np.eye(4))))
    ball = Mechanism("ball", (Link("ball", BALL),))
    robot = rd.load(ball, base="floating", constraints=[roll], near=[0.01, 0, 0.65, 0, 0, 0, 1])
    assert (robot.nc, robot.dof) == (4, 3)
    q = robot.neutral()
    v = robot.consistent_velocity(q, [0.01, 0, 0, 0, 0, 0])
    run = rd.simulate(robot, q0=q, v0=v, duration=1.6, step=2e-3)
    loads = run.joint_wrenches(["roll"]).in_frame("world")["roll"][:, :3]
    normal = np.sum(loads * run.q[:, :3], axis=1) / distance
    np.testing.assert_allclose(normal[0], 9.81 * M, rtol=1e-3)
    leaves = np.interp(0.0, -normal, run.q[:, 2] / distance)
    np.testing.assert_allclose(leaves, 10.0 / 17.0, atol=1e-3)


def test_a_wheel_that_is_hit_is_balanced_by_the_impulse_of_the_ground():
    roll = rd.Rolling("roll", "disc", (0, 0, 0), RB, axis=(0, 1, 0))
    robot = interpreted(
        Mechanism("disc", (Link("disc", DISC),)), base="floating", constraints=[roll]
    )
    rng = np.random.default_rng(2)
    q = robot.assemble(robot.integrate(robot.neutral(), 0.4 * rng.normal(size=6)))
    v, point = robot.consistent_velocity(q, rng.normal(size=6)), np.array([0.05, 0.0, 0.1])
    R = robot.frame_pose(q, "disc")[:3, :3]
    towards = R @ (v[:3] + np.cross(v[3:], point))
    hit = robot.impact(q, v, "disc", point, -towards, restitution=0.5)
    np.testing.assert_allclose(robot.loop_jacobian(q) @ hit.v, 0.0, atol=1e-12)
    felt, given = hit.joint_impulses["roll"], R.T @ hit.impulse
    np.testing.assert_allclose(M * (hit.v - v)[:3], given + felt[:3], atol=1e-12)
    moment = np.cross(point, given) + felt[3:]
    np.testing.assert_allclose(DISC.matrix @ (hit.v - v)[3:], moment, atol=1e-12)
    lost = robot.kinetic_energy(q, v) - robot.kinetic_energy(q, hit.v)
    np.testing.assert_allclose(hit.energy_loss, lost, rtol=1e-9)


def test_a_ball_on_a_plate_that_moves():
    """The plate is a link on a hinge, which the ball presses and drags."""
    plate = Inertia.from_matrix(2.0, (0.1, 0.0, -0.1), 0.3 * np.eye(3))
    mechanism = Mechanism(
        "plate",
        (Link("ground"), Link("plate", plate), Link("ball", BALL)),
        (
            Joint("hinge", "revolute", "ground", "plate", axis=(0.6, 0.0, 0.8)),
            Joint("free", "floating", "ground", "ball"),
        ),
    )
    roll = rd.Rolling("roll", "ball", (0.02, 0, 0.01), RB, on=("plate", height(0.05)))
    robot = interpreted(mechanism, constraints=[roll])
    rng = np.random.default_rng(0)
    q = robot.assemble(robot.integrate(robot.neutral(), rng.normal(size=7)))
    np.testing.assert_allclose(robot.loop_residual(q), 0.0, atol=1e-9)
    v, tau = robot.consistent_velocity(q, rng.normal(size=7)), np.r_[1.5, np.zeros(6)]
    a = robot.forward_dynamics(q, v, tau)
    assert balanced(robot, q, v, a, robot.joint_wrenches(q, v, tau={"hinge": 1.5}))
    # the point of the ball that touches the plate moves with it
    X = robot.frame_pose(q, "ball", relative_to="plate")
    V = robot.frame_twist(q, v, "ball", relative_to="plate")
    down = X[:3, :3].T @ [0, 0, -RB]
    contact = V[:3] + np.cross(V[3:], np.add([0.02, 0, 0.01], down))
    np.testing.assert_allclose(contact, 0.0, atol=1e-12)


def disc_in_a_turn(lean, radius, rate):
    """A disc whose centre goes round a circle, leaning inwards: coordinates, body twist."""
    up = np.array([-np.sin(lean), 0.0, np.cos(lean)])
    axis = np.array([np.cos(lean), 0.0, np.sin(lean)])
    rotation = np.c_[np.cross(axis, up), axis, up]
    forward, below = np.array([0.0, rate * radius, 0.0]), -RB * up
    z = np.array([0.0, 0.0, 1.0])
    spin = -(forward + rate * np.cross(z, below))[1] / np.cross(axis, below)[1]
    q = np.r_[radius, 0.0, RB * np.cos(lean), Rotation.from_matrix(rotation).as_quat()]
    w = rate * z + spin * axis
    return q, np.r_[rotation.T @ forward, rotation.T @ w], spin


def test_a_disc_rolls_steadily_in_a_circle():
    """Moment about the centre is the rate of the angular momentum, which turns about z."""
    lean, radius = 0.3, 0.6
    A, C, s, c = 0.25, 0.5, np.sin(lean), np.cos(lean)
    _, _, spin = disc_in_a_turn(lean, radius, 1.0)
    gyration = RB**2 * c * (C * (spin + s) - A * s)  # of a unit mass at a unit rate
    rate = np.sqrt(9.81 * RB * s / (radius * RB * c - gyration))
    q, v, _ = disc_in_a_turn(lean, radius, rate)
    roll = rd.Rolling("roll", "disc", (0, 0, 0), RB, axis=(0, 2, 0))
    robot = rd.load(Mechanism("disc", (Link("disc", DISC),)), base="floating", constraints=[roll])
    assert (robot.nc, robot.dof) == (3, 3)
    np.testing.assert_allclose(robot.loop_residual(q), 0.0, atol=1e-15)
    np.testing.assert_allclose(robot.loop_jacobian(q) @ v, 0.0, atol=1e-14)
    run = rd.simulate(robot, q0=q, v0=v, duration=2 * np.pi / rate, step=2e-3)
    np.testing.assert_allclose(np.linalg.norm(run.q[:, :2], axis=1), radius, atol=1e-8)
    np.testing.assert_allclose(run.q[:, 2], RB * c, atol=1e-9)
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-9)
    # upright and at rest it falls over as sqrt(g / (5/4 r)) says; it has five positions
    upright = np.r_[0.0, 0.0, RB, 0.0, 0.0, 0.0, 1.0]
    model = robot.linearize(upright, np.zeros(6), np.zeros(6))
    assert model.A.shape == (8, 8)
    np.testing.assert_allclose(model.poles.real.max(), np.sqrt(9.81 / (1.25 * RB)), rtol=1e-9)
    load = robot.joint_wrenches(q, v, run.a[0]).in_frame("world")["roll"]
    np.testing.assert_allclose(load[:3], [-M * rate**2 * radius, 0.0, M * 9.81], atol=1e-9)


def test_a_disc_that_wobbles_is_balanced():
    roll = rd.Rolling("roll", "disc", (0, 0, 0), RB, axis=(0, 1, 0))
    robot = interpreted(
        Mechanism("disc", (Link("disc", DISC),)), base="floating", constraints=[roll]
    )
    rng = np.random.default_rng(1)
    q = robot.assemble(robot.integrate(robot.neutral(), 0.5 * rng.normal(size=6)))
    v = robot.consistent_velocity(q, rng.normal(size=6))
    a = robot.forward_dynamics(q, v, np.zeros(6))
    assert balanced(robot, q, v, a, robot.joint_wrenches(q, v, a))


@pytest.mark.parametrize("base", ["fixed", "moving"])
def test_a_driven_mill_whose_wheel_rolls_on_its_base(base):
    """An arm turns, driven; its fork presses a wheel on the deck, which may itself move."""
    mechanism = Mechanism(
        "mill",
        (
            Link("base", Inertia.from_matrix(3.0, (0.0, 0.0, 0.0), np.eye(3))),
            Link("arm", Inertia.from_matrix(1.0, (0.2, 0.0, 0.0), 0.1 * np.eye(3))),
            Link("fork", Inertia.from_matrix(0.5, (0.1, 0.0, 0.0), 0.05 * np.eye(3))),
            Link("wheel", DISC),
        ),
        (
            Joint("turn", "revolute", "base", "arm", Pose((0.0, 0.0, 0.3)), axis=(0, 0, 1)),
            Joint("lift", "revolute", "arm", "fork", Pose((0.4, 0.0, 0.0)), axis=(0, 1, 0)),
            Joint("axle", "continuous", "fork", "wheel", Pose((0.3, 0.0, 0.0)), axis=(1, 0, 0)),
        ),
    )
    roll = rd.Rolling("roll", "wheel", (0, 0, 0), RB, axis=(1, 0, 0), on=("base", height(0.05)))
    robot = interpreted(mechanism, base=base, constraints=[roll], near={"lift": 0.5})
    assert (robot.nc, robot.dof) == (3, 1)
    rng = np.random.default_rng(3)
    V, acceleration = rng.normal(size=(2, 6))

    def deck(t):
        if base == "fixed":
            return {}
        return {"base": rd.BaseMotion(moved(t * V + 0.5 * t * t * acceleration), V, acceleration)}

    q = robot.neutral()
    v = robot.consistent_velocity(q, rng.normal(size=3))
    a = robot.hybrid_dynamics(q, v, controlled={"turn": 0.7}, **deck(0.0)).a
    assert a[0] == 0.7
    loads = robot.joint_wrenches(q, v, controlled={"turn": 0.7}, **deck(0.0))
    np.testing.assert_allclose(loads["axle"][3], 0.0, atol=1e-12)

    def poses(t):
        x = robot.integrate(q, t * v + 0.5 * t * t * a)
        return dict(zip(robot.frame_names, robot.frame_poses(x, **deck(t)), strict=True))

    assert imbalance(robot, loads, poses, (0.0, 0.0, -9.81)) < 1e-8


def moved(twist):
    """Pose after a body twist for a second."""
    body = np.zeros((4, 4))
    body[:3, :3], body[:3, 3] = np.cross(np.eye(3), twist[3:]), twist[:3]
    return expm(body)


def test_derivatives_along_states_that_roll():
    roll = rd.Rolling("roll", "disc", (0, 0, 0), RB, axis=(0, 1, 0))
    robot = interpreted(
        Mechanism("disc", (Link("disc", DISC),)), base="floating", constraints=[roll]
    )
    rng = np.random.default_rng(4)
    q = robot.assemble(robot.integrate(robot.neutral(), 0.4 * rng.normal(size=6)))
    v, along = (robot.consistent_velocity(q, x) for x in rng.normal(size=(2, 6)))
    tau, h = rng.normal(size=6), 1e-5

    def state(s):
        x = robot.assemble(robot.integrate(q, s * along))
        return x, robot.consistent_velocity(x, v)

    (q0, v0), (q1, v1) = state(-h), state(h)
    change = robot.forward_dynamics(q1, v1, tau) - robot.forward_dynamics(q0, v0, tau)
    slopes = robot.derivatives("forward_dynamics", q, v, tau)
    found = slopes["q"] @ robot.difference(q0, q1) + slopes["v"] @ (v1 - v0)
    np.testing.assert_allclose(found / (2 * h), change / (2 * h), rtol=1e-6, atol=1e-6)


def test_a_disc_that_lies_flat_is_no_wheel():
    disc = Mechanism("disc", (Link("disc", DISC),))
    roll = rd.Rolling("roll", "disc", (0, 0, 0), RB, axis=(0, 0, 1))
    with pytest.warns(rd.errors.SingularWarning, match="singular"):
        robot = rd.load(disc, base="floating", constraints=[roll])
        assert robot.dof == 3
    assert abs(robot.frame_pose(robot.neutral(), "disc")[2, 2]) < 1.0 - 1e-4
    with pytest.raises(rd.SingularError, match="lies flat"):
        robot.mobility([0, 0, 0, 0, 0, 0, 1])


def wheels():
    return [
        rd.Rolling(f"roll{k}", f"wheel{k}", (0, 0, 0), RADIUS, axis=(0, -1, 0)) for k in (1, 2, 3)
    ]


def test_the_caster_table_by_wheels_and_their_loads():
    """[W ex. 5.4] The wheels of a table that stands on nothing else carry its weight."""
    hand = caster_table()
    rng = np.random.default_rng(0)
    q = hand.random(rng)
    v = hand.consistent_velocity(q, rng.normal(size=9))
    tau = np.r_[np.zeros(4), 0.3, np.zeros(4)]
    on_plane = interpreted("caster_table", passive=False, constraints=wheels())
    assert (on_plane.nc, on_plane.dof) == (9, 3)
    a = hand.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(on_plane.forward_dynamics(q, v, tau), a, atol=1e-10)

    described = rd.load("caster_table").mechanism
    described = replace(described, links=described.links[1:], joints=described.joints[1:])
    free = interpreted(described, base="floating", passive=False, constraints=wheels())
    assert (free.nc, free.dof, free.redundant_constraints) == (9, 3, {})
    turn = Rotation.from_euler("z", q[2]).as_quat()
    qf, vf = np.r_[q[:2], 0.0, turn, q[3:]], np.r_[v[:2], 0.0, 0.0, 0.0, v[2:]]
    af = free.forward_dynamics(qf, vf, np.r_[np.zeros(6), tau[3:]])
    np.testing.assert_allclose(af, np.r_[a[:2], 0.0, 0.0, 0.0, a[2:]], atol=1e-10)
    loads = free.joint_wrenches(qf, vf, tau={"wheel1_axle": 0.3})
    assert balanced(free, qf, vf, af, loads)
    normal = [free.frame_pose(qf, f"wheel{k}")[2, :3] @ loads[f"roll{k}"][:3] for k in (1, 2, 3)]
    np.testing.assert_allclose(sum(normal), 9.81 * free.total_mass, rtol=1e-12)
    # at rest, the wheels stand around the centre of mass
    qs = np.r_[np.zeros(6), 1.0, q[3:]]
    loads = free.joint_wrenches(qs, np.zeros(12), np.zeros(12))
    feet = [free.frame_pose(qs, f"wheel{k}")[:2, 3] for k in (1, 2, 3)]
    carried = [free.frame_pose(qs, f"wheel{k}")[2, :3] @ loads[f"roll{k}"][:3] for k in (1, 2, 3)]
    np.testing.assert_allclose(
        np.transpose(feet) @ carried,
        9.81 * free.total_mass * free.center_of_mass(qs)[:2],
        atol=1e-9,
    )


def test_faults_are_named():
    for given in ({"radius": 0.0}, {"radius": np.nan}, {"axis": (0, 0, 0)}, {"center": (0, 0)}):
        with pytest.raises(rd.ShapeError):
            rd.Rolling(
                **{"name": "roll", "link": "ball", "center": (0, 0, 0), "radius": 1.0} | given
            )
    with pytest.raises(rd.ShapeError, match="a frame of constraint 'roll'"):
        rd.Rolling("roll", "ball", (0, 0, 0), 1.0, on=("world", np.eye(3)))
    roll = rd.Rolling("roll", "bell", (0, 0, 0), 1.0)
    with pytest.raises(rd.UnknownNameError, match="bell"):
        rd.load(Mechanism("ball", (Link("ball", BALL),)), base="floating", constraints=[roll])
