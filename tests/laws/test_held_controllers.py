"""Controllers whose forces are held over a step for longer than they are stable."""

import re
import warnings

import numpy as np
import pytest
from support.slides import Z, slides

import robodyn as rd
from robodyn.controllers import (
    LQR,
    DisturbanceObserver,
    Filtered,
    JointPD,
    Noisy,
    PointToPoint,
    Sampled,
    Saturated,
)
from robodyn.errors import EnergyWarning, SampleWarning
from robodyn.simulation.integrators import adaptive

MASS = 2.0


@pytest.fixture(scope="module")
def sliders():
    """Two bodies, each on a slide of its own."""
    return slides(MASS, MASS, joint="z{}", link="b{}", axis=Z, gravity=(0, 0, 0))


def damped(robot, damping):
    """Forces ``-d v``: with the mass m a pole at ``-d / m``, held it is ``1 - h d / m``."""
    return JointPD(
        robot, PointToPoint(np.zeros(2), np.zeros(2), 1.0), stiffness=0.0, damping=damping
    )


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "implicit", "auto", "variational"])
def test_a_breakdown_names_joint_pole_and_step(sliders, integrator, monkeypatch):
    monkeypatch.setattr(adaptive, "MAX_STEPS", 100)
    law = damped(sliders, [1.0, 5e4])
    with warnings.catch_warnings(action="error"):
        with pytest.raises(rd.SimulationError, match="without bound") as caught:
            rd.simulate(
                sliders, law, v0=[0.1, 0.1], duration=0.5, integrator=integrator, limits="ignore"
            )
    text = str(caught.value)
    assert "joint 'z1'" in text and "-2.5e+04 1/s" in text
    needed = float(re.search(r"step=([0-9.e-]+)", text).group(1))
    assert needed == pytest.approx(2 * MASS / 5e4, rel=0.02)
    assert "integrator=" not in text and "another integrator does not help" in text
    assert len(caught.value.trajectory) > 1


def test_the_step_that_is_named_does(sliders):
    law = damped(sliders, [1.0, 5e4])
    run = rd.simulate(sliders, law, v0=[0.1, 0.1], duration=0.01, step=7.9e-5, limits="ignore")
    assert np.abs(run.v[:, 1]).max() == 0.1


def test_the_step_that_is_named_where_a_joint_falls_at_any_step(double):
    """A pendulum on its head whose shoulder is damped: its fast pole p needs h < 2 / |p|."""

    class Law:
        symbolic = True

        def __call__(self, t, q, v):
            return [-1000.0 * v[0], 0.0]

    state = {"q0": [np.pi, 0.1], "v0": [0.1, 0.0], "duration": 0.1, "limits": "ignore"}
    with pytest.raises(rd.SimulationError, match="joint 'shoulder'") as caught:
        rd.simulate(double, Law(), step=0.01, **state)
    text = str(caught.value)
    pole, step = (float(re.search(x, text).group(1)) for x in (r"is (-[\d.]+) ", r"step=(\S+)"))
    assert step == pytest.approx(2.0 / abs(pole), rel=0.1)
    assert np.abs(rd.simulate(double, Law(), step=step, **state).v).max() < 1.0


def test_a_joint_that_runs_away_at_any_step_is_not_told_of(sliders):
    class Law:
        symbolic = True

        def __call__(self, t, q, v):
            return [25.0 * MASS * q[0], 0.0 * v[1]]

    with warnings.catch_warnings(action="error"):
        run = rd.simulate(sliders, Law(), v0=[0.1, 0.1], duration=3.0, step=0.01, limits="ignore")
    assert run.v[-1, 0] > 1e4


def test_growth_without_a_breakdown_is_one_warning(sliders):
    law = damped(sliders, [1.0, 5e4])
    with warnings.catch_warnings(record=True, action="always") as told:
        rd.simulate(sliders, law, v0=[0.1, 0.1], duration=0.01, limits="ignore")
    assert [x.category for x in told] == [EnergyWarning]
    assert "step=7.9e-05 or shorter" in str(told[0].message)


def test_what_is_stable_is_not_told_of(sliders):
    """Poles close to the limit."""
    with warnings.catch_warnings(action="error"):
        near = damped(sliders, [1.0, 1.9 * MASS / 1e-3])
        rd.simulate(sliders, near, v0=[0.1, 0.1], duration=0.1, limits="ignore")


def test_a_law_for_held_forces_is_stable_where_the_continuous_one_is_not(sliders):
    """As the error of the continuous one says, whose pole is ``-sqrt(1e8) / m`` = -5000 1/s."""
    weights = {"state": [1.0, 1.0, 1e8, 1e8], "effort": 1.0}
    options = {"v0": [0.1, 0.1], "duration": 0.3, "step": 1e-3, "limits": "ignore"}
    with pytest.raises(rd.SimulationError, match=r"LQR\(dt=0.001\)"):
        rd.simulate(sliders, LQR(sliders, [0.0, 0.0], **weights), **options)
    run = rd.simulate(sliders, LQR(sliders, [0.0, 0.0], **weights, dt=1e-3), **options)
    assert np.abs(run.v[-1]).max() < 1e-3


WRAPPERS = {
    "alone": lambda x: x,
    "limited": lambda x: Saturated(x, 1e9),
    "noisy": lambda x: Noisy(x, velocity=1e-3),
    "observed": lambda x: DisturbanceObserver(x, 5.0),
}


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_period_that_is_too_long_is_told_before_the_motion(sliders, wrap):
    """A damper of 5000 N s/m needs ``h < 2 m / d`` = 0.8 ms, whatever wraps it."""

    def told(period, **options):
        law = Sampled(WRAPPERS[wrap](damped(sliders, [1.0, 5e3])), period, **options)
        with warnings.catch_warnings(record=True, action="always") as found:
            rd.simulate(sliders, law, duration=1e-3, step=1e-4, limits="ignore")
        return [str(x.message) for x in found if x.category is SampleWarning]

    (text,) = told(1e-3)
    assert text.startswith("before the motion of 'sliders': the controller is unstable in joint")
    assert "'z1'" in text and "held for 0.001 s" in text
    needed = float(re.search(r"period=([0-9.e-]+)", text).group(1))
    assert needed == pytest.approx(2 * MASS / 5e3, rel=0.03)
    assert not told(needed)
    assert "act 0.0005 s late" in told(4e-4, delay=5e-4)[0]


def test_memories_are_part_of_what_is_told(sliders):
    """A filter of 300 rad/s behind a law that is stable for 1 s: ``m s^3 + ... + 300 k = 0``."""
    there = PointToPoint(np.zeros(2), np.zeros(2), 1.0)
    law = JointPD(sliders, there, stiffness=2e4, damping=100.0)
    run = {"duration": 1e-3, "limits": "ignore"}
    with pytest.warns(SampleWarning, match="unstable in joint"):
        rd.simulate(sliders, Sampled(Filtered(law, 300.0), 0.04), **run)
    with warnings.catch_warnings(action="error"):
        rd.simulate(sliders, Sampled(Filtered(law, 3000.0), 1e-3), **run)
        rd.simulate(sliders, Sampled(lambda t, q, v: -1e9 * v, 1e-3), **run)  # it is not called


def test_a_linkage_is_told_of_as_well(four_bar):
    q = four_bar.neutral()
    law = JointPD(four_bar, lambda t: (q, 0 * q, 0 * q), stiffness=0.0, damping=1e4)
    with pytest.warns(SampleWarning, match="joint 'crank_drive'"):
        rd.simulate(four_bar, Sampled(law, 1e-2), q0=q, duration=1e-3, limits="ignore")
