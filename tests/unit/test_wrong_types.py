"""Arguments of the wrong type say what was expected."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd


@pytest.mark.parametrize(
    "given",
    [
        {"actuators": {"elbow_pitch": 3}},
        {"rotors": [3]},
        {"springs": [3]},
        {"springs": {"elbow_pitch": 3}},
        {"springs": {"elbow_pitch": (1.0, "x")}},
        {"joint_maps": {"elbow_pitch": 3}},
        {"loops": [3]},
        {"gravity": (1.0, 2.0)},
        {"gravity": (0.0, 0.0, np.nan)},
        {"friction_speed": 0.0},
        {"base": "float"},
        {"rotor_model": "none"},
    ],
)
def test_load(given):
    with pytest.raises(rd.RobodynError):
        rd.load("arm7", **given)


@pytest.mark.parametrize(
    "given",
    [
        {"locked": {"elbow_pitch": "x"}},
        {"locked": {"elbow_pitch": np.inf}},
        {"locked": {"nothing": 0.0}},
        {"payload": {"link7": 3}},
        {"payload": {"nothing": None}},
        {"unknown": 1},
    ],
)
def test_with(given):
    with pytest.raises(rd.RobodynError):
        rd.load("arm7").with_(**given)


@pytest.mark.parametrize("call", [rd.simulate, lambda r: rd.rollout(r, None, [[0.0]], [[0.0]])])
def test_simulation_of_something_else(call):
    with pytest.raises(rd.ShapeError, match="Robot"):
        call("arm7")


def test_lists_for_tuples():
    robot = rd.load("arm7")
    f = robot.function("hybrid_dynamics", controlled=["elbow_pitch", "link"][:1])
    assert [port.shape for port in f.inputs][2:] == [(1,), (6,)]
    assert robot.function("inverse_dynamics", wrenches=["link7"]).inputs[-1].shape == (6,)


def test_derivative_with_respect_to_something_else():
    with pytest.raises(rd.UnknownNameError, match="there are"):
        rd.load("arm7").function("inverse_dynamics").jacobian("x")
