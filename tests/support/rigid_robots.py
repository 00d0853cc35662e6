"""Bundled robots as rigid bodies only, and random states of them."""

import functools

import numpy as np

import robodyn as rd


@functools.cache
def load(name, **options):
    """Without passive forces; one robot for all tests."""
    return rd.load(name, passive=False, **options)


def state(robot, seed=0):
    """``q, v, tau`` with loops closed."""
    rng = np.random.default_rng(seed)
    q = robot.random(rng)
    return q, robot.consistent_velocity(q, rng.normal(size=robot.nv)), rng.normal(size=robot.nv)
