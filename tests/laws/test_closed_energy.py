"""Every bundled closed mechanism swings for ten seconds: its energy stays, its loops stay closed.

Nothing damps it and no motor acts, so that kinetic and potential energy only change into each
other. What the step of the fourth-order method adds or takes is all that may be lost: it is
bounded, and falls with the power of the step that the method has.
"""

import dataclasses
import functools
from dataclasses import dataclass, field

import numpy as np
import pytest
from support.caster_table import caster_table, straight

import robodyn as rd
from robodyn.urdf import load_mechanism

UP, DOWN = (0.0, 0.0, 9.81), (0.0, 0.0, -9.81)
#: Of the change of potential energy: a hundredth of a percent. A force that does work by mistake
#: would add up to a part of that change itself.
BOUND = 1e-4


@dataclass(frozen=True)
class Motion:
    """A start and surroundings from where a mechanism does not pass singular postures like a whip.

    Most hang (gravity points up, since they are drawn standing); platforms and the excavator, which
    slides would let fall, stand or hang on springs in their driven joints [N/m, N m/rad].
    """

    step: float
    gravity: tuple[float, float, float] = UP
    speeds: dict[str, float] = field(default_factory=dict)
    posture: dict[str, float] = field(default_factory=dict)
    springs: dict[str, float] = field(default_factory=dict)

    def robot(self, name):
        if not self.springs:
            return rd.load(name, passive=False, gravity=self.gravity)
        springs = {joint: (stiffness, 0.0) for joint, stiffness in self.springs.items()}
        return rd.load(undamped(name), springs=springs, gravity=self.gravity)

    def start(self, robot):
        q, wanted = robot.neutral(), np.zeros(robot.nv)
        for joint, x in self.posture.items():
            q[robot.joints[joint].q] = x
        for joint, x in self.speeds.items():
            wanted[robot.joints[joint].v] = x
        # joints of no loop, which may hang beyond their limits, as nothing stops them here
        assert np.abs(robot.loop_residual(q)).max() < 1e-9
        return q, robot.consistent_velocity(q, wanted, hold=self.speeds)


@dataclass(frozen=True)
class Downhill(Motion):
    """The table rolls down a slope, its casters turned a little: they swing in."""

    def robot(self, name):
        return caster_table(gravity=self.gravity)

    def start(self, robot):
        q, v = straight(robot, 0.5)
        q[robot.joints["caster1"].q] += 0.3
        return q, robot.consistent_velocity(q, v)


def undamped(name):
    """A mechanism without damping, friction and motors, to which springs can be added."""
    mechanism = load_mechanism(name)
    joints = (dataclasses.replace(j, damping=0.0, friction=0.0) for j in mechanism.joints)
    return dataclasses.replace(mechanism, joints=tuple(joints), actuators=())


MOTIONS = {
    "bricard": Motion(0.02, DOWN, {"hinge2": 1.0}),
    "caster_table": Downhill(0.02, (0.3, 0.1, -9.81)),
    "crank_slider": Motion(0.01, UP, {"crank_drive": 6.0}),
    "delta": Motion(
        0.01, DOWN, {"drive1": 1.0}, springs=dict.fromkeys(("drive1", "drive2", "drive3"), 4.0)
    ),
    "excavator": Motion(
        0.02,
        DOWN,
        {"swing": 0.5},
        springs={"boom_cylinder": 2e6, "arm_cylinder": 5e5, "bucket_cylinder": 5e5},
    ),
    "five_bar": Motion(0.004, UP, {"left_drive": 3.0}),
    "four_bar": Motion(0.01, UP, {"crank_drive": 4.0}),
    "palletizer": Motion(0.02, UP, {"waist": 1.0}),
    "steering": Motion(0.01, DOWN, {"rack": 0.3}, springs={"rack": 5000.0}),
    "stephenson": Motion(0.01, UP, {"crank_drive": 4.0}),
    "stewart": Motion(
        0.01, UP, {"leg1": 0.3}, springs=dict.fromkeys((f"leg{k}" for k in range(1, 7)), 1500.0)
    ),
    "two_feet": Motion(0.004, UP, {"neck": 0.5}, {"rear_shoulder": 3.0, "front_shoulder": 3.3}),
    "watt": Motion(0.01, UP, {"crank_drive": 4.0}),
}


@functools.cache
def run(name):
    """Ten seconds."""
    motion = MOTIONS[name]
    robot = motion.robot(name)
    q0, v0 = motion.start(robot)
    return rd.simulate(robot, q0=q0, v0=v0, duration=10.0, step=motion.step)


def test_no_closed_mechanism_is_left_out():
    closed = {name for name in rd.robots() if load_mechanism(name).loops or rd.load(name).nc}
    assert closed | {"caster_table"} == set(MOTIONS)


@pytest.mark.parametrize("name", MOTIONS)
def test_energy_stays(name):
    motion = run(name)
    potential = motion.robot.potential_energy(motion.q)
    exchanged, drift = np.ptp(potential), np.ptp(motion.energy)
    # it moves: joints turn by far, and kinetic energy is taken up and given back
    assert np.ptp(motion.q, axis=0).max() > 0.2
    assert np.ptp(motion.energy - potential) > 0.9 * exchanged > 0.1
    assert drift < BOUND * exchanged


@pytest.mark.parametrize("name", MOTIONS)
def test_loops_stay_closed(name):
    motion = run(name)
    assert motion.loop_residual.max() < 1e-10
    rates = np.einsum("tij,tj->ti", motion.robot.loop_jacobian(motion.q), motion.v)
    assert np.abs(rates).max() < 1e-10 * max(1.0, np.abs(motion.v).max())


@pytest.mark.parametrize("name", MOTIONS)
def test_a_state_is_closed_as_by_impulses_in_the_loops(name):
    """What closes it is orthogonal, in kinetic energy, to all that the linkage can do.

    So the energy that closing the speeds takes is of second order in what they are wrong by.
    """
    motion = MOTIONS[name]
    robot = motion.robot(name)
    q, v = motion.start(robot)
    rng, size = np.random.default_rng(3), 1e-6
    possible = np.array([robot.consistent_velocity(q, e) for e in np.eye(robot.nv)])
    M = robot.mass_matrix(q)
    scale = size * np.diag(M).max()
    w = v + size * rng.normal(size=robot.nv)
    moved = robot.closed_state(q, w)[1] - w
    assert np.abs(moved).max() > 0.01 * size
    np.testing.assert_allclose(possible @ M @ moved, 0.0, atol=1e-8 * scale)
    if name == "bricard":  # its loops, where they are open, leave it no motion at all
        return
    x = robot.integrate(q, size * rng.normal(size=robot.nv))
    moved = robot.difference(x, robot.closed_state(x, v)[0])
    if name != "caster_table":  # whose loops are all of speeds
        assert np.abs(moved).max() > 0.01 * size
    np.testing.assert_allclose(possible @ M @ moved, 0.0, atol=1e-3 * scale)
