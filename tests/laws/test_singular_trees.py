"""Trees in postures where a joint moves no mass: right to the digits that are left, or an error."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.description import Inertia, Joint, Limits, Link, Mechanism, Pose
from robodyn.equations.catalogue import trace
from robodyn.symbolic.evaluate import evaluate

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
HEAVY = Inertia(2.0, Pose((0.1, 0.2, 0.3)), 0.02, 0.0, 0.0, 0.03, 0.0, 0.04)
QUARTER = np.pi / 2


def chain(*parts):
    """Joints (name, kind, axis, origin) over links with inertias or none."""
    links, joints = [Link("base")], []
    for k, (name, kind, axis, place, inertia) in enumerate(parts):
        links.append(Link(f"link{k}", inertia))
        parent = links[k].name
        joints.append(Joint(name, kind, parent, f"link{k}", Pose(place), axis, limits=Limits()))
    return Mechanism("chain", tuple(links), tuple(joints))


def gimbal():
    """Three pins over massless rings: locked where the outer and the inner axis are one."""
    O = (0.0, 0.0, 0.0)
    return chain(
        ("arm", "revolute", Z, O, HEAVY),
        ("outer", "revolute", X, (0.3, 0.0, 0.1), None),
        ("middle", "revolute", Y, O, None),
        ("inner", "revolute", Z, O, HEAVY),
        ("hand", "revolute", Y, (0.2, 0.1, 0.0), HEAVY),
    )


def mapped():
    """A gimbal by a user's map: roll, pitch and yaw."""

    def turn(q):
        (cr, cp, cy), (sr, sp, sy) = map(rd.cos, q), map(rd.sin, q)
        return [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr, 0.0],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr, 0.0],
            [-sp, cp * sr, cp * cr, 0.0],
            [0.0, 0.0, 0.0, 1.0],
        ]

    arm = chain(("arm", "revolute", Z, (0.0, 0.0, 0.0), HEAVY))
    joint = Joint("map", "map", "link0", "top", Pose((0.1, 0.0, 0.2)), map=rd.JointMap(3, turn))
    return Mechanism("mapped", (*arm.links, Link("top", HEAVY)), (*arm.joints, joint))


def crank():
    """A mass that a crank moves along a line: not at its dead points."""

    def slide(q):
        return [[1.0, 0.0, 0.0, rd.cos(q[0])], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0],
                [0.0, 0.0, 0.0, 1.0]]  # fmt: skip

    arm = chain(("arm", "revolute", Z, (0.0, 0.0, 0.0), HEAVY))
    joint = Joint(
        "crank", "map", "link0", "block", Pose((0.1, 0.0, 0.2)), map=rd.JointMap(1, slide)
    )
    return Mechanism("crank", (*arm.links, Link("block", HEAVY)), (*arm.joints, joint))


def arm_through_its_axis():
    """A point mass on a massless arm that slides through the axis of the arm."""
    return chain(
        ("turn", "revolute", Z, (0.0, 0.0, 0.0), None),
        ("slide", "prismatic", X, (0.0, 0.0, 0.0), Inertia(3.0)),
    )


#: Name -> (mechanism, posture where it is singular, coordinate that leads out of it, at fault).
CASES = {
    "gimbal": (gimbal, [0.3, -0.4, QUARTER, 0.2, 0.5], 2, {"outer", "inner"}),
    "mapped": (mapped, [0.3, 0.2, QUARTER, 0.4], 2, {"map"}),
    "crank": (crank, [0.3, 0.0], 1, {"crank"}),
    "mass on the axis": (arm_through_its_axis, [0.4, 0.0], 1, {"turn"}),
}
OFFSETS = [0.0, *(s * 10.0**-k for k in range(3, 17) for s in (1, -1))]


def load(name):
    return rd.load(CASES[name][0](), passive=False, allow_unphysical=True)


def posture(name, offset):
    _, q, k, _ = CASES[name]
    q = np.array(q)
    q[k] += offset
    return q


def reference(robot, q, v, tau):
    """Accelerations in long double precision, by elimination with pivoting."""
    setup = robot.model.setup
    M, h = (
        evaluate(trace(name, setup, {}), *arrays, dtype=np.longdouble)[0]
        for name, arrays in (("mass_matrix", (q,)), ("bias_forces", (q, v)))
    )
    A = np.column_stack([M, tau - h])
    n = len(h)
    for k in range(n):
        pivot = k + np.argmax(np.abs(A[k:, k]))
        A[[k, pivot]] = A[[pivot, k]]
        if A[k, k] == 0.0:
            return None
        for i in range(n):
            if i != k:
                A[i] -= A[i, k] / A[k, k] * A[k]
    return A[:, n] / np.diag(A)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("offset", OFFSETS)
def test_right_or_refused(name, offset):
    robot = load(name)
    rng = np.random.default_rng(5)
    q, v, tau = posture(name, offset), *rng.normal(size=(2, robot.nv))
    expected = reference(robot, q, v, tau)
    for _ in range(2):  # also once it is bound
        try:
            a = robot.forward_dynamics(q, v, tau)
        except rd.SingularError as error:
            assert set(error.joints) == CASES[name][3]
            assert abs(offset) < 1e-5, "so far from the singular posture it is determined"
            continue
        assert abs(offset) > 1e-12, "so near to the singular posture no digit is left"
        np.testing.assert_allclose(a, expected.astype(float), rtol=1e-3)
        if abs(offset) >= 1e-4:
            np.testing.assert_allclose(a, expected.astype(float), rtol=1e-6)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("offset", [0.0, *(10.0**-k for k in range(1, 9))])
def test_right_or_refused_in_single_precision(name, offset):
    robot = load(name)
    given = posture(name, offset), *np.random.default_rng(5).normal(size=(2, robot.nv))
    q, v, tau = (x.astype(np.float32) for x in given)
    expected = reference(robot, *(x.astype(float) for x in (q, v, tau)))
    for _ in range(2):
        try:
            a = robot.forward_dynamics(q, v, tau)
        except rd.SingularError as error:
            assert set(error.joints) == CASES[name][3]
            assert offset < 0.05
            continue
        assert a.dtype == np.float32
        assert np.abs(a - expected).max() <= 3e-3 * np.abs(expected).max()


@pytest.mark.parametrize("name", CASES)
def test_every_method_that_solves_refuses(name):
    robot, fault = load(name), CASES[name][3]
    good, bad = posture(name, 0.5), posture(name, 0.0)
    zero, one = np.zeros(robot.nv), np.ones(robot.nv)
    calls = {
        "forward_dynamics": lambda q: robot.forward_dynamics(q, zero, one),
        "hybrid_dynamics": lambda q: robot.hybrid_dynamics(q, zero).a,
        "mass_matrix_inverse": lambda q: robot.mass_matrix_inverse(q),
        "constrained_dynamics": lambda q: robot.constrained_dynamics(q, zero, one).a,
    }
    for what, call in calls.items():
        for _ in range(2):
            assert np.isfinite(call(good)).all(), what
            with pytest.raises(rd.SingularError) as error:
                pytest.fail(f"{what}: {call(bad)}")
            assert error.value.rows == () and "batch" not in str(error.value), what
            assert fault <= {x.partition("[")[0] for x in error.value.joints}, what
        batch = np.array([good, bad, good, good, bad])
        with pytest.raises(rd.SingularError) as error:
            call(batch)
        assert error.value.rows == (1, 4), what
        assert ", in states 1, 4 of the batch: " in str(error.value), what
        assert fault <= {x.partition("[")[0] for x in error.value.joints}, what
    a = robot.function("forward_dynamics")(batch, zero, one)
    assert np.isnan(a[[1, 4]]).any(axis=-1).all() and np.isfinite(a[[0, 2, 3]]).all()


def test_a_joint_that_is_driven_determines_the_others():
    robot = load("gimbal")
    q, v = posture("gimbal", 0.0), np.zeros(5)
    found = robot.hybrid_dynamics(q, v, controlled={"inner": 1.0})
    assert np.isfinite(found.a).all() and found.a[3] == 1.0
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, found.a), found.tau, atol=1e-9)
    with pytest.raises(rd.SingularError) as error:
        robot.hybrid_dynamics(q, v, controlled={"hand": 1.0})
    assert set(error.value.joints) == {"outer", "inner"}


def test_masses_that_are_next_to_nothing():
    tiny = Inertia(1e-310, Pose((0.1, 0.0, 0.0)), 1e-310, 0.0, 0.0, 1e-310, 0.0, 1e-310)
    robot = rd.load(chain(("pin", "revolute", Y, (0.0, 0.0, 0.0), tiny)), allow_unphysical=True)
    for tau in ([0.0], [1.0]):
        with pytest.raises(rd.SingularError) as error:
            robot.forward_dynamics([0.1], [0.0], tau)
        assert error.value.joints == ("pin",)


@pytest.mark.parametrize("spin", [0.0, 1e-12, 1e-3])
def test_a_hinge_that_can_point_along_another(spin):
    """A rod without spin, on a massless fork: nothing turns where it stands upright."""
    rod = Inertia(1.0, Pose((0.0, 0.0, 0.5)), 0.1, 0.0, 0.0, 0.1, 0.0, spin)
    fork = chain(
        ("turn", "revolute", Z, (0.0,) * 3, None), ("lift", "revolute", Y, (0.0,) * 3, rod)
    )
    robot = rd.load(fork, passive=False, allow_unphysical=True)
    assert bool(robot.model.bodies.light) == (spin < 1e-6)
    v, tau = np.array([0.3, 0.4]), np.array([0.5, 0.6])
    for lift in (0.0, 1e-9, 1e-6, 1e-3, 0.1, np.pi):
        q = np.array([0.2, lift])
        try:
            a = robot.forward_dynamics(q, v, tau)
        except rd.SingularError as error:
            assert error.joints == ("turn",) and spin < 1e-6 and min(lift, abs(lift - np.pi)) < 1e-5
            continue
        expected = reference(robot, q, v, tau)
        np.testing.assert_allclose(a, expected.astype(float), rtol=1e-6)


@pytest.mark.parametrize("many", [False, True])
def test_a_motion_into_a_singular_posture(many):
    """What came before is kept, with the time; the joints stand in the error that caused it."""
    robot = load("mass on the axis")
    q0, v0 = np.array([0.4, 0.5]), np.array([0.3, -1.0])
    run = rd.rollout if many else rd.simulate
    inward = {"slide": lambda t: (0.5 - t, -1.0, 0.0)}
    if many:
        q0, v0 = np.tile(q0, (3, 1)), np.tile(v0, (3, 1))
    with pytest.raises(rd.SimulationError, match=r"at t = 0\.5 s joints turn of") as caught:
        run(robot, None, q0=q0, v0=v0, controlled=inward, duration=1.0, step=1 / 64)
    assert caught.value.time == 0.5
    assert caught.value.trajectory.t[-1] == 0.5 - 1 / 64
    assert isinstance(caught.value.__cause__, rd.SingularError)
    assert caught.value.__cause__.joints == ("turn",)
