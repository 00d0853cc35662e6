"""Rollouts of states in float32 are computed and recorded in float32, where nothing needs more."""

import warnings

import numpy as np
import pytest
from support.bundled import bundled

import robodyn as rd
from robodyn import controllers

COLUMNS = ("q", "v", "a", "tau")
#: What rounding each step to float32 changes in a motion of 50 steps, of numbers of size one.
NEAR = 2e-5


def in_both(robot, controller=None, n=5, **options):
    """A rollout from random states in float32, and from the same numbers in float64."""
    rng = np.random.default_rng(3)
    moved = rng.uniform(-0.5, 0.5, (n, robot.nv))
    q = np.array([robot.integrate(robot.neutral(), x) for x in moved], np.float32)
    v = rng.uniform(-0.5, 0.5, (n, robot.nv)).astype(np.float32)
    given = {"duration": 0.05, "limits": "ignore", **options}
    starts = (q, v), (q.astype(float), v.astype(float))
    return tuple(rd.rollout(robot, controller, *start, **given) for start in starts)


def check(single, double):
    """One is the other, rounded at each step, and not the other itself."""
    assert single.t.dtype == np.float64
    for name in COLUMNS:
        x, y = getattr(single, name), getattr(double, name)
        assert (x.dtype, y.dtype) == (np.float32, np.float64), name
        np.testing.assert_allclose(x, y, rtol=0.0, atol=NEAR * (1.0 + np.abs(y).max()))
    assert np.abs(single.q - double.q).max() > 0.0


@pytest.fixture(scope="module")
def arm():
    return bundled("puma560")


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit"])
def test_motions_in_single_precision(arm, integrator):
    check(*in_both(arm, integrator=integrator, n=20))


def test_a_single_row(arm):
    check(*in_both(arm, n=1, every=7))


def test_coordinates_that_do_not_add():
    check(*in_both(rd.load("satellite", base="floating")))


def test_linkages_in_closed_form():
    robot = rd.load("four_bar", coordinates="minimal")
    single, double = in_both(robot, n=3)
    check(single, double)


def test_rows_of_parameters(arm):
    mass = next(name for name in arm.parameter_names if name.endswith(".m"))
    check(*in_both(arm, parameters={mass: np.linspace(1.0, 3.0, 5)}))


@pytest.mark.parametrize("every", [None, 0.005])
def test_compiled_controllers(arm, every):
    reference = controllers.SineReference(np.full(arm.nv, 0.2), np.full(arm.nv, 0.1), 0.5)
    law = controllers.JointPD(arm, reference, 20.0, 2.0)
    if every:
        law = controllers.Sampled(law, every)
    check(*in_both(arm, law))


def test_controllers_of_python_get_single_precision(arm):
    given = set()

    def controller(t, q, v):
        given.update((q.dtype, v.dtype))
        return -2.0 * v

    single, double = in_both(arm, controller)
    check(single, double)
    assert given == {np.dtype(np.float32), np.dtype(np.float64)}


def test_limits_of_efforts(arm):
    law = controllers.JointPD(arm, _far, 1e6, 1.0)
    # of limits that are rounded up
    with warnings.catch_warnings(action="error", category=rd.errors.LimitWarning):
        single, double = in_both(arm, law, limits="enforce", duration=0.003)
    most = np.abs(double.tau).max(axis=(0, 1))
    np.testing.assert_allclose(np.abs(single.tau).max(axis=(0, 1)), most, rtol=1e-6)
    assert single.tau.dtype == np.float32


def _far(t):
    return np.full(6, 3.0), np.zeros(6), np.zeros(6)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_motion_among_others_is_the_same(arm, threads):
    before = rd.get_num_threads()
    rd.set_num_threads(threads)
    try:
        both, _ = in_both(arm, n=40)
        alone = rd.rollout(arm, None, both.q[0, 17:18], both.v[0, 17:18], duration=0.05,
                           limits="ignore")  # fmt: skip
    finally:
        rd.set_num_threads(before)
    np.testing.assert_array_equal(alone.q[:, 0], both.q[:, 17])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("four_bar", {}),
        ("double_pendulum", {"events": [lambda t, q, v: 1.0]}),
        ("double_pendulum", {"integrator": "adaptive"}),
        ("double_pendulum", {"wrenches": lambda t, q, v: {"lower": v[..., :1] * np.zeros(6)}}),
    ],
)
def test_what_needs_double_precision(name, options):
    robot = rd.load(name)
    q, v = np.tile(robot.neutral(), (2, 1)).astype(np.float32), np.zeros((2, robot.nv), np.float32)
    run = rd.rollout(robot, None, q, v, duration=0.005, limits="ignore", **options)
    assert {getattr(run, name).dtype for name in COLUMNS} == {np.dtype(np.float64)}


def test_files_keep_single_precision(arm, tmp_path):
    single, _ = in_both(arm)
    single.save(tmp_path / "a.npz")
    start = single.q[0], single.v[0]
    written = rd.rollout(arm, None, *start, duration=0.05, limits="ignore", to=tmp_path / "folder")
    for found in (rd.Trajectory.load(tmp_path / "a.npz"), written):
        for name in COLUMNS:
            assert getattr(found, name).dtype == np.float32
            np.testing.assert_array_equal(getattr(found, name), getattr(single, name))


def test_rounding_is_no_energy_from_nowhere(double):
    q = np.array([[0.7, 0.1], [0.0, 0.0]], np.float32)
    with warnings.catch_warnings(action="error", category=rd.errors.EnergyWarning):
        run = rd.rollout(double, None, q, 0 * q, duration=2.0)
    assert run.audit.exchanged.shape == (2,)
    with pytest.warns(rd.errors.EnergyWarning):
        rd.rollout(double, None, q, 0 * q, duration=2.0, step=0.05, integrator="euler")


def test_a_motion_that_overflows_says_so(arm):
    q = np.zeros((3, 6), np.float32)
    v = q.copy()
    v[1] = 1e25
    with pytest.raises(rd.errors.SimulationError, match="no longer finite"):
        rd.rollout(arm, None, q, v, duration=0.01, limits="ignore")
