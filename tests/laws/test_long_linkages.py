"""Long linkages by articulated bodies: the solution of the equations of all linkages."""

import dataclasses

import numpy as np
import pytest
from support.chains import crossed_scissors, scissors
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.description import Loop, Pose
from robodyn.equations.mechanism.bodies import BASE
from robodyn.equations.quantities.common import long_linkages
from robodyn.equations.quantities.common.tracer import Tracer
from robodyn.equations.tree.composite_body import mass_matrix
from robodyn.equations.tree.newton_euler import inverse_dynamics
from robodyn.model.settings import Settings
from robodyn.robot import Robot

KINDS = ["revolute", "universal", "prismatic", "spherical", "helical", "planar", "cylindrical"]
LOOPS = ["distance", "spherical", "universal", "spherical", "distance"]
#: Links that they join: some loops overlap, one goes through the base, one is within another.
ENDS = [(0, 9), (5, 15), (13, 24), (3, 20), (9, 17)]


def by_singular_values(robot, q, v, tau):
    """Accelerations, and multipliers of least norm, of dense equations."""
    M, K = robot.mass_matrix(q), robot.loop_jacobian(q)
    U, sizes, Vt = np.linalg.svd(K)
    rank = int((sizes > 1e-9 * sizes[0]).sum())
    force = tau - robot.bias_forces(q, v)
    own = -Vt[:rank].T @ ((U.T @ robot.loop_bias(q, v))[:rank] / sizes[:rank])
    Z = Vt[rank:].T
    a = own + Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ (force - M @ own))
    return a, U[:, :rank] @ ((Vt[:rank] @ (M @ a - force)) / sizes[:rank])


def random_linkage(rng):
    """A tree of joints of all kinds, and loops whose rows are independent."""
    kinds = list(rng.choice(KINDS, 24))
    mechanism = random_mechanism(rng, kinds)
    names, loops = [link.name for link in mechanism.links], []
    for k, (kind, (one, other)) in enumerate(zip(LOOPS, ENDS, strict=True)):
        frames = [Pose(tuple(rng.normal(size=3)), tuple(rng.normal(size=3))) for _ in range(2)]
        extra = {"distance": 0.7} if kind == "distance" else {}
        loops.append(Loop(f"loop{k}", kind, names[one], names[other], *frames, **extra))
    return Robot(dataclasses.replace(mechanism, loops=tuple(loops)), Settings())


@pytest.mark.parametrize("waiting", [long_linkages.WAITING, -1])
@pytest.mark.parametrize("controlled", [(), (0, 7, 12, 30)])
@pytest.mark.parametrize("seed", range(4))
def test_they_solve_the_same_equations(seed, controlled, waiting, monkeypatch):
    """At any state, loops open or closed: the equations are linear in what is wanted.

    With rows at the bodies that carry their loops, and as soon as they have a pivot.
    """
    monkeypatch.setattr(long_linkages, "WAITING", waiting)
    rng = np.random.default_rng(seed)
    setup, mask = random_linkage(rng)._model.setup, frozenset(controlled)
    nv = setup.model.nv
    given, tau = (x.tolist() for x in rng.normal(size=(2, nv)))
    q = [float(x) for x in rng.uniform(0.2, 1.0, setup.model.nq)]
    t = Tracer(setup, {"postures": (tuple(q),)})
    t.numbers["q"] = q
    t.numbers["v"] = [float(x) for x in rng.normal(size=nv)]
    a, forces, lam = long_linkages.hybrid_dynamics(t, given, tau, mask)
    M = np.array(mass_matrix(t.state), float)
    h = np.array(inverse_dynamics(t.state, t.zeros, {}), float)
    K = np.array([[row.jacobian.get(k, 0.0) for k in range(len(M))] for row in t.rows], float)
    k = np.array([row.bias for row in t.rows], float)
    free = [n for n in range(nv) if n not in mask]
    assert np.linalg.matrix_rank(K[:, free]) == len(K)
    assert all(a[n] == given[n] for n in controlled)
    assert all(forces[n] == tau[n] for n in free)
    force, gap = M @ a + h - forces - K.T @ lam, K @ a + k
    np.testing.assert_allclose(force, 0.0, atol=1e-9 * max(np.abs(h).max(), np.abs(lam).max()))
    np.testing.assert_allclose(gap, 0.0, atol=1e-9 * max(np.abs(k).max(), np.abs(a).max()))

    opening = rng.normal(size=len(K))
    (x,) = np.array(long_linkages.least_changes(t, mask, [opening.tolist()]), float)
    np.testing.assert_allclose(K @ x, -opening, atol=1e-9 * np.abs(x).max())
    np.testing.assert_array_equal(x[list(controlled)], 0.0)
    pull = (M @ x)[free]
    others = pull - K[:, free].T @ np.linalg.lstsq(K[:, free].T, pull)[0]
    np.testing.assert_allclose(others, 0.0, atol=1e-8 * np.abs(pull).max())


@pytest.mark.slow
def test_few_rows_of_crossed_scissors_wait_for_the_ground():
    """Both chains are freed at once, the deepest bodies first."""
    robot = crossed_scissors(20)
    choice = robot._posed().postures._mobility.analysis.choice
    t = Tracer(robot._model.setup, choice.options, numbers={"q": [*robot.neutral()]})
    order = long_linkages.order_of(t, long_linkages.loop_rows(t), frozenset())
    depth = {BASE: 0}
    for body in t.model:
        depth[body.index] = depth[body.parent] + 1
    depths = [depth[k] for k in order.bodies]
    assert depths == sorted(depths, reverse=True)
    assert sum(map(len, order.after.values())) == len(choice.rows) == 40
    assert sum(len(rows) for k, rows in order.after.items() if depth[k] <= 2) < 10


@pytest.mark.parametrize(
    "make, loops",
    [
        (scissors, 9),
        pytest.param(scissors, 50, marks=pytest.mark.slow),
        pytest.param(crossed_scissors, 20, marks=pytest.mark.slow),
    ],
)
def test_scissors_move_as_their_constraints_say(make, loops):
    robot, rng = make(loops), np.random.default_rng(1)
    q = robot.neutral()
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    tau = rng.normal(size=robot.nv)
    a = robot.forward_dynamics(q, v, tau)
    assert long_linkages.preferred(
        Tracer(robot._model.setup, {}, numbers={"q": list(q)}), frozenset()
    )
    solved = robot.constrained_dynamics(q, v, tau)
    np.testing.assert_allclose(a, solved.a, rtol=0, atol=1e-7 * np.abs(a).max())
    dense, multipliers = by_singular_values(robot, q, v, tau)
    np.testing.assert_allclose(a, dense, rtol=0, atol=1e-9 * np.abs(a).max())
    np.testing.assert_allclose(
        solved.multipliers, multipliers, rtol=0, atol=1e-9 * np.abs(multipliers).max()
    )
    found = robot.hybrid_dynamics(q, v, controlled={robot.joint_names[0]: 0.3})
    assert found.a[0] == 0.3
    again = robot.forward_dynamics(q, v, found.tau)
    np.testing.assert_allclose(again, found.a, rtol=0, atol=1e-7 * np.abs(again).max())


def test_a_singular_posture_of_scissors_is_refused():
    """Folded flat, all bars lie on one line, and loops let go of one more motion."""
    robot = scissors(9)
    q = np.zeros(robot.nq)
    q[0] = -0.6
    q[1::2], q[2::2] = 1.2, -1.2
    with pytest.raises(rd.SingularError):
        robot.forward_dynamics(q, 0.0 * q, 0.0 * q)
