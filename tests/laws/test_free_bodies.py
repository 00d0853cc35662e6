"""Single bodies without gravity, on closed solutions [Wittenburg 1977, sections 4.1 to 4.3].

The body floats, or hangs on a ball joint. O12 to O18 are the names of the oracles in the list of
closed solutions that the tests go through.
"""

import numpy as np
import pytest
from oracles.elliptic_motions import separatrix, torque_free
from scipy.integrate import quad_vec
from scipy.spatial.transform import Rotation
from scipy.special import fresnel

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism

ON = ("floating", "ball")
J, ENERGY = (7.0, 5.0, 3.0), 75.0


def body(on, J):
    """A body with principal moments ``J`` in link axes; the file's frame is its mass centre."""
    links = [Link("body", Inertia.from_matrix(2.0, np.zeros(3), np.diag(J)))]
    if on == "floating":
        mechanism = Mechanism("body", tuple(links))
        return rd.load(mechanism, base="floating", gravity=(0, 0, 0))
    links.insert(0, Link("ground"))
    ball = Joint("ball", "spherical", "ground", "body")
    return rd.load(Mechanism("body", tuple(links), (ball,)), gravity=(0, 0, 0))


def motion(on, J, w0, duration, step=2e-3, moment=None):
    """Times, angular velocities in body axes, and attitudes from that at the start.

    ``moment``: time -> moment in body axes [N m].
    """
    robot = body(on, J)
    v0 = np.zeros(robot.nv)
    v0[-3:] = w0
    wrenches = None
    if moment is not None:

        def wrenches(t, q, v):
            return {"body": np.r_[0.0, 0.0, 0.0, moment(t)]}

    run = rd.simulate(robot, v0=v0, duration=duration, step=step, wrenches=wrenches)
    return run.t, run.v[:, -3:], robot.frame_pose(run.q, "body")[:, :3, :3]


#: D, w at the start, w after one second.
TABLE = [
    (3.3, (0.89642146, 0.0, 4.80884602), (-0.55674041, -1.17563273, 4.68756224)),
    (4.5, (2.00445931, 0.0, 3.95284708), (0.07575009, -3.35170604, 2.50267634)),
    (5.0, (2.31455025, 0.0, 3.53553391), (0.82579700, -3.61808873, 1.26142576)),
    (5.5, (2.58774585, 0.0, 3.06186218), (1.63838625, -3.35170604, 0.11571017)),
    (6.7, (3.14812870, 0.0, 1.36930639), (3.06872983, -1.17563273, -0.85043502)),
]


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize(("D", "w0", "w1"), TABLE)
def test_o12_numbers_of_a_torque_free_body(on, D, w0, w1):
    """Numbers to the eight digits given; energy and momentum as D says."""
    w0 = np.array(w0)
    assert w0 @ (J * w0) == pytest.approx(ENERGY, rel=1e-8)
    assert (J * w0) @ (J * w0) == pytest.approx(D * ENERGY, rel=1e-8)
    _, w, _ = motion(on, J, w0, 1.0)
    np.testing.assert_allclose(w[-1], w1, atol=5e-8)


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("signs", [(1, 1), (-1, 1), (1, -1)])
@pytest.mark.parametrize("D", [3.3, 4.5, 5.5, 6.7])
def test_o12_o13_a_torque_free_body_turns_as_the_elliptic_functions_say(on, signs, D):
    """Angular velocity and the whole attitude, five seconds."""
    start = torque_free(J, ENERGY, D, np.zeros(1), *signs)[0][:, 0]
    t, w, R = motion(on, J, start, 5.0)
    expected, A = torque_free(J, ENERGY, D, t, *signs)
    np.testing.assert_allclose(w.T, expected, atol=2e-9)
    np.testing.assert_allclose(np.swapaxes(R, 1, 2), A @ A[0].T, atol=2e-9)


#: D, period of w, angle that the body gains about its momentum in one.
PERIODS = [
    (3.3, 2.7910024122, 7.651862081582),
    (4.5, 4.1264571440, 13.428125644212),
    (5.5, 4.1264571440, 20.164421899005),
    (6.7, 2.7910024122, 15.424899423042),
]


@pytest.mark.parametrize(("D", "period", "gain"), PERIODS)
def test_o13_attitude_after_a_period(D, period, gain):
    """It has turned about the angular momentum by the gain of psi, and by nothing else."""
    start = torque_free(J, ENERGY, D, np.zeros(1))[0][:, 0]
    _, w, R = motion("ball", J, start, period)
    np.testing.assert_allclose(w[-1], start, atol=2e-9)
    about = J * start / np.linalg.norm(J * start)
    expected = Rotation.from_rotvec(gain * about).as_matrix()
    np.testing.assert_allclose(R[-1], expected, atol=5e-9)


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("signs", [(1, 1), (-1, 1), (1, -1)])
def test_o14_between_both_families(on, signs):
    """The middle axis tends to the angular momentum; its azimuth grows at a constant rate."""
    start = separatrix(J, ENERGY, np.zeros(1), *signs)[:, 0]
    t, w, R = motion(on, J, start, 3.0, 1e-3)
    np.testing.assert_allclose(w.T, separatrix(J, ENERGY, t, *signs), atol=1e-9)
    n = np.sqrt(ENERGY * (J[0] - J[1]) * (J[1] - J[2]) / np.prod(J))
    assert n == pytest.approx(1.6903085094570)
    L = J * start
    along = L / np.linalg.norm(L)
    axis = R[:, :, 1]
    np.testing.assert_allclose(axis @ along, -signs[0] * signs[1] * np.tanh(n * t), atol=1e-9)
    across = axis - np.outer(axis @ along, along)
    x = axis[0] / np.linalg.norm(axis[0])
    azimuth = np.unwrap(np.arctan2(across @ np.cross(along, x), across @ x))
    np.testing.assert_allclose(azimuth, 3.872983346207 * t, atol=5e-8)


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize(
    ("J1", "J3", "rate"), [(2.0, 1.0, 2.5495097567964), (1.0, 1.8, 9.0138781886600)]
)
def test_o16_a_symmetric_body_precesses(on, J1, J3, rate):
    """A turn about the angular momentum after one about the axis of symmetry [W 4.20, 4.21]."""
    w0 = np.array([0.3, 0.4, 5.0])
    t, w, R = motion(on, (J1, J1, J3), w0, 3.0)
    nu = w0[2] * (J1 - J3) / J1
    c, s = np.cos(nu * t), np.sin(nu * t)
    expected = [w0[0] * c + w0[1] * s, w0[1] * c - w0[0] * s, np.full(len(t), w0[2])]
    np.testing.assert_allclose(w.T, expected, atol=1e-9)
    L = (J1, J1, J3) * w0
    assert np.linalg.norm(L) / J1 == pytest.approx(rate, abs=1e-12)
    turned = Rotation.from_rotvec(np.outer(t, L / J1)) * Rotation.from_rotvec(
        np.outer(nu * t, (0, 0, 1))
    )
    np.testing.assert_allclose(R, turned.as_matrix(), atol=2e-9)


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("kind", ["constant", "varying"])
def test_o17_moments_fixed_in_a_symmetric_body(on, kind):
    """Across its axis [W 4.25]: the response to moments that turn with it."""
    J1, J3, w0 = 2.0, 1.2, np.array([0.1, -0.2, 3.0])

    def moment(t):
        swing = (0.0 if kind == "constant" else 1.0) * np.array([np.sin(2 * t), np.cos(3 * t), 0.0])
        return np.array([0.7, 0.0, 0.0]) + swing

    t, w, _ = motion(on, (J1, J1, J3), w0, 2.0, moment=moment)
    nu = w0[2] * (J1 - J3) / J1

    def turned(x):
        return complex(*moment(x)[:2]) / J1 * np.exp(1j * nu * x)

    for k in range(0, len(t), 200):
        done = quad_vec(turned, 0.0, t[k], epsabs=1e-13)[0]
        expected = np.exp(-1j * nu * t[k]) * (complex(*w0[:2]) + done)
        assert complex(*w[k, :2]) == pytest.approx(expected, abs=1e-10)
    np.testing.assert_allclose(w[:, 2], w0[2], atol=1e-12)


@pytest.mark.parametrize("on", ON)
def test_o17_a_constant_moment_from_steady_spin(on):
    J1, J3, M, spin = 2.0, 1.2, 0.7, 3.0
    t, w, _ = motion(on, (J1, J1, J3), (0.0, 0.0, spin), 2.0, moment=lambda t: (M, 0.0, 0.0))
    nu = spin * (J1 - J3) / J1
    expected = M / J1 / nu * np.array([np.sin(nu * t), np.cos(nu * t) - 1.0])
    np.testing.assert_allclose(w[:, :2].T, expected, atol=1e-11)


@pytest.mark.parametrize("on", ON)
def test_o18_thrusters_that_spin_a_body_up(on):
    """A constant moment in body axes, with a part along the axis: Fresnel's integrals."""
    J1, J3, M, w0 = 2.0, 1.0, np.array([0.7, -0.2, 0.6]), np.array([0.1, -0.3, 1.0])
    t, w, _ = motion(on, (J1, J1, J3), w0, 6.0, moment=lambda t: M)
    np.testing.assert_allclose(w[-1], (-0.1890179167749, -0.5542837100434, 4.6), atol=1e-9)
    ratio, g = (J1 - J3) / J1, M[2] / J3
    b = np.sqrt(ratio * g / np.pi)
    S, C = fresnel(b * (t + w0[2] / g)) - np.array(fresnel(b * w0[2] / g))[:, None]
    done = complex(*M[:2]) / J1 * np.exp(-0.5j * ratio * w0[2] ** 2 / g) * (C + 1j * S) / b
    turn = np.exp(-1j * ratio * (w0[2] * t + 0.5 * g * t**2))
    expected = turn * (complex(*w0[:2]) + done)
    np.testing.assert_allclose(w[:, 0] + 1j * w[:, 1], expected, atol=1e-9)


@pytest.mark.parametrize("D", [3.3, 5.5])
def test_o15_the_ellipsoid_of_energy_rolls_on_a_plane(D):
    """Poinsot: how far the plane is from the centre stays, and the point of contact rests."""
    (w0,) = (w for d, w, _ in TABLE if d == D)
    _, w, R = motion("floating", J, w0, 1.0)
    world = np.einsum("tij,tj->ti", R, w)
    L = R[0] @ (J * np.array(w0))
    np.testing.assert_allclose(world @ L, ENERGY, rtol=1e-7)
    np.testing.assert_allclose(
        np.einsum("tij,tj->ti", R, J * w), np.tile(L, (len(w), 1)), atol=1e-7
    )


def test_o15_turns_about_the_middle_axis_do_not_last():
    """Those about the others do; and w2 falls where w3 w1 is positive [W answer 4.1]."""
    robot, small = body("ball", J), 1e-3
    for axis, stays in ((0, True), (1, False), (2, True)):
        w0 = np.full(3, small)
        w0[axis] = 4.0
        _, w, _ = motion("ball", J, w0, 8.0, step=5e-3)
        aside = np.abs(np.delete(w, axis, axis=1)).max()
        assert aside < 5.0 * small if stays else aside > 1.0
    a = robot.forward_dynamics(robot.neutral(), [1.0, 0.5, 2.0], np.zeros(3))
    assert a[1] < 0.0
