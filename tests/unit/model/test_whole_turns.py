"""Angles that are whole turns apart: which of them a search, a cut joint and a limit choose."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.model.joint_info import nearest_turn

TURN = 2.0 * np.pi
BODY = rd.Inertia.from_matrix(1.0, (0.1, 0.0, 0.0), np.eye(3))
Z = (0.0, 0.0, 1.0)


@pytest.mark.parametrize("turns", [-7.3, -3, 0, 0.4, 3, 12.9])
def test_a_cut_screw_counts_its_turns(turns):
    """Its way along the axis tells how often it has turned."""
    pitch, angle = 0.01, 0.4 + turns * TURN
    slide = rd.Joint("slide", "prismatic", "base", "slider", axis=Z)
    turn = rd.Joint("turn", "continuous", "slider", "nut", axis=Z)
    screw = rd.Loop("screw", "helical", "base", "nut", axis=Z, pitch=pitch)
    links = (rd.Link("base"), rd.Link("slider", BODY), rd.Link("nut", BODY))
    robot = rd.load(rd.Mechanism("jack", links, (slide, turn), (screw,)))
    q = np.array([pitch * angle, angle])
    np.testing.assert_allclose(robot.loop_residual(q), 0.0, atol=1e-12)
    assert float(robot.joint_positions(q)["screw"]) == pytest.approx(angle, abs=1e-9)


@pytest.mark.parametrize(
    ("limits", "low"),
    [((1.0, np.inf), 1.0), ((-np.inf, -1.0), -1.0 - TURN), ((-7.0, -5.0), -6.0 - np.pi)],
)
@pytest.mark.parametrize("angle", [-20.0, -0.5, 0.5, 3.0, 20.0])
def test_an_angle_comes_into_the_turn_at_its_limits(angle, limits, low):
    found = float(nearest_turn(np.array(angle), limits))
    assert low <= found <= low + TURN
    assert (found - angle) / TURN == pytest.approx(round((found - angle) / TURN), abs=1e-12)


def test_turns_that_a_coupling_counts_are_kept():
    """From a guess that is many turns off, no angle is brought back by whole ones."""
    joints = (
        rd.Joint("first", "continuous", "base", "a", axis=Z),
        rd.Joint("second", "continuous", "a", "b", axis=Z),
        rd.Joint("third", "continuous", "base", "c", axis=Z),
    )
    links = (rd.Link("base"), *(rd.Link(name, BODY) for name in "abc"))
    gear = rd.Coupling("gear", "b", "c", 2.0)  # third = 2 (first + second)
    robot = rd.load(rd.Mechanism("geared", links, joints, couplings=(gear,)))
    guess = np.array([0.2, 0.1, 30.0])
    q = robot.assemble(guess)
    assert q[2] - 2.0 * (q[0] + q[1]) == pytest.approx(0.0, abs=1e-9)
    assert np.abs(q - guess).max() > np.pi
