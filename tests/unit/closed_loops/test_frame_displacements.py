"""Displacements of joint frames: slopes against differences, and descriptions with them."""

import dataclasses

import numpy as np
import pytest

import robodyn as rd
from robodyn.closed_loops.assembly.loop_geometry import LoopGeometry
from robodyn.model.model import build_model

#: A step. Frames that are turned about their own axis make differences right but for its size.
STEP = 1e-6


def rebuilt(model, mechanism):
    settings = dataclasses.replace(model.settings, rigid=True)
    return LoopGeometry(build_model(mechanism, settings), displaced=True)


@pytest.mark.parametrize(
    "name",
    ["four_bar", "crank_slider", "bricard", "stewart", "steering", "two_feet", "excavator"],
)
def test_slopes_are_differences(name):
    """Of joints drawn as loops and as second parents, along the tree and against it."""
    robot = rd.load(name)
    model = robot.tree_form.model
    loops = rebuilt(model, model.mechanism)
    q = robot.neutral()[None]
    slopes = loops.displaced(q)[0]
    rng = np.random.default_rng(0)
    for k in rng.choice(loops.frames.size, size=12, replace=False):
        step = np.zeros(loops.frames.size)
        gaps = []
        for sign in (1.0, -1.0):
            step[k] = sign * STEP
            gaps.append(rebuilt(model, loops.frames.moved(step)).residual(q)[0])
        difference = (gaps[0] - gaps[1]) / (2.0 * STEP)
        np.testing.assert_allclose(slopes[:, k], difference, atol=2.0 * STEP)


def test_names_of_numbers_stay():
    mechanism = rd.load("four_bar").mechanism
    pivot = mechanism.joints[-1]
    named = dataclasses.replace(
        pivot, origin=rd.Pose((rd.symbol("l", pivot.origin.xyz[0]), *pivot.origin.xyz[1:]))
    )
    joints = (*mechanism.joints[:-1], named)
    model = rd.load(dataclasses.replace(mechanism, joints=joints)).model
    loops = rebuilt(model, model.mechanism)
    moved = loops.frames.moved(np.full(loops.frames.size, 1e-3))
    x = moved.joints[-1].origin.xyz[0]
    assert x != pivot.origin.xyz[0]
    again = rd.load(moved, closure_tolerance=0.02)  # frames are moved once more
    assert [*again.symbols] == ["l"]
