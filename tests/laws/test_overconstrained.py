"""Spatial overconstrained linkages: right wherever the rank of the loops is what it is elsewhere.

Along a closed path of each ring there are postures at which some choice of as many rows as the rank
becomes dependent, though all rows together are not singular. There and beside them functions and
methods have to give what singular value decompositions with the known rank give.
"""

import functools
import itertools

import numpy as np
import pytest
from support.compiled_c import c_library, pointers
from support.overconstrained_linkages import RINGS, ring, two_rings

import robodyn as rd
from robodyn.closed_loops.rank.analysis import motors_of
from robodyn.closed_loops.solvers.rank import rank_analysis
from robodyn.equations.elimination.constrained import RowGroup, accelerations, motor_forces
from robodyn.simulation import Trajectory
from robodyn.symbolic.constraint_row import Row

#: Rings, and where they are cut.
CASES = [
    ("bennett", -1), ("bennett", 2), ("line_symmetric", 0), ("line_symmetric", 2),
    ("plane_symmetric", -1), ("sarrus", 0), ("sarrus", 2), ("parallelogram", 0),
    ("spherical_four_bar", -1),
]  # fmt: skip

#: Of results.
TOLERANCE = 1e-10


@functools.cache
def loaded(name, cut=-1):
    """A robot with a motor on one hinge beside the cut."""
    if name == "bricard":
        return rd.load("bricard", passive=False)
    mechanism, motors = ring(name, cut)
    return rd.load(mechanism, actuators={m: rd.Actuator() for m in motors}, passive=False)


def rank_of(robot):
    return robot.nv - robot.dof


def motions(robot, q):
    """Orthonormal motions that the loops leave, as columns, whatever rounding says of the rank."""
    return np.linalg.svd(robot.loop_jacobian(q))[2][..., rank_of(robot) :, :].swapaxes(-1, -2)


def closed(robot, q):
    """A closed posture near one that is nearly so, by Newton's method with the rank known."""
    rank = rank_of(robot)
    for _ in range(8):
        U, sizes, Vt = np.linalg.svd(robot.loop_jacobian(q))
        gap = U[:, :rank].T @ robot.loop_residual(q)
        q = robot.integrate(q, -Vt[:rank].T @ (gap / sizes[:rank]))
    return q


def path(robot, steps=120, stride=0.1):
    """Postures along the motion of a linkage with one degree of freedom."""
    q = robot.random(3)
    along = motions(robot, q)[:, 0]
    postures = [q]
    for _ in range(steps):
        q = closed(robot, robot.integrate(q, stride * along))
        z = motions(robot, q)[:, 0]
        along = z * np.sign(z @ along)
        postures.append(q)
    assert np.abs(robot.loop_residual(np.array(postures))).max() < 1e-12
    return np.array(postures)


def on_the_way(robot, q0, q1, part):
    """A closed posture between two neighbours."""
    return closed(robot, robot.integrate(q0, part * robot.difference(q0, q1)))


def regular(robot, q):
    """Neither the loops nor the motor are near a singular posture."""
    K = robot.loop_jacobian(q)
    sizes = np.linalg.svd(K, compute_uv=False)
    return sizes[rank_of(robot) - 1] > 0.02 and np.abs(motions(robot, q)[crank(robot)]).max() > 0.05


def crank(robot):
    return robot.joint_names.index(robot.actuated_joints[0])


def where_rows_fail(robot, most=8):
    """Regular postures at which some rows, as many as the rank, depend on one another."""
    others = [k for k in range(robot.nv) if k != crank(robot)]
    subsets = list(itertools.combinations(range(robot.nc), rank_of(robot)))

    def minors(q):
        K = robot.loop_jacobian(q)[:, others]
        return np.array([np.linalg.det(K[list(rows)]) for rows in subsets])

    way = path(robot)
    sizes = np.array([minors(q) for q in way])
    found = []
    for n, k in zip(*np.nonzero(sizes[1:] * sizes[:-1] < 0.0), strict=True):
        low, high = 0.0, 1.0
        if np.abs(sizes[:, k]).max() < 1e-9:
            continue  # these rows never suffice
        for _ in range(45):
            middle = 0.5 * (low + high)
            value = minors(on_the_way(robot, way[n], way[n + 1], middle))[k]
            low, high = (middle, high) if value * sizes[n, k] > 0.0 else (low, middle)
        q = on_the_way(robot, way[n], way[n + 1], low)
        if regular(robot, q):
            found.append(q)
    return found[:: max(1, len(found) // most)]


def beside(robot, postures):
    """These postures, and some on either side of each."""
    steps = [0.0, *(sign * 10.0**n for n in (-9, -7, -6, -5, -4, -3) for sign in (1, -1))]
    return np.array(
        [
            on_the_way(robot, q, robot.integrate(q, motions(robot, q)[:, 0]), step)
            for q in postures
            for step in steps
        ]
    )


def states(robot, postures, seed=0):
    """Speeds, forces, and the accelerations and motor forces that belong to them."""
    rng = np.random.default_rng(seed)
    rank, driven = rank_of(robot), [crank(robot)]
    result = []
    for q in postures:
        Z = motions(robot, q)
        v, tau = Z @ rng.normal(size=Z.shape[1]), rng.normal(size=robot.nv)
        M, h = robot.mass_matrix(q), robot.bias_forces(q, v)
        U, sizes, Vt = np.linalg.svd(robot.loop_jacobian(q))
        a0 = -Vt[:rank].T @ (U[:, :rank].T @ robot.loop_bias(q, v) / sizes[:rank])
        a = a0 + Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ (tau - h - M @ a0))
        needed = np.zeros(robot.nv)
        needed[driven] = np.linalg.solve(Z[driven].T, Z.T @ (M @ a + h))
        result.append((v, tau, a, needed))
    return [np.array(x) for x in zip(*result, strict=True)]


def agree(x, y):
    np.testing.assert_array_less(
        np.abs(x - y).max(axis=-1), TOLERANCE * np.abs(y).max(axis=-1), strict=False
    )


@functools.cache
def trial(name, cut):
    robot = loaded(name, cut)
    postures = where_rows_fail(robot)
    q = beside(robot, postures) if postures else path(robot, 20)
    q = np.array([x for x in q if regular(robot, x)])
    return robot, q, *states(robot, q)


@pytest.mark.parametrize(("name", "cut"), [("bricard", 0), *CASES])
def test_functions_methods_and_batches_are_right_where_some_rows_are_dependent(name, cut):
    robot, q, v, tau, a, needed = trial(name, cut)
    forward, inverse = robot.function("forward_dynamics"), robot.function("inverse_dynamics")
    agree(forward(q, v, tau), a)
    agree(inverse(q, v, a), needed)
    agree(robot.forward_dynamics(q, v, tau), a)
    agree(robot.inverse_dynamics(q, v, a), needed)
    for k in range(0, len(q), 7):
        agree(forward(q[k], v[k], tau[k]), a[k])
        agree(inverse(q[k], v[k], a[k]), needed[k])
        agree(robot.forward_dynamics(q[k], v[k], tau[k]), a[k])
        agree(robot.inverse_dynamics(q[k], v[k], a[k]), needed[k])


def test_there_are_such_postures():
    for name, cut in [("bricard", 0), ("line_symmetric", 0), ("bennett", -1), ("sarrus", 2)]:
        assert where_rows_fail(loaded(name, cut)), name


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics"])
def test_c_source_is_right_there_too(name, tmp_path):
    robot, q, v, tau, a, needed = trial("line_symmetric", 0)
    f = c_library(tmp_path, robot.function(name).c_source("f")).f
    given, expected = (tau, a) if name == "forward_dynamics" else (a, needed)
    for k in range(len(q)):
        out = np.zeros(robot.nv)
        f(*pointers(q[k], v[k], given[k], out))
        agree(out, expected[k])


def test_hybrid_dynamics_where_some_rows_are_dependent():
    """The crank is driven as it moves anyway: its torque is that of the free motion."""
    robot, q, v, tau, a, _ = trial("line_symmetric", 2)
    names = [robot.joint_names[crank(robot)]]
    f = robot.function("hybrid_dynamics", controlled=names)
    free = [k for k in range(robot.nv) if k != crank(robot)]
    found, forces = f(q, v, a[:, [crank(robot)]], tau[:, free])
    agree(found, a)
    agree(forces, tau)


@pytest.mark.parametrize("name", ["sarrus", "line_symmetric"])
def test_two_rings_that_hang_on_one_another(name):
    mechanism, _ = two_rings(name)
    robot = rd.load(mechanism, passive=False)
    assert robot.dof == 2
    f, rng = robot.function("forward_dynamics"), np.random.default_rng(0)
    for seed in range(20):
        q = robot.random(seed)
        Z = motions(robot, q)
        v, tau = Z @ rng.normal(size=2), rng.normal(size=robot.nv)
        M, h, k = robot.mass_matrix(q), robot.bias_forces(q, v), robot.loop_bias(q, v)
        a0 = -np.linalg.pinv(robot.loop_jacobian(q), rcond=1e-6) @ k
        a = a0 + Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ (tau - h - M @ a0))
        agree(f(q, v, tau), a)


def sides(robot, way):
    """Sign of the determinant of the dependent columns of K, in a range that turns on the way."""
    (driver,) = (robot.joint_names.index(name) for name in robot.independent_joints)
    K, Z = robot.loop_jacobian(way), motions(robot, way)[:, :, 0]
    U = np.linalg.svd(K)[0][:, :, : rank_of(robot)]
    for k in range(1, len(way)):
        U[k, :, 0] *= np.sign(np.linalg.det(U[k - 1].T @ U[k]))
        Z[k] *= np.sign(Z[k] @ Z[k - 1])
    # by Cramer's rule, with a motion as one more row
    rows = np.concatenate([np.swapaxes(U, 1, 2) @ K, Z[:, None]], axis=1)
    return np.linalg.det(rows) * Z[:, driver]


@pytest.mark.parametrize(("name", "cut"), [("bricard", 0), *CASES])
def test_the_branch_changes_at_singular_postures_and_dead_centres_and_nowhere_else(name, cut):
    robot = loaded(name, cut)
    way = path(robot)
    side = sides(robot, way)
    clear = np.abs(side) > 1e-6
    expected = np.diff(np.sign(side[clear])) != 0.0
    followed = robot.branch_sign(way, path=True)
    np.testing.assert_array_equal(np.diff(followed[clear]) != 0, expected)
    assert followed[0] == robot.branch_sign(way[0])
    if not robot.loops_analysis.choice.groups or name == "bennett":
        alone = robot.branch_sign(way)
        np.testing.assert_array_equal(np.diff(alone[clear]) != 0, expected)


def test_a_trajectory_tells_the_same_changes():
    robot = loaded("line_symmetric", 0)
    q = path(robot)
    side = sides(robot, q)
    rest, t = np.zeros((len(q), robot.nv)), np.arange(len(q)) * 0.1
    run = Trajectory(t, q, rest, rest, rest, t, t, robot.joint_names, robot)
    changes = np.diff(np.sign(side)) != 0.0
    assert 0 < changes.sum() < 10
    np.testing.assert_array_equal(run.branch_changes, t[1:][changes])


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_groups_of_any_rank_are_solved(rank):
    """What the matrix of the constraints has of rank is in its last rows, which are too many."""
    rng = np.random.default_rng(rank)
    A = rng.normal(size=(5, 5))
    M, force = A @ A.T + np.eye(5), rng.normal(size=5)
    K = np.concatenate(
        [rng.normal(size=(1, 5)), rng.normal(size=(4, rank)) @ rng.normal(size=(rank, 5))]
    )
    a = rng.normal(size=5)
    rows = [Row(0.0, dict(enumerate(row)), -float(np.dot(row, a))) for row in K.tolist()]
    groups = (RowGroup(rank, (1.0, 4.0, 1.0, 0.25)),)
    found, lam = accelerations(M.tolist(), force.tolist(), rows, groups=groups)
    np.testing.assert_allclose(K @ found, K @ a, rtol=0, atol=1e-10)
    np.testing.assert_allclose(M @ found, force + K.T @ lam, rtol=0, atol=1e-10)


def test_forces_of_more_rows_than_speeds():
    rng = np.random.default_rng(0)
    K = rng.normal(size=(5, 3)) @ rng.normal(size=(3, 4))
    needed = rng.normal(size=4)
    rows = [Row(0.0, dict(enumerate(row)), 0.0) for row in K.tolist()]
    for order in ((), ((2,),), ((4, 1),), ((0,), (3,)), ((2,), (4, 1))):
        tau, lam = motor_forces(needed.tolist(), rows, (3, 0, 2), order, (1.0, 16.0, 1.0, 4.0, 2.0))
        np.testing.assert_array_equal([tau[k] for k in (3, 0, 2)], 0.0)
        np.testing.assert_allclose(tau + K.T @ lam, needed, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["five_bar", "excavator", "steering", "stephenson", "palletizer"])
def test_pivots_of_motor_forces_are_large_at_postures_that_were_not_tried(name):
    """A pivot that is a fair part of what is left of its row bounds what elimination adds."""
    robot = rd.load(name)
    choice, rng = robot.loops_analysis.choice, np.random.default_rng(7)
    some, others = (np.array([robot.random(rng) for _ in range(40)]) for _ in range(2))
    actuated = tuple(robot.joint_names.index(n) for n in robot.actuated_joints)
    K = robot.loop_jacobian(np.concatenate([some, others]))[:, list(choice.rows)]
    motors = motors_of(K[:40], choice, robot.loops_analysis.rank, actuated)
    assert [len(block) for block in motors.order] == [1] * len(motors.dependent)
    order = [row for (row,) in motors.order]
    A = np.swapaxes(K[40:, order][:, :, list(motors.dependent)], 1, 2).copy()
    for k in range(len(order)):
        assert (np.abs(A[:, k, k]) > 0.05 * np.abs(A[:, k, k:]).max(axis=1)).all()
        A -= (A[:, :, k] / A[:, k, k, None])[:, :, None] * A[:, k, None]


def test_rounding_of_least_squares_does_not_grow_with_the_square_of_the_condition():
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.normal(size=(n, 3)))[0] for n in (5, 3))
    K = np.zeros((5, 4))
    K[:, :3] = U @ np.diag([1.0, 1e-3, 1e-5]) @ V.T
    lam = U @ rng.normal(size=3)
    needed = K.T @ lam
    rows = [Row(0.0, dict(enumerate(row)), 0.0) for row in K.tolist()]
    _, found = motor_forces(needed.tolist(), rows, (0, 1, 2), ())
    np.testing.assert_allclose(found, lam, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", sorted(RINGS))
def test_rings_of_all_kinds_are_as_mobile_as_they_should_be(name):
    robot = loaded(name)
    assert robot.dof == RINGS[name][1]
    assert robot.loops_analysis.choice is not None


@pytest.mark.parametrize("name", ["bennett", "sarrus", "line_symmetric"])
def test_rounding_of_states_does_not_decide_which_rows_follow_from_others(name):
    """Loops may be open by as much as states are rounded; no solver may see a frame in that."""
    robot, rng = rd.load(ring(name)[0]), np.random.default_rng(0)
    q, forces = robot.random(rng), rng.normal(size=robot.nv)
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    a = robot.consistent_acceleration(q, v, rng.normal(size=robot.nv))
    moved = rng.normal(size=robot.nv)
    rounded = [(robot.integrate(q, x * moved), v, a, forces) for x in (1e-10, 1e-8, 1e-7)]
    rounded.append(tuple(x.astype(np.float32) for x in (q, v, a, forces)))
    driven = {robot.joint_names[0]: 1.0}

    def found(q, v, a, tau):
        batch = np.array([q, q])
        return {
            "mobility": robot.mobility(q),
            "rank": robot.loop_rank(batch).rank,
            "solved": robot.constrained_dynamics(q, v, tau).a,
            "batch": robot.constrained_dynamics(batch, v, tau).a,
            "tau": robot.inverse_dynamics(q, v, a),
            "wrench": np.concatenate([*robot.joint_wrenches(q, v, tau=tau).values()]),
            "driven": robot.hybrid_dynamics(q, v, controlled=driven).a,
        }

    known = found(q, v, a, forces)
    for state in rounded:
        for what, x in found(*state).items():
            size = max(1.0, np.abs(known[what]).max())
            np.testing.assert_allclose(x, known[what], rtol=0.0, atol=1e-5 * size, err_msg=what)


def test_the_rank_of_postures_that_are_open_is_theirs():
    """Such a posture is asked about as it is; only what may be rounding is closed."""
    robot, rng = rd.load("four_bar"), np.random.default_rng(0)
    q = robot.integrate(robot.neutral(), 0.1 * rng.normal(size=robot.nv))
    found, known = robot.loop_rank(q), rank_analysis(robot.loop_jacobian(q))
    np.testing.assert_allclose(found.singular_values, known.singular_values, rtol=1e-12)
