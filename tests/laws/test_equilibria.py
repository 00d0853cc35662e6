"""Rest and steady motion are where nothing changes, and as stable as is known of them."""

from dataclasses import replace

import numpy as np
import pytest
import test_orbit as orbit
from support.bundled import bundled
from test_gyrostats import AXES, PERMANENT, H, J, gyrostat

import robodyn as rd

pytestmark = pytest.mark.filterwarnings("ignore:.*principal moments of inertia")


def mass(m, z=0.0, J=0.0):
    return rd.Inertia.from_matrix(m, (0.0, 0.0, z), J * np.eye(3))


def accelerates(robot, q, tau, **driven):
    return np.abs(robot.hybrid_dynamics(q, np.zeros(robot.nv), tau=tau, **driven).a).max()


# -- at rest --------------------------------------------------------------------------------------


@pytest.mark.parametrize("coordinates", ["tree", "minimal"])
def test_closed_linkages_at_rest_have_the_least_energy(coordinates):
    springs = {"left_drive": (9.0, 0.1), "right_drive": (5.0, 0.2)}
    robot = rd.load("five_bar", springs=springs, coordinates=coordinates)
    q = robot.equilibrium(robot.neutral())
    assert accelerates(robot, q, None) < 1e-8
    assert robot.linearize(q, np.zeros(robot.nv), None).stability == "stable"
    least = robot.potential_energy(q)
    tree, whole = robot.tree_form, robot.expand(q)
    assert np.abs(tree.loop_residual(whole)).max() < 1e-11
    for e in (1e-2, -1e-2):
        for k in [tree.joints[name].v.start for name in springs]:
            step = e * np.eye(tree.nv)[k]
            near = tree.assemble(whole + step, hold=springs, beyond_limits=True)
            assert tree.potential_energy(near) > least


def test_given_forces_and_held_joints(puma):
    """Arms under torques, some of whose joints are held: the rest is at rest."""
    q = puma.random(3)
    held = ["joint1", "joint2", "joint3"]
    names = puma.joint_names
    assert all(name in names for name in held)
    tau = {names[3]: 0.0, names[4]: 0.02, names[5]: 0.0}
    rest = puma.equilibrium(q, hold=held, tau=tau)
    np.testing.assert_array_equal(rest[:3], q[:3])
    assert accelerates(puma, rest, tau, locked=held) < 1e-8
    assert np.abs(rest - q).max() > 1e-3
    all_held = puma.equilibrium(q, hold=names)
    np.testing.assert_array_equal(all_held, q)
    np.testing.assert_array_equal(puma.equilibrium(q, held=held, tau=tau), rest)
    with pytest.raises(rd.ShapeError, match="two names of one option"):
        puma.equilibrium(q, hold=held, held=held)
    balanced = puma.inverse_dynamics(q, np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(puma.equilibrium(q, tau=balanced), q, atol=1e-12)


def test_a_pendulum_stands_on_its_head_if_it_starts_nearly_so(double):
    for start, end, verdict in (
        ((3.0, 0.1), (np.pi, 0.0), "unstable"),
        ((0.2, 0.1), (0.0, 0.0), None),
    ):
        q = double.equilibrium(start)
        np.testing.assert_allclose(q, end, atol=1e-9)
        assert double.linearize(q, [0, 0], None).stability == (verdict or "marginal")


def test_rest_is_found_from_anywhere_and_not_turns_away():
    """Also where Newton's steps lead nowhere: half of these postures of the linkage."""
    for name in ("double_pendulum", "four_bar"):
        robot = rd.load(name)
        for seed in range(8):
            q = robot.random(seed)
            rest = robot.equilibrium(q)
            assert accelerates(robot, rest, None) < 1e-7
            assert np.abs(robot.difference(q, rest)).max() < np.pi


def test_a_root_beyond_a_limit_is_left_for_one_within():
    """Newton's method takes a pendulum that is nearly up to the top, which it cannot reach."""
    links = (rd.Link("wall"), rd.Link("rod", mass(1.0, -0.5, 0.1)))
    pin = rd.Joint("pin", "revolute", "wall", "rod", axis=(0, 1, 0), limits=rd.Limits(-2.5, 2.5))
    rest = rd.load(rd.Mechanism("pendulum", links, (pin,))).equilibrium([2.4])
    np.testing.assert_allclose(rest, 0.0, atol=1e-9)


@pytest.mark.parametrize("name", ["watt", "stephenson"])
def test_a_linkage_that_falls_from_an_unstable_posture_comes_to_rest(name):
    """Newton's method gets stuck where forces are least; on the way down they grow first."""
    robot = rd.load(name)
    zero = np.zeros(robot.nv)
    for seed in (3, 4, 5, 6, 9, 10):
        q = robot.equilibrium(robot.random(seed))
        assert np.abs(robot.forward_dynamics(q, zero, zero)).max() < 1e-7


def test_a_floating_robot_keeps_what_nothing_depends_on():
    robot = rd.load("pan_tilt", base="floating", gravity=(0, 0, 0), springs={"tilt": (3.0, 0.3)})
    q = robot.random(2)
    rest = robot.equilibrium(q)
    assert rest[robot.joints["tilt"].q] == pytest.approx(0.3)
    assert accelerates(robot, rest, None) < 1e-9
    assert robot.linearize(rest, np.zeros(robot.nv), None).stability == "marginal"
    *base, pan, tilt = robot.difference(q, rest)
    assert abs(tilt) > 0.5
    np.testing.assert_allclose(base, 0.0, atol=1e-14)
    # it is moved along accelerations, and where tilt speeds up it pulls pan along a little
    assert abs(pan) < 5e-3


def test_where_there_is_no_rest():
    slide = rd.Joint("slide", "prismatic", "wall", "stone", axis=(0.0, 0.0, 1.0))
    falling = rd.load(
        rd.Mechanism("stone", (rd.Link("wall"), rd.Link("stone", mass(1.0))), (slide,))
    )
    with pytest.raises(rd.EquilibriumError, match=r"'slide' accelerates with 9.81") as caught:
        falling.equilibrium([0.0])
    assert caught.value.joint == "slide"
    np.testing.assert_allclose(caught.value.residual, [-9.81])
    hinge = rd.Joint(
        "hinge", "revolute", "wall", "rod", axis=(0.0, 1.0, 0.0), limits=rd.Limits(0.5, 2.0)
    )
    rod = rd.Mechanism("rod", (rd.Link("wall"), rd.Link("rod", mass(1.0, -1.0))), (hinge,))
    with pytest.raises(rd.EquilibriumError, match=r"'hinge' at .* beyond its limit") as caught:
        rd.load(rod).equilibrium([0.6])
    assert caught.value.joint == "hinge"
    with pytest.raises(rd.ShapeError, match="one state at a time"):
        falling.equilibrium([[0.0]])
    for acting in ({"slide": [1.0]}, np.ones((2, 1))):
        with pytest.raises(rd.ShapeError, match="one state at a time"):
            falling.equilibrium([0.0], tau=acting)
    with pytest.raises(rd.UnknownNameError):
        falling.equilibrium([0.0], hold=["slid"])
    with pytest.raises(rd.AssemblyError):
        linkage = bundled("four_bar")
        linkage.equilibrium([9.0, 9.0, 9.0], hold=linkage.joint_names)


@pytest.mark.slow  # of a delta
def test_no_rest_is_found_on_the_way_to_a_singular_posture(delta):
    with pytest.raises(rd.EquilibriumError, match="no posture at rest of 'delta'"):
        delta.equilibrium(delta.neutral(), tau={"drive1": 1e4})


# -- steady motion --------------------------------------------------------------------------------


@pytest.mark.parametrize("on", ["floating", "ball"])
@pytest.mark.parametrize("row", range(len(PERMANENT)))
def test_permanent_rotations_of_a_gyrostat(on, row):
    """O26: near each of the eight a rotation is found, and it is as stable as the book says."""
    axes, _, w, stable = PERMANENT[row]
    u = np.array(AXES[axes])
    robot = gyrostat(on, J, [(u, 0.2)])
    at = slice(robot.nv - 4, robot.nv - 1)
    v = np.zeros(robot.nv)
    v[at], v[-1] = w + 0.02 * np.random.default_rng(1).normal(size=3), H / 0.2
    motion = robot.steady_motion(robot.random(1), v, locked=["rotor0"])
    found = motion.v[at]
    # rotations come in curves: one is found a few times as far from the book's as the start
    assert np.linalg.norm(found - w) < 4.0 * np.linalg.norm(v[at] - w)
    np.testing.assert_allclose(np.cross(found, J @ found + H * u), 0.0, atol=1e-11)
    assert motion.v[-1] == H / 0.2
    assert motion.stability == ("marginal" if stable else "unstable")
    roots = np.linalg.eigvals(np.linalg.solve(J, cross(J @ found + H * u) - cross(found) @ J))
    for root in roots:
        assert np.abs(motion.model.poles - root).min() < 1e-6


def cross(x):
    """``cross(x) @ y`` is the vector product."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def test_s18_two_bodies_that_turn_as_one():
    """S18 [Wittenburg 1977, problem 5.9]: the vectors of a permanent rotation lie in one plane."""
    rng = np.random.default_rng(3)
    m, centres = np.array([2.0, 3.0]), rng.uniform(-0.4, 0.4, (2, 3))
    inertias = [x @ x.T + np.eye(3) for x in rng.uniform(-0.4, 0.4, (2, 3, 3))]
    bodies = [rd.Inertia.from_matrix(m[i], centres[i], inertias[i]) for i in (0, 1)]
    links = tuple(rd.Link(f"body{i}", body) for i, body in enumerate(bodies))
    ball = rd.Joint("ball", "spherical", "body0", "body1")
    pair = rd.Mechanism("pair", links, (ball,))
    robot = rd.load(pair, base="floating", gravity=(0, 0, 0))
    v = np.zeros(robot.nv)
    v[3:6] = 0.3, 1.5, 0.4
    motion = robot.steady_motion(robot.random(2), v)
    np.testing.assert_allclose(motion.v[6:], 0.0, atol=1e-9)
    w = motion.v[3:6]
    assert np.linalg.norm(w) > 0.5
    # in axes of the first body, from the hinge, which is the origin of both
    X0, X1 = (robot.frame_pose(motion.q, f"body{i}")[:3, :3] for i in (0, 1))
    R = X0.T @ X1
    c, J = [centres[0], R @ centres[1]], [inertias[0], R @ inertias[1] @ R.T]
    reduced = m.prod() / m.sum()
    K = [J[i] + reduced * (x @ x * np.eye(3) - np.outer(x, x)) for i, x in enumerate(c)]
    for i in (0, 1):  # the force of the hinge keeps each centre on its circle
        force = reduced * np.cross(w, np.cross(w, c[i] - c[1 - i]))
        np.testing.assert_allclose(np.cross(w, J[i] @ w), np.cross(-c[i], force), atol=1e-9)
    normal = np.cross(w, J[0] @ w)
    assert np.linalg.norm(normal) > 1e-3
    for x in (*(x @ w for x in (*J, *K)), *c):
        assert abs(x @ normal) < 1e-7 * np.linalg.norm(x) * np.linalg.norm(normal)
    run = rd.simulate(robot, q0=motion.q, v0=motion.v, duration=1.0, step=5e-3)
    np.testing.assert_allclose(run.v, np.broadcast_to(motion.v, run.v.shape), atol=1e-6)


def governor(length=0.5):
    """A rod on a pin across a spindle that is driven round."""
    spindle = rd.Joint("spindle", "continuous", "wall", "shaft", axis=(0.0, 0.0, 1.0))
    pin = rd.Joint("pin", "continuous", "shaft", "rod", axis=(0.0, 1.0, 0.0))
    links = (
        rd.Link("wall"),
        rd.Link("shaft", mass(1.0, 0.0, 0.1)),
        rd.Link("rod", mass(2.0, -length)),
    )
    return rd.load(rd.Mechanism("governor", links, (spindle, pin)))


def test_a_rod_on_a_driven_spindle():
    """It stands out at ``cos(angle) = g / (l W^2)`` and swings with ``W sin(angle)``."""
    robot, g, length, W = governor(), 9.81, 0.5, 6.0
    motion = robot.steady_motion([0.3, 1.0], [W, 0.4], locked=["spindle"])
    angle = np.arccos(g / length / W**2)
    assert motion.q[1] == pytest.approx(angle)
    np.testing.assert_allclose(motion.v, [W, 0.0], atol=1e-10)
    np.testing.assert_allclose(motion.tau, 0.0, atol=1e-9)
    assert motion.stability == "marginal" and motion.model.states == ("q:pin", "v:pin")
    np.testing.assert_allclose(motion.model.natural_frequencies, W * np.sin(angle))
    hanging = robot.steady_motion([0.0, 0.0], [W, 0.0], locked=["spindle"])
    assert hanging.stability == "unstable"
    slow = robot.steady_motion([0.0, 0.2], [3.0, 0.1], locked=["spindle"])
    np.testing.assert_allclose(slow.q[1], 0.0, atol=1e-9)
    assert slow.stability == "marginal"
    free = robot.steady_motion([0.0, angle + 0.1], [W, 0.0])  # nothing drives it
    assert np.cos(free.q[1]) * length * free.v[0] ** 2 == pytest.approx(g)


@pytest.mark.parametrize("crank", ["left_drive", "right_drive"])
def test_a_crank_of_a_linkage_that_is_held_where_it_is(crank):
    """What closes the loops on the way to the equilibrium moves the others alone."""
    robot = rd.load("five_bar", passive=False)
    at = robot.joints[crank].q.start
    q = robot.random(3)
    motion = robot.steady_motion(q, np.zeros(robot.nv), locked=[crank])
    assert motion.q[at] == q[at]
    assert np.abs(motion.q - q).max() > 0.1
    assert np.abs(robot.loop_residual(motion.q)).max() < 1e-10


def test_a_linkage_on_a_driven_spindle():
    """Where potential less centrifugal energy ``W^2 Izz / 2`` is least along the closed motion."""
    W = 4.0
    plain = rd.load("four_bar", springs={"crank_drive": (30.0, 0.3)}).mechanism
    root = rd.load(plain).link_names[0]
    spindle = rd.Joint("spindle", "continuous", "mast", root, axis=(0.0, 0.0, 1.0))
    whole = rd.Mechanism("turning", (rd.Link("mast"), *plain.links), (spindle, *plain.joints))
    whole = replace(plain, name="turning", links=whole.links, joints=whole.joints)
    robot = rd.load(whole)
    at, crank = robot.joints["spindle"].v.start, robot.joints["crank_drive"].v.start
    start = robot.neutral()
    v = W * np.eye(robot.nv)[at]
    motion = robot.steady_motion(start, v, locked=["spindle"])
    np.testing.assert_allclose(motion.v, v, atol=1e-9)
    assert np.abs(robot.loop_residual(motion.q)).max() < 1e-11

    def near(s):
        step = s * np.eye(robot.nv)[crank]
        hold = ["spindle", "crank_drive"]
        q = robot.assemble(motion.q + step, hold=hold, beyond_limits=True)
        return q, float(robot.potential_energy(q) - 0.5 * W**2 * robot.mass_matrix(q)[at, at])

    h = 1e-3
    (ahead, U1), (_, U0), (behind, U2) = near(h), near(0.0), near(-h)
    stiffness = (U1 - 2.0 * U0 + U2) / h**2
    assert abs(U1 - U2) / (2.0 * h) < 1e-5 * abs(stiffness)
    B = (ahead - behind) / (2.0 * h)
    frequency = np.sqrt(stiffness / (B @ robot.mass_matrix(motion.q) @ B))
    assert motion.model.natural_frequencies[0] == pytest.approx(frequency, rel=1e-5)
    assert np.abs(motion.q - robot.steady_motion(start, 0.5 * v, locked=["spindle"]).q).max() > 1e-3


def test_motions_that_are_not_steady(double):
    with pytest.raises(rd.EquilibriumError, match=r"no steady motion|is not steady"):
        double.steady_motion([0.3, 0.1], [2.0, 0.0], locked=["shoulder"])
    with pytest.raises(rd.ShapeError, match="one state at a time"):
        double.steady_motion(np.zeros((2, 2)), np.zeros(2))
    with pytest.raises(rd.ShapeError, match="one state at a time"):
        double.steady_motion(np.zeros(2), np.zeros(2), tau={"elbow": np.ones(3)})


# -- in orbit -------------------------------------------------------------------------------------

W0 = 0.8


def orbiter(moments):
    """A body in axes that turn with its orbit: 2 is normal to the orbit, 3 points up."""
    inertia = rd.Inertia.from_matrix(2.0, np.zeros(3), np.diag(moments))
    links = rd.Link("orbit"), rd.Link("body", inertia)
    free = rd.Joint("free", "spherical", "orbit", "body")
    return rd.load(rd.Mechanism("orbiter", links, (free,)), base="moving", gravity=(0, 0, 0))


@pytest.mark.parametrize(
    ("moments", "verdict"), [((4.0, 5.0, 2.0), "marginal"), ((2.0, 5.0, 4.0), "unstable")]
)
def test_s20_a_body_in_a_circular_orbit(moments, verdict):
    """It stands with principal axes along those of the orbit [W 5.68], and librates."""
    robot, (Jx, Jy, Jz) = orbiter(moments), moments
    orbit = rd.BaseMotion.from_world(np.zeros(3), [0, 0, 0, 1], angular_velocity=(0.0, W0, 0.0))

    def gradient(t, q, v):
        up = robot.frame_pose(q, "body", base=orbit)[2, :3]
        return {"body": [0, 0, 0, *(3 * W0**2 * np.cross(up, np.diag(moments) @ up))]}

    start = robot.integrate(robot.neutral(), [0.1, -0.15, 0.2])
    q = robot.equilibrium(start, wrenches=gradient, base=orbit)
    np.testing.assert_allclose(np.abs(q), [0, 0, 0, 1], atol=1e-9)
    model = robot.linearize(q, np.zeros(3), None, wrenches=gradient, base=orbit)
    assert model.stability == verdict
    pitch = np.sqrt(complex(3 * W0**2 * (Jz - Jx) / Jy))
    assert np.abs(model.poles - pitch).min() < 1e-8
    k1, k3 = (Jy - Jz) / Jx, (Jy - Jx) / Jz
    squares = np.roots([1.0, W0**2 * (1 + 3 * k1 + k1 * k3), 4 * W0**4 * k1 * k3])
    for root in np.sqrt(squares.astype(complex)):
        assert np.abs(model.poles - root).min() < 1e-8


@pytest.mark.slow
def test_s21_gyrostats_in_a_circular_orbit():
    """Bodies on ball joints, their rotors driven: found again from beside [W 5.74-5.80]."""
    R, spins = orbit.equilibrium((1, -1, 1))
    apart = orbit.satellite(spins)
    links = (rd.Link("orbit"), *apart.mechanism.links)
    free = rd.Joint("free", "floating", "orbit", "body0")
    whole = rd.Mechanism("satellite", links, (free, *apart.mechanism.joints))
    robot = rd.load(whole, base="moving", gravity=(0, 0, 0), allow_unphysical=True)
    q0, v0 = orbit.start(apart, R, spins)
    rotors = [f"spin{i}" for i in range(orbit.N)]
    q, v = robot.neutral(), np.zeros(robot.nv)
    q[robot.joints["free"].q] = q0[:7]
    for name in apart.joint_names[1:]:
        q[robot.joints[name].q] = q0[apart.joints[name].q]
    for name in rotors:
        v[robot.joints[name].v] = v0[apart.joints[name].v]
    turning = rd.BaseMotion.from_world(
        np.zeros(3), [0, 0, 0, 1], angular_velocity=(0.0, orbit.W0, 0.0)
    )
    start = robot.integrate(q, 0.02 * np.random.default_rng(1).normal(size=robot.nv))
    motion = robot.steady_motion(
        start,
        v,
        locked=rotors,
        base=turning,
        wrenches=lambda t, q, v: orbit.gravity(robot, 0.0, q),
    )
    for i in range(orbit.N):
        found = robot.frame_pose(motion.q, f"body{i}")[:3, :3]
        np.testing.assert_allclose(found, R[i], atol=1e-7)
    np.testing.assert_allclose(motion.v, v, atol=1e-9)


def test_a_joint_that_time_moves_has_no_rest_without_a_time():
    """What hangs on it hangs down at each time, and no time is taken for granted."""

    def tilted(q, t):
        c, s = rd.cos(0.4 * t), rd.sin(0.4 * t)
        return [[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1]]

    robot = rd.load("double_pendulum", joint_maps={"shoulder": rd.JointMap(0, tilted)})
    for ask in (robot.equilibrium, lambda q: robot.steady_motion(q, [0.0])):
        with pytest.raises(rd.ShapeError, match=r"joint 'shoulder'.: ask robot\.at\(t\)"):
            ask([0.1])
    for t in (0.0, 0.5):
        q = robot.at(t).equilibrium([0.1])
        a = robot.at(t).forward_dynamics(q, [0.0], [0.0])
        np.testing.assert_allclose(a, 0.0, atol=1e-7)
