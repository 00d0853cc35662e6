"""Latches of joints that close loops, which have no speeds of their own [W problem 6.2]."""

import dataclasses

import numpy as np
import pytest
from support.newton_euler import imbalance

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Loop, Mechanism, Pose
from robodyn.impacts.cut_joints import seen_from

#: Cut pins, redundant rows among them, a foot on the ground, and a ball.
CASES = [
    ("four_bar", "rocker_pin", "fixed"),
    ("bricard", "hinge6", "fixed"),
    ("bricard", "hinge6", "moving"),
    ("two_feet", "front_foot", "fixed"),
    ("stewart", "ball2", "fixed"),
]


@pytest.fixture(scope="module", params=CASES, ids=str)
def state(request):
    return State(*request.param)


class State:
    """A linkage that moves, and one of its joints that was cut."""

    def __init__(self, name, joint, base):
        # rotors turn beside the links, of which the balances know nothing
        mechanism = dataclasses.replace(rd.load(name).mechanism, actuators=())
        self.robot = r = rd.load(mechanism, base=base)
        self.joint = joint
        assert joint in [cut.name for cut in r.loops]
        rng = np.random.default_rng(11)
        self.q = r.random(5)
        self.v = r.consistent_velocity(self.q, rng.uniform(-1.0, 1.0, r.nv))
        self.base = {}
        if base == "moving":
            pose = rd.BaseMotion.from_world(rng.normal(size=3), rng.normal(size=4)).pose
            self.base = {"base": rd.BaseMotion(pose, rng.normal(size=6), np.zeros(6))}

    def latch(self, joints, q=None, v=None):
        q, v = (self.q if q is None else q), (self.v if v is None else v)
        return self.robot.latch(q, v, joints, **self.base)

    def moved(self, jump):
        """Poses of links from time to time, where speeds rise from zero by a jump each second."""

        def poses(t):
            q = self.robot.integrate(self.q, 0.5 * t * t * jump)
            names = self.robot.link_names
            return {x: self.robot.frame_pose(q, x, **self.base) for x in names}

        return poses


def close(found, expected, atol=1e-9):
    scale = 1.0 + np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=atol * scale)


def joints_of(state):
    """The cut joint alone, and beside one that has a speed."""
    return [state.joint], [state.robot.independent_joints[0], state.joint]


def test_the_joint_stops_and_loops_stay_closed(state):
    r = state.robot
    for joints in joints_of(state):
        hit = state.latch(joints)
        speeds = r.joint_velocities(state.q, hit.v)
        assert np.abs(r.joint_velocities(state.q, state.v)[state.joint]).max() > 1e-6
        for name in joints:
            close(speeds[name], np.zeros(np.shape(speeds[name])))
        close(r.loop_jacobian(state.q) @ hit.v, np.zeros(r.nc))
        assert not hit.impulse.any() and hit.against_v is None


def test_nothing_but_the_latches_changes_motions(state):
    """The jump is at right angles to what the latches leave, and they take the energy."""
    r, M = state.robot, state.robot.mass_matrix(state.q)
    zero = np.zeros(r.nv)
    B = np.stack([r.joint_velocities(state.q, x)[state.joint] for x in (zero, *np.eye(r.nv))])
    rows = np.vstack([r.loop_jacobian(state.q), (B[1:] - B[0]).reshape(r.nv, -1).T])
    hit = state.latch([state.joint])
    _, sizes, Vh = np.linalg.svd(rows)
    left = Vh[np.sum(sizes > 1e-9 * sizes[0]) :]
    close(left @ M @ (hit.v - state.v), np.zeros(len(left)))
    close(hit.energy_loss, 0.5 * (state.v @ M @ state.v - hit.v @ M @ hit.v))


def test_impulses_in_joints_are_what_every_link_changes_by(state):
    for joints in joints_of(state):
        hit = state.latch(joints)
        jump, wrenches = hit.v - state.v, hit.joint_impulses
        change = state.robot.momentum(state.q, hit.v, **state.base)
        change = change - state.robot.momentum(state.q, state.v, **state.base)
        close(wrenches.in_frame("world")["base"][:3], change[:3])
        if not any(joint.kind == "fixed" for joint in state.robot.mechanism.joints):
            assert imbalance(state.robot, wrenches, state.moved(jump), np.zeros(3)) < 1e-6


def test_what_is_no_joint_is_refused(state):
    with pytest.raises(rd.errors.UnknownNameError):
        state.latch([state.joint, "nothing"])


def test_wrenches_on_links_whose_frames_stand_elsewhere():
    """Power is the same, about the body's origin and about that of the link."""
    rng = np.random.default_rng(2)
    X = rd.BaseMotion.from_world(rng.normal(size=3), rng.normal(size=4)).pose
    wrench, V = rng.normal(size=(2, 6))
    R, r = X[:3, :3], X[:3, 3]
    twist = np.r_[R.T @ (V[:3] + np.cross(V[3:], r)), R.T @ V[3:]]
    close(seen_from(X, wrench) @ twist, wrench @ V)


def test_what_time_moves_cannot_be_stopped():
    """The clock turns the crank of a four-bar, and with it all other joints."""

    def turned(q, t):
        return [
            [np.cos(t), -np.sin(t), 0, 0], [np.sin(t), np.cos(t), 0, 0], [0, 0, 1, 0], [0, 0, 0, 1],
        ]  # fmt: skip

    body = Inertia.from_matrix(1.0, (0.2, 0, 0), 0.02 * np.eye(3))
    links = (Link("ground"), *(Link(name, body) for name in ("crank", "rod", "rocker")))
    joints = (
        Joint("drive", "map", "ground", "crank", map=rd.JointMap(0, turned)),
        Joint("pin", "continuous", "crank", "rod", Pose((0.2, 0, 0)), (0, 0, 1)),
        Joint("pivot", "continuous", "ground", "rocker", Pose((0.6, 0, 0)), (0, 0, 1)),
    )
    ends = Pose((0.6, 0, 0)), Pose((0.5, 0, 0))
    tip = Loop("tip", "continuous", "rod", "rocker", *ends, axis=(0, 0, 1))
    robot = rd.load(Mechanism("clock", links, joints, (tip,))).at(0.7)
    q = robot.assemble(robot.neutral())
    v = robot.consistent_velocity(q, np.zeros(2))
    with pytest.raises(rd.errors.ImpactError, match="no finite impulse"):
        robot.latch(q, v, ["tip"])
