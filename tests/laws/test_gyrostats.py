"""Bodies with rotors [Wittenburg 1977, sections 4.6 and 4.7]: closed solutions and their numbers.

The body floats or hangs on a ball joint, without gravity. ``J`` is the inertia of the body with its
rotors at rest, ``h`` what their spin adds to the angular momentum.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism
from robodyn.symbolic.evaluate import evaluate
from robodyn.urdf import write

pytestmark = pytest.mark.filterwarnings("ignore:.*principal moments of inertia")

ON = ("floating", "ball")


def gyrostat(on, J, rotors, damping=0.0):
    """A body with rotors that have inertia about their axes only.

    ``rotors``: pairs of axis and axial inertia; their joints are called rotor0, rotor1, ...
    """
    J = np.array(J, float) - sum(Jr * np.outer(u, u) for u, Jr in rotors)
    links = [Link("body", Inertia.from_matrix(2.0, np.zeros(3), J))]
    joints = []
    for i, (u, Jr) in enumerate(rotors):
        axis = tuple(float(x) for x in u)
        links.append(Link(f"rotor{i}", Inertia.from_matrix(0.0, np.zeros(3), Jr * np.outer(u, u))))
        joints.append(
            Joint(f"rotor{i}", "continuous", "body", f"rotor{i}", axis=axis, damping=damping)
        )
    if on == "ball":
        links.insert(0, Link("ground"))
        joints.insert(0, Joint("ball", "spherical", "ground", "body"))
    mechanism = Mechanism("gyrostat", tuple(links), tuple(joints))
    base = "floating" if on == "floating" else "fixed"
    return rd.load(mechanism, base=base, gravity=(0, 0, 0), allow_unphysical=True)


def speeds(robot, w, rates):
    """v: only the linear velocity of a floating body is missing."""
    return np.array([*np.zeros(robot.nv - 3 - len(rates)), *w, *rates])


def turning(robot, rotors):
    """Where the angular velocity of the body stands in v."""
    return slice(robot.nv - 3 - rotors, robot.nv - rotors)


# -- C39, C40, C41: rotors with prescribed speed, with prescribed torque, and both -----------------


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("driven", [(), (0,), (1, 2), (0, 1, 2)])
def test_speed_driven_and_torque_driven_rotors(on, driven):
    rng = np.random.default_rng(len(driven))
    u, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    u += 0.2 * rng.normal(size=(3, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    Jr, A = rng.uniform(0.1, 0.3, 3), rng.normal(size=(3, 3))
    J = A @ A.T + 3.0 * np.eye(3)
    robot = gyrostat(on, J, list(zip(u, Jr, strict=True)))
    w, rates, M, torques, rates_dot = rng.normal(size=(5, 3))
    free = [i for i in range(3) if i not in driven]
    h = Jr * rates
    L = Jr * (u @ w) + h
    J_star = J - sum((Jr[i] * np.outer(u[i], u[i]) for i in free), np.zeros((3, 3)))
    h_star = u[free].T @ L[free] + u[list(driven)].T @ h[list(driven)]
    change = u[free].T @ torques[free] + u[list(driven)].T @ (Jr * rates_dot)[list(driven)]
    w_dot = np.linalg.solve(J_star, M - change - np.cross(w, J_star @ w + h_star))

    result = robot.hybrid_dynamics(
        robot.random(rng),
        speeds(robot, w, rates),
        controlled={f"rotor{i}": rates_dot[i] for i in driven},
        tau={f"rotor{i}": torques[i] for i in free},
        wrenches={"body": [0, 0, 0, *M]},
    )
    np.testing.assert_allclose(result.a[turning(robot, 3)], w_dot, rtol=1e-11, atol=1e-11)
    found = {i: result.tau[robot.joints[f"rotor{i}"].v][0] for i in range(3)}
    for i in range(3):
        spun = rates_dot[i] if i in driven else result.a[robot.joints[f"rotor{i}"].v][0]
        absolute = Jr[i] * (u[i] @ w_dot + spun)
        assert found[i] == pytest.approx(absolute, abs=1e-11)


# -- O25: problem 4.3 ------------------------------------------------------------------------------


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize(
    ("h0", "damping", "w", "h", "digit"),
    [
        (1.2, 0.0, (-0.35482055, 0.06404982, -0.1), 3.0, 1e-8),
        (0.4, 0.125, (0.16168480094, 0.32227011209, 0.29283470937), 1.02149587188, 1e-11),
    ],
)
def test_o25_constant_torque_on_the_rotor(on, h0, damping, w, h, digit):
    """O25 [W problem 4.3]: free and with a damped rotor, after five seconds."""
    Jr = 0.5
    robot = gyrostat(on, np.diag([4.0, 4.0, 3.0]), [(np.array([0.0, 0.0, 1.0]), Jr)], damping)
    torque = np.zeros(robot.nv)
    torque[-1] = 0.3
    v0 = speeds(robot, (0.3, 0.2, 0.5), [h0 / Jr])
    run = rd.simulate(robot, lambda t, q, v: torque, v0=v0, duration=5.0, step=2e-3)
    np.testing.assert_allclose(run.v[-1][turning(robot, 1)], w, rtol=0, atol=digit)
    assert Jr * run.v[-1, -1] == pytest.approx(h, rel=0, abs=digit)
    momentum = robot.momentum(run.q, run.v)[:, 3:]
    np.testing.assert_allclose(momentum, np.tile(momentum[0], (len(run), 1)), atol=1e-8)


# -- O26, O27: permanent rotations and the elementary motions between them -------------------------

J = np.diag([7.0, 5.0, 3.0])
H = 6.0
AXES = {"a": (0.4, 0.1, np.sqrt(0.83)), "b": (0.6, 0.4, np.sqrt(0.48))}
#: Set, lambda, angular velocity, stable.
PERMANENT = [
    ("a", 1.893893795474, (-0.47002547614, -0.19316789591, -4.9418944809), True),
    ("a", 4.152182221583, (-0.84275055033, -0.70769924301, 4.7442670483), True),
    ("a", 4.784131624333, (-1.083096824, -2.7794715096, 3.0638211178), False),
    ("a", 5.202165094200, (-1.3349390382, 2.9678713943, 2.4822208661), False),
    ("a", 6.212967887184, (-3.0494308439, 0.49465448042, 1.70131179), True),
    ("a", 7.754659377226, (3.1802427326, 0.21781277386, 1.14966388), True),
    ("b", 2.124930854402, (-0.73845106448, -0.83476253212, -4.7503925365), True),
    ("b", 8.137524057757, (3.164768231, 0.76493437367, 0.809129435), True),
]


#: Square of the angular momentum over twice the energy, of each of them.
MOMENTA = (1.1803341388, 5.4524340444, 5.5802448064, 6.0445922053, 6.4016740708, 9.2071207343)
MOMENTA += 1.4333688536, 9.9378151991


class Spinning:
    """A body whose rotor keeps its speed relative to the body: C39 with constant h."""

    def __init__(self, on, axes, Jr=0.2):
        u = np.array(AXES[axes])
        self.robot, self.h, self.rate = gyrostat(on, J, [(u, Jr)]), H * u, H / Jr
        self.function = self.robot.function("hybrid_dynamics", controlled=("rotor0",))
        self.at, self.q = turning(self.robot, 1), self.robot.random(1)

    def acceleration(self, w, run=None):
        v = np.array(speeds(self.robot, np.zeros(3), [self.rate]), np.asarray(w).dtype)
        v[self.at] = w
        free = np.zeros(self.robot.nv - 1)
        return (run or self.function)(self.q, v, np.zeros(1), free)[0][self.at]

    def linearised(self, w):
        """Derivative of the acceleration by the angular velocity, by the complex step."""

        def program(*arrays):
            return evaluate(self.function.program, *arrays, dtype=complex)

        columns = [self.acceleration(w + 1e-30j * e, program).imag / 1e-30 for e in np.eye(3)]
        return np.stack(columns, axis=-1)


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize(
    ("axes", "lam", "w", "stable", "D"),
    [(*row, D) for row, D in zip(PERMANENT, MOMENTA, strict=True)],
)
def test_o26_permanent_rotations(on, axes, lam, w, stable, D):
    """O26 [W fig. 4.15]: all eight, and which are stable."""
    s = Spinning(on, axes)
    w = np.array(w)
    np.testing.assert_allclose(s.h / (lam - np.diag(J)), w, rtol=0.0, atol=2e-9)
    exact = s.h / (lam - np.diag(J))
    np.testing.assert_allclose(s.acceleration(exact), 0.0, atol=1e-9)
    assert exact @ J @ exact == pytest.approx(75.0, abs=1e-8)
    assert np.linalg.norm(J @ exact + s.h) ** 2 / 75.0 == pytest.approx(D, abs=1e-9)
    growth = np.abs(np.linalg.eigvals(s.linearised(exact)).real).max()
    assert (growth < 1e-6) == stable


@pytest.mark.parametrize(
    ("row", "value"), [(1, 1.1950664j), (2, 1.16456185), (3, 1.2929474), (4, 1.51908j)]
)
def test_eigenvalues_of_permanent_rotations(row, value):
    """O26."""
    s = Spinning("ball", "a")
    roots = np.linalg.eigvals(s.linearised(s.h / (PERMANENT[row][1] - np.diag(J))))
    assert np.abs(roots - value).min() < (1e-6 if row < 4 else 5e-6)


ELEMENTARY = [
    ((-1.19461269, -3.36066661, 1.68719721), (0.49089688, -3.82910156, 0.03187453)),
    ((-0.87123784, 0.79512624, 4.70905099), (-0.17911211, -0.22066765, 4.98437428)),
]


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize(("start", "end"), ELEMENTARY)
def test_o27_elementary_motions_simulated(on, start, end):
    """O27: the periodic one and the one that tends to an unstable rotation, after a second."""
    s = Spinning(on, "a")

    def spin(t):
        return s.rate * t, s.rate, 0.0

    v0 = speeds(s.robot, start, [0.0])
    run = rd.simulate(s.robot, v0=v0, controlled={"rotor0": spin}, duration=1.0, step=2e-3)
    w = run.v[:, s.at]
    np.testing.assert_allclose(w[-1], end, atol=5e-8)
    np.testing.assert_allclose(np.einsum("ti,ij,tj->t", w, J, w), 75.0, atol=1e-6)
    size = np.linalg.norm(w @ J + s.h, axis=1)
    np.testing.assert_allclose(size, size[0], atol=1e-7)


def test_period_of_an_elementary_motion():
    """O27."""
    s = Spinning("ball", "a")
    start = np.array(ELEMENTARY[0][0])
    period = 5.257603503227
    run = solve_ivp(
        lambda t, w: s.acceleration(w), (0.0, period), start, "DOP853", rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(run.y[:, -1], start, atol=1e-8)


def test_a_wheel_with_a_bearing_runs_down():
    """``J w' = - d w - f w / sqrt(w^2 + s^2)`` on a body that is held; the file says the same."""
    wheel = rd.Rotor("wheel", "body", (0.0, 0.0, 1.0), 0.05, damping=0.02, friction=0.3)
    body = Link("body", Inertia.from_matrix(2.0, np.zeros(3), np.eye(3)))
    robot = rd.load(Mechanism("held", (body,), rotors=(wheel,)))
    w = np.array([4.0])
    resisted = 0.02 * 4.0 + 0.3 * 4.0 / np.sqrt(16.0 + robot.model.settings.friction_speed**2)
    for same in (robot, rd.load(write(robot.mechanism))):
        a = same.forward_dynamics([0.0], w, [0.0])
        np.testing.assert_allclose(a, [-resisted / 0.05], rtol=1e-12)
    with pytest.raises(rd.UrdfError, match="damping is -1"):
        rd.load(replace(robot.mechanism, rotors=(replace(wheel, damping=-1.0),)))


def test_angular_momentum_keeps_its_digits_far_away():
    """About the centre of mass it does not matter that this is 7000 km from the origin."""
    robot = gyrostat("floating", np.diag([3.0, 2.0, 1.0]), [(np.array([0.6, 0.0, 0.8]), 0.1)])
    q, v = robot.neutral(), np.arange(1.0, 8.0)
    far = q.copy()
    far[:3] = 7e6, -1e6, 2e6
    near = robot.momentum(q, v)
    np.testing.assert_allclose(robot.momentum(far, v), near, rtol=1e-12)
    np.testing.assert_allclose(robot.centroidal_matrix(far) @ v, near, rtol=1e-12)


def test_o28_a_general_motion_returns_after_its_period():
    """[W 4.85, 4.88]: between the zeros of a quadrature, with both integrals on the way."""
    s, root = Spinning("ball", "a"), np.sqrt(5.0)
    start, period = np.array([root, root / 2, 3 * root / 2]), 2.481541134
    assert start @ J @ start == pytest.approx(75.0)
    assert np.linalg.norm(J @ start + s.h) ** 2 / 75.0 == pytest.approx(8.0712860190506)
    run = solve_ivp(
        lambda t, w: s.acceleration(w), (0.0, period), start, "DOP853", rtol=1e-10, atol=1e-10
    )
    np.testing.assert_allclose(run.y[:, -1], start, atol=2e-8)
    away = np.linalg.norm(run.y - start[:, None], axis=0)
    assert away[len(away) // 4 : -len(away) // 4].min() > 0.5  # not before
    momentum = np.linalg.norm(J @ run.y + s.h[:, None], axis=0)
    np.testing.assert_allclose(momentum, momentum[0], rtol=1e-8)


@pytest.mark.parametrize("h", [1e-7, 1e7])
def test_o29_permanent_rotations_without_and_with_an_endless_rotor(h):
    """h to 0: about the principal axes, six of them; h to infinity: along the rotor, either way."""
    u, T2 = np.array(AXES["a"]), 75.0
    robot = gyrostat("ball", J, [(u, 0.2)])
    f = robot.function("hybrid_dynamics", controlled=("rotor0",))
    axes = [*np.eye(3)] if h < 1.0 else [u]
    for axis in (sign * x for x in axes for sign in (1.0, -1.0)):
        w = axis * np.sqrt(T2 / (axis @ J @ axis))
        v = speeds(robot, w, [h / 0.2])
        a = f(robot.neutral(), v, np.zeros(1), np.zeros(3))[0][turning(robot, 1)]
        # what is left is to first order in h, and in 1 / h beside the turning by h itself
        assert np.abs(a).max() < 1e-6 * max(1.0, h) * 10.0
        others = w + np.cross(w, (1.0, 2.0, 3.0))
        elsewhere = f(robot.neutral(), speeds(robot, others, [h / 0.2]), np.zeros(1), np.zeros(3))
        assert np.abs(elsewhere[0][turning(robot, 1)]).max() > 0.1 * max(1.0, h)
