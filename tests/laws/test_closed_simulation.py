"""Closed linkages in motion: driven and locked joints, starts that are open, many at once."""

import re
import warnings

import numpy as np
import pytest
from support.caster_table import caster_table, straight
from support.rigid_robots import load

import robodyn as rd
from robodyn.description import Joint, Link, Loop, Pose
from robodyn.errors import SingularWarning
from robodyn.simulation.motion.sample_checks import first_wrong_sample


def path(t):
    return 0.3 * np.sin(2.0 * t), 0.6 * np.cos(2.0 * t), -1.2 * np.sin(2.0 * t)


@pytest.mark.parametrize(
    ("name", "joint"), [("four_bar", "crank_drive"), ("five_bar", "left_drive")]
)
def test_a_driven_joint_of_a_linkage(name, joint):
    """Follows its path; its torque is what gives the motion back."""
    robot = load(name)
    k = robot.joints[joint].v.start
    v0 = robot.consistent_velocity(robot.neutral(), 0.6 * np.eye(robot.nv)[k], hold=[joint])
    run = rd.simulate(robot, v0=v0, duration=0.6, step=4e-3, controlled={joint: path})
    np.testing.assert_allclose(run.q[:, k], [path(t)[0] for t in run.t], atol=1e-12)
    np.testing.assert_allclose(run.v[:, k], [path(t)[1] for t in run.t], atol=1e-12)
    assert run.loop_residual.max() < 1e-10
    others = np.delete(run.tau, k, axis=1)
    np.testing.assert_array_equal(others, 0.0)
    a = robot.forward_dynamics(run.q, run.v, run.tau)
    np.testing.assert_allclose(a, run.a, atol=1e-8 * np.abs(run.a).max())
    power = np.einsum("ti,ti->t", run.tau, run.v)
    work = np.sum(0.5 * (power[1:] + power[:-1]) * np.diff(run.t))
    assert run.energy[-1] - run.energy[0] == pytest.approx(work, abs=1e-3 * np.abs(power).max())


@pytest.mark.parametrize("name", ["four_bar", "five_bar"])
def test_an_open_start_is_refused(name):
    robot = load(name)
    q0 = robot.neutral()
    q0[0] += 0.3
    with pytest.raises(rd.AssemblyError, match="open by") as caught:
        rd.simulate(robot, q0=q0, duration=0.1)
    np.testing.assert_array_equal(caught.value.residual, robot.loop_residual(q0))
    nearest = caught.value.q  # a closed posture, which the message shows
    assert str(nearest.tolist()) in str(caught.value)
    assert np.abs(robot.loop_residual(nearest)).max() < 1e-9
    assert 0.0 < np.abs(nearest - q0).max() < 0.3


def test_stabilization_of_baumgarte():
    """Gaps vanish as of a critically damped oscillator; at closed states it changes nothing."""
    robot = load("five_bar")
    alpha = beta = 20.0
    q, v = robot.neutral(), robot.consistent_velocity(robot.neutral(), np.ones(4))
    plain = robot.forward_dynamics(q, v, np.zeros(4))
    stabilised = robot.forward_dynamics(q, v, np.zeros(4), stabilization=(alpha, beta))
    np.testing.assert_allclose(stabilised, plain, atol=1e-8 * np.abs(plain).max())
    q = q + np.array([1e-3, -2e-3, 1e-3, 0.0])
    gap, rate = robot.loop_residual(q), robot.loop_jacobian(q) @ v
    found = robot.constrained_dynamics(q, v, np.zeros(4), stabilization=(alpha, beta))
    wanted = -robot.loop_bias(q, v) - 2.0 * alpha * rate - beta**2 * gap
    used = robot.loop_jacobian(q) @ found.a
    np.testing.assert_allclose(used, wanted, atol=1e-9 * np.abs(wanted).max())
    hybrid = robot.hybrid_dynamics(
        q, v, controlled={"left_drive": 1.0}, stabilization=(alpha, beta)
    )
    used = robot.loop_jacobian(q) @ hybrid.a
    np.testing.assert_allclose(used, wanted, atol=1e-9 * np.abs(wanted).max())


LINKAGES = ("palletizer", "delta", "excavator", "five_bar", "stephenson", "stewart", "two_feet")


@pytest.mark.parametrize("name", [*LINKAGES, "caster_table"])
def test_code_that_stabilises_is_the_solution_of_the_solver(name):
    """At states open by so little that squares of it do not count."""
    robot = caster_table() if name == "caster_table" else load(name)
    rng, options = np.random.default_rng(4), {"stabilization": (30.0, 50.0)}
    q = robot.integrate(robot.neutral(), 1e-7 * rng.normal(size=robot.nv))
    v = robot.consistent_velocity(robot.neutral(), rng.normal(size=robot.nv))
    v = v + 1e-5 * rng.normal(size=robot.nv)
    tau = rng.normal(size=robot.nv)
    found = robot.forward_dynamics(q, v, tau, **options)
    solved = robot.constrained_dynamics(q, v, tau, **options).a
    np.testing.assert_allclose(found, solved, atol=1e-6 * np.abs(solved).max())
    plain = robot.function("forward_dynamics")(q, v, tau)
    assert np.abs(found - plain).max() > 1e-5 * np.abs(plain).max()
    alone = robot.function("forward_dynamics", stabilization=True)
    np.testing.assert_array_equal(alone(q, v, tau, np.array([30.0, 50.0])), found)
    assert "stabilization" in alone.c_source("step")


@pytest.mark.parametrize("gains", [(25.0, 25.0), (0.0, 0.0)])
def test_a_linkage_held_closed_by_gains(gains):
    """Where there are none its loops drift apart, faster and faster."""
    robot = load("five_bar")
    options = {"step": 1e-3, "duration": 1.6, "v0": np.zeros(4), "q0": robot.neutral()}
    run = rd.simulate(robot, stabilization=gains, **options)
    closed = rd.simulate(robot, **options)
    np.testing.assert_allclose(run.q, closed.q, atol=1e-4)
    drift = run.loop_residual
    assert 1e-9 < drift.max() < 1e-4
    if gains[0]:
        assert drift[-100:].max() < 0.1 * drift.max()
    many = rd.rollout(
        robot, None, *(np.array([x, x]) for x in (run.q[0], run.v[0])), step=1e-3, duration=0.02,
        stabilization=gains,
    )  # fmt: skip
    np.testing.assert_allclose(many.q[:, 1], run.q[: len(many)], atol=1e-12)


def test_constraints_of_speeds_held_by_gains():
    """What the wheels slip is much less than where nothing holds them."""
    robot = caster_table(gravity=(0.3, 0.1, -9.81))
    q, v = straight(robot, 0.5)
    q[3] += 0.3
    v = robot.consistent_velocity(q, v)

    def slip(gains):
        run = rd.simulate(robot, q0=q, v0=v, duration=4.0, step=0.05, stabilization=gains)
        return np.abs(np.einsum("tij,tj->ti", robot.loop_jacobian(run.q), run.v))[-20:].max()

    assert slip((10.0, 0.0)) < 0.1 * slip((0.0, 0.0))


def test_a_driven_joint_of_a_linkage_held_by_gains():
    robot = load("five_bar")
    k = robot.joints["left_drive"].v.start
    v0 = robot.consistent_velocity(robot.neutral(), 0.6 * np.eye(robot.nv)[k], hold=["left_drive"])
    gaps = []
    for step in (4e-3, 2e-3):
        options = {"v0": v0, "duration": 0.6, "step": step, "controlled": {"left_drive": path}}
        held = rd.simulate(robot, stabilization=(20.0, 20.0), **options)
        closed = rd.simulate(robot, **options)
        q, tau = np.abs(held.q - closed.q).max(), np.abs(held.tau - closed.tau).max()
        gaps.append([q, tau / np.abs(closed.tau).max(), held.loop_residual.max()])
        assert closed.loop_residual.max() < 1e-10
    # what gains leave open are the errors of the steps, which are of fourth order
    assert (gaps[0] < 2.0 * np.array([7.5e-7, 1e-6, 1.2e-7])).all(), gaps
    assert (np.divide(*gaps) > 12.0).all(), gaps


def test_gains_that_let_loops_come_apart():
    with pytest.raises(rd.SimulationError, match=r"come apart .* take larger gains or shorter"):
        rd.simulate(load("five_bar"), duration=3.0, step=0.03, stabilization=(0.0, 0.0))


def parallelogram():
    """Lies flat at zero; its drive, at the ground, counts from there."""
    body = rd.Inertia(1.0, Pose((0.1, 0.0, 0.0)), ixx=0.01, iyy=0.01, izz=0.01)
    links = (Link("ground"), *(Link(name, body) for name in ("crank", "coupler", "rocker")))
    hinge = {"kind": "continuous", "axis": (0.0, 1.0, 0.0)}
    joints = (
        Joint("drive", parent="ground", child="crank", **hinge),
        Joint("pin", parent="crank", child="coupler", origin=Pose((0.2, 0.0, 0.0)), **hinge),
        Joint("pivot", parent="ground", child="rocker", origin=Pose((0.4, 0.0, 0.0)), **hinge),
    )
    ends = Pose((0.4, 0.0, 0.0)), Pose((0.2, 0.0, 0.0))
    loop = Loop("end", "revolute", "coupler", "rocker", *ends, axis=hinge["axis"])
    return rd.load(rd.Mechanism("parallelogram", links, joints, loops=(loop,)))


@pytest.mark.parametrize("integrator", [
    "euler", "semi_implicit", "rk4", "adaptive", "variational", "implicit", "auto", "scipy:RK45",
])  # fmt: skip
@pytest.mark.parametrize("first", [-0.3, -0.3043, 0.0])
def test_every_integrator_tells_of_a_singular_posture_in_the_same_words(integrator, first):
    """Whether its steps end there, or pass it: the other way on turns the rocker most.

    All bars lie along x at zero, where the loop asks for 0.6 drive + 0.4 pin = 0.2 pivot. Beside
    the motion (1, -1, 1) that allows (0.2, -0.8, -1).
    """
    robot = parallelogram()
    with warnings.catch_warnings(record=True, action="always") as found:
        try:
            rd.simulate(
                robot, q0=[first, -first, first], v0=[1.0, -1.0, 1.0], duration=0.2,
                step=0.01, integrator=integrator, limits="ignore",
            )  # fmt: skip
        except rd.SimulationError as error:
            told = [str(error)]
        else:
            own = [x for x in found if x.category is SingularWarning]
            told = [text for text in (str(x.message) for x in own) if "the motion" in text]
    assert len(told) == 1
    words = re.match(
        r"the motion of 'parallelogram' comes to a singular posture at t = (\S+) s, where .* joint "
        r"'(\w+)' goes on: their least singular value is (\S+) at q = \[(.*)\]", told[0]
    )  # fmt: skip
    time, joint, least, posture = words.groups()
    np.testing.assert_allclose([float(x) for x in posture.split(",")], 0.0, atol=2e-3)
    assert float(time) == pytest.approx(0.094 if first else 0.0, abs=0.005)
    assert joint == "pivot"
    assert float(least) < 1e-4


@pytest.mark.parametrize("beside", [1e-11, 1e-9])
def test_a_motion_that_ends_at_a_singular_posture_says_so(beside):
    """A sample stands almost where the bars are flat: rounding decides the forces there."""
    robot = parallelogram()

    def run(first):
        return rd.simulate(
            robot,
            q0=[first, -first, first],
            v0=[1.0, -1.0, 1.0],
            controlled={"drive": lambda t: (first + t, 1.0, 0.0)},
            duration=0.5,
            step=0.01,
        )

    with pytest.raises(
        rd.SimulationError, match=r"comes to a singular posture at t = 0.3 s"
    ) as caught:
        run(-0.3 - beside)
    assert "step is too long" not in str(caught.value)
    assert caught.value.trajectory.t[-1] == pytest.approx(0.3)
    np.testing.assert_allclose(run(-0.304).q[-1], [0.196, -0.196, 0.196], atol=1e-9)


def samples(robot, *drive, pivot=()):
    """Of a parallelogram at some angles, and of one at rest; with speeds that open the loops."""
    q = np.array([[[x, -x, x], [0.5, -0.5, 0.5]] for x in drive])
    for k, gap in pivot:
        q[k, 0, 2] += gap / 0.2
    return np.linspace(0.0, 1.0, len(q)), q, np.ones((*q.shape[:2], robot.nv))


@pytest.mark.filterwarnings("ignore::robodyn.errors.SingularWarning")  # of the zero position
def test_samples_are_wrong_where_loops_are_apart_or_rounding_decides():
    """A motion goes on with gaps that are somewhat larger than those of states may be."""
    robot = parallelogram()
    somewhat, apart = 8e-7, 1e-3
    fine = samples(robot, 0.3, 0.4, 0.5, pivot=[(1, somewhat)])
    with pytest.raises(rd.InconsistentStateError):
        robot.check_state(fine[1], 0.0 * fine[2])
    assert first_wrong_sample(robot, *fine) is None
    of_all = [(1, somewhat), (2, apart)]
    k, error = first_wrong_sample(robot, *samples(robot, 0.3, 0.4, 0.5, pivot=of_all))
    assert (k, type(error)) == (2, rd.AssemblyError)
    assert "come apart by 0.001 m ('end')" in str(error)
    for singular, first in ((0, 0), (3, 2)):
        drive = [0.3, 0.4, 0.5, 0.6]
        drive[singular] = 0.0
        k, error = first_wrong_sample(robot, *samples(robot, *drive, pivot=of_all))
        assert (k, type(error)) == (first, rd.AssemblyError if first else rd.SingularError)


@pytest.mark.slow
def test_loops_are_closed_where_straight_line_code_gives_no_numbers():
    """The rods of some of the arms stand where speeds of their limb have no large pivot."""
    robot, rng = load("delta"), np.random.default_rng(0)
    q = np.array([robot.random(rng) for _ in range(20)])
    v = robot.consistent_velocity(q, 10.0 * rng.normal(size=(20, robot.nv)))
    options = {"duration": 0.02, "limits": "ignore"}
    run = rd.rollout(robot, None, q, v, step=1e-3, **options)
    finer = rd.rollout(robot, None, q, v, step=5e-4, **options)
    assert run.loop_residual.max() < 1e-9
    np.testing.assert_allclose(run.q[-1], finer.q[-1], atol=1e-3)
