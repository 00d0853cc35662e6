"""Derivatives of impacts equal differences between impacts."""

from __future__ import annotations

import numpy as np
import pytest
from random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.description import Pose

POINT = [0.1, -0.2, 0.15]
AXIS = [0.3, -0.5, 0.8]


def chain(**options):
    rng = np.random.default_rng(5)
    return rd.load(random_mechanism(rng, ("spherical", "prismatic")), **options)


def four_bar():
    return rd.load("four_bar")


#: Robot, link, direction, and how it is hit.
CASES = {
    "rebound": (lambda: rd.load("scara"), AXIS, {"restitution": 0.4}),
    "sticking": (lambda: chain(base="floating"), None, {}),
    "a floating chain": (lambda: chain(base="floating"), AXIS, {"restitution": 1.0}),
    "a particle": (lambda: chain(), AXIS, {"against": rd.PointMass(0.7, [0.3, 0.2, 0.1])}),
    "sticking in a plane": (lambda: rd.load("double_pendulum"), None, {}),
    "a linkage": (four_bar, AXIS, {"restitution": 0.3}),
    "a linkage that sticks": (four_bar, None, {}),
    "driven joints": (lambda: rd.load("scara"), AXIS, {"controlled": "second"}),
    "two links": (lambda: chain(base="floating"), AXIS, {"against": "first"}),
    "a moving base": (lambda: chain(base="moving"), AXIS, {"base": "turning"}),
}


def prepared(case):
    """A robot, a state in which it is hit, and the arguments of the impact."""
    make, direction, options = CASES[case]
    robot, rng = make(), np.random.default_rng(3)
    options = dict(options)
    if options.get("against") == "first":
        options["against"] = robot.link_names[1], [0.05, 0.1, 0.0]
    if "controlled" in options:
        options["controlled"] = robot.joint_names[1:2]
    if "base" in options:
        options["base"] = rd.BaseMotion.from_world(
            [0.1, 0.2, 0.3], [0.1, 0.2, 0.3, 0.9], [0.1, 0.2, -0.3], [0.5, -0.4, 0.3]
        )
    q = robot.random(rng)
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    link = robot.link_names[-1]
    place = link, POINT, direction

    def approaching(v):
        try:
            robot.impact(q, v, *place, **options)
        except rd.ImpactError:
            return False
        return True

    return robot, q, v if approaching(v) else -v, place, options


def near(robot, q, v, dq, dv):
    """A state near another one; loops are closed again."""
    q, v = robot.integrate(q, dq), v + dv
    if not robot.nc:
        return q, v
    held = robot.independent_joints
    q = robot.assemble(q, hold=held, beyond_limits=True)
    return q, robot.consistent_velocity(q, v, hold=held)


@pytest.mark.parametrize("case", CASES)
def test_by_the_state_before(case):
    robot, q, v, place, options = prepared(case)
    found = robot.impact_derivatives(q, v, *place, **options)
    hit = robot.impact(q, v, *place, **options)
    np.testing.assert_allclose(found.v, hit.v, atol=1e-12)
    np.testing.assert_allclose(found.impulse, hit.impulse, atol=1e-12)
    assert np.linalg.norm(hit.v - v) > 1e-2
    rng, h = np.random.default_rng(8), 1e-6
    for _ in range(3):
        dq, dv = rng.normal(size=(2, robot.nv))
        ends = [near(robot, q, v, s * dq, s * dv) for s in (h, -h)]
        dq = (robot.difference(q, ends[0][0]) - robot.difference(q, ends[1][0])) / (2 * h)
        dv = (ends[0][1] - ends[1][1]) / (2 * h)
        hits = [robot.impact(*end, *place, **options) for end in ends]
        for name in ("v", "impulse"):
            ahead, behind = (getattr(x, name) for x in hits)
            wanted = (ahead - behind) / (2 * h)
            slope = getattr(found, f"{name}_by_q") @ dq + getattr(found, f"{name}_by_v") @ dv
            size = max(1.0, np.abs(wanted).max())
            np.testing.assert_allclose(slope, wanted, rtol=0.0, atol=1e-7 * size)


@pytest.mark.parametrize("case", ["rebound", "sticking", "a linkage", "driven joints"])
def test_by_inertial_parameters(case):
    robot, q, v, place, options = prepared(case)
    found = robot.impact_derivatives(q, v, *place, **options, parameters=True)
    h = 1e-5

    def heavier(mass):
        central = 0.02 * mass, 0.0, 0.0, 0.03 * mass, 0.0, 0.04 * mass
        load = rd.Inertia(mass, Pose((0.1, 0.2, -0.1)), *central)
        return robot.with_(payload={place[0]: load}) if mass else robot

    dp = (heavier(2 * h).inertial_parameters - robot.inertial_parameters) / (2 * h)
    hits = [heavier(k * h).impact(q, v, *place, **options) for k in (0.0, 1.0, 2.0)]
    for name in ("v", "impulse"):
        x, y, z = (getattr(hit, name) for hit in hits)
        wanted = (4.0 * y - z - 3.0 * x) / (2 * h)
        # what has one way to move moves as before
        assert np.abs(wanted).max() > 1e-4 or (name, robot.dof) == ("v", 1)
        slope = getattr(found, f"{name}_by_parameters") @ dp
        np.testing.assert_allclose(slope, wanted, atol=1e-6 * max(1.0, np.abs(wanted).max()))


def test_a_batch_is_its_rows():
    robot = rd.load("double_pendulum")
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=(2, 4, 2))
    many = robot.impact_derivatives(q, v, "lower", [0, 0, -1], None, parameters=True)
    for k in range(4):
        one = robot.impact_derivatives(q[k], v[k], "lower", [0, 0, -1], None, parameters=True)
        for name, value in vars(one).items():
            np.testing.assert_allclose(getattr(many, name)[k], value, rtol=1e-10, atol=1e-12)


def test_what_is_refused():
    robot = rd.load("double_pendulum")
    with pytest.raises(rd.ImpactError, match="behind it"):
        robot.impact_derivatives([0.3, 0.4], [1, 2], "lower", [0, 0, -1], [-1, 0, 0])
    with pytest.raises(rd.SettingsError, match="restitution"):
        robot.impact_derivatives([0.3, 0.4], [1, 2], "lower", [0, 0, -1], None, restitution=1.0)
