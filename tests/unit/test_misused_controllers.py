"""Controllers at the borders of what they are for: what they refuse, and what holds there."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.controllers import (
    LQR,
    Admittance,
    FrictionCompensation,
    GravityCompensation,
    Impedance,
    OperationalSpace,
    PointToPoint,
    Saturated,
    TimeVaryingLQR,
)
from robodyn.errors import ActuationError, SettingsError, ShapeError


@pytest.fixture(scope="module")
def puma():
    return rd.load("puma560")


@pytest.mark.parametrize("rows", [(0, 1, 2), (3, 5), (2,)])
def test_an_impedance_of_some_components_bears_what_is_measured_in_the_others(puma, rows):
    q, rest = np.array([0.3, -0.6, 0.4, 0.2, 0.7, -0.4]), np.zeros(6)
    push = np.array([3.0, 4.0, 20.0, 1.5, -2.0, 1.0])
    law = Impedance(
        puma, "flange", PointToPoint(q, q, 1.0), stiffness=1000.0, damping=200.0, inertia=10.0,
        wrench=lambda t: push, components=rows,
    )  # fmt: skip
    a = puma.forward_dynamics(q, rest, law(0.0, q, rest), wrenches={"flange": push})
    found = puma.frame_acceleration(q, rest, a, "flange", axes="world", classical=True)
    turn = puma.frame_pose(q, "flange")[:3, :3]
    felt = np.concatenate([turn @ push[:3], turn @ push[3:]])
    np.testing.assert_allclose(found[list(rows)], felt[list(rows)] / 10.0, atol=1e-12)


class Forgetful(dict):
    """A dictionary that another motion empties whenever it gets something."""

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self.clear()


def test_two_motions_with_steps_of_their_own_share_an_admittance(puma):
    q = np.array([0.3, -0.6, 0.4, 0.2, 0.7, -0.4])
    position = OperationalSpace(puma, "flange", PointToPoint(q, q, 1.0))
    law = Admittance(position, lambda t, q, v: np.ones(6), 1.0, 2.0, 3.0)
    alone = Admittance(position, lambda t, q, v: np.ones(6), 1.0, 2.0, 3.0)
    object.__setattr__(law, "_steps", Forgetful())
    np.testing.assert_array_equal(law._over(0.01), alone._over(0.01))


@pytest.fixture(scope="module")
def double():
    return rd.load("double_pendulum")


@pytest.fixture(scope="module")
def acrobot():
    return rd.load("double_pendulum", actuators={"elbow": rd.Actuator()})


def test_forces_at_a_joint_without_a_motor_do_not_hold_a_posture(acrobot):
    q = np.array([0.5, 0.3])
    with pytest.raises(ActuationError, match=r"'shoulder'.*no motor") as caught:
        LQR(acrobot, q, tau=acrobot.gravity_forces(q))
    assert caught.value.direction == "shoulder"
    with pytest.raises(ShapeError, match="tau has shape"):
        LQR(acrobot, [np.pi, 0.0], tau=np.zeros((2, 2)))


def test_weights_too_far_apart_are_said_to_be(acrobot):
    with pytest.raises(SettingsError, match="too far apart"):
        LQR(acrobot, [np.pi, 0.0], state=1e12, effort=1e-12)


def test_a_law_of_another_robot_does_not_take_over(double, acrobot):
    still = GravityCompensation(double)
    run = rd.simulate(double, still, q0=[0.3, 0.2], duration=0.05, step=0.01)
    with pytest.raises(ShapeError, match=r"motors at elbow, expected.*motors at shoulder, elbow"):
        TimeVaryingLQR(double, run, then=LQR(acrobot, [np.pi, 0.0]))
    with pytest.raises(ShapeError, match="then"):
        TimeVaryingLQR(double, run, then=still)


def test_whole_numbers_are_cut_to_limits_between_them(double):
    cut = Saturated(lambda t, q, v: [3, -2], limits=2.5)(0.0, np.zeros(2), np.zeros(2))
    np.testing.assert_allclose(cut, [2.5, -2.0])


@pytest.mark.parametrize("wrong", [3.0, [3.0], np.ones((2, 2)), None, ["a", "b"]])
@pytest.mark.parametrize(
    "wrapper",
    [lambda c, robot: Saturated(c, 1.0), lambda c, robot: FrictionCompensation(c, robot=robot)],
)
def test_wrappers_refuse_what_is_no_force_for_each_speed(puma, wrapper, wrong):
    q = np.zeros(6)
    with pytest.raises(ShapeError, match="the controller returned"):
        wrapper(lambda t, q, v: wrong, puma)(0.0, q, q)
