"""Rotors of motors against rotors that are links of their own, driven through a gear.

The description with rotor links is computed by robodyn without motors, and by the oracle in
maximal coordinates. Programs are evaluated by the plain interpreter.
"""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, strategies as st
from oracles.maximal import MaximalOracle
from oracles.rotor_bodies import with_rotor_links
from support.comparison import close_within
from support.examples import examples
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.description import JOINT_KINDS, Mimic
from robodyn.equations.catalogue import QUANTITIES, programs
from robodyn.symbolic.evaluate import evaluate

pytestmark = pytest.mark.filterwarnings("ignore:.*principal moments of inertia")

DRIVEN = ("revolute", "continuous", "prismatic", "helical")
OTHERS = tuple(kind for kind in JOINT_KINDS if kind not in DRIVEN)
BASES = ("fixed", "floating", "moving")
GRAVITY = (1.0, 2.0, -9.81)
EQUAL = 1e-10

close = close_within(EQUAL)

trees = st.tuples(
    st.sampled_from(DRIVEN), st.lists(st.sampled_from([*DRIVEN, *OTHERS]), max_size=4)
).map(lambda drawn: [drawn[0], *drawn[1]])
seeds = st.integers(0, 9999)
bases = st.sampled_from(BASES)
places = st.sampled_from(["parent", "child", "base", "far"])


def motors(mechanism, rng, place):
    """A motor on every joint with one degree of freedom, its axis anywhere."""
    links = [link.name for link in mechanism.links]
    on = {
        "parent": lambda joint: joint.parent,
        "child": lambda joint: joint.child,
        "base": lambda joint: links[0],
        "far": lambda joint: links[int(rng.integers(len(links)))],
    }[place]
    return {
        joint.name: rd.Actuator(
            gear_ratio=float(rng.normal() * 10.0),
            rotor_inertia=float(rng.uniform(0.001, 0.01)),
            axis=tuple(float(x) for x in rng.normal(size=3)),
            mounted_on=on(joint),
        )
        for joint in mechanism.joints
        if joint.kind in DRIVEN
    }


def following(mechanism, mimics):
    """Some joints follow others."""
    joints = [
        dataclasses.replace(joint, mimic=mimics.get(joint.name)) for joint in mechanism.joints
    ]
    return dataclasses.replace(mechanism, joints=tuple(joints))


class Case:
    """Rotors as robodyn counts them, as links, and in maximal coordinates; one random state."""

    def __init__(self, kinds, base, seed, place, mimics=None):
        rng = np.random.default_rng(seed)
        mechanism = following(random_mechanism(rng, kinds), mimics or {})
        actuators = motors(mechanism, rng, place)
        expanded = with_rotor_links(mechanism, actuators)
        options = {"base": base, "gravity": GRAVITY, "rigid": True}
        self.robot = rd.load(mechanism, actuators=actuators, **options)
        self.links = rd.load(expanded, allow_unphysical=True, **options)
        self.oracle = MaximalOracle(expanded, GRAVITY, base)
        self.q = self.robot.random(rng)
        self.v, self.a, self.tau = rng.normal(size=(3, self.robot.nv))
        self.wrenches = {"link0": rng.normal(size=6), f"link{len(kinds)}": rng.normal(size=6)}
        self.base = ()
        if base == "moving":
            pose = rd.BaseMotion.from_world(rng.normal(size=3), rng.normal(size=4)).pose
            self.base = (pose, *rng.normal(size=(2, 6)))
        self.mask = tuple(int(k) for k in np.flatnonzero(rng.random(self.robot.nv) < rng.random()))

    def there(self, **given):
        return self.oracle.solve(
            self.q, self.v, wrenches=self.wrenches, base_motion=self.base or None, **given
        )

    def values(self, robot, name, *arrays, **options):
        """Outputs of each of the algorithms for a quantity."""
        loads = self.base if QUANTITIES[name].base else ()
        if "wrenches" in options:
            loads = (*loads, *self.wrenches.values())
        for program in programs(name, robot.model.setup, options):
            yield evaluate(program, self.q, *arrays, *loads)

    def loaded(self, name, *arrays, **options):
        options["wrenches"] = tuple(self.wrenches)
        return self.values(self.robot, name, self.v, *arrays, **options)

    def check(self):
        self.check_dynamics()
        self.check_structure()
        self.check_wrenches()
        if not self.base:
            self.check_coriolis()

    def check_dynamics(self):
        there = self.there(a=self.a, controlled=range(self.robot.nv))
        for (tau,) in self.loaded("inverse_dynamics", self.a):
            close(tau, there.tau)
        there = self.there(tau=self.tau)
        for (a,) in self.loaded("forward_dynamics", self.tau):
            close(a, there.a)
        there = self.there(a=self.a, tau=self.tau, controlled=self.mask)
        free = [k for k in range(self.robot.nv) if k not in self.mask]
        given = (self.a[list(self.mask)], self.tau[free])
        for a, tau in self.loaded("hybrid_dynamics", *given, controlled=self.mask):
            close(a, there.a)
            close(tau, there.tau)

    def check_same(self, name, *arrays, **options):
        """The same as with rotors as links."""
        expected = next(iter(self.values(self.links, name, *arrays, **options)))
        for found in self.values(self.robot, name, *arrays, **options):
            for x, y in zip(found, expected, strict=True):
                close(x, y)

    def check_coriolis(self):
        """On a base at rest it makes the forces of speeds, which the oracle has."""
        for (C,) in self.values(self.robot, "coriolis_matrix", self.v):
            there = self.oracle.solve(
                self.q, self.v, a=0.0 * self.a, controlled=range(self.robot.nv)
            )
            weight = self.oracle.solve(
                self.q, 0.0 * self.v, a=0.0 * self.a, controlled=range(self.robot.nv)
            )
            close(C @ self.v, there.tau - weight.tau)

    def check_structure(self):
        for name in ("mass_matrix", "mass_matrix_inverse", "centroidal_matrix"):
            self.check_same(name)
        for name in ("coriolis_matrix", "kinetic_energy", "momentum", "bias_forces"):
            self.check_same(name, self.v)
        for name in ("potential_energy", "center_of_mass", "gravity_forces"):
            self.check_same(name)

    def check_wrenches(self):
        joints = [joint.name for joint in self.robot.mechanism.joints]
        there = self.there(a=self.a, controlled=range(self.robot.nv))
        names = tuple(self.wrenches)
        f = self.robot.function("joint_wrenches", wrenches=names, joints=tuple(joints))
        loads = (*self.base, *self.wrenches.values())
        (rows,) = evaluate(f.program, self.q, self.v, self.a, *loads)
        close(rows[-1], there.base_wrench)
        for name, row in zip(joints, rows[:-1], strict=True):
            close(row, there.joint_wrenches[name])
        moving = tuple(name for name in joints if self.robot.joints[name].type != "fixed")
        self.check_same("joint_wrench_parts", self.v, self.a, joints=moving, wrenches=names)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("place", ["parent", "child", "base", "far"])
def test_each_place_and_base(place, base):
    kinds = ["revolute", "prismatic", "spherical", "continuous", "fixed", "helical"]
    Case(kinds, base, 1, place).check()


@pytest.mark.slow
@examples(20)
@given(kinds=trees, base=bases, seed=seeds, place=places)
def test_random_trees(kinds, base, seed, place):
    Case(kinds, base, seed, place).check()


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("place", ["parent", "far"])
def test_motors_of_joints_that_follow_others(place, base):
    kinds = ["revolute", "prismatic", "continuous", "helical"]
    mimics = {"joint1": Mimic("joint0", -0.7, 0.2), "joint3": Mimic("joint1", 1.5, 0.1)}
    Case(kinds, base, 2, place, mimics).check()


@pytest.mark.parametrize("base", BASES)
def test_single_speeds_are_controlled(base):
    c = Case(["revolute", "helical", "prismatic"], base, 3, "parent")
    for k in range(c.robot.nv):
        c.mask = (k,)
        c.check_dynamics()


@pytest.mark.parametrize("carrier", ["parent", "child"])
def test_a_rotor_turns_about_its_joint_unless_another_axis_is_given(carrier):
    """Joints have frames turned in those of their parents."""
    rng = np.random.default_rng(5)
    mechanism = random_mechanism(rng, ["revolute", "prismatic", "continuous", "helical"])
    motors, told = {}, {}
    for joint in mechanism.joints:
        turned = joint.origin.matrix[:3, :3] if carrier == "parent" else np.eye(3)
        motor = rd.Actuator(30.0, 0.005, mounted_on=getattr(joint, carrier))
        motors[joint.name] = motor
        told[joint.name] = dataclasses.replace(motor, axis=tuple(turned @ joint.axis))
    by_default, explicit = (rd.load(mechanism, actuators=given) for given in (motors, told))
    q = explicit.random(rng)
    v, a = rng.normal(size=(2, 4))
    close(by_default.inverse_dynamics(q, v, a), explicit.inverse_dynamics(q, v, a))


def test_parameters_of_bearings_of_free_rotors():
    """In copies as in rows, and in the robot that identification returns."""

    def wheel(damping, friction=0.0):
        rotor = rd.Rotor("wheel", "lower", (0, 1, 0), 0.01, damping=damping, friction=friction)
        return rd.load("double_pendulum", rotors=[rotor])

    robot, v = wheel(0.1), np.array([0.3, -0.2, 2.0])
    q = np.array([0.1, 0.2, 0.3])
    given = {"wheel.damping": 0.5, "wheel.friction": 3.0}
    copy, known = robot.with_(parameters=given), wheel(0.5, 3.0)
    np.testing.assert_array_equal(copy.passive_forces(q, v), known.passive_forces(q, v))
    np.testing.assert_array_equal(copy.dynamic_parameters, known.dynamic_parameters)
    assert copy.mechanism == known.mechanism
    rows = robot.with_(parameters={"wheel.damping": [0.5, 0.7]})
    assert rows.of_rows(1).passive_forces(q, v)[2] == rows.passive_forces(q, v)[1, 2] == -1.4
    t = np.linspace(0.0, 4.0, 401)
    wave = [np.sin, np.cos, lambda x: -np.sin(x)]
    w = np.array([1.7, 2.9, 2.3])
    q, v, a = (np.array([1.0, 0.8, 3.0]) * w**k * f(np.outer(t, w)) for k, f in enumerate(wave))
    measured = rd.Measurements(t, q, v, a, known.inverse_dynamics(q, v, a))
    found = rd.identify(robot, measured, parameters=[*given])
    values = dict(zip(robot.dynamic_parameter_names, found.robot.dynamic_parameters, strict=True))
    for name, x in given.items():
        assert found.parameters[name] == pytest.approx(x, rel=1e-6)
        assert values[name] == pytest.approx(found.parameters[name], rel=1e-12)
