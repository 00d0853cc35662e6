"""Springs and dampers beyond the limits of joints."""

import dataclasses
import math

import numpy as np
import pytest
from support.motions import limited
from support.slides import slides

import robodyn as rd
from robodyn.force_elements.joint_stop import JOINT_ELEMENT

SLIDER = slides(2.0, limits=(-1.0, 2.0))


def stop_force(x, v, lower, upper, k, c):
    """Force of the stops of a slider [N]."""
    joint = rd.Joint("x", "prismatic", "rail", "car", limits=rd.Limits(lower, upper))
    joint = dataclasses.replace(joint, stop_stiffness=k, stop_damping=c)
    return JOINT_ELEMENT.forces(joint, [x], [v], 0.01)[0]


def stop_energy(x, lower, upper, k):
    """Potential energy of the stops of a slider [J]."""
    joint = rd.Joint("x", "prismatic", "rail", "car", limits=rd.Limits(lower, upper))
    return JOINT_ELEMENT.energy(dataclasses.replace(joint, stop_stiffness=k), [x])


def test_the_law():
    k, c = 500.0, 0.3
    ends = (-1.0, 2.0, k, c)
    assert stop_force(0.7, 3.0, *ends) == 0.0
    assert stop_force(2.1, 0.0, *ends) == pytest.approx(-k * 0.1)
    assert stop_force(2.1, 2.0, *ends) == pytest.approx(-k * 0.1 * (1 + c * 2.0))
    assert stop_force(2.1, -10.0, *ends) == 0.0  # it would pull
    assert stop_force(-1.2, 0.0, *ends) == pytest.approx(k * 0.2)
    assert stop_force(-1.2, -1.0, *ends) == pytest.approx(k * 0.2 * (1 + c))
    assert stop_energy(2.1, *ends[:3]) == pytest.approx(0.5 * k * 0.01)
    assert stop_force(5.0, 1.0, -1.0, math.inf, k, c) == 0.0


def test_an_elastic_stop_is_half_an_oscillation():
    k, m, v = 800.0, 2.0, 1.5
    run = rd.simulate(
        SLIDER, v0=[v], q0=[1.9], duration=1.0, step=1e-4, stops=rd.CompliantStops(k),
        limits="ignore",
    )  # fmt: skip
    w = math.sqrt(k / m)
    assert run.q.max() == pytest.approx(2.0 + v / w, rel=1e-6)
    assert run.v[-1, 0] == pytest.approx(-v, rel=1e-6)
    within = (run.q[:, 0] > 2.0).sum() * 1e-4
    assert within == pytest.approx(math.pi / w, abs=2e-4)
    assert np.ptp(run.energy) < 1e-6 * run.energy[0]


def test_at_small_speeds_restitution_is_what_is_promised():
    c = 0.5
    for v in (0.05, 0.1, 0.2):
        run = rd.simulate(
            SLIDER, v0=[v], q0=[2.0], duration=0.3, step=1e-4,
            stops=rd.CompliantStops(800.0, damping=c), limits="ignore",
        )  # fmt: skip
        assert -run.v[-1, 0] / v == pytest.approx(1 - 2 / 3 * c * v, abs=(c * v) ** 2)
        audit = run.audit
        assert np.abs(audit.unexplained).max() < 1e-5 * audit.exchanged
        assert audit.dissipated[-1] == pytest.approx(run.energy[0] - run.energy[-1], rel=1e-3)


@pytest.mark.parametrize("options", [{}, {"passive": False}, {"base": "floating"}])
def test_forces_are_slopes_of_the_energy(options):
    robot = limited("pan_tilt", {"pan": (-0.2, 0.3), "tilt": (-0.1, 0.1)}, **options)
    stopped = robot.with_(stops=rd.CompliantStops(300.0, damping=0.2))
    q, zero = robot.random(np.random.default_rng(1)), np.zeros(robot.nv)
    q[-2:] = [0.5, -0.4]
    extra = stopped.passive_forces(q, zero) - robot.passive_forces(q, zero)
    h, slope = 1e-6, np.zeros(robot.nv)
    for k in range(robot.nv):
        u = h * np.eye(robot.nv)[k]
        ends = [stopped.integrate(q, s * u) for s in (1, -1)]
        U = [stopped.potential_energy(x) - robot.potential_energy(x) for x in ends]
        slope[k] = (U[0] - U[1]) / (2 * h)
    np.testing.assert_allclose(extra, -slope, atol=1e-5)
    v = np.linspace(-1, 1, robot.nv)
    a = robot.forward_dynamics(q, v, zero)
    wanted = stopped.inverse_dynamics(q, v, a)
    forces = stopped.passive_forces(q, v) - robot.passive_forces(q, v)
    np.testing.assert_allclose(wanted, robot.inverse_dynamics(q, v, a) - forces, atol=1e-9)


def test_wrong_stops():
    robot = SLIDER
    with pytest.raises(rd.SettingsError, match=r"'y' .* is to have stops"):
        robot.with_(stops=rd.CompliantStops({"y": 3.0}))
    with pytest.raises(rd.SettingsError, match="positive"):
        rd.CompliantStops(-3.0)
    with pytest.raises(rd.ShapeError, match="RigidStops"):
        rd.simulate(robot, stops="rigid")
