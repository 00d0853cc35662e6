"""Paths of joints and of the base: samples, functions, and derivatives that are none."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import robodyn as rd

TIMES = np.linspace(0.0, 2.0, 41)


def sine(t):
    return np.sin(3.0 * t), 3.0 * np.cos(3.0 * t), -9.0 * np.sin(3.0 * t)


# -- joints ----------------------------------------------------------------------------------------


def test_a_function_is_called():
    path = rd.JointPath.from_function(sine)
    for x, y in zip(path(0.3), sine(0.3), strict=True):
        assert isinstance(x, np.ndarray) and x.shape == () and x == y
    path.check(TIMES)


def test_a_path_that_stands_still_or_goes_evenly():
    rd.JointPath(lambda t: (1.0, 0.0, 0.0)).check(TIMES)
    rd.JointPath(lambda t: (1e6 + 2.0 * t, 2.0, 0.0)).check(TIMES)


@pytest.mark.parametrize("factor", [0.0, -1.0, 1.01, 57.3])
@pytest.mark.parametrize("what", ["velocity", "acceleration"])
def test_wrong_derivatives(what, factor):
    k = 1 + (what == "acceleration")

    def wrong(t):
        parts = list(sine(t))
        parts[k] *= factor
        return parts

    integral = {"velocity": "positions", "acceleration": "velocities"}[what]
    told = f"{what} of joint 'elbow' at t = 0.3 s is .*, but the {integral} there change at"
    with pytest.raises(rd.PathError, match=told) as error:
        rd.JointPath(wrong).check([0.3, 0.4], "elbow")
    assert error.value.time == 0.3


@pytest.mark.parametrize(
    "value",
    [
        (0.0, 1.0),
        (0.0, np.nan, 0.0),
        (np.inf, 0.0, 0.0),
        (0.0, 0.0, [0.0, 0.0]),
        (0.0, "fast", 0.0),
        1.0,
        None,
    ],
)
def test_what_is_no_motion(value):
    with pytest.raises(rd.PathError, match=r"0\.25") as error:
        rd.JointPath(lambda t: value)(0.25)
    assert error.value.time == 0.25


def test_samples():
    path = rd.JointPath.from_samples(TIMES, np.sin(TIMES))
    path.check(np.linspace(0.0, 1.9, 77))
    for t in (0.0, 0.33, 1.21, 2.0):
        x, dx, ddx = path(t)
        np.testing.assert_allclose([x, dx, ddx], [np.sin(t), np.cos(t), -np.sin(t)], atol=1e-4)
    for t, x in zip(TIMES, np.sin(TIMES), strict=True):
        assert path(t)[0] == pytest.approx(x, abs=1e-14)


@pytest.mark.parametrize(
    "path",
    [
        rd.JointPath.from_samples([0, 1, 2, 3], [0.0, 0.5, 1.0, 2.0]),
        rd.JointPath.from_planar([0, 1, 2, 3], np.eye(4)[:, :3]),
        rd.JointPath.from_orientations([0, 1, 3], np.eye(4)[:3]),
        rd.JointPath.from_poses([0, 1, 2, 3], np.eye(4)[:, :3], np.tile([0, 0, 0, 1], (4, 1))),
        rd.BasePath.from_samples([0, 1, 2, 3], np.eye(4)[:, :3], np.tile([0, 0, 0, 1], (4, 1))),
    ],
)
def test_no_path_goes_on_beyond_its_samples(path):
    path(0.0), path(3.0), path(3.0 + 1e-12)
    for t in (4.0, 3.001, -0.001):
        with pytest.raises(rd.PathError, match="from t = 0 s to 3 s") as error:
            path(t)
        assert error.value.time == t


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_ends_at_rest(n):
    t = np.linspace(0.5, 2.0, n)
    values = np.stack([np.cos(3 * t), t**2], axis=-1)
    path = rd.JointPath.from_samples(t, values, ends="rest")
    path.check(np.linspace(0.0, 2.2, 45))
    for at, x in zip(t, values, strict=True):
        np.testing.assert_allclose(path(at)[0], x, atol=1e-12)
    for at, x in ((0.0, values[0]), (0.5, values[0]), (2.0, values[-1]), (9.0, values[-1])):
        np.testing.assert_allclose(path(at), [x, [0, 0], [0, 0]], atol=1e-14)
    for at, x in ((0.5 + 1e-9, values[0]), (2.0 - 1e-9, values[-1])):
        np.testing.assert_allclose(path(at), [x, [0, 0], [0, 0]], atol=1e-5)


@pytest.mark.parametrize("ends", ["rest", "free"])
def test_a_path_that_swings_out_between_samples(ends):
    """It passes all of them, and is nowhere near in between."""
    t, values = np.array([0.0, 1.0, 2.0, 3.0, 100.0]), np.array([0.0, 1.0, 0.0, 1.0, 2.0])
    with pytest.raises(rd.PathError, match="within 0 and 2, a smooth path swings out") as error:
        rd.JointPath.from_samples(t, values, ends=ends)
    assert 3.0 < error.value.time < 100.0
    both = np.stack([t, values], axis=-1)
    with pytest.raises(rd.PathError, match="of coordinate 1"):
        rd.JointPath.from_samples(t, both, ends=ends)
    rd.JointPath.from_samples(t, 1e-6 * values, ends=ends)  # noise of a joint that stands still


@pytest.mark.parametrize("t", [None, "soon", np.array([1.0, 2.0]), [1.0]])
def test_a_time_is_a_number(t):
    for ends in ("rest", "free"):
        with pytest.raises(rd.ShapeError, match="t is"):
            rd.JointPath.from_samples(TIMES, np.sin(TIMES), ends=ends)(t)


def test_velocities_given_with_samples():
    positions = np.sin(TIMES)
    rd.JointPath.from_samples(TIMES, positions, np.cos(TIMES))
    noisy = np.cos(TIMES) + 0.03 * np.random.default_rng(0).normal(size=41).clip(-2, 2)
    rd.JointPath.from_samples(TIMES, positions, noisy)
    wrong = np.cos(TIMES)
    wrong[7] += 0.3
    with pytest.raises(rd.PathError, match="velocity") as error:
        rd.JointPath.from_samples(TIMES, positions, wrong)
    assert error.value.time == pytest.approx(TIMES[7])
    with pytest.raises(rd.PathError):
        rd.JointPath.from_samples(TIMES, positions, np.degrees(np.cos(TIMES)))
    with pytest.raises(rd.ShapeError, match="velocities"):
        rd.JointPath.from_samples(TIMES, positions, np.zeros(40))


def test_samples_of_a_joint_that_stands_still():
    path = rd.JointPath.from_samples(TIMES, np.full(41, 0.7), np.zeros(41))
    for t in (TIMES[0], 0.3456, TIMES[-1]):
        x, v, a = path(t)
        assert x == pytest.approx(0.7, rel=1e-14)
        np.testing.assert_allclose((v, a), 0.0, atol=1e-11)  # rounding over the square of a step


@pytest.mark.parametrize(
    ("t", "positions"),
    [
        ([0.0, 1.0, 2.0], [0.0, 1.0, 2.0]),
        ([0.0, 1.0, 1.0, 2.0], np.zeros(4)),
        ([0.0, 2.0, 1.0, 3.0], np.zeros(4)),
        ([0.0, 1.0, 2.0, 3.0], np.zeros(5)),
        ([0.0, 1.0, 2.0, 3.0], np.zeros((4, 1, 1))),
        ([0.0, 1.0, 2.0, np.nan], np.zeros(4)),
        ([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, np.inf, 0.0]),
        (np.zeros((2, 2)), np.zeros(4)),
    ],
)
def test_samples_that_are_no_path(t, positions):
    with pytest.raises(rd.ShapeError):
        rd.JointPath.from_samples(t, positions)


@pytest.mark.parametrize("make", ["from_orientations", "from_poses", "from_planar"])
def test_samples_of_joints_whose_coordinates_do_not_add(make):
    """The path goes through the samples, and its rates are those of Lie groups, by differences."""
    t = np.linspace(0.0, 1.0, 7)
    quats = Rotation.from_rotvec(np.random.default_rng(1).normal(size=(7, 3))).as_quat()
    places = np.random.default_rng(2).normal(size=(7, 3))
    given = {"from_orientations": (quats,), "from_poses": (places, quats), "from_planar": (places,)}
    path = getattr(rd.JointPath, make)(t, *given[make])
    samples = np.hstack(given[make])
    for time, sample in zip(t, samples, strict=True):
        x = path(time)[0]
        if make != "from_planar":  # a quaternion and its negative are the same
            x[-4:] *= np.sign(x[-4:] @ sample[-4:])
        np.testing.assert_allclose(x, sample, atol=1e-12)
    h = 1e-5
    for time in (0.31, 0.77):
        before, after = path(time - h), path(time + h)
        x, v, a = path(time)
        np.testing.assert_allclose((after[1] - before[1]) / (2 * h), a, atol=1e-4)
        if make == "from_planar":
            c, s = np.cos(x[2]), np.sin(x[2])
            rate = (after[0] - before[0]) / (2 * h)
            rate[:2] = np.array([[c, s], [-s, c]]) @ rate[:2]
            np.testing.assert_allclose(v, rate, atol=1e-6)
            continue
        R, ends = (
            Rotation.from_quat(x[-4:]),
            [Rotation.from_quat(p[0][-4:]) for p in (before, after)],
        )
        w = (ends[0].inv() * ends[1]).as_rotvec() / (2 * h)
        np.testing.assert_allclose(v[-3:], w, atol=1e-6)
        if make == "from_poses":
            rate = (after[0][:3] - before[0][:3]) / (2 * h)
            np.testing.assert_allclose(v[:3], R.inv().apply(rate), atol=1e-6)


@pytest.mark.parametrize(
    ("make", "given"),
    [
        ("from_orientations", (np.zeros((5, 4)),)),
        ("from_orientations", (np.ones((5, 3)),)),
        ("from_orientations", (np.full((5, 4), np.nan),)),
        ("from_orientations", ([[0, 0, 0, 1], [0, 0]],)),
        ("from_poses", (np.zeros((5, 3)), np.ones((4, 4)))),
        ("from_poses", (np.zeros((5, 2)), np.ones((5, 4)))),
        ("from_planar", (np.zeros((5, 2)),)),
        ("from_planar", ("abc",)),
    ],
)
def test_samples_that_are_no_path_of_such_joints(make, given):
    with pytest.raises(rd.ShapeError):
        getattr(rd.JointPath, make)(np.linspace(0.0, 1.0, 5), *given)


# -- the base --------------------------------------------------------------------------------------


def turning(t):
    """Goes round in a circle while it turns about a tilted axis."""
    u, x = np.array([0.6, 0.0, 0.8]), 0.7 * np.sin(2.0 * t)
    w, dw = 1.4 * np.cos(2.0 * t) * u, -2.8 * np.sin(2.0 * t) * u
    first, second = Rotation.from_rotvec(x * u), Rotation.from_rotvec([0.0, 0.9 * t, 0.0])
    own = first.apply([0.0, 0.9, 0.0])
    return rd.BaseMotion.from_world(
        [np.cos(t), np.sin(t), 0.0],
        (first * second).as_quat(),
        [-np.sin(t), np.cos(t), 0.0],
        w + own,
        [-np.cos(t), -np.sin(t), 0.0],
        dw + np.cross(w, own),
    )


def test_a_base_path_is_consistent():
    rd.BasePath.from_function(turning).check(TIMES)
    samples = [turning(t) for t in TIMES]
    quats = [Rotation.from_matrix(m.pose[:3, :3]).as_quat() for m in samples]
    path = rd.BasePath.from_samples(TIMES, [m.pose[:3, 3] for m in samples], quats)
    path.check(TIMES[:-1] + 0.02)
    for t in (0.3, 1.04):
        np.testing.assert_allclose(path(t).pose, turning(t).pose, atol=1e-4)
        np.testing.assert_allclose(path(t).twist, turning(t).twist, atol=2e-3)


@pytest.mark.parametrize("what", ["velocity", "acceleration"])
@pytest.mark.parametrize("axis", range(6))
def test_wrong_derivatives_of_a_base_path(what, axis):
    def wrong(t):
        m = turning(t)
        parts = {"velocity": m.twist.copy(), "acceleration": m.acceleration.copy()}
        parts[what][axis] += 0.01
        return rd.BaseMotion(m.pose, parts["velocity"], parts["acceleration"])

    with pytest.raises(rd.PathError, match=f"{what} of the base at t = 0.35 s") as error:
        rd.BasePath(wrong).check([0.35])
    assert error.value.time == 0.35


def test_classical_and_spatial_acceleration_are_not_mixed_up():
    """The derivative of the body twist is not the acceleration in body axes."""

    def wrong(t):
        m = turning(t)
        classical = m.acceleration.copy()
        classical[:3] += np.cross(m.twist[3:], m.twist[:3])
        return rd.BaseMotion(m.pose, m.twist, classical)

    with pytest.raises(rd.PathError, match="acceleration of the base"):
        rd.BasePath(wrong).check([0.35])


def test_a_base_path_returns_base_motions():
    with pytest.raises(rd.PathError, match="BaseMotion"):
        rd.BasePath(lambda t: np.eye(4))(0.1)


def test_a_function_may_fill_the_same_arrays_again_and_again():
    arrays = [np.eye(4), *np.zeros((2, 6)), *np.zeros((3, 1))]

    def moves(fresh):
        X, V, A, x, dx, ddx = (y.copy() for y in arrays) if fresh else arrays
        return X, V, A, x, dx, ddx

    def runs(fresh):
        def base(t):
            X, V, A, *_ = moves(fresh)
            X[0, 3], V[0], A[0] = 0.05 * t**2, 0.1 * t, 0.1
            return rd.BaseMotion(X, V, A)

        def path(t):
            *_, x, dx, ddx = moves(fresh)
            x[0], dx[0], ddx[0] = 0.1 * t**2, 0.2 * t, 0.2
            return x, dx, ddx

        robot = rd.load("double_pendulum", base="moving")
        along = {robot.joint_names[0]: path}
        return rd.simulate(robot, base=base, controlled=along, duration=0.02)

    np.testing.assert_allclose(runs(True).q, runs(False).q, rtol=0.0, atol=1e-15)
