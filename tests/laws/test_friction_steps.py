"""Steps that are too long for dry friction are told of; those that are not are not."""

import dataclasses
import math
import re
import warnings

import numpy as np
import pytest
from support.bundled import bundled
from support.slides import slides

import robodyn as rd
from robodyn.errors import EnergyWarning

#: Of a body that slides [kg, N, m/s].
MASS, FRICTION, SMOOTH = 2.0, 4.0, 0.01


def told(run):
    """The warnings of a run about its steps, and its motion."""
    with warnings.catch_warnings(record=True, action="always") as found:
        motion = run()
    return [str(x.message) for x in found if x.category is EnergyWarning], motion


def slider(friction=FRICTION, damping=0.0, **options):
    given = {"friction": friction, "damping": damping, "friction_speed": SMOOTH, **options}
    return slides(MASS, link="body", limits=(-99.0, 99.0), **given)


#: In which friction stops the body [s].
WITHIN = MASS * SMOOTH / FRICTION


@pytest.fixture(scope="module")
def robot():
    return slider()


@pytest.mark.parametrize("load", [0.0, 0.3])
@pytest.mark.parametrize("steps", [0.5, 1.5, 5.0, 30.0, 1000.0])
@pytest.mark.parametrize("integrator", ["euler", "semi_implicit", "heun", "midpoint", "rk4"])
def test_a_body_that_friction_stops(robot, integrator, steps, load):
    """It creeps under less than its friction; whoever has it move otherwise says so."""
    h = steps * WITHIN
    options = {"v0": [6.0 * steps * SMOOTH], "step": h, "duration": 80.0 * h, "limits": "ignore"}
    force = lambda t, q, v: [load * FRICTION]  # noqa: E731
    found, motion = told(lambda: rd.simulate(robot, force, integrator=integrator, **options))
    creeps = SMOOTH * load / math.sqrt(1.0 - load**2)
    wrong = np.abs(motion.v[-20:, 0] - creeps).max() > 0.1 * SMOOTH
    assert len(found) == wrong
    if wrong:
        assert "the friction of joint 'x' of 'sliders'" in found[0]
        assert f"within {WITHIN:.3g} s" in found[0]
    assert wrong or steps < 6.0


@pytest.mark.slow
@pytest.mark.parametrize("every", [1, 7])
def test_a_light_joint_of_a_heavy_robot(scara, every):
    """Its energy is nothing beside that of the others."""
    options = {"v0": [0.5, 0.5, 0.1, 1.0], "duration": 0.3, "limits": "ignore", "every": every}
    found, motion = told(lambda: rd.simulate(scara, **options))
    right = rd.simulate(scara, integrator="auto", **options)
    assert abs(motion.v[-1, 3]) > 10.0 * abs(right.v[-1, 3])
    assert len(found) == 1 and "joint 'spindle'" in found[0] and "of motion" not in found[0]
    for better in ({"step": 2e-4}, {"integrator": "auto"}, {"integrator": "implicit"}):
        assert not told(lambda better=better: rd.simulate(scara, **options | better))[0]
    smooth = rd.load("scara", friction_speed=0.1)
    assert not told(lambda: rd.simulate(smooth, **options))[0]


@pytest.mark.parametrize("period", [30, 100])
def test_a_body_that_turns_round(robot, period):
    """Steps of many times what friction takes, but nothing is at rest for long."""
    h = 10.0 * WITHIN
    force = lambda t, q, v: [5.0 * FRICTION * math.cos(2.0 * math.pi * t / (period * h))]  # noqa: E731
    options = {"step": h, "duration": 300.0 * h, "limits": "ignore"}
    found, motion = told(lambda: rd.simulate(robot, force, **options))
    assert (np.diff(np.sign(motion.v[1:, 0])) != 0.0).sum() > 300 / period
    assert not [x for x in found if "friction" in x]


def test_what_has_no_friction_or_no_speed_of_its_own(robot):
    jerks = lambda t, q, v: [40.0 * (-1.0) ** round(t / 0.05)]  # noqa: E731
    free, options = slider(0.0), {"step": 0.05, "duration": 5.0, "limits": "ignore"}
    assert not told(lambda: rd.simulate(free, jerks, **options))[0]
    rigid = rd.load(slider().mechanism, passive=False)
    assert not told(lambda: rd.simulate(rigid, jerks, **options))[0]
    path = lambda t: (0.001 * math.sin(90 * t), 0.09 * math.cos(90 * t), -8.1 * math.sin(90 * t))  # noqa: E731
    assert not told(lambda: rd.simulate(robot, controlled={"x": path}, **options))[0]


def test_what_jerks_and_is_not_friction():
    """Torque that turns the body round at each step, and friction that steps are short for."""
    jerks = lambda t, q, v: [40.0 * (-1.0) ** round(t / 0.05)]  # noqa: E731
    options = {"step": 0.05, "duration": 5.0, "limits": "ignore"}
    assert not [
        x for x in told(lambda: rd.simulate(slider(0.1), jerks, **options))[0] if "fric" in x
    ]


@pytest.mark.parametrize("every", [1, 10])
def test_samples_several_steps_apart(robot, every):
    """A step is what it is, however few of them are kept."""
    h = 0.5 * WITHIN
    force = lambda t, q, v: [5.0 * FRICTION * math.cos(2.0 * math.pi * t / (100.0 * h))]  # noqa: E731
    options = {"step": h, "duration": 1000.0 * h, "limits": "ignore", "every": every}
    assert not told(lambda: rd.simulate(robot, force, **options))[0]


def test_friction_on_the_ground(robot):
    """A block on the floor, whose friction is not that of a joint."""
    block = slider(0.0, base="floating")
    link, corner = block.link_names[-1], 0.5
    feet = {f"{i}{j}": (link, (i * corner, j * corner, 0.0)) for i in (-1, 1) for j in (-1, 1)}
    for speed, wrong in ((1e-4, True), (0.05, False)):
        floor = rd.Ground(feet, stiffness=2e3, damping=1.0, friction=0.5, friction_speed=speed)
        body = block.with_(ground=floor, locked={"x": 0.0})
        q0 = body.neutral()
        q0[2] = -((MASS * 9.81 / 4.0 / 2e3) ** (2.0 / 3.0))
        v0 = np.zeros(body.nv)
        v0[0] = 0.02
        options = {"q0": q0, "v0": v0, "step": 2e-3, "duration": 0.5, "limits": "ignore"}
        found, _ = told(lambda body=body, options=options: rd.simulate(body, **options))
        assert bool(found) == wrong
        if wrong:
            assert re.search("friction of the ground at contact '-?1-?1' of 'sliders'", found[0])
            assert "which stops joint 'floating_base[" in found[0]


def test_friction_of_a_joint_beside_that_of_the_ground(robot):
    """A body that its joint stops and not the floor, which presses it a little."""
    touching = rd.Ground({"foot": (robot.link_names[-1], (0.0, 0.0, 0.0))}, friction=1e-6)
    body = robot.with_(ground=touching)
    found, _ = told(lambda: rd.simulate(body, v0=[0.02], duration=0.5, step=5 * WITHIN))
    assert "the friction of joint 'x' of 'sliders'" in found[0] and "ground" not in found[0]


@pytest.mark.parametrize("coordinates", ["tree", "minimal"])
def test_friction_of_a_joint_that_closes_a_loop(coordinates):
    mechanism = bundled("four_bar").mechanism
    joints = tuple(
        dataclasses.replace(joint, friction=5.0) if joint.name == "rocker_pin" else joint
        for joint in mechanism.joints
    )
    rusty = dataclasses.replace(mechanism, joints=joints)
    robot = rd.load(rusty, coordinates=coordinates, friction_speed=1e-3)
    (message,), _ = told(lambda: rd.simulate(robot, duration=0.1, limits="ignore"))
    assert any(f"the friction of joint '{name}'" in message for name in robot.joint_names)
    assert not told(lambda: rd.simulate(robot, duration=0.02, integrator="auto", limits="ignore"))[
        0
    ]


def test_an_audit_of_friction_that_stops_a_body_between_samples_says_so():
    """All of its energy is lost in one step, of which the samples at its ends say nothing."""
    for friction, wrong in ((FRICTION, False), (50_000.0, True)):
        run = rd.simulate(slider(friction), v0=[0.4], duration=0.2, integrator="auto")
        found, audit = told(lambda run=run: run.audit)
        lost = 0.5 * MASS * 0.4**2
        if wrong:
            assert abs(audit.dissipated[-1] - lost) > 0.02 * lost
            assert len(found) == 1 and "do not add up" in found[0]
            assert "step that ends at t = 0.001 s" in found[0]
        else:
            assert not found
            assert run.v[-1, 0] > 0.0 or audit.dissipated[-1] == pytest.approx(lost, rel=1e-3)
