"""Parameters from measured motions: estimates, error bars, payloads, and motions that excite."""

import dataclasses

import numpy as np
import pytest
from scipy import stats
from support.bundled import bundled
from support.overconstrained_linkages import ring

import robodyn as rd
from robodyn.controllers import ComputedTorque
from robodyn.errors import ConvergenceWarning
from robodyn.identification.bodies.consistent import (
    ball,
    matrix,
    moved,
    nearest_possible,
    possible,
    ten,
    thickened,
)
from robodyn.identification.data.independent_motion import ReducedJoints, independent_joints_of
from robodyn.identification.data.measurements import measured
from robodyn.identification.estimation.equations import equations
from robodyn.identification.motions.fourier import Bounds, Series


def along(motion, t):
    """Positions, velocities and accelerations of a reference."""
    return tuple(map(np.array, zip(*map(motion, t.tolist()), strict=True)))


def measurements(robot, motion, seed=None, noise=0.0, samples=400):
    """Forces of a robot along a period of a motion, with noise at its motors."""
    t = np.linspace(0.0, motion.period, samples, endpoint=False)
    q, v, a = along(motion, t)
    tau = robot.inverse_dynamics(q, v, a)
    if seed is not None:
        tau = tau + np.random.default_rng(seed).normal(size=tau.shape) * noise
    return rd.Measurements(t, q, v, a, tau)


def swung(robot, load, link, rates=(2.0, 3.0), phases=(0.0, np.pi / 2.0), sizes=1.0):
    """What is measured of a robot that carries a load while its joints go along sines."""
    t, w = np.arange(0.0, 4.0, 0.02), np.array(rates)
    x = w * t[:, None] + phases
    q, v, a = sizes * np.sin(x), sizes * w * np.cos(x), -sizes * w**2 * np.sin(x)
    tau = robot.with_(payload={link: load}).inverse_dynamics(q, v, a)
    return rd.Measurements(t, q, v, a, tau)


def perturbed(robot, size, seed=5):
    """The robot as somebody else describes it: all parameters a little off."""
    names, values = robot.dynamic_parameter_names, robot.dynamic_parameters
    factors = 1.0 + size * np.random.default_rng(seed).uniform(-1.0, 1.0, len(values))
    n = 10 * len(robot.body_names)
    factors[:n] = np.repeat(factors[:n:10], 10)  # bodies of another density
    return robot.with_(parameters=dict(zip(names, values * factors, strict=True)))


def true_values(found, robot):
    """What base parameters of a robot are."""
    at = [robot.dynamic_parameter_names.index(name) for name in found.base.parameter_names]
    return found.base.combination @ robot.dynamic_parameters[at]


def chi_squared(found, robot):
    """Square of the errors in units of the error bars."""
    error = found.base.values - true_values(found, robot)
    return float(error @ np.linalg.solve(found.covariance, error))


def is_plausible(chi, freedom):
    """Whether it lies within the middle 99 % of its distribution."""
    low, high = stats.chi2.ppf((0.005, 0.995), freedom)
    return low < chi < high


# -- trees ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def puma_motion(puma):
    return rd.excitation(puma, period=10.0, acceleration=8.0, iterations=3)


@pytest.fixture(scope="module")
def puma_run(puma, puma_motion):
    controller = ComputedTorque(puma, puma_motion, stiffness=100.0)
    return rd.simulate(puma, controller, q0=puma_motion.center, duration=10.0, step=0.01)


@pytest.fixture(scope="module")
def puma_found(puma, puma_run):
    tau = np.random.default_rng(2).normal(size=puma_run.tau.shape) * PUMA_NOISE + puma_run.tau
    return rd.identify(perturbed(puma, 0.3), dataclasses.replace(puma_run, tau=tau))


#: Standard deviations of the measured torques [N m].
PUMA_NOISE = np.array([0.5, 1.0, 0.5, 0.1, 0.1, 0.1])


def test_the_puma_is_recovered_within_its_error_bars(puma, puma_found):
    assert puma_found.unexcited == ()
    assert is_plausible(chi_squared(puma_found, puma), len(puma_found.base))
    error = np.abs(puma_found.base.values - true_values(puma_found, puma))
    assert (error < 4.5 * puma_found.deviation).all()
    np.testing.assert_allclose(puma_found.noise, PUMA_NOISE, rtol=0.1)


def test_the_puma_that_is_found_moves_as_the_true_one(puma, puma_found):
    """On another motion than that which it was found by, and far nearer than as described."""
    other = rd.excitation(puma, period=6.0, acceleration=8.0, iterations=0, seed=7)
    q, v, a = along(other, np.linspace(0.0, 6.0, 100))
    tau = puma.inverse_dynamics(q, v, a)

    def off(robot):
        return np.sqrt(((robot.inverse_dynamics(q, v, a) - tau) ** 2).mean(axis=0))

    found = off(puma_found.robot)
    assert (found < 0.3 * PUMA_NOISE).all()
    assert (found < 0.2 * off(puma_found.described)).all(), found / off(puma_found.described)


def test_cross_validation(puma_found, puma_run, tmp_path):
    puma_found.plot(puma_run, tmp_path / "validation.png")
    assert (tmp_path / "validation.png").stat().st_size > 10_000
    there, here = puma_found.predicted(puma_run)
    np.testing.assert_allclose(there, puma_run.tau, atol=1e-9)
    left = np.sqrt(((there - here) ** 2).mean(axis=0) / (there**2).mean(axis=0))
    np.testing.assert_allclose(puma_found.error(puma_run), left)
    assert (left < 0.02).all()


def test_a_table_of_what_was_found(puma_found):
    assert puma_found._repr_html_().count("<tr>") == len(puma_found.base) + 1
    *lines, note = str(puma_found).splitlines()
    assert "by the noise of forces, not by that of positions" in note
    assert len(lines) == 1 + len(puma_found.base)
    for line, name in zip(lines[1:], puma_found.base.names, strict=True):
        assert line.startswith(name)
    assert 0 < len(puma_found.uncertain) < len(puma_found.base)


@pytest.fixture(scope="module")
def small_motion(pan_tilt):
    return rd.excitation(pan_tilt, period=5.0, acceleration=20.0, iterations=3)


@pytest.mark.slow
def test_error_bars_are_right_on_average(pan_tilt, small_motion):
    """A hundred repetitions of a measurement, each with noise of its own."""
    noise = np.array([0.05, 0.2])
    chis = []
    for seed in range(100):
        data = measurements(pan_tilt, small_motion, seed, noise, samples=150)
        found = rd.identify(pan_tilt, data, consistent=False)
        chis.append(chi_squared(found, pan_tilt))
    freedom = len(found.base)
    assert np.mean(chis) == pytest.approx(freedom, abs=4.0 * np.sqrt(2.0 * freedom / 100))
    assert np.mean(np.array(chis) < stats.chi2.ppf(0.9, freedom)) == pytest.approx(0.9, abs=0.12)


def test_known_noise(pan_tilt, small_motion):
    data = measurements(pan_tilt, small_motion, 3, 0.1)
    found = rd.identify(pan_tilt, data, noise=0.1)
    assert found.noise.tolist() == [0.1, 0.1]
    twice = rd.identify(pan_tilt, data, noise=[0.2, 0.2])
    np.testing.assert_allclose(twice.deviation, 2.0 * found.deviation)
    np.testing.assert_allclose(twice.base.values, found.base.values)


def test_without_noise_everything_that_shows_is_exact(pan_tilt, small_motion):
    data = measurements(pan_tilt, small_motion)
    for consistent in (True, False):
        found = rd.identify(perturbed(pan_tilt, 0.5), data, consistent=consistent)
        np.testing.assert_allclose(found.base.values, true_values(found, pan_tilt), atol=1e-9)
        q, v, a = data.q, data.v, data.a
        np.testing.assert_allclose(found.robot.inverse_dynamics(q, v, a), data.tau, atol=1e-6)


def test_the_inertia_of_a_body_in_any_of_its_frames(pan_tilt, small_motion):
    X = rd.BaseMotion.from_world([0.1, -0.2, 0.3], [0.1, 0.5, -0.3, 0.8]).pose
    robot = pan_tilt.with_(frames={"finder": ("camera", X)})
    found = rd.identify(robot, measurements(robot, small_motion))
    here, there = found.inertia("camera"), found.inertia("finder")
    m, *h = robot.inertial_parameters[10:14]
    assert here.mass == pytest.approx(m, rel=1e-5)
    np.testing.assert_allclose(here.origin.xyz, np.array(h) / m, atol=1e-6)
    assert there.mass == pytest.approx(here.mass)
    com = X @ [*there.origin.xyz, 1.0]
    np.testing.assert_allclose(com[:3], here.origin.xyz, atol=1e-9)
    np.testing.assert_allclose(X[:3, :3] @ there.matrix @ X[:3, :3].T, here.matrix, atol=1e-9)
    with pytest.raises(rd.SettingsError, match="does not move"):
        found.inertia(robot.link_names[0])


def test_parts_can_be_identified_while_the_rest_is_known(pan_tilt, small_motion):
    truth = pan_tilt.with_(parameters={"tilt.friction": 1.3, "tilt.damping": 0.7})
    found = rd.identify(pan_tilt, measurements(truth, small_motion), parameters=["tilt"])
    assert set(found.parameters) == {"tilt.rotor_inertia", "tilt.damping", "tilt.friction"}
    assert found.parameters["tilt.friction"] == pytest.approx(1.3, rel=1e-6)
    assert found.parameters["tilt.damping"] == pytest.approx(0.7, rel=1e-6)
    assert found.robot.dynamic_parameters[:20] == pytest.approx(pan_tilt.dynamic_parameters[:20])


def coasting(name, cutoff=None, noise=0.0):
    """A robot that moves by one known spring alone, and what was measured."""
    robot = rd.load(name, friction_speed=0.05)
    rng = np.random.default_rng(0)
    q0, v0 = robot.random(rng), 3.0 * rng.normal(size=robot.nv)
    robot = robot.with_(forces=(rd.Force(lambda q, v, t: -20.0 * q, joint=robot.joint_names[0]),))
    run = rd.simulate(robot, q0=q0, v0=v0, duration=2.0, step=1e-3, limits="ignore")
    if cutoff is None:
        return robot, rd.Measurements(run.t, run.q, run.v, run.a, run.tau)
    q = run.q + noise * np.random.default_rng(1).normal(size=run.q.shape)
    return robot, rd.Measurements.filtered(robot, run.t, q, run.tau, cutoff=cutoff)


@pytest.mark.parametrize("name", ["pan_tilt", "double_pendulum", "scara"])
def test_a_known_force_at_one_joint_tells_the_parameters_of_all(name):
    robot, data = coasting(name)
    found = rd.identify(robot, data)
    off = np.abs(found.base.values - found.described_values)
    assert (off <= 1e-6 * np.abs(found.described_values) + 4.0 * found.deviation).all()
    assert (found.deviation <= 1e-6 * np.abs(found.base.values).max()).all()


def test_joints_without_forces_do_not_draw_their_parameters_to_zero_by_repetition():
    """With noise, the weights are those of the true noise, and the bias that is left is told."""
    robot, data = coasting("double_pendulum", cutoff=50.0, noise=1e-6)
    with pytest.warns(ConvergenceWarning, match="no force is measured or known at elbow: noise"):
        found = rd.identify(robot, data)
    left = equations(robot, measured(robot, data))
    true = np.sqrt(((left.y - left.W @ robot.dynamic_parameters) ** 2).mean(axis=0))
    assert found.noise == pytest.approx(true, rel=0.1)
    kilogram = found.base.names.index("lower.hz")
    assert found.base.values[kilogram] == pytest.approx(-0.5, rel=0.05)


def test_motions_without_any_force_tell_ratios_alone():
    robot, data = coasting("double_pendulum", cutoff=50.0, noise=1e-6)
    free = robot.with_(forces=())
    data = dataclasses.replace(data, a=free.forward_dynamics(data.q, data.v, data.tau))
    for noise in (1e-3, 1e-1):
        noisy = dataclasses.replace(data, a=data.a + noise * np.sin(1e3 * data.a), cutoff=None)
        for options in ({}, {"noise": 0.1}):
            with pytest.raises(
                rd.IdentificationError, match="no force is measured or known at shou"
            ):
                rd.identify(free, noisy, **options)


@pytest.mark.slow
@pytest.mark.parametrize("inertia", [0.0, 1e-3, 0.1])
def test_payloads_of_any_extent_are_found(double, inertia):
    """Far from a ball of water about the link's origin; as a mass point it has no volume at all."""
    load = rd.Inertia(0.7, rd.Pose((0.0, 0.0, -0.8)), ixx=inertia, iyy=inertia, izz=inertia)
    found = rd.identify_payload(double, swung(double, load, "lower", phases=0.0), "lower")
    assert found.inertia.mass == pytest.approx(0.7, rel=1e-6)
    assert found.inertia.origin.xyz[2] == pytest.approx(-0.8, rel=1e-6)


def test_a_moving_base_shows_more():
    fixed, moving = bundled("scara"), rd.load("scara", base="moving")
    rng = np.random.default_rng(0)
    q = np.array([moving.random(rng) for _ in range(200)])
    v, a = rng.normal(size=(2, 200, 4))
    pose = rd.BaseMotion.from_world(rng.normal(size=(200, 3)), rng.normal(size=(200, 4))).pose
    base = rd.BaseMotion(pose, *rng.normal(size=(2, 200, 6)))
    tau = moving.inverse_dynamics(q, v, a, base=base)
    data = rd.Measurements(np.arange(200.0), q, v, a, tau, base)
    found = rd.identify(perturbed(moving, 0.3), data)
    np.testing.assert_allclose(found.base.values, true_values(found, moving), atol=1e-7)
    still = rd.Measurements(data.t, q, v, a, fixed.inverse_dynamics(q, v, a))
    assert len(found.base) > len(rd.identify(fixed, still).base)
    with pytest.raises(rd.SettingsError, match="no motion of a base"):
        rd.identify(moving, still)


# -- consistency ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_consistent_where_plain_least_squares_is_not(puma, puma_motion):
    data = measurements(puma, puma_motion, 4, 3.0 * PUMA_NOISE)
    plain = rd.identify(puma, data, consistent=False)
    found = rd.identify(puma, data)
    assert plain.impossible
    assert found.impossible == ()
    for name in found.robot.body_names:
        k = 10 * found.robot.body_names.index(name)
        assert np.linalg.eigvalsh(matrix(found.robot.inertial_parameters[k : k + 10]))[0] > 0.0
    assert min(found.robot.dynamic_parameters[60:]) > 0.0
    # and the forces that are left are as small, but for what noise makes of that
    left, least = found.error(data), plain.error(data)
    assert (left < 1.01 * least).all()


def test_friction_does_not_become_negative(pan_tilt, small_motion):
    slick = pan_tilt.with_(parameters={"pan.damping": 0.0, "tilt.friction": 0.0})
    data = measurements(slick, small_motion, 1, 0.3)
    plain = rd.identify(pan_tilt, data, consistent=False)
    found = rd.identify(pan_tilt, data)
    assert any(".damping" in x or ".friction" in x for x in plain.impossible)
    assert all(found.parameters[x] > 0.0 for x in ("pan.damping", "tilt.friction"))
    assert found.parameters["pan.damping"] < 0.1 * pan_tilt.dynamic_parameters[22]


def test_what_no_motion_shows_stays_as_described(pan_tilt, small_motion):
    """Estimates differ from the description in what was seen alone."""
    data = measurements(pan_tilt, small_motion)
    found = rd.identify(pan_tilt, data)
    np.testing.assert_allclose(
        list(found.parameters.values()), pan_tilt.dynamic_parameters, rtol=1e-5, atol=1e-7
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::robodyn.errors.ConvergenceWarning")
@pytest.mark.filterwarnings("error")
def test_exact_data_of_what_cannot_be(pan_tilt):
    """The nearest bodies there can be have no volume; rounding ends the way to them."""
    x = np.random.default_rng(0).normal(size=(50, 2))
    found = rd.identify(pan_tilt, rd.Measurements(np.arange(50.0), x, x, x, x), unexcited="keep")
    assert np.isfinite(found.robot.dynamic_parameters).all()
    nothing = bundled("double_pendulum").with_(locked={"shoulder": 0.0})
    q, v, a = np.random.default_rng(1).normal(size=(3, 50, 1))
    data = rd.Measurements(np.arange(50.0), q, v, a, nothing.inverse_dynamics(q, v, a))
    carried = rd.identify_payload(nothing, data, "lower")
    np.testing.assert_allclose(carried.base.values, 0.0, atol=1e-12)


def test_positive_numbers_are_drawn_to_what_is_described_by_their_ratio():
    """``x - 2 + 1/x0 - 1/x`` vanishes, with 0.5 described at x = 1; what no data tell stays."""
    W, y, both = np.diag([1.0, 0.0]), np.array([2.0, 0.0]), np.array([0, 1])
    x, ended = nearest_possible(W, y, [], both, np.array([0.5, 0.3]), 1.0)
    assert ended
    np.testing.assert_allclose(x, [1.0, 0.3], rtol=1e-5)


def test_pseudo_inertias():
    rng = np.random.default_rng(0)
    points, masses = rng.normal(size=(9, 3)), rng.uniform(0.1, 1.0, 9)
    homogeneous = np.column_stack([points, np.ones(9)])
    P = (homogeneous * masses[:, None]).T @ homogeneous
    J = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points, strict=True))
    p = np.array(
        [masses.sum(), *(masses @ points), *(J[i, j] for i, j in
         ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)))]
    )  # fmt: skip
    np.testing.assert_allclose(matrix(p), P, atol=1e-12)
    np.testing.assert_allclose(ten(P), p, atol=1e-12)
    X = rd.BaseMotion.from_world(rng.normal(size=3), rng.normal(size=4)).pose
    np.testing.assert_allclose(moved(moved(p, X), np.linalg.inv(X)), p, atol=1e-12)
    assert possible(p) and possible(ball(3.0)) and not possible(p * [1, 1, 1, 1, 9, 1, 1, 1, 1, 1])
    flat = ten((homogeneous * masses[:, None] * [1, 1, 0, 1]).T @ (homogeneous * [1, 1, 0, 1]))
    assert np.linalg.eigvalsh(matrix(thickened(flat)))[0] > 0.0
    np.testing.assert_allclose(thickened(p), p, atol=1e-12)


# -- closed linkages ------------------------------------------------------------------------------


SACK = rd.Inertia.from_matrix(40.0, (0.05, -0.03, -0.25), np.diag([1.2, 1.0, 1.6]))


@pytest.fixture(scope="module")
def sack_motion(palletizer):
    return rd.excitation(
        palletizer.with_(payload={"flange": SACK}),
        period=6.0,
        acceleration=6.0,
        parameters=["flange"],
        iterations=2,
    )


@pytest.fixture(scope="module")
def sack_run(palletizer, sack_motion):
    """The palletizer swings a sack, and torques of its motors are measured with noise."""
    full = palletizer.with_(payload={"flange": SACK})
    controller = ComputedTorque(full, sack_motion, stiffness=100.0)
    run = rd.simulate(full, controller, q0=sack_motion.center, duration=6.0, step=0.01)
    motors = [palletizer.joints[name].v.start for name in palletizer.actuated_joints]
    tau = run.tau.copy()
    tau[:, motors] += np.random.default_rng(1).normal(size=(len(tau), 4)) * 10.0
    return dataclasses.replace(run, tau=tau)


@pytest.mark.slow
def test_the_payload_of_the_palletizer(palletizer, sack_run):
    found = rd.identify_payload(palletizer, sack_run, "flange")
    assert found.base.names == ("flange.m", "flange.hx", "flange.hy", "flange.Izz")
    m, (x, y, _) = SACK.mass, SACK.origin.xyz
    truth = np.array([m, m * x, m * y, SACK.izz + m * (x * x + y * y)])
    error = found.base.values - truth
    assert is_plausible(float(error @ np.linalg.solve(found.covariance, error)), 4)
    assert found.inertia.mass == pytest.approx(m, abs=4.0 * found.deviation[0])
    slack = 4.0 * found.deviation[1:3].max() / m
    np.testing.assert_allclose(found.inertia.origin.xyz[:2], (x, y), atol=slack)
    # the robot with it is as heavy for its motors
    q, v, a = sack_run.q[::50], sack_run.v[::50], sack_run.a[::50]
    there = palletizer.with_(payload={"flange": SACK}).inverse_dynamics(q, v, a)
    here = found.carried.inverse_dynamics(q, v, a)
    bare = palletizer.inverse_dynamics(q, v, a)
    assert np.abs(here - there).max() < 0.02 * np.abs(bare - there).max()


@pytest.mark.slow
def test_a_payload_says_whether_its_mass_is_a_guess(double, palletizer, sack_run):
    """A body that turns about a fixed axis shows its moments, and not its mass."""
    found = rd.identify_payload(palletizer, sack_run, "flange")
    assert found.mass_deviation == pytest.approx(found.deviation[0])
    assert f"kg +- {2.0 * found.deviation[0]:.2g} kg>" in repr(found)
    load = rd.Inertia.from_matrix(1.5, [0.1, 0.0, -0.3], 0.1 * np.eye(3))
    for link, told in (("lower", True), ("upper", False)):
        found = rd.identify_payload(double, swung(double, load, link), link)
        assert (found.mass_deviation is not None) == told
        assert ("kg as guessed: motions do not tell it>" in repr(found)) == (not told)
        assert (abs(found.inertia.mass - 1.5) < 1e-6) == told


@pytest.mark.slow
def test_rounding_is_not_taken_for_what_no_motion_shows(palletizer, sack_run):
    """A flange that stays level does not show how low the sack hangs, however exact the data."""
    full, q, v, a = palletizer.with_(payload={"flange": SACK}), sack_run.q, sack_run.v, sack_run.a
    exact = dataclasses.replace(sack_run, tau=full.inverse_dynamics(q, v, a))
    found = rd.identify_payload(palletizer, exact, "flange").inertia
    np.testing.assert_allclose(found.origin.xyz, (0.05, -0.03, 0.0), atol=1e-9)
    low = rd.identify_payload(palletizer, exact, "flange", guess=SACK).inertia
    np.testing.assert_allclose(low.origin.xyz, SACK.origin.xyz, atol=1e-9)
    np.testing.assert_allclose(low.matrix, SACK.matrix, atol=1e-6)


@pytest.mark.slow
def test_a_payload_is_the_same_in_every_frame(palletizer, sack_run):
    X = rd.BaseMotion.from_world([0.1, -0.2, 0.3], [0.1, 0.5, -0.3, 0.8]).pose
    robot = palletizer.with_(frames={"gripper": ("flange", X)})
    by_flange = rd.identify_payload(robot, sack_run, "flange")
    by_gripper = rd.identify_payload(robot, sack_run, "gripper")
    for there, here in (
        (by_gripper.inertia, by_flange.in_frame("gripper")),
        (by_gripper.in_frame("flange"), by_flange.inertia),
    ):
        assert here.mass == pytest.approx(there.mass)
        np.testing.assert_allclose(here.origin.xyz, there.origin.xyz, atol=1e-9)
        np.testing.assert_allclose(here.matrix, there.matrix, atol=1e-9)
    # a guess in one frame is that guess in the other
    guess = rd.identify_payload(robot, sack_run, "gripper", guess=by_flange.in_frame("gripper"))
    same = rd.identify_payload(robot, sack_run, "flange", guess=by_flange.inertia)
    np.testing.assert_allclose(guess.in_frame("flange").matrix, same.inertia.matrix, atol=1e-9)
    # carried in the frame of the gripper, or in that of the flange, it is one robot
    np.testing.assert_allclose(
        by_gripper.carried.dynamic_parameters, by_flange.carried.dynamic_parameters, atol=1e-8
    )


def test_forces_of_loops_drop_out(palletizer, sack_run):
    """The equations of a linkage are those of its motors, and of its minimal coordinates."""
    data = measured(palletizer, sack_run[::60])
    at = equations(palletizer, data)
    where = [palletizer.joints[name].v.start for name in at.names]
    motors = palletizer.inverse_dynamics(data.q, data.v, data.a)[:, where]
    np.testing.assert_allclose(at.W @ palletizer.dynamic_parameters, motors, atol=1e-8)
    minimal = palletizer.with_(coordinates="minimal")
    own = [palletizer.joints[name].q.start for name in minimal.joint_names]
    Y = minimal.dynamic_regressor(data.q[:, own], data.v[:, own], data.a[:, own])
    order = [at.names.index(name) for name in minimal.joint_names]
    assert minimal.dynamic_parameter_names == palletizer.dynamic_parameter_names
    np.testing.assert_allclose(at.W[:, order], Y, atol=1e-8)


CLOSED = [name for name in rd.robots() if bundled(name).nc]


@pytest.mark.parametrize("name", CLOSED)
def test_motors_explain_the_motion_of_every_linkage(name):
    """What parameters ask for is what motors give, whatever the joints of the loops carry."""
    robot = rd.load(name)
    reduced, rng = robot.reduced(), np.random.default_rng(0)
    q = np.array([robot.random(rng) for _ in range(2)])
    du, ddu = rng.normal(size=(2, 2, reduced.nu))
    v, a = reduced.expand_velocity(q, du), reduced.expand_acceleration(q, du, ddu)
    tau = robot.inverse_dynamics(q, v, a)
    assert not np.delete(tau, [robot.joints[n].v.start for n in robot.actuated_joints], 1).any()
    at = equations(robot, rd.Measurements(np.arange(2.0), q, v, a, tau))
    left = at.W @ robot.dynamic_parameters - at.y
    assert np.abs(left).max() < 1e-11 * np.abs(at.y).max()


@pytest.mark.slow
def test_robots_in_minimal_coordinates_are_identified_as_well(palletizer):
    minimal = palletizer.with_(coordinates="minimal")
    motion = rd.excitation(
        minimal, period=6.0, acceleration=6.0, iterations=0, parameters=["flange"]
    )
    heavier = minimal.with_(parameters={"flange.m": 9.0})
    found = rd.identify(minimal, measurements(heavier, motion, samples=60), parameters=["flange"])
    assert found.parameters["flange.m"] == pytest.approx(9.0)


def test_a_floating_base_shows_all_of_a_robot():
    robot = rd.load("double_pendulum", base="floating")
    rng = np.random.default_rng(1)
    q = np.array([robot.random(rng) for _ in range(60)])
    v, a = rng.normal(size=(2, 60, robot.nv))
    data = rd.Measurements(np.arange(60.0), q, v, a, robot.inverse_dynamics(q, v, a))
    found = rd.identify(perturbed(robot, 0.3), data)
    np.testing.assert_allclose(found.base.values, true_values(found, robot), atol=1e-7)


@pytest.mark.slow
def test_a_linkage_is_recovered_with_friction_in_its_cut_joint():
    from test_regressors import hindered

    robot = hindered("five_bar")
    motion = rd.excitation(robot, period=4.0, velocity=4.0, acceleration=20.0, iterations=0)
    run = rd.simulate(
        robot,
        ComputedTorque(robot, motion, stiffness=100.0),
        q0=motion.center,
        duration=4.0,
        step=0.01,
    )
    described = perturbed(robot, 0.3)
    names = [n for n in robot.dynamic_parameter_names if n != "floor"]
    found = rd.identify(described, run, parameters=names)
    np.testing.assert_allclose(found.base.values, true_values(found, robot), atol=1e-5)
    assert "tool_pin.friction" in found.parameters


# -- data -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_filter_without_delay(pan_tilt, small_motion):
    """Noisy positions and torques, at a thousand samples a second: error bars stay right."""
    t = np.arange(0.0, 10.0, 1e-3)
    q, v, a = along(small_motion, t)
    rng = np.random.default_rng(0)
    tau = pan_tilt.inverse_dynamics(q, v, a) + rng.normal(size=q.shape) * [0.3, 0.5]
    seen = q + rng.normal(size=q.shape) * 1e-5
    data = rd.Measurements.filtered(pan_tilt, t, seen, tau, cutoff=10.0)
    there = along(small_motion, data.t)
    for found, true, slack in zip((data.q, data.v, data.a), there, (1e-4, 3e-3, 0.15), strict=True):
        assert np.abs(found - true).max() < slack
    found = rd.identify(pan_tilt, data)
    assert is_plausible(chi_squared(found, pan_tilt), len(found.base))
    # of a white noise the filter lets through what is below its cutoff
    np.testing.assert_allclose(
        found.noise, np.sqrt(2.0 * 10.0 * 1e-3) * np.array([0.3, 0.5]), rtol=0.2
    )
    assert len(found.predicted(data)[0]) == pytest.approx(2.0 * 10.0 * 9.6, rel=0.02)


def test_rates_behind_a_filter_are_of_fourth_order(pan_tilt):
    t, w = np.arange(0.0, 6.0, 0.01), 2.0 * np.pi
    size = np.array([0.4, 0.3])
    q = size * np.sin(w * t)[:, None]
    data = rd.Measurements.filtered(pan_tilt, t, q, 0.0 * q, cutoff=20.0)
    inner = (data.t > 2.0) & (data.t < 4.0)
    phase = w * data.t[inner, None]
    np.testing.assert_allclose(data.v[inner], size * w * np.cos(phase), atol=1e-5)
    np.testing.assert_allclose(data.a[inner], -size * w * w * np.sin(phase), atol=1e-4)


def test_a_filtered_linkage_is_closed(palletizer, sack_run):
    t = sack_run.t
    rng = np.random.default_rng(0)
    q = sack_run.q + 1e-6 * rng.normal(size=sack_run.q.shape)
    data = rd.Measurements.filtered(palletizer, t, q, sack_run.tau, cutoff=12.0)
    palletizer.check_state(data.q, data.v)
    np.testing.assert_allclose(
        data.a, palletizer.consistent_acceleration(data.q, data.v, data.a), atol=1e-6
    )
    at = slice(round(data.t[0] / 0.01), round(data.t[-1] / 0.01) + 1)
    assert np.abs(data.q - sack_run.q[at]).max() < 1e-3
    assert np.abs(data.v - sack_run.v[at]).max() < 2e-2


def test_a_filtered_linkage_whose_neutral_posture_is_not_zero():
    robot, t = rd.load("four_bar", near={"crank_drive": 0.6}), np.arange(0.0, 1.5, 0.01)
    q, k = np.tile(robot.neutral(), (len(t), 1)), robot.joints["crank_drive"].q.start
    assert abs(q[0, k]) > 0.5
    q[:, k] += 0.2 * np.sin(3.0 * t)
    q = robot.assemble(q, hold=["crank_drive"])
    data = rd.Measurements.filtered(robot, t, q, 0.0 * q, cutoff=15.0)
    np.testing.assert_allclose(data.q, q[np.isin(t, data.t)], atol=1e-4)


# -- what data do not say -------------------------------------------------------------------------


def test_what_the_data_do_not_excite_is_named(pan_tilt, small_motion):
    t = np.linspace(0.0, 5.0, 200)
    q, v, a = along(small_motion, t)
    q[:, 0], v[:, 0], a[:, 0] = 0.3, 0.0, 0.0  # pan stands still
    data = rd.Measurements(t, q, v, a, pan_tilt.inverse_dynamics(q, v, a))
    described = perturbed(pan_tilt, 0.2)
    with pytest.raises(rd.IdentificationError, match=r"pan\.friction") as caught:
        rd.identify(described, data)
    named = caught.value.parameters
    assert {"pan.damping", "pan.friction"} <= {*named}
    assert not [name for name in named if name.startswith("tilt.") and "inertia" not in name]
    found = rd.identify(described, data, unexcited="keep")
    assert found.unexcited == named
    for name in ("pan.damping", "pan.friction"):
        k = found.base.names.index(name)
        assert found.base.values[k] == pytest.approx(found.described_values[k])
        assert np.isinf(found.deviation[k]) and name in found.uncertain
    np.testing.assert_allclose(
        found.robot.inverse_dynamics(q, v, a)[:, 1], data.tau[:, 1], atol=1e-5
    )


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"parameters": ["tilt.mass"]}, rd.UnknownNameError, "tilt.mass"),
        ({"parameters": []}, rd.SettingsError, "no parameters"),
        ({"noise": -1.0}, rd.ShapeError, "noise"),
        ({"noise": [1.0, 1.0, 1.0]}, rd.ShapeError, "for pan, tilt"),
        ({"prior": 0.0}, rd.SettingsError, "prior"),
        ({"unexcited": "ignore"}, rd.UnknownNameError, "error, keep"),
    ],
)
def test_what_identify_refuses(pan_tilt, small_motion, options, error, message):
    data = measurements(pan_tilt, small_motion, samples=50)
    with pytest.raises(error, match=message):
        rd.identify(pan_tilt, data, **options)


def test_data_that_do_not_fit(pan_tilt, puma, small_motion):
    data = measurements(pan_tilt, small_motion, samples=50)
    with pytest.raises(
        rd.ShapeError, match=r"q has shape \(50, 2\), and 'puma560' needs \(50, 6\)"
    ):
        rd.identify(puma, data)
    with pytest.raises(rd.IdentificationError, match="too few"):
        rd.identify(pan_tilt, data[:3])
    with pytest.raises(rd.ShapeError, match="not finite"):
        dataclasses.replace(data, tau=data.tau * np.nan)
    with pytest.raises(rd.ShapeError, match="one row for each time"):
        dataclasses.replace(data, v=data.v[:10])
    nothing = [np.zeros((0, 2))] * 4
    with pytest.raises(rd.IdentificationError, match="too few"):
        rd.identify(pan_tilt, rd.Measurements([], *nothing))
    with pytest.raises(rd.ShapeError, match="one row for each time"):
        _ = data[3]
    with pytest.raises(rd.ShapeError, match="robot is str"):
        rd.Measurements.filtered("pan_tilt", data.t, data.q, data.tau, cutoff=1.0)
    wrench = {"camera": np.array([0, 0, -5.0, 0, 0, 0])}
    run = rd.simulate(pan_tilt, duration=0.1, step=0.01, wrenches=wrench)
    with pytest.raises(rd.SettingsError, match="external wrenches act on camera"):
        rd.identify(pan_tilt, run)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cutoff": 400.0}, "cutoff is 400 Hz"),
        ({"t": np.arange(100.0) ** 1.5 * 1e-3}, "not evenly spaced"),
        ({"cutoff": 1.0}, "too few"),
    ],
)
def test_what_the_filter_refuses(pan_tilt, change, message):
    t = np.arange(100.0) * 1e-3
    given = {"t": t, "q": np.zeros((100, 2)), "tau": np.zeros((100, 2)), "cutoff": 50.0} | change
    with pytest.raises(rd.SettingsError, match=message):
        rd.Measurements.filtered(pan_tilt, **given)


def test_a_payload_on_what_does_not_move(palletizer, sack_run):
    with pytest.raises(rd.SettingsError, match="does not move"):
        rd.identify_payload(palletizer, sack_run, palletizer.link_names[0])
    found = rd.identify_payload(palletizer, sack_run, "flange")
    with pytest.raises(rd.SettingsError, match="on another body"):
        found.in_frame(palletizer.body_names[0])
    with pytest.raises(rd.UnknownNameError):
        rd.identify_payload(palletizer, sack_run, "hand")


def test_a_payload_that_the_data_do_not_show_asks_for_what_can_be_done(double):
    """`identify_payload` has no ``unexcited``."""
    still = np.zeros((50, 2))
    data = rd.Measurements(0.01 * np.arange(50.0), still, still, still, still)
    with pytest.raises(rd.IdentificationError, match=r"move other joints, or faster$"):
        rd.identify_payload(double, data, "lower")
    with pytest.raises(rd.IdentificationError, match="unexcited='keep'"):
        rd.identify(double, data)


def test_what_motions_do_not_tell_is_that_of_a_ball_of_the_mass_they_tell(double):
    load = rd.Inertia.from_matrix(5.0, [0.1, 0.0, -0.3], 0.1 * np.eye(3))
    data = swung(double, load, "lower")
    radius = (3.0 * 5.0 / (4.0 * np.pi * 1000.0)) ** (1.0 / 3.0)
    water = rd.Inertia.from_matrix(5.0, np.zeros(3), 0.4 * 5.0 * radius**2 * np.eye(3))
    ball, plain = (
        rd.identify_payload(double, data, "lower", guess=guess).inertia for guess in (water, None)
    )
    for name in ("mass", "ixx", "iyy", "izz", "ixz"):
        assert getattr(plain, name) == pytest.approx(getattr(ball, name), rel=1e-4, abs=1e-7)


@pytest.mark.filterwarnings("error::robodyn.errors.ConvergenceWarning")
def test_a_light_guess_does_not_change_what_motions_tell(scara):
    data, sack = carried_by(scara)
    for mass in (1e-3, 0.1, 500.0):
        guess = rd.Inertia.from_matrix(mass, np.zeros(3), 1e-3 * mass ** (5 / 3) * np.eye(3))
        found = rd.identify_payload(scara, data, "flange", guess=guess).inertia
        assert found.mass == pytest.approx(sack.mass, rel=1e-9)
        np.testing.assert_allclose(found.origin.xyz[:2], sack.origin.xyz[:2], atol=1e-9)


def test_a_guess_that_changes_what_motions_tell_is_warned_of(scara):
    """Torques of a bad sensor, and a guess of one gram whose inertia is nearly none."""
    data, _ = carried_by(scara)
    noise = 0.1 * np.random.default_rng(0).normal(size=data.tau.shape)
    data = dataclasses.replace(data, tau=data.tau + noise)
    guess = rd.Inertia.from_matrix(1e-3, np.zeros(3), 1e-8 * np.eye(3))
    with pytest.warns(ConvergenceWarning, match="guess weighs 0.001 kg and draws"):
        rd.identify_payload(scara, data, "flange", guess=guess)


def carried_by(robot):
    """What is measured of a SCARA with a body in its hand, and that body."""
    sack = rd.Inertia.from_matrix(5.0, [0.1, 0.02, 0.0], 0.05 * np.eye(3))
    sizes = np.array([1.0, 1.0, 0.05, 1.0])
    return swung(robot, sack, "flange", (2.0, 3.0, 4.0, 5.0), 0.0, sizes), sack


# -- excitation -----------------------------------------------------------------------------------


def test_an_excitation_keeps_limits_and_rests_at_its_ends(puma, puma_motion):
    motion = puma_motion
    q, v, a = along(motion, np.linspace(0.0, motion.period, 3001))
    assert (q <= puma.upper_limits).all() and (q >= puma.lower_limits).all()
    assert (np.abs(v) <= puma.velocity_limits).all()
    assert (np.abs(a) <= 8.0).all()
    assert (np.abs(puma.inverse_dynamics(q, v, a)) <= puma.effort_limits).all()
    for end in (0, -1):
        np.testing.assert_allclose(q[end], motion.center, atol=1e-9)
        np.testing.assert_allclose(v[end], 0.0, atol=1e-9)
        np.testing.assert_allclose(a[end], 0.0, atol=1e-9)
    # velocity and acceleration are the rates of position and velocity
    h = motion.period / 3000
    np.testing.assert_allclose((q[2:] - q[:-2]) / (2 * h), v[1:-1], atol=1e-3)
    np.testing.assert_allclose((v[2:] - v[:-2]) / (2 * h), a[1:-1], atol=1e-2)


def test_an_excitation_as_large_as_can_be_keeps_limits_between_samples():
    """With so few samples that it goes well beyond the largest of them."""
    bounds = Bounds(
        *np.array([[-1.0, -0.2, -9.0], [0.5, 0.3, 9.0], [1.0, 9.0, 9.0], [9.0, 9.0, 2.0]])
    )
    series, rng, reached = Series(3, 4, 5.0, 12, bounds), np.random.default_rng(0), []
    for _ in range(20):
        x = series.random(rng).reshape(3, -1)
        x[:, -2] = 40.0
        x[:, -1] = rng.choice([-40.0, 40.0], 3)
        q, v, a = series.motion(x.ravel(), dense=40)
        assert (q >= bounds.lower - 1e-9).all() and (q <= bounds.upper + 1e-9).all()
        assert (np.abs(v) <= bounds.velocity * (1.0 + 1e-9)).all()
        assert (np.abs(a) <= bounds.acceleration * (1.0 + 1e-9)).all()
        reached.append((np.abs(v[:, 0]).max(), np.ptp(q[:, 1]) / 0.5, np.abs(a[:, 2]).max() / 2.0))
    assert np.max(reached, axis=0).min() > 0.5


@pytest.mark.slow
def test_an_excitation_is_better_the_longer_it_is_looked_for(pan_tilt):
    given = {"period": 4.0, "acceleration": 20.0}
    first, last = (rd.excitation(pan_tilt, **given, iterations=n).condition for n in (0, 15))
    assert last < 0.8 * first
    # and its error bars are smaller, which is what it is for
    by_volume = [
        rd.excitation(pan_tilt, **given, iterations=n, criterion="logdet") for n in (0, 15)
    ]
    volumes = []
    for motion in by_volume:
        found = rd.identify(pan_tilt, measurements(pan_tilt, motion), noise=1.0)
        volumes.append(np.linalg.slogdet(found.covariance)[1])
    assert volumes[1] < volumes[0]


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_an_excitation_keeps_a_limit_that_is_alone(pan_tilt, side):
    alone = {"lower": 0.3} if side > 0.0 else {"upper": -0.3}
    robot = limited(pan_tilt, "tilt", rd.Limits(velocity=2.0, effort=60.0, **alone))
    motion = rd.excitation(robot, period=4.0, acceleration=20.0, iterations=1)
    q = along(motion, np.linspace(0.0, 4.0, 401))[0][:, 1]
    assert (side * q >= 0.3 - 1e-9).all()
    assert np.ptp(q) > 0.1


def test_forces_of_an_excited_linkage_are_those_of_its_motors():
    robot = rd.load("bricard")
    independent, q = independent_joints_of(robot), np.array([[0.1], [0.2], [0.4]])
    motor = robot.joints[independent.joints[0]].v.start
    found = []
    for speed in (0.0, 2.0):
        states = independent.states(q, 0.0 * q + speed, 0.0 * q + 1.0)
        tau = robot.inverse_dynamics(*states)[:, [motor]]
        np.testing.assert_allclose(
            independent.dynamics.forces(states), tau, atol=1e-9 * np.abs(tau).max()
        )
        found.append(tau)
    assert np.abs(found[1] - found[0]).max() > 0.01 * np.abs(found).max()


def test_torques_bound_an_excitation(pan_tilt):
    most = 12.0
    given = {"period": 2.0, "velocity": 8.0, "acceleration": 80.0, "iterations": 1}
    free = rd.excitation(pan_tilt, **given, torque=1e6)
    held = rd.excitation(pan_tilt, **given, torque=most)

    def largest(motion):
        q, v, a = along(motion, np.linspace(0.0, 2.0, 1000))
        return np.abs(pan_tilt.inverse_dynamics(q, v, a)).max()

    assert largest(held) <= most * (1.0 + 1e-3) < largest(free)
    with pytest.raises(rd.IdentificationError, match="gravity alone"):
        rd.excitation(pan_tilt, **given, torque=1e-3)


def limited(robot, joint, limits):
    joints = (
        dataclasses.replace(x, kind="revolute", limits=limits) if x.name == joint else x
        for x in robot.mechanism.joints
    )
    return rd.load(dataclasses.replace(robot.mechanism, joints=tuple(joints)))


@pytest.mark.parametrize("why", ["open", "beyond limits", "next to singular"])
def test_what_linkages_cannot_do_excites_nothing(palletizer, why):
    robot = {
        "open": lambda: rd.load("excavator"),
        "beyond limits": lambda: limited(palletizer, "elbow", rd.Limits(-2.0, 0.5)),
        "next to singular": lambda: palletizer,
    }[why]()
    independent = independent_joints_of(robot)
    minimal, tree = independent.robot, independent.robot.tree_form
    lower, upper = np.maximum(independent.lower, -3.0), np.minimum(independent.upper, 3.0)
    u = np.random.default_rng(0).uniform(lower, upper, (100, independent.count))
    q = minimal.expand(u)
    closed = np.isfinite(q).all(axis=1)
    far = np.zeros(len(u), bool)
    rest = tree.loop_rank(tree.neutral()).distance
    far[closed] = tree.loop_rank(q[closed]).distance > 0.2 * rest
    inside = ((q >= tree.lower_limits) & (q <= tree.upper_limits)).all(axis=1)
    allowed = np.array([independent.states(*[x[None]] * 3) is not None for x in u])
    assert (allowed == (closed & inside & far)).all() and allowed.any()
    assert {"open": ~closed, "beyond limits": closed & ~inside, "next to singular": inside & ~far}[
        why
    ].any()


def test_what_no_excitation_shows_is_named():
    given = {"period": 4.0, "acceleration": 10.0, "iterations": 0}
    moving = rd.load("pan_tilt", base="moving")
    with pytest.raises(rd.IdentificationError, match=r"stands still.*base='fixed'") as error:
        rd.excitation(moving, **given)
    # with the base at rest the axis of the pan stays upright, and friction shows all the same
    assert {"fork.hx", "fork.hy"} <= {*error.value.parameters}
    assert not {"pan.damping", "tilt.damping", "tilt.friction"} & {*error.value.parameters}
    stuck = limited(bundled("pan_tilt"), "tilt", rd.Limits(0.3, 0.3))
    with pytest.raises(rd.IdentificationError, match=r"shows .*tilt\.damping") as error:
        rd.excitation(stuck, **given)
    assert {"tilt.damping", "tilt.friction"} <= {*error.value.parameters}
    assert "pan.damping" not in error.value.parameters


@pytest.mark.slow
def test_an_excitation_has_states_with_closed_loops(five_bar):
    """Velocities and accelerations are the rates of positions, to the order of differences."""
    motion = rd.excitation(five_bar, period=4.0, acceleration=20.0, iterations=0)
    slopes = []
    for n in (201, 401):
        t = np.linspace(0.0, 4.0, n)
        q, v, a = motion.closed(five_bar, t)
        assert np.abs(five_bar.loop_residual(q)).max() < 1e-9
        at = [five_bar.joints[name].q.start for name in motion.joints]
        np.testing.assert_allclose(q[:, at], along(motion, t)[0][:, at], atol=1e-12)
        rate = five_bar.difference(q[:-2], q[2:]) / (2.0 * t[1])
        slopes.append((np.abs(rate - v[1:-1]).max(), np.abs(np.diff(v, axis=0)[1:] / t[1]
                       + np.diff(v, axis=0)[:-1] / t[1] - 2.0 * a[1:-1]).max()))  # fmt: skip
    ratio = np.array(slopes[0]) / slopes[1]
    assert (abs(ratio - 4.0) < 0.5).all()


@pytest.mark.slow
def test_an_excitation_of_a_linkage_without_closed_form():
    robot = rd.load("bricard")
    independent = independent_joints_of(robot)
    given = {"period": 4.0, "velocity": 1.0, "harmonics": 2, "iterations": 0}
    motion = rd.excitation(robot, **given, acceleration=5.0, parameters=["hinge2"])
    q, *_ = independent.states(*(x[:, :1] for x in along(motion, np.linspace(0.0, 4.0, 20))))
    assert np.abs(robot.loop_residual(q)).max() < 1e-8
    assert isinstance(independent.dynamics, ReducedJoints) and motion.joints == ("hinge2",)
    np.testing.assert_allclose(robot.loop_residual(motion.center), 0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("pan_tilt", {"harmonics": 1}, rd.SettingsError, "harmonics"),
        ("pan_tilt", {"period": 0.0}, rd.SettingsError, "period"),
        ("pan_tilt", {"criterion": "trace"}, rd.UnknownNameError, "condition, logdet"),
        ("pan_tilt", {"iterations": -1}, rd.SettingsError, "iterations is -1, expected a whole"),
        ("pan_tilt", {"iterations": 1.5}, rd.ShapeError, "iterations is 1.5, expected a whole"),
        ("pan_tilt", {"seed": -1}, rd.SettingsError, "seed is -1, expected a whole number"),
        ("pan_tilt", {"seed": "a"}, rd.ShapeError, "seed is 'a', expected a whole number"),
        ("pan_tilt", {"velocity": [1.0, 2.0, 3.0]}, rd.ShapeError, "for pan, tilt"),
        ("prosthesis", {}, rd.SettingsError, "'shoulder' .* has several coordinates"),
        ("double_pendulum", {}, rd.SettingsError, "nothing bounds how fast joint 'shoulder'"),
    ],
)
def test_what_an_excitation_refuses(name, options, error, message):
    with pytest.raises(error, match=message):
        rd.excitation(rd.load(name), **options)


@pytest.mark.slow
def test_data_of_several_ways_of_assembly_are_told():
    """A Bricard linkage shows less in one of them than in the others."""
    mechanism, motors = ring("plane_symmetric")
    robot = rd.load(mechanism, actuators=dict.fromkeys(motors, rd.Actuator()))
    rng = np.random.default_rng(1)
    q = robot.random(rng, size=40)
    v = robot.consistent_velocity(q, rng.normal(size=(40, robot.nv)))
    a = robot.forward_dynamics(q, v, rng.normal(size=(40, robot.nv)))
    tau = robot.inverse_dynamics(q, v, a)
    with pytest.warns(ConvergenceWarning, match="more of 'plane_symmetric' .* on one branch"):
        rd.identify(robot, rd.Measurements(0.01 * np.arange(40), q, v, a, tau))


@pytest.mark.slow
def test_a_linkage_in_minimal_coordinates_is_excited_in_its_way_of_assembly():
    """Parallelograms that have crossed show more, which no motion from here does."""
    robot = rd.load("palletizer", coordinates="minimal")
    motion = rd.excitation(robot, period=4.0, acceleration=10.0, iterations=0)
    t = np.arange(0.0, 4.0, 0.02)
    q, v, a = map(np.array, zip(*map(motion, t.tolist()), strict=True))
    described = dict(zip(robot.parameter_names, robot.inertial_parameters, strict=True))
    heavier = robot.with_(parameters={"upper_arm.m": 1.2 * described["upper_arm.m"]})
    tau = heavier.inverse_dynamics(q, v, a)
    found = rd.identify(robot, rd.Measurements(t, q, v, a, tau))
    assert found.unexcited == ()
    np.testing.assert_allclose(found.robot.inverse_dynamics(q, v, a), tau, rtol=0, atol=1e-6)
