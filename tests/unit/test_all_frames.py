"""All frames at once give what each gives alone."""

import numpy as np
import pytest

import robodyn as rd

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("shape", [(), (3,), (2, 5)])
@pytest.mark.parametrize("base", ["fixed", "floating", "moving"])
@pytest.mark.parametrize("choice", ["world", "link", "world axes"])
def test_all_frames_are_each_frame(shape, base, choice):
    robot = rd.load("double_pendulum", base=base)
    q = np.array([robot.random(k) for k in range(int(np.prod(shape)))])
    q = q.reshape(*shape, robot.nq)
    v = RNG.normal(size=(*shape, robot.nv))
    options = {"relative_to": robot.frame_names[1]} if choice == "link" else {}
    motion = {}
    if base == "moving":
        X = np.eye(4)
        X[:3, 3] = [0.1, 0.2, 0.3]
        motion = {"base": rd.BaseMotion(X, RNG.normal(size=6), RNG.normal(size=6))}
    poses = robot.frame_poses(q, **options, **motion)
    each = [robot.frame_pose(q, name, **options, **motion) for name in robot.frame_names]
    np.testing.assert_allclose(poses, np.stack(each, -3), rtol=1e-13, atol=1e-14)
    if choice == "world axes":
        options["axes"] = "world"
    V = robot.frame_twists(q, v, **options, **motion)
    each = [robot.frame_twist(q, v, name, **options, **motion) for name in robot.frame_names]
    np.testing.assert_allclose(V, np.stack(each, -2), rtol=1e-12, atol=1e-13)
    J = robot.frame_jacobians(q, **options, **motion)
    each = [robot.frame_jacobian(q, name, **options, **motion) for name in robot.frame_names]
    np.testing.assert_allclose(J, np.stack(each, -3), rtol=1e-12, atol=1e-13)


def test_some_frames_in_the_order_given(arm):
    names = [arm.frame_names[5], arm.frame_names[2]]
    q = arm.random(0)
    X = arm.frame_poses(q, names)
    assert X.shape == (2, 4, 4)
    for x, name in zip(X, names, strict=True):
        np.testing.assert_allclose(x, arm.frame_pose(q, name), rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(arm.frame_poses(q, tuple(names)), X)
    np.testing.assert_array_equal(arm.frame_poses(q, names[0]), X[:1])
    out = np.empty((2, 4, 4))
    assert arm.frame_poses(q, names, out=out) is out
    np.testing.assert_array_equal(out, X)
