"""URDF+ files with loops and couplings: mobility, and accelerations as in maximal coordinates."""

import dataclasses

import numpy as np
import pytest
from oracles.maximal import MaximalOracle
from support.urdf_plus import TEXTS

import robodyn as rd
from robodyn.description.couplings import with_couplings


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("urdf_plus")
    for name, (text, _, _) in TEXTS.items():
        (path / f"{name}.urdf").write_text(text)
    return path


@pytest.fixture(params=TEXTS)
def case(request, folder):
    robot = rd.load(folder / f"{request.param}.urdf", gravity=(1.0, 2.0, -9.81))
    eliminated = with_couplings(robot.mechanism)
    left = eliminated.couplings
    oracle = MaximalOracle(dataclasses.replace(eliminated, couplings=()), robot.gravity)
    return robot, oracle, left, TEXTS[request.param][1:]


def state(robot, seed):
    rng = np.random.default_rng(seed)
    q = robot.random(rng)
    return q, robot.consistent_velocity(q, rng.normal(size=robot.nv)), rng.normal(size=robot.nv)


def test_mobility_and_independent_joints(case):
    robot, oracle, left, (dof, independent) = case
    q = robot.random(0)
    assert robot.dof == robot.mobility(q) == dof
    assert oracle.mobility(q) == dof + len(left)
    np.testing.assert_allclose(oracle.loop_errors(q, np.zeros(robot.nv))[0], 0.0, atol=1e-10)
    if independent is not None:
        assert robot.independent_joints == independent
    else:
        assert len(robot.loops_analysis.independent) == dof


def test_accelerations(case):
    robot, oracle, left, _ = case
    for seed in range(3):
        q, v, tau = state(robot, seed)
        found = robot.constrained_dynamics(q, v, tau)
        # couplings that stay constraints act through their multipliers
        rows = [k for k, n in enumerate(robot.constraint_names)
                if n[:-3] in {c.name for c in left}]  # fmt: skip
        assert len(rows) == len(left)
        K = robot.loop_jacobian(q)[rows]
        np.testing.assert_allclose(K @ found.a, 0.0, atol=1e-9)
        expected = oracle.solve(q, v, tau=tau + K.T @ found.multipliers[rows])
        np.testing.assert_allclose(found.a, expected.a, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), found.a, rtol=1e-7, atol=1e-7)


def test_motors_at_independent_speeds_make_any_possible_motion(case):
    robot, _, _, _ = case
    q, v, tau = state(robot, 5)
    a = robot.consistent_acceleration(q, v, tau)
    names = [f"{n}[{k}]" for n in robot.joint_names for k in range(_width(robot, n))]
    at = [names[k] for k in robot.loops_analysis.independent]
    needed = robot.inverse_dynamics(q, v, a, actuated=at)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, needed), a, rtol=1e-6, atol=1e-6)


def _width(robot, name):
    return robot.joints[name].v.stop - robot.joints[name].v.start
