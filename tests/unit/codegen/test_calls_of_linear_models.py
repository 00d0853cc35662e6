"""Linear models by one function of machine code: as by derivatives and tangents put together."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import InconsistentStateError, RobodynError, ShapeError

ROBOTS = ("arm7", "four_bar", "palletizer", "bricard")


@pytest.fixture(scope="module", params=ROBOTS)
def case(request):
    robot = rd.load(request.param)
    rng = np.random.default_rng(2)
    q = robot.random(8)
    v = robot.consistent_velocity(q, rng.uniform(-1.0, 1.0, robot.nv))
    return robot, q, v, rng.uniform(-1.0, 1.0, robot.nv)


def close(found, expected):
    scale = 1.0 + np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-10 * scale)


def same(found, expected):
    assert found.states == expected.states
    assert found.inputs == expected.inputs
    for name in ("A", "B", "acceleration"):
        close(getattr(found, name), getattr(expected, name))


def test_as_put_together(case):
    robot, q, v, tau = case
    # with outputs named, it is put together
    expected = robot.linearize(q, v, tau, outputs=robot.link_names[-1:])
    for _ in range(2):
        found = robot.linearize(q, v, tau)
        same(found, expected)
        np.testing.assert_array_equal(found.C, np.eye(len(found.states)))
        assert found.outputs == found.states
        assert found.D.shape == (len(found.outputs), len(found.inputs))
    chosen = robot.independent_joints[:1]
    same(
        robot.linearize(q, v, tau, inputs=chosen),
        robot.linearize(q, v, tau, inputs=chosen, outputs=robot.link_names[-1:]),
    )


def test_along_two_motions_that_part(case):
    robot, q, v, tau = case
    model, e = robot.linearize(q, v, tau), 1e-6
    names = robot.independent_joints
    own = [k for n in names for k in range(robot.joints[n].v.start, robot.joints[n].v.stop)]
    rng = np.random.default_rng(8)
    z, u = rng.normal(size=(2, len(own)))
    ends = []
    for s in (e, -e):
        moved = q.copy()
        moved[own] += s * z
        there = robot.assemble(moved, hold=names) if robot.nc else moved
        w = v.copy()
        w[own] += s * u
        w = robot.consistent_velocity(there, w, hold=names) if robot.nc else w
        ends.append(robot.forward_dynamics(there, w, tau)[own])
    slope = (ends[0] - ends[1]) / (2.0 * e)
    found = (model.A @ np.concatenate([z, u]))[len(own) :]
    np.testing.assert_allclose(found, slope, atol=1e-5 * (1.0 + np.abs(slope).max()))


def test_double_precision_and_refusals(case):
    robot, q, v, tau = case
    robot.linearize(q, v, tau)
    with pytest.raises(ShapeError):
        robot.linearize(q, v * np.nan, tau)
    with pytest.raises(ShapeError):
        robot.linearize(q, v, tau[:1])
    if robot.nc:
        with pytest.raises(InconsistentStateError):
            robot.linearize(q + 0.1, v, tau)
    try:
        single = robot.linearize(*(x.astype(np.float32) for x in (q, v, tau)))
    except RobodynError:
        assert robot.nc  # in double precision, loops are open by the rounding
    else:
        assert single.A.dtype == np.float64
