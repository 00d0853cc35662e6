"""Dead points and singular postures of linkages: never silent, never NaN."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from rigid_robots import load, state

import robodyn as rd
from robodyn import urdf
from robodyn.description import Pose
from robodyn.errors import (
    ActuationError,
    RobodynError,
    SingularError,
)


def dead_point(robot):
    """Crank and rod in one line."""
    angle = np.arctan2(0.04, 0.03)
    q = robot.assemble([angle, 0.0, 0.0], hold=["crank_drive"])
    assert robot.mobility(q) == 1
    return q


def test_the_slider_cannot_drive_at_the_dead_point():
    robot = load("crank_slider")
    q, v = dead_point(robot), np.zeros(3)
    a = robot.consistent_acceleration(q, v, np.ones(3))
    with pytest.raises(ActuationError) as caught:
        robot.inverse_dynamics(q, v, a, actuated=["cylinder"])
    direction = caught.value.direction
    assert abs(direction[0]) > 0.1 and abs(direction[2]) < 1e-9
    # the crank can, and nothing drives the slider where it rests
    tau = robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), a, atol=1e-9)
    push = robot.forward_dynamics(q, v, [0.0, 0.0, 100.0])
    np.testing.assert_allclose(push, robot.forward_dynamics(q, v, np.zeros(3)), atol=1e-7)


def test_the_slider_as_leader_at_the_dead_point():
    robot = load("crank_slider")
    with pytest.raises(ActuationError):
        robot.hybrid_dynamics(dead_point(robot), np.zeros(3), controlled={"cylinder": 1.0})


def parallelogram():
    """A four-bar of two equal pairs of bars: flat, it can change into its crossed branch."""
    mechanism = urdf.load_mechanism("four_bar")
    places = {
        "crank_pin": (0.2, 0.0, 0.0),
        "rocker_pivot": (0.5, 0.0, 0.0),
        "rocker_end_fixed": (0.2, 0.0, 0.0),
        "rocker_pin": (0.5, 0.0, 0.0),
    }
    joints = tuple(
        dataclasses.replace(j, origin=Pose(places.get(j.name, (0.0, 0.0, 0.0))))
        for j in mechanism.joints
    )
    return dataclasses.replace(mechanism, joints=joints)


def test_a_flat_parallelogram_has_one_freedom_more():
    robot = rd.load(parallelogram(), passive=False)
    flat, bent = np.zeros(3), np.array([0.4, -0.4, 0.4])
    np.testing.assert_allclose(robot.loop_residual(np.stack([flat, bent])), 0.0, atol=1e-12)
    assert (robot.mobility(flat), robot.mobility(bent)) == (2, 1)
    a = robot.forward_dynamics(flat, np.zeros(3), np.zeros(3))
    assert np.isfinite(a).all()
    assert np.abs(robot.loop_jacobian(flat) @ a).max() < 1e-9
    found = robot.constrained_dynamics(flat, np.zeros(3), np.zeros(3))
    np.testing.assert_allclose(found.a, a, atol=1e-9)
    with pytest.raises(ActuationError):
        robot.inverse_dynamics(flat, np.zeros(3), a + np.array([0.0, 1.0, -1.0]))


@pytest.mark.parametrize("offset", [0.0, *(s * 10.0**k for k in range(-16, 0, 3) for s in (1, -1))])
def test_near_the_flat_posture(offset):
    """No step on the way to a singular posture leads to numbers that are none."""
    robot = rd.load(parallelogram(), passive=False)
    q = robot.assemble([offset, -offset, offset], hold=["crank_drive"])
    v = robot.consistent_velocity(q, [1.0, -1.0, 1.0])
    try:
        a = robot.forward_dynamics(q, v, np.zeros(3))
    except (SingularError, ActuationError):
        assert abs(offset) < 1e-8, "so far from the flat posture the motion is determined"
        return
    K, bias = robot.loop_jacobian(q), robot.loop_bias(q, v)
    assert np.isfinite(a).all()
    np.testing.assert_allclose(K @ a, -bias, atol=1e-7 * max(1.0, np.abs(a).max()))
    tau = robot.inverse_dynamics(q, v, a, actuated=["crank_drive", "rocker_pivot"])
    assert np.isfinite(tau).all()


def test_states_that_are_not_numbers():
    """NaN in, NaN or an error out; never a number."""
    robot = load("four_bar")
    q, v, tau = state(robot)
    for args in ((q * np.nan, v, tau), (q, v * np.nan, tau), (q, v, tau * np.nan)):
        try:
            a = robot.forward_dynamics(*args)
        except (RobodynError, np.linalg.LinAlgError):
            continue
        assert np.isnan(a).any()


def test_the_distance_to_a_singular_posture():
    robot = rd.load("four_bar")
    far = robot.loop_rank(robot.neutral())
    assert int(far.rank) == robot.nv - robot.dof
    assert len(far.redundant()) == robot.nc - int(far.rank)
    assert 0.0 < float(far.distance) <= 2.0
    batch = robot.loop_rank(np.array([robot.neutral(), robot.random(1)]))
    assert batch.rank.shape == batch.distance.shape == (2,)
