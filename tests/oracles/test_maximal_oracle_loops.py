"""The oracle with closed loops held against what is known without it."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.assembly import advanced
from oracles.described import pose_from
from oracles.joint_coordinates import joint_coordinates
from oracles.joint_motion import Motion, joint_motion, origin
from oracles.maximal import MaximalOracle
from support.closed_states import CLOSED, GRAVITY, some_state
from support.comparison import close_within
from support.loop_graphs import numbers_of, random_pose, unit, with_loops_as_joints
from support.random_mechanisms import random_inertia

from robodyn.description import JOINT_KINDS, Joint, Link, Loop, Mechanism, Pose

close = close_within(1e-10)

KINDS = [kind for kind in JOINT_KINDS if kind != "floating"]


def pair_of_trees(kind, rng):
    """Two bodies joined by one joint in two ways: as a tree, and by a loop around a free body."""
    inertias = [random_inertia(rng) for _ in range(2)]
    links = (Link("ground"), *(Link(n, x) for n, x in zip("AB", inertias, strict=True)))
    first = Joint("first", "universal", "ground", "A", random_pose(rng), unit(rng), unit(rng))
    X_P, X_S = random_pose(rng), random_pose(rng)
    how = {"axis": unit(rng), "axis2": unit(rng), "pitch": 0.3}
    joint = Joint("joint", kind, "A", "frame", X_P, **how)
    weld = Joint("weld", "fixed", "frame", "B", pose_from(np.linalg.inv(origin(X_S))))
    tree = Mechanism("tree", (*links, Link("frame")), (first, joint, weld))
    free = Joint("free", "floating", "ground", "B")
    loop = Loop("joint", kind, "A", "B", X_P, X_S, **how)
    return tree, Mechanism("loop", links, (first, free), (loop,))


@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_around_a_free_body_is_a_joint_of_a_tree(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    tree, loop = (MaximalOracle(m, GRAVITY) for m in pair_of_trees(kind, rng))
    q, (v, tau) = rng.normal(size=tree.nq), rng.normal(size=(2, tree.nv))
    push = {"B": rng.normal(size=6)}
    expected = tree.solve(q, v, tau=tau, wrenches=push)
    B = expected.links["B"]
    free = joint_coordinates(Joint("free", "floating", "ground", "B"), B.X_WB)
    twist = np.concatenate([B.R_WB.T @ B.v_WB, B.R_WB.T @ B.w_WB])
    q_free, v_free = [*q[:2], *free], [*v[:2], *twist]
    close(np.concatenate(loop.loop_errors(q_free, v_free)), 0.0)
    tau_free = [*tau[:2], *np.zeros(6)]
    found = loop.solve(q_free, v_free, tau=tau_free, wrenches=push, tau_cut={"joint": tau[2:]})
    close(found.a[:2], expected.a[:2])
    close(found.a_cut["joint"], expected.a[2:])
    close(found.links["B"].dv_WC, expected.links["B"].dv_WC)
    close(found.joint_wrenches["joint"], expected.joint_wrenches["joint"])
    assert found.rank_deficiency == 0


@pytest.mark.parametrize("kind", [*KINDS, "floating"])
def test_coordinates_of_a_joint_are_found_from_its_pose(kind):
    rng = np.random.default_rng(3)
    for _ in range(30):
        how = {"axis": unit(rng), "axis2": unit(rng), "pitch": 0.3}
        joint = Joint("joint", kind, "A", "B", random_pose(rng), **how)
        q = 2.0 * rng.normal(size=JOINT_KINDS[kind][0])
        nothing = np.zeros(JOINT_KINDS[kind][1])
        X = joint_motion(joint, q, nothing, nothing).X
        again = joint_coordinates(joint, X)
        close(joint_motion(joint, again, nothing, nothing).X, X)
        if kind == "helical":
            close(again, q)


def test_the_inverse_of_a_motion_moves_back():
    X, V, A = np.eye(4), *np.random.default_rng(1).normal(size=(2, 6))
    motion = Motion.along(X, V, A)
    still = motion @ motion.inverse()
    close(still.X, X)
    close([still.dX, still.ddX], 0.0)


def test_a_distance_is_a_rod_without_mass():
    """A body hung by its centre of mass: m v^2 / L and the weight along the rod pull it."""
    L, m, v, g = 0.8, 2.0, 1.5, 10.0
    body = Link("body", random_inertia(np.random.default_rng(0)))
    m, com = body.inertia.mass, body.inertia.origin.xyz
    links, hook = (Link("ground"), body), (0.3, -0.2, 1.0)
    free = Joint("free", "floating", "ground", "body")
    rod = Loop("rod", "distance", "ground", "body", Pose(hook), Pose(com), distance=L)
    oracle = MaximalOracle(Mechanism("bob", links, (free,), (rod,)), (0.0, 0.0, -g))
    down = np.array([0.6, 0.0, -0.8])
    q = [*(np.array(hook) + L * down - com), 0.0, 0.0, 0.0, 1.0]
    speed = np.array([0.0, v, 0.0, 0.0, 0.0, 0.0])
    close(np.concatenate(oracle.loop_errors(q, speed)), 0.0)
    s = oracle.solve(q, speed)
    tension = m * (v**2 / L + g * 0.8)
    close(s.joint_wrenches["rod"], [*(-tension * down), 0.0, 0.0, 0.0])
    assert s.rank_deficiency == 0
    assert oracle.mobility(q) == 5


@pytest.mark.parametrize("name", CLOSED)
def test_mobility_and_redundancy_of_bundled_mechanisms(name):
    state = some_state(name)
    assert (state.oracle.mobility(state.q), state.solve().rank_deficiency) == CLOSED[name]


@pytest.mark.parametrize("name", CLOSED)
def test_loops_stay_closed(name):
    """The rates of all gaps do not grow under the accelerations found."""
    state, t = some_state(name), 1e-4
    s = state.solve()
    assert s.residual < 1e-9 * max(1.0, np.abs(s.a).max())

    def rate(t):
        q = advanced(state.oracle, state.q, t * state.v + 0.5 * t**2 * s.a)
        return state.oracle.loop_errors(q, state.v + t * s.a)[1]

    close((rate(t) - rate(-t)) / (2 * t), 0.0, 1e-5 * np.abs(s.a).max())


@pytest.mark.parametrize("name", CLOSED)
def test_power_is_the_rate_of_energy_with_loops(name):
    state = some_state(name)
    s = state.solve()
    terms = [float(state.tau @ state.v)]
    for link, wrench in state.wrenches.items():
        x = s.links[link]
        terms.append(float(wrench @ np.concatenate([x.R_WB.T @ x.v_WB, x.R_WB.T @ x.w_WB])))
    for x in s.links.values():
        terms.append(-x.mass * x.v_WC @ (x.dv_WC - GRAVITY) - x.w_WB @ x.J @ x.dw_WB)
    assert abs(sum(terms)) < 1e-9 * sum(map(abs, terms), start=1.0)


@pytest.mark.parametrize("name", CLOSED)
def test_motors_can_be_controlled_instead(name):
    state = some_state(name)
    forward = state.solve()
    hybrid = state.solve(a=forward.a, controlled=state.driven)
    close(hybrid.a, forward.a, 1e-8)
    settled = hybrid.unique_tau
    close(hybrid.tau[settled], state.tau[settled], 1e-7)
    assert settled.all() == (name != "two_feet")  # whose nine motors drive eight speeds


@pytest.mark.parametrize("name", CLOSED)
def test_it_does_not_matter_where_a_loop_is_cut(name):
    state = some_state(name)
    expected = state.solve()
    torques = {e.joint.name: state.tau[e.v] for e in state.oracle.edges}
    cut = [edge.joint.name for edge in state.oracle.cuts]
    graph = with_loops_as_joints(state.mechanism)
    motions = dict(zip(state.oracle.names, state.oracle.motions(state.q, state.v)[1], strict=True))
    for loop in state.mechanism.loops:
        still = Motion(origin(loop.X_successor), np.zeros((4, 4)), np.zeros((4, 4)))
        motions[f"{loop.name}_frame"] = motions[loop.successor] @ still
    compared = 0
    for joint in graph.joints:
        if joint.kind == "fixed" or joint.name in cut:
            continue
        try:
            oracle = MaximalOracle(graph, GRAVITY, cut={*cut[1:], joint.name})
        except ValueError:  # the joint is in no loop with the first
            continue
        q, v = numbers_of(oracle, motions)
        tau = np.zeros(oracle.nv)
        for edge in oracle.edges[1:]:
            tau[edge.v] = torques.get(edge.joint.name, 0.0)
        tau_cut = {joint.name: torques[joint.name]}
        found = oracle.solve(q, v, tau=tau, wrenches=state.wrenches, tau_cut=tau_cut)
        assert found.rank_deficiency == expected.rank_deficiency
        for link, x in expected.links.items():
            close(found.links[link].dv_WC, x.dv_WC, 1e-8)
            close(found.links[link].dw_WB, x.dw_WB, 1e-8)
        for each, wrench in expected.joint_wrenches.items():
            settled = expected.unique[each]
            np.testing.assert_array_equal(found.unique[each], settled)
            close(found.joint_wrenches[each][settled], wrench[settled], 1e-8)
        compared += 1
        if compared == 4:
            break
    assert compared >= 2


@pytest.mark.parametrize("base", ["fixed", "moving"])
def test_a_held_base_under_a_linkage_is_a_floating_base_with_that_wrench(base):
    state, rng = some_state("watt"), np.random.default_rng(4)
    V, A = rng.normal(size=(2, 6)) if base == "moving" else np.zeros((2, 6))
    still = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    held = MaximalOracle(state.mechanism, GRAVITY, base).solve(
        state.q, state.v, tau=state.tau, base_motion=(np.eye(4), V, A)
    )
    floating = MaximalOracle(state.mechanism, GRAVITY, "floating")
    q, v, tau = [*still, *state.q], [*V, *state.v], [*np.zeros(6), *state.tau]
    again = floating.solve(q, v, [*A, *held.a], tau, controlled=range(6))
    close(again.a[6:], held.a)
    close(again.tau[:6], held.base_wrench)
    close(again.base_wrench, held.base_wrench)
    assert floating.mobility(q) == 6 + 1
    assert again.rank_deficiency == held.rank_deficiency == 6
