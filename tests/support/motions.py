"""Motions of joints and of bases, and robots with other limits, that several tests take."""

import dataclasses

import numpy as np

import robodyn as rd


def swing(t, size=0.6, rate=3.0):
    """Position, velocity, acceleration."""
    s, c = np.sin(rate * t), np.cos(rate * t)
    return size * s, size * rate * c, -size * rate**2 * s


def heaving(t):
    """A base that goes up and turns to and fro."""
    s, c = np.sin(3.0 * t), np.cos(3.0 * t)
    return rd.BaseMotion.from_world(
        [0.2 * s, 0.0, t * t], [0.0, 0.0, np.sin(s / 2), np.cos(s / 2)],
        [0.6 * c, 0.0, 2.0 * t], [0.0, 0.0, 3.0 * c],
        [-1.8 * s, 0.0, 2.0], [0.0, 0.0, -9.0 * s],
    )  # fmt: skip


def circling(t):
    """A base that goes round and turns to and fro about a tilted axis."""
    c, s = np.cos(2.0 * t), np.sin(2.0 * t)
    u, (x, dx, ddx) = np.array([0.6, 0.0, 0.8]), swing(t, 0.9, 2.0)
    return rd.BaseMotion.from_world(
        [c, s, 0.3 * s], [*(u * np.sin(x / 2.0)), np.cos(x / 2.0)],
        [-2.0 * s, 2.0 * c, 0.6 * c], dx * u,
        [-4.0 * c, -4.0 * s, -1.2 * s], ddx * u,
    )  # fmt: skip


def limited(name, limits, **options):
    """A bundled robot with other limits of positions."""
    robot = rd.load(name, **options)
    joints = tuple(
        dataclasses.replace(j, limits=rd.Limits(*limits[j.name], 0.0, 0.0), kind="revolute")
        if j.name in limits
        else j
        for j in robot.mechanism.joints
    )
    mechanism = dataclasses.replace(robot.mechanism, joints=joints)
    return rd.Robot(mechanism, robot.model.settings)


#: What a motion is, sample by sample.
STATES = ("t", "q", "v", "a", "tau")


def same(found, expected, names=STATES, tolerance=0.0):
    """Samples, and what controllers remember, are equal: bit for bit, or to a tolerance."""
    memories = found.controller_state, expected.controller_state
    assert list(memories[0]) == list(memories[1])
    pairs = {name: (getattr(found, name), getattr(expected, name)) for name in names}
    for name, (x, y) in (pairs | {x: tuple(m[x] for m in memories) for x in memories[0]}).items():
        assert np.shape(x) == np.shape(y), name
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance, err_msg=name)
