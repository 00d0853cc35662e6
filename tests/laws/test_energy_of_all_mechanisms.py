"""Every bundled mechanism gains what it is given, less what it loses, to the order of the method.

As the file has it, with friction and springs; with motors behind gears; on a floating base, and on
one that is carried along; with a point that rubs on the ground; and where it hits something.
"""

import math

import numpy as np
import pytest

import robodyn as rd

STEPS = 5e-4, 1.25e-4
#: Their base has no mass, and so nothing says how it would move.
WITHOUT_MASS = {"caster_table", "double_pendulum"}
SETTINGS = ("fixed", "motors", "floating", "moving", "ground")
#: Their code takes long to compile, and their loops are of kinds that smaller ones have.
LARGE = ("delta", "stewart")
CASES = [
    (name, setting)
    for name in rd.robots()
    for setting in SETTINGS
    if not (setting == "floating" and name in WITHOUT_MASS)
    if not (setting != "fixed" and name in LARGE)
]


def prepared(name, setting):
    """A robot in its surroundings."""
    base = setting if setting in ("floating", "moving") else "fixed"
    robot = rd.load(name, base=base)
    if setting == "motors":
        motor = rd.Actuator(30.0, 2e-5, viscous=1e-4, coulomb=2e-5)
        single = [j for j in robot.actuated_joints if robot.joints[j].kind.nv == 1]
        return rd.load(name, actuators=dict.fromkeys(single, motor))
    if setting == "ground":
        tip = robot.link_names[-1]
        height = robot.frame_pose(robot.neutral(), tip)[2, 3] + 0.003
        law = {"stiffness": 1e4, "damping": 0.5, "friction": 0.5, "friction_speed": 0.2}
        return robot.with_(ground=rd.Ground({"tip": (tip, (0, 0, 0))}, height=height, **law))
    return robot


def shaken(t):
    """A base that swings along and about several axes."""
    s, c = math.sin(3.0 * t), math.cos(3.0 * t)
    turn = 0.0, math.sin(0.1 * s), 0.0, math.cos(0.1 * s)
    return rd.BaseMotion.from_world(
        (0.1 * s, 0.0, 0.2 * c),
        turn,
        (0.3 * c, 0.0, -0.6 * s),
        (0.0, 0.6 * c, 0.0),
        (-0.9 * s, 0.0, -1.8 * c),
        (0.0, -1.8 * s, 0.0),
    )


def start(robot):
    """Posture, speeds and torques of motors, which nearly hold it up."""
    rng = np.random.default_rng(4)
    q, v = robot.neutral(), rng.normal(size=robot.nv)
    v = robot.consistent_velocity(q, v) if robot.nc else v
    forced = np.zeros(robot.nv)
    for joint in robot.actuated_joints:
        forced[robot.joints[joint].v] = 1.0
    push = forced * robot.gravity_forces(q) * rng.uniform(0.7, 1.3, robot.nv)
    return q, v / np.abs(v).max(), push


def closes(audits):
    """What is unexplained is little, and falls with the step as that of a method of order 4."""
    gaps = [np.abs(audit.unexplained).max() for audit in audits]
    exchanged, rounding = audits[-1].exchanged, 1e-13 * np.abs(audits[-1].stored).max()
    assert gaps[-1] < 1e-7 * exchanged
    assert gaps[-1] < 1e-10 * exchanged + rounding or gaps[-1] < gaps[0] / 2**6  # two halvings


@pytest.mark.parametrize(("name", "setting"), CASES)
def test_gains_are_what_was_given(name, setting):
    robot = prepared(name, setting)
    q, v, push = start(robot)
    surroundings = {"base": shaken, "duration": 0.02} if setting == "moving" else {}
    closes(audits(robot, q, v, push, **surroundings))


def audits(robot, q, v, push, **given):
    """Of one motion with steps of several lengths."""
    given = {"q0": q, "v0": v, "duration": 0.04, "limits": "ignore", **given}
    runs = (rd.simulate(robot, lambda t, q, v: push, step=step, **given) for step in STEPS)
    return [run.audit for run in runs]


@pytest.mark.parametrize("name", rd.robots())
def test_what_a_hit_takes_is_told(name):
    """Within a motion: the last link meets something, and rebounds."""
    robot = rd.load(name)
    q, v, push = start(robot)
    speeds = {link: robot.frame_twist(q, v, link, axes="world")[:3] for link in robot.link_names}
    link = max(speeds, key=lambda x: np.linalg.norm(speeds[x]))

    def against(state):
        return -robot.frame_twist(state.q, state.v, link, axes="world")[:3]

    hit = rd.events.impact(link, (0.0, 0.0, 0.0), against, restitution=0.4)
    found = audits(robot, q, v, push, events=[rd.Event(0.02, hit)])
    assert found[-1].impacts[-1] > 0.0
    closes(found)


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("scara", "motors"),
        ("four_bar", "ground"),
        ("palletizer", "moving"),
        ("puma560", "floating"),
    ],
)
def test_only_forces_without_energy_take_some(name, setting):
    robot = prepared(name, setting)
    robot = robot.with_(springs={robot.actuated_joints[0]: (7.0, 0.2)})
    q, v, _ = start(robot)
    rest = rd.BaseMotion.at_rest()
    base = (rest.pose, rest.twist, rest.acceleration) if setting == "moving" else ()
    kinetic, potential, power = robot.function("energy_and_power")(q, v, *base)
    taken = v @ (robot.passive_forces(q, v) - robot.elastic_forces(q))
    assert abs(v @ robot.elastic_forces(q)) > 1e-3 and taken < 0.0
    found, wanted = (kinetic, potential), (robot.kinetic_energy(q, v), robot.potential_energy(q))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    np.testing.assert_allclose(power, taken, rtol=1e-11)
