"""Roles of joints in hybrid dynamics: names and arrays, batches, and what cannot be."""

from dataclasses import replace

import numpy as np
import pytest
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.description import Joint, Link, Mechanism, Pose

#: A chain, so that v is joint0 | joint1[0..1] | joint2[0..2] | joint3.
KINDS = ["revolute", "universal", "spherical", "prismatic"]
NV = 7


@pytest.fixture(scope="module")
def robot():
    tree = random_mechanism(np.random.default_rng(3), KINDS, damping=0.1)
    joints = [replace(joint, parent=f"link{i}") for i, joint in enumerate(tree.joints)]
    return rd.load(replace(tree, joints=tuple(joints)))


def state(robot, *batch):
    rng = np.random.default_rng(4)
    q = np.array([robot.random(rng) for _ in range(int(np.prod(batch)))])
    return q.reshape(*batch, robot.nq), *rng.normal(size=(3, *batch, robot.nv))


def close(x, y):
    for a, b in zip(x, y, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)


def test_arrays_with_nan_are_mappings(robot):
    q, v, a, tau = state(robot)
    given, forces = np.full(NV, np.nan), tau.copy()
    given[[0, 2, 6]] = a[[0, 2, 6]]
    forces[[0, 2, 6]] = np.nan
    by_name = robot.hybrid_dynamics(
        q,
        v,
        controlled={"joint3": a[6], "joint1[1]": a[2], "joint0": a[0]},
        tau={"joint2": tau[3:6], "joint1[0]": tau[1]},
    )
    close(robot.hybrid_dynamics(q, v, controlled=given, tau=forces), by_name)
    forces[[0, 2, 6]] = 0.0
    close(robot.hybrid_dynamics(q, v, controlled=given, tau=forces), by_name)
    assert by_name.multipliers.shape == (0,)


def test_a_joint_is_all_its_axes(robot):
    q, v, a, _ = state(robot)
    whole = robot.hybrid_dynamics(q, v, controlled={"joint2": a[3:6]})
    axes = {f"joint2[{k}]": a[3 + k] for k in (2, 0, 1)}
    close(robot.hybrid_dynamics(q, v, controlled=axes), whole)


# -- what cannot be ------------------------------------------------------------------------------


def test_joints_without_a_speed_of_their_own():
    robot = rd.load(random_mechanism(np.random.default_rng(6), ["revolute", "fixed"]))
    with pytest.raises(rd.UnknownNameError, match="speed of its own"):
        robot.hybrid_dynamics([0.0], [0.0], controlled={"joint1": 0.0})


@pytest.mark.parametrize(
    "roles",
    [
        {"controlled": {"joint0": 1.0}, "tau": {"joint0": 0.0}},
        {"controlled": {"joint0": 1.0}, "tau": np.ones(NV)},
        {"controlled": {"joint0": 1.0}, "locked": ["joint0"]},
        {"controlled": {"joint1": [1.0, 1.0]}, "locked": "joint1[0]"},
        {"controlled": {"joint1": [1.0, 1.0]}, "tau": {"joint1[1]": 1.0}},
        {"controlled": {"joint1": [1.0, 1.0], "joint1[1]": 1.0}},
        {"tau": {"joint1[1]": 1.0, "joint1": [1.0, 1.0]}},
        {"tau": {"joint0": 1.0}, "locked": ["joint0"]},
        {"locked": ["joint0", "joint0"]},
        {"controlled": np.ones(NV), "locked": ["joint0"]},
    ],
)
def test_roles_that_contradict(robot, roles):
    q, v, _, _ = state(robot)
    with pytest.raises(rd.ActuationError, match=r"joint[01]") as error:
        robot.hybrid_dynamics(q, v, **roles)
    assert error.value.direction in ("joint0", "joint1")


@pytest.mark.parametrize(
    "roles",
    [
        {"controlled": {"joint2": 1.0}},
        {"controlled": {"joint2": [1.0, 2.0]}},
        {"tau": {"joint1": np.ones((4, 3))}},
        {"controlled": np.ones(NV - 1)},
        {"controlled": 1.0},
        {"controlled": "joint0"},
        {"tau": ["a"] * NV},
        {"controlled": {"joint0": np.nan}},
        {"tau": {"joint0": np.inf}},
        {"controlled": {"joint0": np.ones(2), "joint3": np.ones(3)}},
        {"controlled": {"joint0": np.ones(2)}, "tau": {"joint3": np.ones(3)}},
        {"controlled": np.array([[np.nan] * NV, [1.0] * NV])},
    ],
)
def test_wrong_shapes_and_numbers(robot, roles):
    q, v, _, _ = state(robot)
    with pytest.raises(rd.ShapeError):
        robot.hybrid_dynamics(q, v, **roles)


@pytest.mark.parametrize("what", ["controlled", "tau"])
def test_infinite_numbers_in_arrays(robot, what):
    q, v, _, _ = state(robot)
    with pytest.raises(rd.ShapeError):
        robot.hybrid_dynamics(q, v, **{what: np.full(NV, np.inf)})


def massless_leaf():
    base = random_mechanism(np.random.default_rng(7), ["revolute"])
    joint = Joint("flag_pole", "continuous", "link1", "flag", Pose((0.1, 0.2, 0.3)))
    return Mechanism("flagged", (*base.links, Link("flag")), (*base.joints, joint))


def test_a_free_joint_that_moves_no_mass_is_named():
    robot = rd.load(massless_leaf(), allow_unphysical=True)
    q, v, a = np.random.default_rng(8).normal(size=(3, 2))
    for roles in ({}, {"controlled": {"joint0": 1.0}}, {"locked": ["joint0"]}):
        with pytest.raises(rd.SingularError, match="flag_pole") as error:
            robot.hybrid_dynamics(q, v, **roles)
        assert error.value.joints == ("flag_pole",)
    with pytest.raises(rd.SingularError):
        robot.forward_dynamics(q, v, a)
    result = robot.hybrid_dynamics(q, v, controlled={"flag_pole": a[1]}, tau={"joint0": 0.3})
    assert result.a[1] == a[1]
    np.testing.assert_allclose(result.tau, [0.3, 0.0], atol=1e-14)
    close([robot.inverse_dynamics(q, v, result.a)], [result.tau])
