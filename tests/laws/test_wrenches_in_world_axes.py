"""Wrenches at points of links, in axes of the world: the same as in link axes at the origin."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.bundled import bundled
from support.random_mechanisms import random_mechanism

import robodyn as rd

FORCE, MOMENT, AT = np.array([3.0, -2.0, 5.0]), np.array([0.4, 0.3, -0.2]), (0.1, 0.2, -0.3)
IN_WORLD = rd.Wrench("link2", FORCE, MOMENT, at=AT)
ON_LINK = rd.Wrench("link2", FORCE, MOMENT, at=AT, axes="body")
STEP = 1e-5


@pytest.fixture(scope="module", params=["fixed", "floating", "moving"])
def loaded(request):
    mechanism = random_mechanism(np.random.default_rng(1), ["revolute", "spherical"])
    robot, rng = rd.load(mechanism, base=request.param), np.random.default_rng(2)
    q, (v, a) = robot.random(rng), rng.normal(size=(2, robot.nv))
    base = {}
    if request.param == "moving":
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = Rotation.from_rotvec([0.3, 0.4, 0.5]).as_matrix(), (1.0, 2.0, 3.0)
        twist, acceleration = rng.normal(size=(2, 6))
        base = {"base": rd.BaseMotion(pose=X, twist=twist, acceleration=acceleration)}
    return robot, q, v, a, base


def at_origin(robot, q, base, axes):
    """The same wrench in link axes at the origin of the link."""
    R = robot.frame_pose(q, "link2", **base)[:3, :3] if axes == "world" else np.eye(3)
    f, n = R.T @ FORCE, R.T @ MOMENT
    return {"link2": np.concatenate([f, n + np.cross(AT, f)])}


def close(x, y):
    np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(("wrench", "axes"), [(IN_WORLD, "world"), (ON_LINK, "body")])
def test_methods_take_it_as_that_of_the_link(loaded, wrench, axes):
    robot, q, v, a, base = loaded
    given = at_origin(robot, q, base, axes)
    for name in ("inverse_dynamics", "forward_dynamics"):
        method = getattr(robot, name)
        close(method(q, v, a, wrenches=wrench, **base), method(q, v, a, wrenches=given, **base))
    found = robot.joint_wrenches(q, v, a, wrenches=wrench, **base)
    wanted = robot.joint_wrenches(q, v, a, wrenches=given, **base)
    for joint in wanted:
        close(found[joint], wanted[joint])
    both = wrench | {"link1": np.ones(6)}
    more = {**given, "link1": np.ones(6)}
    close(
        robot.bias_forces(q, v, wrenches=both, **base),
        robot.bias_forces(q, v, wrenches=more, **base),
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_derivatives_know_that_the_link_turns(loaded, name):
    robot, q, v, a, base = loaded
    found = robot.derivatives(name, q, v, a, wrenches=IN_WORLD, **base)["q"]
    for k, e in enumerate(np.eye(robot.nv)):
        ends = [
            getattr(robot, name)(robot.integrate(q, s * STEP * e), v, a, wrenches=IN_WORLD, **base)
            for s in (1, -1)
        ]
        slope = (ends[0] - ends[1]) / (2 * STEP)
        np.testing.assert_allclose(found[:, k], slope, atol=1e-6 * (1.0 + np.abs(slope).max()))


def test_a_motion_under_it_is_that_under_a_function():
    """The audit counts its work; a file has it."""
    weight = rd.Wrench("lower", (0.0, 0.0, -30.0), at=(0.0, 0.1, -0.4))
    robot = rd.load("double_pendulum", gravity=(0, 0, 0))

    def function(t, q, v):
        f = robot.frame_pose(q, "lower")[:3, :3].T @ np.array([0.0, 0.0, -30.0])
        return {"lower": np.concatenate([f, np.cross((0.0, 0.1, -0.4), f)])}

    given = {"q0": [1.0, 0.3], "duration": 0.2}
    run = rd.simulate(robot, wrenches=weight, **given)
    close(run.q, rd.simulate(robot, wrenches=function, **given).q)
    X = robot.frame_pose(run.q, "lower")
    height = (X @ np.array([0.0, 0.1, -0.4, 1.0]))[:, 2]
    np.testing.assert_allclose(run.audit.wrenches, -30.0 * (height - height[0]), atol=1e-8)
    assert np.abs(run.audit.unexplained).max() < 1e-8


def test_any_number_of_wrenches_is_added_up():
    robot, q = bundled("double_pendulum"), np.array([0.3, 0.4])
    one = rd.Wrench("lower", (1, 2, 3))
    tip, plain = rd.Wrench("lower", (4, 5, 6), at=(0, 0, -1)), {"upper": np.ones(6)}
    forces = [robot.inverse_dynamics(q, q, q, wrenches=x) for x in (one, tip, plain, {})]
    wanted = 2 * forces[0] + 2 * forces[1] + forces[2] - 4 * forces[3]
    for wrenches in (one | tip | one | tip | plain, plain | one | tip | (tip | one)):
        close(robot.inverse_dynamics(q, q, q, wrenches=wrenches), wanted)
    with pytest.raises(TypeError):
        one | (1, 2, 3)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (("lower", (1.0, 2.0)), rd.ShapeError, "force has shape"),
        (("lower", (1.0, 2.0, 3.0), np.zeros(4)), rd.ShapeError, "moment has shape"),
        (("lower", (1.0, 2.0, 3.0), 5.0), rd.ShapeError, "moment is 5.0"),
        (
            ("lower", np.zeros((2, 3)), np.zeros((3, 3))),
            rd.ShapeError,
            "force and moment have shapes",
        ),
        (("lower", (1.0, 2.0, "x")), rd.ShapeError, "force"),
    ],
)
def test_what_is_no_wrench_is_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        rd.Wrench(*arguments)


def test_axes_and_links_have_to_exist(double):
    with pytest.raises(rd.UnknownNameError, match="axes"):
        rd.Wrench("lower", (1.0, 2.0, 3.0), axes="link")
    with pytest.raises(rd.UnknownNameError, match="'hand'"):
        double.bias_forces([0, 0], [0, 0], wrenches=rd.Wrench("hand", (1.0, 2.0, 3.0)))
