"""The oracle of known mobility against the one that finds the rank, and on rounded geometries."""

import dataclasses

import numpy as np
import pytest
from oracles.known_mobility import KnownMobility
from oracles.maximal import MaximalOracle
from support.rounded_linkages import linkage

from robodyn.description import Pose

GRAVITY = (0.5, -0.3, -9.81)

NAMES = ("four_bar", "parallelogram", "sarrus", "spherical_five_bar", "rssr", "braced")


def made(name, closing="as drawn"):
    rng = np.random.default_rng(5)
    found = linkage(rng, name, closing)
    exact = found.exact(GRAVITY, "fixed", [])
    q = np.zeros(exact.nq)
    N, _ = exact.tangents(q)
    q = exact.closed(exact.advanced(q, N @ (0.1 * rng.normal(size=N.shape[1]))))
    N, _ = exact.tangents(q)
    return found, exact, q, N @ rng.normal(size=N.shape[1]), rng.normal(size=exact.nv)


def rounded(mechanism, digits):
    """With places and turns of that many decimals."""

    def pose(X):
        return Pose(*(tuple(round(float(c), digits) for c in x) for x in (X.xyz, X.rpy)))

    joints = [dataclasses.replace(j, origin=pose(j.origin)) for j in mechanism.joints]
    loops = [
        dataclasses.replace(c, X_predecessor=pose(c.X_predecessor), X_successor=pose(c.X_successor))
        for c in mechanism.loops
    ]
    return dataclasses.replace(mechanism, joints=tuple(joints), loops=tuple(loops))


@pytest.mark.parametrize("name", NAMES)
def test_it_solves_exact_geometries_as_the_other_oracle(name):
    found, exact, q, v, tau = made(name)
    other = MaximalOracle(found.mechanism, GRAVITY, cut=[])
    wanted, got = other.solve(q, v, tau=tau), exact.solve(q, v, tau)
    assert got.a == pytest.approx(wanted.a, abs=1e-8)
    for joint, wrench in wanted.joint_wrenches.items():
        settled = got.unique[joint]
        assert np.array_equal(settled, wanted.unique[joint])
        assert got.wrenches[joint][settled] == pytest.approx(wrench[settled], abs=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_it_solves_rounded_geometries_as_exact_ones(name):
    """To the digits, where the other oracle finds a structure."""
    found, exact, q, v, tau = made(name)
    near = KnownMobility(rounded(found.mechanism, 7), found.dof, GRAVITY, "fixed", [])
    here = near.closed(q)
    assert here == pytest.approx(q, abs=1e-5)
    got, wanted = near.solve(here, near.possible(here, v), tau), exact.solve(q, v, tau)
    assert got.a == pytest.approx(wanted.a, abs=1e-4 * (1.0 + np.abs(wanted.a).max()))


def test_it_keeps_energy_along_a_motion():
    """Of a linkage without gravity and forces of joints."""
    found, _, q, v, _ = made("five_bar")
    still = found.exact((0.0, 0.0, 0.0), "fixed", [])

    def energy(q, v):
        links, _, (mass, _) = still.oracle.equations(q, v)
        twists = np.concatenate([np.concatenate([x.v_WC, x.w_WB]) for x in links])
        return 0.5 * twists @ mass @ twists

    run = still.motion(q, v, np.zeros(still.nv), 0.2, 20)
    assert energy(run.q[-1], run.v[-1]) == pytest.approx(energy(q, v), rel=1e-5)
    assert still.gap(run.q[-1]) < 1e-6
