"""Methods of closed states by one function: as by a solver that reveals the rank, and refusals."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import robodyn as rd
from robodyn.closed_loops.solvers import project_velocity, rank_analysis
from robodyn.errors import AssemblyError, InconsistentStateError, ShapeError, UnknownNameError

ROBOTS = ("four_bar", "palletizer", "bricard")


class Case:
    """A robot, a closed posture, and numbers for its speeds."""

    def __init__(self, name: str) -> None:
        self.robot = r = rd.load(name)
        self.q, self.x = r.random(2), np.random.default_rng(3).uniform(-1.0, 1.0, r.nv)
        self.K, self.M = r.loop_jacobian(self.q), r.mass_matrix(self.q)


@pytest.fixture(scope="module", params=ROBOTS)
def case(request):
    return Case(request.param)


def close(found, expected):
    scale = 1.0 + np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9 * scale)


def test_the_nearest_speeds(case):
    r, free = case.robot, np.ones(case.robot.nv, bool)
    expected = project_velocity(case.K, case.x, case.M)
    for _ in range(2):
        close(r.consistent_velocity(case.q, case.x), expected)
        close(r.closed_state(case.q, case.x)[1], expected)
        assert not r.consistent_velocity(case.q, 0.0 * case.x).any()
    held = r.independent_joints[0]
    free[r.joints[held].v] = False
    expected = project_velocity(case.K, case.x, case.M, free=free)
    for hold in (held, [held], (held,), ["".join(list(held))]):
        for _ in range(2):
            found = r.consistent_velocity(case.q, case.x, hold)
            close(found, expected)
            assert found[~free] == case.x[~free]


def test_the_nearest_accelerations(case):
    v = case.robot.consistent_velocity(case.q, case.x)
    rhs = case.robot.loop_bias(case.q, v)
    expected = project_velocity(case.K, case.x, case.M, rhs=rhs)
    for _ in range(2):
        close(case.robot.consistent_acceleration(case.q, v, case.x), expected)


def test_lists_of_names_are_told_apart(case):
    r = case.robot
    names = [*r.joint_names[:2]]
    alone = [r.consistent_velocity(case.q, case.x, hold=[name]) for name in r.independent_joints]
    for _ in range(2):
        for name, expected in zip(r.independent_joints, alone, strict=True):
            close(r.consistent_velocity(case.q, case.x, hold=[name]), expected)
        for wrong in (["nothing"], [*names, "nothing"]):
            with pytest.raises(UnknownNameError):
                r.consistent_velocity(case.q, case.x, hold=wrong)


def test_open_postures_are_refused_or_closed(case):
    r = case.robot
    opened = r.integrate(case.q, 1e-3 * np.arange(1.0, r.nv + 1))
    for _ in range(2):
        with pytest.raises(InconsistentStateError):
            r.consistent_velocity(opened, case.x)
        with pytest.raises(InconsistentStateError):
            r.consistent_acceleration(case.q, case.x, case.x)
        q, v = r.closed_state(opened, case.x)
        assert np.abs(r.loop_residual(q)).max() < 1e-11
        close(r.loop_jacobian(q) @ v, 0.0)
        close(r.closed_state(case.q, case.x)[0], case.q)


def test_gaps_stand_where_frames_are(case):
    r = case.robot
    opened = r.integrate(case.q, 0.1 * np.arange(1.0, r.nv + 1))
    for _ in range(2):
        rows = np.abs(r.loop_residual(opened))
        for gap in r.loop_gaps(opened):
            own = [k for k, name in enumerate(r.constraint_names) if name.startswith(gap.name)]
            close(gap.residual, rows[own].max())
            X = np.linalg.inv(r.frame_pose(opened, gap.links[1])) @ gap.poses[1]
            assert np.linalg.norm(gap.poses[0][:3, 3] - gap.poses[1][:3, 3]) == gap.distance
            close(X[3], [0.0, 0.0, 0.0, 1.0])
        for wrong in (np.stack([opened, opened]), opened * np.nan, opened[1:]):
            with pytest.raises(ShapeError):
                r.loop_gaps(wrong)


def test_mobility_and_rank(case):
    r, nv = case.robot, case.robot.nv
    singular = [r.loop_rank(case.q).distance, rank_analysis(case.K)]
    opened = r.integrate(case.q, 1e-3 * np.arange(1.0, nv + 1))
    for q in (case.q, opened):
        K = r.loop_jacobian(q)
        for _ in range(2):
            freedoms = r.mobility(q)
            assert type(freedoms) is int and freedoms == nv - np.linalg.matrix_rank(K, 1e-8)
            assert r.loop_rank(q).rank == nv - freedoms
    assert singular[0] > 0.0 and singular[1].independent.sum() == nv - r.mobility(case.q)
    again = pickle.loads(pickle.dumps(r.loop_rank(case.q)))
    close(again.distance, singular[0])
    for wrong in (np.stack([case.q] * 2), case.q * np.nan):
        with pytest.raises(ShapeError):
            r.mobility(wrong)


def test_what_is_assembled_already_stays(case):
    r = case.robot
    held = r.independent_joints[:1]
    opened = r.integrate(case.q, 1e-3 * np.arange(1.0, r.nv + 1))
    for _ in range(2):
        for found in (r.assemble(case.q), r.assemble(case.q, [*held]), r.assemble([*case.q])):
            close(found, case.q)
            assert found is not case.q
        assert np.abs(r.loop_residual(r.assemble(opened))).max() < 1e-11
        close(r.assemble(np.stack([case.q] * 2)), np.stack([case.q] * 2))
        with pytest.raises(ShapeError):
            r.assemble(case.q[:-1])
        with pytest.raises(UnknownNameError):
            r.assemble(case.q, ["nothing"])


def test_beyond_limits_nothing_is_assembled():
    robot = rd.load("palletizer")
    k = int(np.flatnonzero(np.isfinite(robot.upper_limits))[0])
    q = robot.neutral()
    name = next(x for x in robot.joint_names if robot.joints[x].q.start == k)
    q[k] = robot.upper_limits[k] + 0.1
    q = robot.assemble(q, [name], beyond_limits=True)
    for _ in range(2):
        close(robot.assemble(q, beyond_limits=True), q)
        assert robot.assemble(q)[k] <= robot.upper_limits[k]
        with pytest.raises(AssemblyError, match="limits"):
            robot.assemble(q, [name])
