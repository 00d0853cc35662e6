"""Random trees with joints of every kind against Newton and Euler in maximal coordinates.

The oracle shares only the description with robodyn: it has its own joint kinds, its own kinematics,
and solves one linear system for the accelerations of all links and the wrenches of all joints.
Programs are evaluated by the plain interpreter.
"""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, strategies as st
from oracles.maximal import MaximalOracle
from support.comparison import close_within
from support.examples import examples
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.description import JOINT_KINDS, Mimic
from robodyn.equations.catalogue import programs
from robodyn.symbolic.evaluate import evaluate

KINDS = [kind for kind in JOINT_KINDS if kind != "fixed"]
BASES = ("fixed", "floating", "moving")
GRAVITY = (1.0, 2.0, -9.81)
#: Relative to the largest entry: rounding of two algorithms on the same numbers.
EQUAL = 1e-10

close = close_within(EQUAL)

trees = st.tuples(
    st.sampled_from(KINDS), st.lists(st.sampled_from([*KINDS, "fixed"]), max_size=5)
).map(lambda drawn: [drawn[0], *drawn[1]])
seeds = st.integers(0, 9999)
bases = st.sampled_from(BASES)


def with_mimics(mechanism, rng):
    """About half of the one-dof joints follow another one, some through a chain."""
    joints, masters = [], []
    for joint in mechanism.joints:
        if JOINT_KINDS[joint.kind] == (1, 1):
            if masters and rng.random() < 0.5:
                factor, offset = (float(x) for x in rng.normal(size=2))
                mimic = Mimic(masters[rng.integers(len(masters))], factor, offset)
                joint = dataclasses.replace(joint, mimic=mimic)
            masters.append(joint.name)
        joints.append(joint)
    return dataclasses.replace(mechanism, joints=tuple(joints))


class Case:
    """A mechanism here and there, at one random state with random loads and base motion."""

    def __init__(self, kinds, base, seed, *, mimics=False, passive=False, **dissipation):
        rng = np.random.default_rng(seed)
        mechanism = random_mechanism(rng, kinds, **dissipation)
        if mimics:
            mechanism = with_mimics(mechanism, rng)
        self.robot = rd.load(mechanism, base=base, gravity=GRAVITY, passive=passive, rigid=True)
        self.oracle = MaximalOracle(mechanism, GRAVITY, base)
        self.q = self.robot.random(rng)
        self.v, self.a, self.tau = rng.normal(size=(3, self.robot.nv))
        self.wrenches = {f"link{i}": rng.normal(size=6) for i in {0, len(kinds) // 2, len(kinds)}}
        self.base = None
        if base == "moving":
            pose = rd.BaseMotion.from_world(rng.normal(size=3), rng.normal(size=4)).pose
            self.base = (pose, *rng.normal(size=(2, 6)))
        self.mask = tuple(int(k) for k in np.flatnonzero(rng.random(self.robot.nv) < rng.random()))

    def there(self, **given):
        return self.oracle.solve(
            self.q, self.v, wrenches=self.wrenches, base_motion=self.base, **given
        )

    def here(self, name, *arrays, **options):
        """Outputs of each of the algorithms that robodyn has for a quantity."""
        options["wrenches"] = tuple(self.wrenches)
        loads = (*(self.base or ()), *self.wrenches.values())
        for program in programs(name, self.robot.model.setup, options):
            yield evaluate(program, self.q, self.v, *arrays, *loads)

    def check(self, passive=None):
        every = range(self.robot.nv)
        there = self.there(a=self.a, controlled=every, passive=passive)
        for (tau,) in self.here("inverse_dynamics", self.a):
            close(tau, there.tau)
        there = self.there(tau=self.tau, passive=passive)
        for (a,) in self.here("forward_dynamics", self.tau):
            close(a, there.a)
        self.check_hybrid(self.mask, passive)
        self.check_wrenches()

    def check_wrenches(self):
        """In every joint, the fixed ones too, and in the base."""
        joints = tuple(joint.name for joint in self.robot.mechanism.joints)
        there = self.there(a=self.a, controlled=range(self.robot.nv))
        f = self.robot.function("joint_wrenches", wrenches=tuple(self.wrenches), joints=joints)
        loads = (*(self.base or ()), *self.wrenches.values())
        (rows,) = evaluate(f.program, self.q, self.v, self.a, *loads)
        close(rows[-1], there.base_wrench)
        for name, row in zip(joints, rows[:-1], strict=True):
            close(row, there.joint_wrenches[name])

    def check_hybrid(self, mask, passive=None):
        there = self.there(a=self.a, tau=self.tau, controlled=mask, passive=passive)
        held = list(mask)
        free = [k for k in range(self.robot.nv) if k not in mask]
        for a, tau in self.here("hybrid_dynamics", self.a[held], self.tau[free], controlled=mask):
            close(a, there.a)
            close(tau, there.tau)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kind", [*KINDS, "fixed"])
def test_each_kind(kind, base):
    c = Case(["revolute", kind, "revolute", kind], base, 1)
    assert (c.oracle.nq, c.oracle.nv) == (c.robot.nq, c.robot.nv)
    c.check()


@examples(25)
@given(kinds=trees, base=bases, seed=seeds)
def test_random_trees(kinds, base, seed):
    Case(kinds, base, seed).check()


@examples(10)
@given(
    kinds=st.lists(st.sampled_from(["revolute", "prismatic", "helical", "spherical"]), min_size=3),
    base=bases,
    seed=seeds,
)
def test_joints_that_follow_others(kinds, base, seed):
    Case(kinds[:6], base, seed, mimics=True).check()


@examples(10)
@given(kinds=trees, base=bases, seed=seeds)
def test_damping_and_friction_act_beside_the_torques(kinds, base, seed):
    c = Case(kinds, base, seed, passive=True, damping=0.4, friction=0.3)
    passive = -0.4 * c.v + c.oracle.dry_friction(c.q, c.v, 0.3, 0.01)
    if base == "floating":
        passive[:6] = 0.0
    c.check(passive)


@examples(10)
@given(kinds=trees, base=bases, seed=seeds)
def test_motion_of_every_link(kinds, base, seed):
    c = Case(kinds, base, seed)
    links = c.there(a=c.a, controlled=range(c.robot.nv)).links
    motion = c.base or ()
    for name, link in links.items():

        def here(quantity, *arrays, name=name, **options):
            f = c.robot.function(quantity, frame=name, **options)
            return evaluate(f.program, c.q, *arrays, *motion)[0]

        close(here("frame_pose"), link.X_WB)
        twist = here("frame_twist", c.v, axes="world")
        close(twist, [*link.v_WB, *link.w_WB])
        point = here("frame_acceleration", c.v, c.a, axes="world", classical=True)
        close(point, [*link.dv_WB, *link.dw_WB])
