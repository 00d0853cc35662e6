"""Residual, Jacobian, bias and rank of the loops of the bundled mechanisms; batches; float32."""

import functools

import numpy as np
import pytest
from scipy.linalg import null_space
from support.closed_cases import BASES, CLOSED, Case, case, close, fit
from support.known_linkages import cube_state

import robodyn as rd

every = pytest.mark.parametrize(("name", "base"), BASES)


@every
def test_loops_are_closed(name, base):
    c = case(name, base)
    for q in (c.robot.neutral(), c.q):
        assert np.abs(c.robot.loop_residual(q)).max() < 1e-11
        gap, _ = c.oracle.loop_errors(q, np.zeros(c.robot.nv))
        assert np.abs(gap).max() < 1e-9
    assert np.abs(c.oracle.loop_errors(c.q, c.v)[1]).max() < 1e-9


@every
@pytest.mark.parametrize("what", ["velocity", "acceleration"])
def test_held_joints_keep_their_rates_and_the_others_are_nearest(name, base, what):
    c = case(name, base)
    robot, q, v = c.robot, c.q, c.v
    joints = [x for x in robot.independent_joints if "[" not in x and x != "floating_base"]
    held = joints[: max(1, len(joints) // 2)]
    wanted = np.random.default_rng(3).normal(size=robot.nv)
    if what == "velocity":
        found, bias = robot.consistent_velocity(q, wanted, hold=held), 0.0
    else:
        found = robot.consistent_acceleration(q, v, wanted, hold=held)
        bias = robot.loop_bias(q, v)
        batch = robot.consistent_acceleration(np.tile(q, (3, 1)), v, wanted, hold=held)
        close(batch, np.tile(found, (3, 1)), 1e-12)
        with pytest.raises(rd.UnknownNameError):
            robot.consistent_acceleration(q, v, wanted, hold=["nowhere"])
    K = robot.loop_jacobian(q)
    close(K @ found, -bias + np.zeros(len(K)), 1e-9)
    own = [k for x in held for k in range(robot.nv)[robot.joints[x].v]]
    np.testing.assert_array_equal(found[own], wanted[own])
    free = np.setdiff1d(np.arange(robot.nv), own)
    kept = null_space(K[:, free])
    close(kept.T @ (robot.mass_matrix(q) @ (found - wanted))[free], np.zeros(kept.shape[1]), 1e-9)


def rate(f, h=1e-3):
    """Derivative at zero, to fourth order."""
    return (8.0 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12.0 * h)


@pytest.mark.parametrize("open_by", [0.0, 0.3])
@every
def test_the_jacobian_is_the_derivative_and_the_bias_its_rate(name, base, open_by):
    """At closed postures, and at open ones."""
    c, rng = case(name, base), np.random.default_rng(1)
    r, (v, away) = c.robot, rng.normal(size=(2, c.robot.nv))
    q = r.integrate(c.q, open_by * away)
    close(r.loop_jacobian(q) @ v, rate(lambda t: r.loop_residual(r.integrate(q, t * v))), 1e-8)
    moved = rate(lambda t: r.loop_jacobian(r.integrate(q, t * v)) @ v)
    close(r.loop_bias(q, v), moved, 1e-8)


@every
def test_mobility_is_that_of_the_oracle(name, base):
    c, (dof, redundant) = case(name, base), CLOSED[name]
    free = 6 if base == "floating" else 0
    assert c.robot.dof == dof + free
    for q in (c.robot.neutral(), c.q):
        assert c.robot.mobility(q) == dof + free
        if base != "moving":
            assert c.oracle.mobility(q) == dof + free
    assert len(c.robot.redundant_constraints) == redundant


@every
def test_independent_joints_determine_all_others(name, base):
    r = case(name, base).robot
    Z = fit(r.loop_jacobian(r.neutral()))
    speeds = [k for n in r.independent_joints for k in range(r.nv)[r.joints[n].v]]
    assert len(speeds) == r.dof
    assert np.linalg.svd(Z[speeds])[1][-1] > 1e-3
    if name != "two_feet":
        motors = {"floating_base"} if base == "floating" else set()
        assert set(r.independent_joints) == motors | set(r.actuated_joints)


@every
def test_redundant_rows_follow_from_those_named(name, base):
    r = case(name, base).robot
    K, names = r.loop_jacobian(r.neutral()), r.constraint_names
    assert len(set(names)) == r.nc == len(K)
    found = r.redundant_constraints
    for row, others in found.items():
        assert row not in others
        rows = K[[names.index(n) for n in others]].reshape(-1, r.nv)
        weights = np.linalg.lstsq(rows.T, K[names.index(row)], rcond=None)[0]
        close(weights @ rows, K[names.index(row)])
    left = K[[k for k, n in enumerate(names) if n not in found]]
    assert len(left) == np.linalg.matrix_rank(K, 1e-9) == np.linalg.matrix_rank(left, 1e-9)


# Compiled code, of some.


@functools.cache
def compiled(name):
    c = case(name)
    robot = rd.load(name, gravity=c.robot.gravity, passive=False)
    states = [(s.q, s.v, s.tau) for s in (Case(name, seed=s) for s in range(5, 9))]
    return robot, *(np.array(x) for x in zip(*states, strict=True))


def results(robot, q, v, tau):
    """Of one state or many, by name."""
    a = robot.forward_dynamics(q, v, tau)
    controlled = {n: a[..., robot.joints[n].v.start] for n in robot.independent_joints}
    constrained = robot.constrained_dynamics(q, v, tau)
    hybrid = robot.hybrid_dynamics(q, v, controlled=controlled)
    wrenches = robot.joint_wrenches(q, v, a)
    return {
        "residual": robot.loop_residual(q),
        "K": robot.loop_jacobian(q),
        "bias": robot.loop_bias(q, v),
        "a": a,
        "stabilised": robot.forward_dynamics(q, v, tau, stabilization=(5.0, 5.0)),
        "tau": robot.inverse_dynamics(q, v, a),
        "a_hybrid": hybrid.a,
        "tau_hybrid": hybrid.tau,
        "lam_hybrid": hybrid.multipliers,
        "a_constrained": constrained.a,
        "lam": constrained.multipliers,
        "rank": constrained.rank,
        "base": wrenches["base"],
        "cut": wrenches[robot.loops[0].name],
        "consistent": robot.consistent_velocity(q, tau),
        "fitting": robot.consistent_acceleration(q, v, tau),
        "state": np.concatenate(robot.closed_state(q, tau), axis=-1),
    }


SOME = ("bricard", "five_bar", "two_feet", "watt")


@pytest.mark.parametrize("name", SOME)
def test_a_batch_is_a_loop_over_its_rows(name):
    robot, q, v, tau = compiled(name)
    batch = results(robot, *(x.reshape(2, 2, -1) for x in (q, v, tau)))
    for k in range(4):
        for key, one in results(robot, q[k], v[k], tau[k]).items():
            assert batch[key].shape == (2, 2, *np.shape(one)), key
            close(batch[key][k // 2, k % 2], one, 1e-10)


@pytest.mark.parametrize("name", SOME)
def test_machine_code_and_interpreter_agree(name):
    robot, q, v, tau = compiled(name)
    plain = results(case(name).robot, q, v, tau)
    for key, x in results(robot, q, v, tau).items():
        close(x, plain[key], 1e-9)


def test_inverse_of_forward_in_single_precision():
    robot, rng = compiled("bricard")[0], np.random.default_rng(0)
    for q2 in np.linspace(-0.4, 3.5, 60):
        q, v = (x.astype(np.float32) for x in cube_state(q2, 2.0))
        a = robot.forward_dynamics(q, v, rng.normal(size=5).astype(np.float32))
        tau = robot.inverse_dynamics(q, v, a)
        again = robot.forward_dynamics(q, v, tau)
        # single precision: some five digits go where the cube is nearly flat
        np.testing.assert_allclose(again, a, atol=1e-2 * max(1.0, np.abs(a).max()))


def test_the_rank_revealing_solve_in_single_precision():
    """Redundant rows are seen as such: the linkage moves as in double precision."""
    robot, rng = compiled("bricard")[0], np.random.default_rng(1)
    for q2 in np.linspace(0.2, 1.2, 10):
        q, v = cube_state(q2, 2.0)
        tau = rng.normal(size=5)
        single = robot.constrained_dynamics(*(x.astype(np.float32) for x in (q, v, tau)))
        double = robot.constrained_dynamics(q, v, tau)
        assert single.a.dtype == np.float32
        assert single.rank == double.rank
        np.testing.assert_allclose(single.a, double.a, atol=1e-3 * np.abs(double.a).max())
