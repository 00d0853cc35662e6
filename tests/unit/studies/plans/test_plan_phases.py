"""Plans through phases of contact: impacts and flights against closed forms."""

import numpy as np
import pytest

import robodyn as rd

BODY, FOOT, G = 3.0, 0.5, 9.81
STAND = {"foot": rd.Contact("point")}


def _hopper():
    body = rd.Link("body", rd.Inertia(BODY, ixx=0.1, iyy=0.1, izz=0.1))
    foot = rd.Link("foot", rd.Inertia(FOOT, ixx=0.01, iyy=0.01, izz=0.01))
    joints = (
        rd.Joint("rise", "prismatic", "ground", "body", axis=(0, 0, 1)),
        rd.Joint("leg", "prismatic", "body", "foot", axis=(0, 0, -1)),
    )
    mechanism = rd.Mechanism("hopper", (rd.Link("ground"), body, foot), joints)
    return rd.load(mechanism, actuators={"leg": rd.Actuator()})


@pytest.mark.slow
def test_a_hop():
    n = 11
    plan = rd.plan_motion(
        _hopper(), start=[0.5, 0.5], goal=[0.5, 0.5], phases=[STAND, {}, STAND], nodes=n,
        duration=[(0.1, 1.0), (0.3, 0.3), (0.1, 1.0)],
        constraints=[
            ("leg", lambda x: x.q[1], 0.2, 0.8),
            ("force", lambda x: x.contact_forces["foot"][2] if x.phase != 1 else 1.0, 0.0, 999.0),
        ],
    )  # fmt: skip
    stance, flight, landed = np.split(np.arange(len(plan.times)), 3)
    foot, foot_speed = (x[:, 0] - x[:, 1] for x in (plan.q, plan.v))
    for rows in (stance, landed):
        assert np.abs(foot[rows]).max() < 1e-8 and np.abs(foot_speed[rows]).max() < 1e-6
    np.testing.assert_allclose(plan.q[stance[-1]], plan.q[flight[0]], atol=1e-8)
    np.testing.assert_allclose(plan.v[stance[-1]], plan.v[flight[0]], atol=1e-8)
    t = plan.times[flight] - plan.times[flight[0]]
    share = FOOT / (BODY + FOOT)
    height, speed = plan.q[:, 0] - share * plan.q[:, 1], plan.v[:, 0] - share * plan.v[:, 1]
    free = height[flight[0]] + speed[flight[0]] * t - G * t**2 / 2
    np.testing.assert_allclose(height[flight], free, atol=1e-7)
    # what lands stops, and nothing holds the body
    assert foot_speed[flight[-1]] < -0.1
    assert plan.v[landed[0], 0] == pytest.approx(plan.v[flight[-1], 0], abs=1e-8)
    assert plan.deviation < 1e-2 and len(plan.trajectory.phases) == 3
    for t in (0.05, float(plan.times[flight[3]])):
        np.testing.assert_allclose(
            plan.reference(t)[0], plan.trajectory.resample([t]).q[0], atol=1e-2
        )


@pytest.mark.slow
def test_hopping_is_a_cycle_whose_mean_force_is_the_weight():
    plan = rd.plan_motion(
        _hopper(), start={}, phases=[STAND, {}], periodic=True, nodes=11,
        duration=[(0.1, 0.6), (0.2, 0.4)],
        constraints=[
            ("leg", lambda x: x.q[1], 0.3, 0.7),
            ("clear", lambda x: x.q[0] - x.q[1], -1e-9, 9.0),
        ],
    )  # fmt: skip
    np.testing.assert_allclose(plan.q[-1], plan.q[0], atol=1e-8)
    np.testing.assert_allclose(plan.v[-1], plan.v[0], atol=1e-8)
    assert plan.v[0, 0] < -0.5  # it lands softly while the body comes down
    impulse = 0.0
    for rows in np.split(np.arange(len(plan.times)), 2):
        f, h = plan.forces[rows, 0], plan.times[rows[2]] - plan.times[rows[0]]
        impulse += h / 6 * (f[:-1:2] + 4 * f[1::2] + f[2::2]).sum()
    assert impulse == pytest.approx(BODY * G * plan.times[-1], rel=1e-8)
    assert plan.deviation < 1e-4


def test_parameters_beside_contacts_are_refused():
    asked = {"start": {}, "phases": [STAND], "duration": [1.0]}
    with pytest.raises(rd.SettingsError, match="beside contacts"):
        rd.plan_motion(_hopper(), **asked, parameters={"m": (1.0, 2.0)})


def test_a_contact_does_not_pull():
    asked = {"start": [0.5, 0.5], "goal": [0.5, 0.5], "phases": [STAND], "nodes": 7}
    pulled = [("down", lambda x: x.v[0] if x.phase else x.a[0], -99.0, -1.5 * G)]
    with pytest.raises(rd.PlanError, match=r"constraint down by .* friction"):
        rd.plan_motion(_hopper(), **asked, duration=[0.2], constraints=pulled)
