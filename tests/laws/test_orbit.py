"""A satellite of several gyrostats in a circular orbit [Wittenburg 1977, section 5.2.5]: S21.

Axes of the orbit: 3 is the vertical, 2 the normal of the orbit, about which they turn with ``W0``.
The axis of each body that is to be vertical is chosen; where the body stands about it, and what its
rotor must spin with so that the whole stays like that, follows [W 5.74-5.80].
"""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism, Pose

pytestmark = pytest.mark.filterwarnings("ignore:.*principal moments of inertia")

E1, E2, E3 = np.eye(3)
W0 = 0.8
AXIAL = 0.05
N = 3
MASSES = np.array([5.0, 2.0, 1.5])
MASS = MASSES.sum()
rng = np.random.default_rng(8)
#: Centres of mass, ball joints on the first body, and central inertias with the rotors at rest.
CENTRES, SOCKETS = rng.uniform(-0.4, 0.4, (2, N, 3))
INERTIAS = [x @ x.T + np.eye(3) for x in rng.uniform(-0.4, 0.4, (N, 3, 3))]
VERTICAL = [x / np.linalg.norm(x) for x in rng.normal(size=(N, 3))]


def barycentric_vectors():
    """``b[i][j]``, in body i: from its barycentre to where body j hangs, to its own mass centre."""
    b = np.zeros((N, N, 3))
    for i in range(N):
        hinges = {j: SOCKETS[j] if i == 0 else np.zeros(3) for j in range(N) if j != i}
        points = {i: CENTRES[i], **hinges}
        beyond = {j: MASSES[j] if i == 0 else 0.0 for j in hinges}
        if i:  # all the rest hangs on its one joint
            beyond[0] = MASS - MASSES[i]
        centre = MASSES[i] * CENTRES[i] + sum(beyond[j] * hinges[j] for j in hinges)
        for j in range(N):
            b[i, j] = points[j] - centre / MASS
    return b


B = barycentric_vectors()
#: Central inertias of the augmented bodies.
K = [
    INERTIAS[i] + sum(MASSES[k] * (x @ x * np.eye(3) - np.outer(x, x)) for k, x in enumerate(B[i]))
    for i in range(N)
]


def equilibrium(signs):
    """Attitudes (from body to orbit axes), and what the rotors add to the momenta, body axes."""
    R = []
    for i in range(N):
        others = [j for j in range(N) if j != i]
        c = K[i] @ VERTICAL[i] + MASS * sum(B[i, j] * (B[j, i] @ VERTICAL[j]) for j in others)
        level = c - c @ VERTICAL[i] * VERTICAL[i]
        normal = signs[i] * level / np.linalg.norm(level)
        R.append(np.stack([np.cross(normal, VERTICAL[i]), normal, VERTICAL[i]]))
    spins = []
    for i in range(N):

        def along(e, i=i):
            """``B_i . e`` in axes of the orbit."""
            coupled = sum((R[i] @ B[i, j]) * (R[j] @ B[j, i] @ e) for j in range(N) if j != i)
            return R[i] @ K[i] @ R[i].T @ e + MASS * coupled

        assert E1 @ along(E3) == pytest.approx(0.0, abs=1e-13)
        d = W0 * (np.cross(E2, along(E2)) - 3 * np.cross(E3, along(E3)))
        spins.append(R[i].T @ (3.0 * E2 + np.cross(E2, d)))
    return R, spins


def satellite(spins):
    """The bodies, each with a rotor about its spin; the first one floats."""
    links, joints, balls = [], [], []
    for i, h in enumerate(spins):
        axis = h / np.linalg.norm(h)
        disc = AXIAL * np.outer(axis, axis)
        body = Inertia.from_matrix(MASSES[i], CENTRES[i], INERTIAS[i] - disc)
        rotor = Inertia.from_matrix(0.0, np.zeros(3), disc)
        links += [Link(f"body{i}", body), Link(f"rotor{i}", rotor)]
        joints.append(
            Joint(f"spin{i}", "continuous", f"body{i}", f"rotor{i}", axis=tuple(axis.tolist()))
        )
        if i:
            socket = Pose(tuple(SOCKETS[i].tolist()))
            balls.append(Joint(f"ball{i}", "spherical", "body0", f"body{i}", socket))
    mechanism = Mechanism("satellite", tuple(links), (*joints, *balls))
    return rd.load(mechanism, base="floating", gravity=(0, 0, 0), allow_unphysical=True)


def start(robot, R, spins):
    """Every body at its place, turning with the orbit, the mass centre at the origin."""
    q, v = robot.neutral(), np.zeros(robot.nv)
    q[3:7] = Rotation.from_matrix(R[0]).as_quat()
    v[3:6] = R[0].T @ (W0 * E2)
    for i in range(N):
        v[robot.joints[f"spin{i}"].v] = np.linalg.norm(spins[i]) / AXIAL
        if i:
            q[robot.joints[f"ball{i}"].q] = Rotation.from_matrix(R[0].T @ R[i]).as_quat()
    q[:3] = -robot.center_of_mass(q)
    v[:3] = R[0].T @ np.cross(W0 * E2, q[:3])
    return q, v


def gravity(robot, t, q):
    """What is left of gravity in axes that fall with the mass centre [W 5.68, 5.69]."""
    up = Rotation.from_rotvec(W0 * t * E2).apply(E3)
    wrenches = {}
    for i in range(N):
        X = robot.frame_pose(q, f"body{i}")
        r, e3 = X[:3, :3] @ CENTRES[i] + X[:3, 3], X[:3, :3].T @ up
        force = X[:3, :3].T @ (-(W0**2) * MASSES[i] * (r - 3 * up * (up @ r)))
        moment = 3 * W0**2 * np.cross(e3, INERTIAS[i] @ e3)
        wrenches[f"body{i}"] = np.r_[force, moment + np.cross(CENTRES[i], force)]
    return wrenches


@pytest.mark.parametrize("signs", list(itertools.product([1, -1], repeat=N)))
def test_s21_every_choice_of_verticals_has_eight_equilibria(signs):
    """Nothing accelerates in axes of the bodies."""
    R, spins = equilibrium(signs)
    robot = satellite(spins)
    q, v = start(robot, R, spins)
    driven = {f"spin{i}": 0.0 for i in range(N)}
    result = robot.hybrid_dynamics(q, v, controlled=driven, wrenches=gravity(robot, 0.0, q))
    np.testing.assert_allclose(result.a, 0.0, atol=1e-12)


@pytest.mark.slow
def test_s21_it_follows_the_orbit_without_drift():
    R, spins = equilibrium((1, -1, 1))
    robot = satellite(spins)
    q, v = start(robot, R, spins)

    def spinning(i):
        rate = np.linalg.norm(spins[i]) / AXIAL
        return lambda t: (rate * t, rate, 0.0)

    run = rd.simulate(
        robot,
        q0=q,
        v0=v,
        duration=3.0,
        step=5e-3,
        controlled={f"spin{i}": spinning(i) for i in range(N)},
        wrenches=lambda t, q, v: gravity(robot, t, q),
    )
    orbit = Rotation.from_rotvec(np.outer(W0 * run.t, E2)).inv()
    for i in range(N):
        pose = robot.frame_pose(run.q, f"body{i}")
        attitude = orbit * Rotation.from_matrix(pose[:, :3, :3])
        np.testing.assert_allclose(attitude.as_matrix() - R[i], 0.0, atol=1e-9)
        place = orbit.apply(pose[:, :3, 3])
        np.testing.assert_allclose(place - place[0], 0.0, atol=1e-9)


def test_s21_without_rotors_it_does_not_stay():
    """The spins are what holds it: the same posture with rotors at rest starts to turn."""
    R, spins = equilibrium((1, -1, 1))
    robot = satellite(spins)
    q, v = start(robot, R, spins)
    for i in range(N):
        v[robot.joints[f"spin{i}"].v] = 0.0
    driven = {f"spin{i}": 0.0 for i in range(N)}
    result = robot.hybrid_dynamics(q, v, controlled=driven, wrenches=gravity(robot, 0.0, q))
    assert np.abs(result.a).max() > 0.1


#: Of an orbit so wide that gravity is as its first terms say: 1e-6 of it is left out.
RADIUS = 1e6


def in_orbit(robot, q, v, R):
    """The same on a circle about a planet, which a point is [W 5.65]."""
    planet = rd.InverseSquareGravity(W0**2 * RADIUS**3, tuple(-RADIUS * E3))
    v = v.copy()
    v[:3] += R.T @ (W0 * RADIUS * E1)
    return robot.with_(forces=[planet]), q, v


@pytest.mark.parametrize("signs", [(1, -1, 1), (-1, -1, 1)])
def test_s21_gravity_of_a_planet_holds_it_as_well(signs):
    """By forces of the description in place of wrenches that a function gives."""
    R, spins = equilibrium(signs)
    robot = satellite(spins)
    robot, q, v = in_orbit(robot, *start(robot, R, spins), R[0])
    driven = {f"spin{i}": 0.0 for i in range(N)}
    found = robot.hybrid_dynamics(q, v, controlled=driven)
    np.testing.assert_allclose(found.a, 0.0, atol=5e-6)
    far = robot.with_(forces=())
    assert np.abs(far.hybrid_dynamics(q, v, controlled=driven).a).max() > 0.1


def rigid(J, h=None):
    """One body, with a rotor that adds ``h`` to its momentum."""
    rotors = ()
    if h is not None:
        rotors = (rd.Rotor("wheel", "body", tuple(h / np.linalg.norm(h)), AXIAL),)
    body = Link("body", Inertia.from_matrix(4.0, (0.1, -0.2, 0.3), J))
    return rd.load(Mechanism("one", (body,), rotors=rotors), base="floating", gravity=(0, 0, 0))


def test_s20_a_body_librates_about_the_vertical():
    """Moment ``3 w0^2 e3 x J e3``, so ``w0 sqrt(3 (J1 - J3) / J2)`` about the normal [W 5.69]."""
    J = np.diag([2.0, 2.5, 1.0])
    robot = rigid(J)
    q, v = robot.neutral(), np.zeros(6)
    q[:3] = -robot.center_of_mass(q)
    v[3:6] = W0 * E2
    v[:3] = np.cross(v[3:6], q[:3])
    robot, q, v = in_orbit(robot, q, v, np.eye(3))
    np.testing.assert_allclose(robot.forward_dynamics(q, v, np.zeros(6)), 0.0, atol=2e-6)
    tilt = Rotation.from_rotvec(0.3 * E2 + 0.2 * E1).as_matrix()
    turned = q.copy()
    turned[3:7] = Rotation.from_matrix(tilt).as_quat()
    turned[:3] = -tilt @ np.array([0.1, -0.2, 0.3])
    F = robot.passive_forces(turned, 0.0 * v)
    up = tilt.T @ E3
    moment = F[3:] - np.cross([0.1, -0.2, 0.3], F[:3])
    np.testing.assert_allclose(moment, 3 * W0**2 * np.cross(up, J @ up), atol=1e-5)
    slopes = robot.derivatives("forward_dynamics", q, v, np.zeros(6))["q"]
    np.testing.assert_allclose(slopes[4, 4], -3 * W0**2 * (2.0 - 1.0) / 2.5, rtol=1e-5)


def test_s22_a_rotor_turns_the_camera_back_after_fuel_is_gone():
    """The inertia is another one; what the rotor spins with makes the posture one of rest."""
    A = np.random.default_rng(5).uniform(-0.4, 0.4, (3, 3))
    J = A @ A.T + np.diag([2.0, 2.5, 1.0])
    camera = np.array([0.2, -0.1, 1.0]) / np.linalg.norm([0.2, -0.1, 1.0])
    c = J @ camera
    level = c - c @ camera * camera
    normal = level / np.linalg.norm(level)
    R = np.stack([np.cross(normal, camera), normal, camera])
    K = R @ J @ R.T
    d = W0 * (np.cross(E2, K @ E2) - 3 * np.cross(E3, K @ E3))
    h = R.T @ (3.0 * E2 + np.cross(E2, d))
    robot = rigid(J, h)
    q, v = robot.neutral(), np.zeros(7)
    q[3:7] = Rotation.from_matrix(R).as_quat()
    q[:3] = -robot.center_of_mass(q)
    v[3:6], v[6] = W0 * R.T @ E2, np.linalg.norm(h) / AXIAL
    v[:3] = R.T @ np.cross(W0 * E2, q[:3])
    robot, q, v = in_orbit(robot, q, v, R)
    held = robot.hybrid_dynamics(q, v, controlled={"wheel": 0.0}).a
    np.testing.assert_allclose(held, 0.0, atol=5e-6)
    v[6] = 0.0
    assert np.abs(robot.hybrid_dynamics(q, v, controlled={"wheel": 0.0}).a).max() > 0.05


def test_s23_energy_and_angular_momentum_about_the_planet_stay():
    """Of a satellite near a planet, whose gravity differs much from body to body [W 5.71]."""
    R, spins = equilibrium((1, -1, 1))
    robot = satellite(spins)
    q, v = start(robot, R, spins)
    center = np.array([1.0, -8.0, 5.0])
    robot = robot.with_(forces=[rd.InverseSquareGravity(60.0, tuple(center))])
    run = rd.simulate(robot, q0=q, v0=v, duration=0.5, step=2e-3)
    energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)
    P = robot.momentum(run.q, run.v)
    L = P[:, 3:] + np.cross(robot.center_of_mass(run.q) - center, P[:, :3])
    np.testing.assert_allclose(L - L[0], 0.0, atol=1e-9 * np.abs(L).max())
    assert np.abs(P - P[0]).max() > 0.1


def test_gravity_of_a_planet_follows_changed_masses():
    """Force and moment are the slope of the energy; payloads and rows of masses are drawn."""
    R, spins = equilibrium((1, -1, 1))
    planet = rd.InverseSquareGravity(60.0, (1.0, -8.0, 5.0))
    robot = satellite(spins).with_(forces=[planet])
    q = start(robot, R, spins)[0] + 0.1
    load = Inertia.from_matrix(3.0, (0.1, 0.2, 0.3), np.eye(3))
    heavy = robot.with_(payload={"body2": load})
    for one in (robot, heavy):
        steps = 1e-5 * np.eye(one.nv)
        ends = [[one.elastic_energy(one.integrate(q, s * e)) for s in (1, -1)] for e in steps]
        slope = [(a - b) / 2e-5 for a, b in ends]
        np.testing.assert_allclose(one.elastic_forces(q), np.negative(slope), atol=1e-7)
    assert np.abs(heavy.elastic_forces(q) - robot.elastic_forces(q)).max() > 1.0
    rows = robot.with_(parameters={"body2.m": [MASSES[2], 4.0]})
    found = rows.passive_forces(np.tile(q, (2, 1)), np.zeros((2, robot.nv)))
    np.testing.assert_allclose(found[0], robot.elastic_forces(q), rtol=1e-10)
    assert np.abs(found[1] - found[0]).max() > 1.0


@pytest.mark.parametrize(
    "wrong", [{"mu": 0.0}, {"mu": np.inf}, {"mu": 1.0, "center": (0, 0, np.inf)}]
)
def test_a_planet_is_somewhere_and_has_a_mass(wrong):
    with pytest.raises(rd.SettingsError, match="expected a positive number"):
        rd.InverseSquareGravity(**wrong)


@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (1.0, -2.0, 0.5)])
@pytest.mark.parametrize("base", ["floating", "moving", "fixed"])
def test_a_free_rotor_is_a_part_of_the_body_that_carries_it(axis, base):
    """Its inertia is counted by the link: the planet draws both as one, however it is turned."""
    inertia = rd.Inertia(2.0, rd.Pose((0.5, 0.2, 0.1)), ixx=0.3, iyy=0.3, izz=0.4)
    links = rd.Link("a", inertia), rd.Link("b", inertia)
    hinge = rd.Joint("hinge", "revolute", "a", "b", rd.Pose((0.3, 0, 0)), axis=(0, 1, 0))
    planet = rd.InverseSquareGravity(30.0, (1.0, -5.0, 3.0))
    options = {"base": base, "gravity": (0, 0, 0), "forces": [planet]}
    body = rd.Mechanism("body", links, (hinge,))
    rotors = [rd.Rotor("wheel", "b", axis, 0.2)]
    rotors += [] if base == "fixed" else [rd.Rotor("other", "a", axis, 0.1)]
    bare, spinning = rd.load(body, **options), rd.load(body, rotors=rotors, **options)
    rng = np.random.default_rng(0)
    q = spinning.random(rng)
    own, n = q[: bare.nq], bare.nv
    expected = bare.potential_energy(own)
    assert spinning.potential_energy(q) == pytest.approx(expected, rel=1e-14)
    rest = np.zeros(spinning.nv)
    forces = spinning.inverse_dynamics(q, rest, rest)
    np.testing.assert_allclose(
        forces[:n], bare.inverse_dynamics(own, rest[:n], rest[:n]), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(forces[n:], 0.0, atol=1e-14)
