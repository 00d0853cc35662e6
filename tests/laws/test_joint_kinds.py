"""Laws of dynamics over random trees with joints of every kind.

The programs are evaluated by the plain interpreter; that machine code computes the same is the
subject of the code generation tests.
"""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.comparison import close_within
from support.examples import examples
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.description import JOINT_KINDS
from robodyn.equations.catalogue import programs
from robodyn.symbolic.evaluate import evaluate

close = close_within(1e-10)

KINDS = [kind for kind in JOINT_KINDS if kind != "fixed"]
#: Central differences of a smooth function of order one with step 1e-6.
BY_DIFFERENCES = 5e-8
STEP = 1e-5


class Checked:
    """A robot, a random state of it, and its quantities by the interpreter."""

    def __init__(self, mechanism, seed, **settings):
        rng = np.random.default_rng(seed)
        self.robot = rd.load(
            mechanism, gravity=(1.0, 2.0, -9.81), rigid=True, **{"passive": False, **settings}
        )
        self.q = self.robot.random(rng)
        self.v, self.a = rng.normal(size=(2, self.robot.nv))
        self.frame = mechanism.links[-1].name

    def get(self, name, *arrays, **options):
        return evaluate(self.robot.function(name, **options).program, *arrays)[0]

    def moved(self, dv):
        return self.robot.integrate(self.q, dv)

    def rate(self, function):
        """Derivative along the motion with speed ``v`` and acceleration ``a``."""
        h = STEP
        ahead = function(self.moved(h * self.v), self.v + h * self.a)
        behind = function(self.moved(-h * self.v), self.v - h * self.a)
        return (ahead - behind) / (2 * h)


def check_dynamics(c):
    q, v, a = c.q, c.v, c.a
    M, h = c.get("mass_matrix", q), c.get("bias_forces", q, v)
    tau = c.get("inverse_dynamics", q, v, a)
    close(M @ a + h, tau)
    close(M, M.T, 1e-14)
    assert np.linalg.eigvalsh(M).min() > 0.0
    close(c.get("mass_matrix_inverse", q) @ M, np.eye(len(v)), 1e-9 * np.linalg.cond(M))
    close(c.get("kinetic_energy", q, v), 0.5 * v @ M @ v)
    for program in programs("forward_dynamics", c.robot.model.setup):
        close(evaluate(program, q, v, tau)[0], a, 1e-11 * np.linalg.cond(M))


def check_forces(c):
    q, v = c.q, c.v
    h = STEP
    slope = [
        (c.get("potential_energy", c.moved(h * e)) - c.get("potential_energy", c.moved(-h * e)))
        / (2 * h)
        for e in np.eye(c.robot.nv)
    ]
    gravity = c.get("gravity_forces", q)
    close(gravity, np.array(slope), BY_DIFFERENCES)
    C = c.get("coriolis_matrix", q, v)
    close(C @ v + gravity, c.get("bias_forces", q, v))
    close(C + C.T, c.rate(lambda q, v: c.get("mass_matrix", q)), BY_DIFFERENCES)


@pytest.mark.parametrize("kind", KINDS)
def test_dynamics_of_each_kind(kind):
    for kinds in ([kind], ["revolute", kind, "revolute"], [kind, kind]):
        c = Checked(random_mechanism(np.random.default_rng(1), kinds), 2)
        check_dynamics(c)
        check_forces(c)


@examples(15)
@given(
    kinds=st.lists(st.sampled_from([*KINDS, "fixed"]), min_size=1, max_size=6),
    seed=st.integers(0, 999),
)
def test_dynamics_of_random_trees(kinds, seed):
    if set(kinds) == {"fixed"}:
        return
    c = Checked(random_mechanism(np.random.default_rng(seed), kinds), seed)
    check_dynamics(c)
    check_forces(c)


def body_twist(X, dX):
    W = np.linalg.inv(X) @ dX
    return np.array([W[0, 3], W[1, 3], W[2, 3], W[2, 1], W[0, 2], W[1, 0]])


@examples(15)
@given(kinds=st.lists(st.sampled_from(KINDS), min_size=2, max_size=5), seed=st.integers(0, 999))
def test_frames_of_random_trees(kinds, seed):
    c = Checked(random_mechanism(np.random.default_rng(seed), kinds), seed)
    q, v, a = c.q, c.v, c.a
    for reference in ("world", "link1"):
        o = {"frame": c.frame, "relative_to": reference}
        X = c.get("frame_pose", q, **o)
        V = c.get("frame_twist", q, v, **o)
        close(
            V, body_twist(X, c.rate(lambda q, v, o=o: c.get("frame_pose", q, **o))), BY_DIFFERENCES
        )
        J = c.get("frame_jacobian", q, **o)
        close(J @ v, V)
        A = c.get("frame_acceleration", q, v, a, **o)
        close(A, c.rate(lambda q, v, o=o: c.get("frame_twist", q, v, **o)), BY_DIFFERENCES)
        J_dot = c.get("frame_jacobian_dot", q, v, **o)
        close(J @ a + J_dot @ v, A)
        close(J_dot, c.rate(lambda q, v, o=o: c.get("frame_jacobian", q, **o)), BY_DIFFERENCES)
    world = {"frame": c.frame, "axes": "world"}
    close(
        c.get("frame_jacobian_dot", q, v, **world),
        c.rate(lambda q, v: c.get("frame_jacobian", q, **world)),
        BY_DIFFERENCES,
    )
    point = c.get("frame_acceleration", q, v, a, classical=True, **world)[:3]
    close(point, c.rate(lambda q, v: c.get("frame_twist", q, v, **world)[:3]), BY_DIFFERENCES)


@examples(10)
@given(kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=5), seed=st.integers(0, 999))
def test_momentum_of_random_trees(kinds, seed):
    c = Checked(random_mechanism(np.random.default_rng(seed), kinds), seed)
    P = c.get("momentum", c.q, c.v)
    close(c.get("centroidal_matrix", c.q) @ c.v, P)
    velocity = c.rate(lambda q, v: c.get("center_of_mass", q))
    close(P[:3], c.robot.total_mass * velocity, BY_DIFFERENCES)


@pytest.mark.parametrize("kind", KINDS)
def test_difference_undoes_integrate(kind):
    c = Checked(random_mechanism(np.random.default_rng(3), [kind, kind]), 4)
    close(c.robot.difference(c.q, c.moved(0.3 * c.v)), 0.3 * c.v)


@examples(10)
@given(kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=4), seed=st.integers(0, 999))
def test_a_moving_base_is_a_floating_base_forced_along_the_same_motion(kinds, seed):
    mechanism = random_mechanism(np.random.default_rng(seed), kinds)
    floating, moving = (
        Checked(mechanism, seed, base="floating"),
        Checked(mechanism, 0, base="moving"),
    )
    q, v, a = floating.q, floating.v, floating.a
    tau = floating.get("inverse_dynamics", q, v, a)
    pose = floating.get("frame_pose", q, frame="link0")
    base = (pose, v[:6], a[:6])
    close(moving.get("inverse_dynamics", q[7:], v[6:], a[6:], *base), tau[6:])
    close(moving.get("kinetic_energy", q[7:], v[6:], *base), floating.get("kinetic_energy", q, v))
    close(moving.get("momentum", q[7:], v[6:], *base), floating.get("momentum", q, v))
    for name in ("center_of_mass", "potential_energy"):  # which know where the base is
        close(moving.get(name, q[7:], *base), floating.get(name, q))
    close(
        moving.get("frame_acceleration", q[7:], v[6:], a[6:], *base, frame=floating.frame),
        floating.get("frame_acceleration", q, v, a, frame=floating.frame),
    )


@examples(10)
@given(kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=4), seed=st.integers(0, 999))
def test_applied_wrenches_and_torques_change_the_energy(kinds, seed):
    """Power of joint forces, external wrenches and passive forces is the rate of energy."""
    mechanism = random_mechanism(np.random.default_rng(seed), kinds, damping=0.4, friction=0.3)
    c = Checked(mechanism, seed, passive=True)
    rng = np.random.default_rng(seed)
    tau, wrench = rng.normal(size=c.robot.nv), rng.normal(size=6)
    acceleration = c.get("forward_dynamics", c.q, c.v, tau, wrench, wrenches=(c.frame,))
    c.a = acceleration
    rate = c.rate(lambda q, v: c.get("kinetic_energy", q, v) + c.get("potential_energy", q))
    twist = c.get("frame_twist", c.q, c.v, frame=c.frame)
    lost = c.get("passive_forces", c.q, c.v) @ c.v
    assert lost < 0.0
    close(tau @ c.v + wrench @ twist + lost, rate, BY_DIFFERENCES)


def test_a_lift_in_free_fall_makes_the_arm_weightless():
    robot = rd.load("puma560", base="moving", passive=False)
    q = robot.random(1)
    fall = rd.BaseMotion.from_world(linear_acceleration=(0.0, 0.0, -9.81))
    zero = np.zeros(robot.nv)
    close(robot.inverse_dynamics(q, zero, zero, base=fall), zero, 1e-13)
    assert np.abs(robot.inverse_dynamics(q, zero, zero)).max() > 1.0


def test_a_base_in_uniform_motion_changes_nothing():
    robot = rd.load("puma560", base="moving")
    q = robot.random(1)
    v, a = np.random.default_rng(2).normal(size=(2, robot.nv))
    drift = rd.BaseMotion.from_world(position=(3.0, -1.0, 2.0), linear_velocity=(2.0, 5.0, -1.0))
    close(robot.inverse_dynamics(q, v, a, base=drift), robot.inverse_dynamics(q, v, a))
