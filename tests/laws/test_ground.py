"""Points of links on the ground: closed solutions for one body, and laws for any mechanism."""

import pickle

import numpy as np
import pytest
from scipy.optimize import brentq

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism

X, Y, Z = np.eye(3)
GRAVITY = 9.81
MASS = 2.0


def body(axes, ground, gravity=(0, 0, -GRAVITY)):
    """A body that slides along some axes of the world; its point is at its centre of mass."""
    links, joints, parent = [Link("root")], [], "root"
    for k, axis in enumerate(axes):
        child = "body" if k == len(axes) - 1 else f"slide{k}"
        links.append(Link(child, Inertia(MASS) if child == "body" else None))
        joints.append(Joint(f"along{k}", "prismatic", parent, child, axis=tuple(axis)))
        parent = child
    mechanism = Mechanism("body", tuple(links), tuple(joints))
    return rd.load(mechanism, ground=ground, gravity=gravity)


def floor(**law):
    return rd.Ground({"point": ("body", (0.0, 0.0, 0.0))}, **law)


# -- one body -------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0, 2.5, 3.0])
def test_a_body_rests_where_the_ground_carries_it(exponent):
    """The depth is ``(m g / k)^(1/n)``."""
    robot = body([Z], floor(stiffness=3e4, exponent=exponent, damping=0.5))
    depth = (MASS * GRAVITY / 3e4) ** (1 / exponent)
    assert robot.forward_dynamics([-depth], [0.0], [0.0]) == pytest.approx([0.0], abs=1e-11)
    (contact,) = robot.ground_contacts([-depth], [0.0]).values()
    assert contact.depth == pytest.approx(depth, rel=1e-12)
    assert contact.force == pytest.approx([0.0, 0.0, MASS * GRAVITY])


def rebound(damping, speed):
    """Coefficient of restitution without gravity: the phase curve of Hunt and Crossley's law."""

    def left(e):
        x = damping * speed
        return x * (1 + e) - np.log((1 + x) / (1 - e * x))

    return brentq(left, 1e-6, 1 - 1e-12 if damping * speed < 1 else 1 / (damping * speed) - 1e-12)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
@pytest.mark.parametrize(("damping", "speed"), [(0.1, 0.5), (0.4, 1.0), (0.7, 2.0)])
def test_a_body_rebounds_as_hunt_and_crossley_say(exponent, damping, speed):
    """Whatever the exponent; for light damping with ``1 - 2/3 c w`` of its speed."""
    robot = body([Z], floor(stiffness=1e4, exponent=exponent, damping=damping), (0, 0, 0))
    run = rd.simulate(robot, q0=[1e-9], v0=[-speed], duration=0.5, step=2e-5)
    e = rebound(damping, speed)
    assert run.v[-1, 0] / speed == pytest.approx(e, abs=1e-7)
    if damping * speed < 0.1:
        assert e == pytest.approx(1 - 2 / 3 * damping * speed, abs=2 * (damping * speed) ** 2)
        lost = (1 - e**2) * MASS * speed**2 / 2
        assert lost == pytest.approx(2 / 3 * damping * MASS * speed**3, rel=0.1)


def test_the_ground_never_pulls():
    robot = body([X, Z], floor(damping=2.0, friction=0.7))
    rng = np.random.default_rng(0)
    q, v = rng.uniform(-0.01, 0.01, (1000, 2)), rng.normal(size=(1000, 2))
    (contact,) = robot.ground_contacts(q, v).values()
    assert (contact.force[:, 2] >= 0.0).all()
    # leaving faster than 1 / damping, the ground is left behind
    gone = (q[:, 1] > 0.0) | (2.0 * v[:, 1] > 1.0)
    np.testing.assert_allclose(contact.force[gone], 0.0, atol=1e-10)
    assert (contact.force[~gone, 2] > 0.0).all()
    assert (contact.depth == pytest.approx(np.maximum(-q[:, 1], 0.0), abs=1e-15)) is True


def test_a_sliding_block_stops_after_its_way():
    """With ``mu g v / sqrt(v^2 + s^2)`` against it."""
    mu, s, v0 = 0.4, 0.02, 1.5
    robot = body([X, Z], floor(friction=mu, friction_speed=s))
    depth = (MASS * GRAVITY / 1e5) ** (2 / 3)
    run = rd.simulate(robot, q0=[0.0, -depth], v0=[v0, 0.0], duration=1.0, step=1e-4)
    way = (v0 * np.hypot(v0, s) + s**2 * np.arcsinh(v0 / s)) / (2 * mu * GRAVITY)
    assert run.q[-1, 0] == pytest.approx(way, rel=1e-9)
    assert way == pytest.approx(v0**2 / (2 * mu * GRAVITY), rel=2e-3)
    (contact,) = robot.ground_contacts(run.q, run.v).values()
    np.testing.assert_allclose(contact.slip[:, 0], run.v[:, 0], atol=1e-15)
    np.testing.assert_allclose(contact.slip[:, 1:], 0.0, atol=1e-15)


def test_hard_friction_takes_no_short_steps_of_an_implicit_method():
    """It is a hundred times faster than the step."""
    mu, s, v0 = 0.4, 1e-4, 1.5
    robot = body([X, Z], floor(friction=mu, friction_speed=s, damping=0.3))
    depth = (MASS * GRAVITY / 1e5) ** (2 / 3)
    options = {"q0": [0.0, -depth], "v0": [v0, 0.0], "duration": 0.6, "step": 1e-2}
    run = rd.simulate(robot, integrator="implicit", **options)
    assert run.q[-1, 0] == pytest.approx(v0**2 / (2 * mu * GRAVITY), rel=1e-6)
    np.testing.assert_allclose(run.v[-1], 0.0, atol=1e-12)


@pytest.mark.parametrize("angle", [0.2, 0.35])
def test_a_block_on_a_slope_creeps_below_the_angle_of_friction(angle):
    """At ``s tan(a) / sqrt(mu^2 - tan(a)^2)``; nothing faster, however long."""
    mu, s = 0.5, 1e-3
    normal = (np.sin(angle), 0.0, np.cos(angle))
    robot = body(
        [X, Y, Z], floor(normal=normal, friction=mu, friction_speed=s, damping=1.0, stiffness=1e4)
    )
    depth = (MASS * GRAVITY * np.cos(angle) / 1e4) ** (2 / 3)
    q0 = -depth * np.array(normal)
    run = rd.simulate(robot, q0=q0, duration=0.5, step=2e-4)
    creep = s * np.tan(angle) / np.sqrt(mu**2 - np.tan(angle) ** 2)
    down = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    np.testing.assert_allclose(run.v[-1], creep * down, atol=1e-9)


def test_a_block_on_a_slope_slides_beyond_the_angle_of_friction():
    """With ``g (sin a - mu cos a)``."""
    mu, angle = 0.3, 0.6
    normal = np.array([0.0, np.sin(angle), np.cos(angle)])
    robot = body([X, Y, Z], floor(normal=tuple(7 * normal), friction=mu, friction_speed=1e-4))
    depth = (MASS * GRAVITY * np.cos(angle) / 1e5) ** (2 / 3)
    down = np.array([0.0, np.cos(angle), -np.sin(angle)])
    q, v = -depth * normal, 2.0 * down
    a = robot.forward_dynamics(q, v, np.zeros(3))
    expected = GRAVITY * (np.sin(angle) - mu * np.cos(angle)) * down
    np.testing.assert_allclose(a, expected, atol=1e-7)


# -- any mechanism --------------------------------------------------------------------------------

LAWS = {
    "hard": {"stiffness": 3e4, "damping": 0.3, "friction": 0.6, "friction_speed": 0.05},
    "linear": {"stiffness": 2e4, "exponent": 1.0, "damping": 0.0, "friction": 0.0},
    "steep": {"stiffness": 5e5, "exponent": 2.5, "damping": 2.0, "friction": 0.2},
}
TILTED = {"normal": (0.3, -0.2, 1.0), "height": 0.1}
CASES = {
    "arm": ("arm7", {}),
    "floating arm": ("arm7", {"base": "floating"}),
    "arm on a moving base": ("puma560", {"base": "moving"}),
    "four-bar": ("four_bar", {}),
    "four-bar in minimal coordinates": ("four_bar", {"coordinates": "minimal"}),
    "floating platform": ("delta", {"base": "floating"}),
    "hexapod": ("stewart", {}),
}


class Standing:
    """A mechanism with two points in the ground, at a state."""

    def __init__(self, name, law):
        source, options = CASES[name]
        bare = rd.load(source, **options)
        rng = np.random.default_rng(5)
        self.q = bare.random(rng)
        self.v = rng.normal(size=bare.nv)
        if bare.nc:
            self.v = bare.consistent_velocity(self.q, self.v)
        self.tau = rng.normal(size=bare.nv)
        self.options = {}
        if bare.base == "moving":
            pose = np.eye(4)
            pose[:3, 3] = 0.1, -0.2, 0.3
            self.options["base"] = rd.BaseMotion(pose, rng.normal(size=6), rng.normal(size=6))
        links = bare.link_names[-1], bare.link_names[-2]
        points = rng.uniform(-0.1, 0.1, (2, 3))
        self.points = dict(zip(("one", "other"), zip(links, points, strict=True), strict=True))
        planes, self.expected = [], {}
        for k, (contact, (link, point)) in enumerate(self.points.items()):
            given = LAWS[law] | (TILTED if k else {})
            n = np.array(given.pop("normal", (0, 0, 1)))
            n = n / np.linalg.norm(n)
            x, u = self.motion(bare, link, point)
            given["height"] = float(n @ x) + 0.013  # so deep is it in
            plane = rd.Ground({contact: (link, point)}, normal=tuple(n), **given)
            planes.append(plane)
            self.expected[contact] = by_hand(plane, 0.013, n, u)
        self.bare, self.robot = bare, bare.with_(ground=planes)

    def motion(self, robot, link, point):
        """Place and velocity of a point of a link, in the world."""
        X = robot.frame_pose(self.q, link, **self.options)
        V = robot.frame_twist(self.q, self.v, link, **self.options)
        return X[:3, :3] @ point + X[:3, 3], X[:3, :3] @ (V[:3] + np.cross(V[3:], point))

    def wrenches(self):
        """What the ground exerts, as wrenches from outside, by link."""
        total = {}
        for contact, (link, point) in self.points.items():
            X = self.bare.frame_pose(self.q, link, **self.options)
            f = X[:3, :3].T @ self.expected[contact]
            total[link] = total.get(link, 0.0) + np.r_[f, np.cross(point, f)]
        return total


def by_hand(plane, depth, n, u):
    """Force on a point at a depth that moves with u."""
    rising = n @ u
    slip = u - rising * n
    push = plane.stiffness * depth**plane.exponent * max(0.0, 1.0 - plane.damping * rising)
    speed = np.sqrt(slip @ slip + plane.friction_speed**2)
    return push * (n - plane.friction * slip / speed)


@pytest.mark.parametrize(
    ("name", "law"),
    [*((name, "hard") for name in CASES), ("floating arm", "linear"), ("four-bar", "steep")],
)
def test_the_ground_acts_as_wrenches_of_its_forces(name, law):
    """Forward and inverse dynamics, and the forces that are told."""
    s = Standing(name, law)
    found = s.robot.ground_contacts(s.q, s.v, **s.options)
    for contact, expected in s.expected.items():
        scale = np.abs(expected).max()
        assert found[contact].force == pytest.approx(expected, abs=1e-9 * scale + 1e-9)
        assert found[contact].depth == pytest.approx(0.013, abs=1e-12)
    wrenches = s.wrenches()
    a = s.robot.forward_dynamics(s.q, s.v, s.tau, **s.options)
    expected = s.bare.forward_dynamics(s.q, s.v, s.tau, wrenches=wrenches, **s.options)
    np.testing.assert_allclose(a, expected, atol=1e-8 * np.abs(expected).max())
    tau = s.robot.inverse_dynamics(s.q, s.v, a, **s.options)
    expected = s.bare.inverse_dynamics(s.q, s.v, a, wrenches=wrenches, **s.options)
    np.testing.assert_allclose(tau, expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("name", CASES)
def test_joint_wrenches_carry_what_the_ground_pushes_with(name):
    s = Standing(name, "hard")
    a = s.robot.forward_dynamics(s.q, s.v, s.tau, **s.options)
    found = s.robot.joint_wrenches(s.q, s.v, a, **s.options)
    expected = s.bare.joint_wrenches(s.q, s.v, a, wrenches=s.wrenches(), **s.options)
    scale = max(np.abs(expected[joint]).max() for joint in expected)
    for joint in expected:
        np.testing.assert_allclose(found[joint], expected[joint], atol=1e-8 * scale)


@pytest.mark.parametrize("law", LAWS)
def test_the_ground_gives_back_its_energy_and_no_more(law):
    """Slope of its energy against its elastic force; rubbing and damping only take."""
    s = Standing("floating arm", law)

    def stored(x):
        return s.robot.potential_energy(x) - s.bare.potential_energy(x)

    h = 1e-6
    ahead, behind = (stored(s.robot.integrate(s.q, k * h * s.v)) for k in (1, -1))
    rate = (ahead - behind) / (2 * h)
    still = s.robot.passive_forces(s.q, 0 * s.v) - s.bare.passive_forces(s.q, 0 * s.v)
    assert still @ s.v == pytest.approx(-rate, rel=1e-6)
    moving = s.robot.passive_forces(s.q, s.v) - s.bare.passive_forces(s.q, s.v)
    lost = -rate - moving @ s.v
    if law == "linear":
        assert lost == pytest.approx(0.0, abs=1e-6 * abs(rate))
    else:
        assert lost > 0.0


def test_rows_single_precision_and_slopes():
    """What the compiled code of any quantity does."""
    s = Standing("floating arm", "hard")
    f = s.robot.function("forward_dynamics")
    q = np.stack([s.q, s.robot.integrate(s.q, 0.01 * s.v)])
    q[1, 2] += 5.0  # high above the ground
    v, tau = np.stack([s.v, -s.v]), np.stack([s.tau, s.tau])
    a = f(q, v, tau)
    for k in range(2):
        np.testing.assert_array_equal(a[k], f(q[k], v[k], tau[k]))
    single = f(*(x.astype("f4") for x in (q, v, tau)))
    np.testing.assert_allclose(single, a, atol=2e-3 * np.abs(a).max())
    assert "sqrt" in f.c_source("step")
    slopes, h = f.jacobian("q")(q, v, tau), 1e-7
    for k in range(2):
        for j, e in enumerate(np.eye(s.robot.nv)):
            sides = [f(s.robot.integrate(q[k], x * h * e), v[k], tau[k]) for x in (1, -1)]
            slope = (sides[0] - sides[1]) / (2 * h)
            np.testing.assert_allclose(slopes[k][:, j], slope, atol=2e-5 * np.abs(slopes[k]).max())


@pytest.mark.parametrize("exponent", [1.0, 1.5, 3.0])
def test_slopes_are_numbers_above_the_ground_and_where_a_point_just_touches(exponent):
    robot = body([X, Z], floor(exponent=exponent, damping=1.0, friction=0.5))
    for input_ in ("q", "v"):
        slope = robot.function("forward_dynamics").jacobian(input_)
        for height in (0.0, 1e-9, 0.3, 7.0):
            assert np.isfinite(slope(np.array([0.0, height]), np.zeros(2), np.zeros(2))).all()


def test_contacts_of_a_motion_and_of_many():
    """Many motions move as each one does, and tell their contacts."""
    robot = body([X, Z], floor(stiffness=2e4, damping=0.4, friction=0.3, friction_speed=0.1))
    q0, v0 = np.array([[0.0, 0.1], [0.0, 0.0], [1.0, 0.02]]), np.array([[1.0, 0], [0, -2], [3, 1]])
    options = {"duration": 0.3, "step": 1e-3}
    many = rd.rollout(robot, None, q0, v0, **options)
    for k in range(3):
        one = rd.simulate(robot, q0=q0[k], v0=v0[k], **options)
        np.testing.assert_array_equal(many.q[:, k], one.q)
        told, expected = one.ground_contacts["point"], robot.ground_contacts(one.q, one.v)["point"]
        np.testing.assert_array_equal(told.force, expected.force)
        for part in ("force", "depth", "slip"):
            of_many = getattr(many.ground_contacts["point"], part)[:, k]
            np.testing.assert_allclose(of_many, getattr(told, part), rtol=1e-12, atol=1e-12)
        assert told.force[:, 2].max() > 10.0


def test_a_ground_for_one_motion():
    """Beside what the robot has."""
    floor_, wall = (
        floor(stiffness=2e4, damping=0.4),
        rd.Ground({"wall": ("body", (0.0, 0.0, 0.0))}, normal=(-1, 0, 0), height=-0.1),
    )
    bare, start = body([X, Z], ()), {"q0": [0.0, 0.02], "v0": [1.0, 0.0], "duration": 0.3}
    both = rd.simulate(bare.with_(ground=[floor_, wall]), **start)
    for given in ({"robot": bare, "ground": [floor_, wall]}, {"robot": bare.with_(ground=floor_)}):
        run = rd.simulate(**({"ground": wall} | given | start))
        np.testing.assert_array_equal(run.q, both.q)
        assert list(run.ground_contacts) == ["point", "wall"]
    assert both.v[-1, 0] < 0.0
    many = rd.rollout(bare, None, [start["q0"]], [start["v0"]], duration=0.3, ground=[floor_, wall])
    np.testing.assert_array_equal(many.q[:, 0], both.q)
    with pytest.raises(rd.ShapeError, match="ground"):
        rd.simulate(bare, ground="floor")


def test_what_the_ground_takes_of_a_carried_robot_is_not_known():
    robot = rd.load("double_pendulum", base="moving")
    tip = {"tip": (robot.link_names[-1], (0.0, 0.0, 0.0))}
    options = {"base": lambda t: rd.BaseMotion.at_rest(), "duration": 0.01}
    elastic = robot.with_(ground=rd.Ground(tip))
    assert np.abs(rd.simulate(elastic, **options).audit.unexplained).max() < 1e-9
    rough = robot.with_(ground=rd.Ground(tip, friction=0.3))
    with pytest.raises(rd.SettingsError, match="rubs"):
        _ = rd.simulate(rough, **options).audit


@pytest.mark.slow
def test_an_impact_takes_no_time_for_the_ground_to_act():
    s = Standing("floating arm", "hard")
    link = s.bare.link_names[-1]
    hits = [x.impact(s.q, s.v, link, (0, 0, 0), None) for x in (s.bare, s.robot)]
    np.testing.assert_allclose(hits[1].v, hits[0].v, atol=1e-12)
    for joint in hits[0].joint_impulses:
        one, other = (hit.joint_impulses[joint] for hit in hits)
        np.testing.assert_allclose(other, one, atol=1e-10 * np.abs(hits[0].impulse).max())


# -- what cannot be -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "error", "says"),
    [
        ({"points": {}}, rd.ShapeError, "one at least"),
        ({"points": {"p": "body"}}, rd.ShapeError, "expected {name"),
        ({"points": {"p": (3, (0, 0, 0))}}, rd.ShapeError, "expected {name"),
        ({"points": {"p": ("body", (0, 0))}}, rd.ShapeError, r"points\['p'\]"),
        ({"points": {"p": ("body", (0, np.nan, 0))}}, rd.ShapeError, "finite"),
        ({"normal": (0, 0, 0)}, rd.SettingsError, "not zero"),
        ({"normal": (0, np.inf, 0)}, rd.SettingsError, "not zero"),
        ({"height": np.inf}, rd.SettingsError, "height of the ground"),
        ({"stiffness": 0.0}, rd.SettingsError, "stiffness of the ground is 0.0, expected positive"),
        ({"stiffness": "hard"}, rd.ShapeError, "stiffness"),
        ({"damping": -0.1}, rd.SettingsError, "not negative"),
        ({"friction": np.inf}, rd.SettingsError, "friction of the ground"),
        ({"friction_speed": 0.0}, rd.SettingsError, "friction_speed"),
        ({"exponent": 1.2}, rd.SettingsError, "one of 1, 1.5, 2, 2.5, 3"),
    ],
)
def test_a_ground_that_cannot_be(changed, error, says):
    with pytest.raises(error, match=says):
        rd.Ground(**{"points": {"p": ("body", (0, 0, 0))}} | changed)


def test_grounds_that_do_not_fit_a_robot(four_bar):
    with pytest.raises(rd.UnknownNameError, match="no link 'cuopler'"):
        four_bar.with_(ground=rd.Ground({"toe": ("cuopler", (0, 0, 0))}))
    twice = [rd.Ground({"toe": (four_bar.link_names[-1], (0, 0, 0))}) for _ in range(2)]
    with pytest.raises(rd.SettingsError, match="two contacts with the ground are called 'toe'"):
        four_bar.with_(ground=twice)
    for wrong in ("floor", 3, [3]):
        with pytest.raises(rd.ShapeError, match="ground"):
            four_bar.with_(ground=wrong)


def test_points_are_what_was_given():
    points = {"tip": ("lower", (0, 0, -1)), "heel": ("upper", (0.1, 0, 0))}
    ground = rd.Ground(points, height=-1.9)
    assert ground.points == points and {**ground.points} == points
    assert ground.points["heel"] == ("upper", (0.1, 0.0, 0.0))
    assert [*ground.points] == ["tip", "heel"] and len(ground.points) == 2
    again = pickle.loads(pickle.dumps(ground))
    assert again == ground and hash(again) == hash(ground) and repr(again) == repr(ground)
    assert rd.Ground(ground.points, height=-1.9) == ground
    assert rd.Ground(dict(reversed(points.items())), height=-1.9) != ground  # another order
    with pytest.raises(TypeError):
        ground.points["tip"] = ("upper", (0, 0, 0))
