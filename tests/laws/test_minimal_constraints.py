"""Constraints of users, and time, beside loops in closed form: as the same robot with all its rows.

The robot in tree coordinates, which has the loops as constraints, is the oracle; what time does is
compared with differences over time.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support import planar_linkages as pl
from support.comparison import close_within

import robodyn as rd
from robodyn import urdf
from robodyn.description import Limits
from robodyn.minimal.limits import FollowingLimits

close = close_within(1e-9)
T = 0.37


def wall(name, kind, base, **numbers):
    """Holds the last link of a linkage to where it is in some posture."""
    rng = np.random.default_rng(3)
    free = rd.load(name, coordinates="minimal", base=base)
    first, link = free.link_names[0] if base == "moving" else "world", free.link_names[-1]
    X = free.frame_pose(free.random(rng), frame=link, **({"relative_to": first}
                                                         if base == "moving" else {}))  # fmt: skip
    A = np.eye(4)
    A[:3, :3], A[:3, 3] = Rotation.from_quat(rng.normal(size=4)).as_matrix(), X[:3, 3]
    if kind == "distance":
        A[:3, 3] += [0.3, 0.2, 0.1]
        numbers["distance"] = np.sqrt(0.14)
    return rd.FrameConstraint("wall", kind, ((first, A), (link, np.eye(4))), **numbers)


def turning(q, t):
    """About y, to and fro, and along the plane."""
    angle = 0.4 * rd.sin(2.0 * t) + 0.2 * t + (q[0] * (1.0 + 0.3 * t) if q else 0.0)
    c, s = rd.cos(angle), rd.sin(angle)
    return [[c, 0, s, 0.02 * t], [0, 1, 0, 0], [-s, 0, c, 0.02 * rd.sin(3.0 * t)]]


def winding(q, t):
    """About y and along the plane, as the coordinate and time say."""
    angle = q[0] + 0.2 * t * t
    c, s = rd.cos(angle), rd.sin(angle)
    return [[c, 0, s, 0.1 + 0.03 * q[0] * t], [0, 1, 0, 0], [-s, 0, c, 0.02 * rd.sin(q[0])]]


def sliding(q, t):
    """A leg along z, which sways."""
    way = 0.05 * rd.sin(2.0 * t) + q[0] * (1.0 + 0.3 * t)
    return [[1, 0, 0, 0.02 * rd.sin(t)], [0, 1, 0, 0], [0, 0, 1, way]]


class Beside:
    """A robot in minimal coordinates, and in tree coordinates, in one state at one time."""

    def __init__(self, source, **options):
        rng = np.random.default_rng(0)
        self.timeless = rd.load(source, coordinates="minimal", gravity=(1.0, 2.0, -9.81), **options)
        self.robot, self.tree = self.timeless.at(T), self.timeless.tree_form.at(T)
        r = self.robot
        assert (r.dof, r.tree_form.dof) == (self.tree.dof, self.tree.dof)
        self.q, self.tau = r.random(rng), rng.normal(size=r.nv)
        if r.base == "floating":
            self.tau[:6] = 0.0
        self.v = r.consistent_velocity(self.q, rng.normal(size=r.nv))
        V, A = rng.normal(size=(2, 6))
        self.base = {"base": rd.BaseMotion(np.eye(4), V, A)} if r.base == "moving" else {}
        self.Q, self.V = r.expand(self.q), r.expand_velocity(self.q, self.v)
        self.Tau = self.of_tree(self.tau)

    def of_tree(self, tau):
        full = np.zeros(self.tree.nv)
        for name in self.robot.joint_names:
            full[self.tree.joints[name].v] = tau[self.robot.joints[name].v]
        return full

    def check(self):
        r, tree, q, v, base = self.robot, self.tree, self.q, self.v, self.base
        close(tree.loop_residual(self.Q), 0.0)
        close(tree.loop_jacobian(self.Q) @ self.V, -tree.loop_velocity_offset(self.Q))
        a = r.forward_dynamics(q, v, self.tau, **base)
        A = r.expand_acceleration(q, v, a)
        close(A, tree.forward_dynamics(self.Q, self.V, self.Tau, **base))
        close(tree.loop_jacobian(self.Q) @ A, -tree.loop_bias(self.Q, self.V))
        if r.nc:
            lam = r.constrained_dynamics(q, v, self.tau, **base).multipliers
            found = tree.constrained_dynamics(self.Q, self.V, self.Tau, **base).multipliers
            close(lam, found[-r.nc :])
        wrenches = r.joint_wrenches(q, v, tau=self.tau, **base)
        # forces act at motors, also where these are at joints that follow in minimal coordinates
        at_motors = not set(tree.actuated_joints) <= set(r.joint_names)
        forces = {"a": A} if at_motors else {"tau": self.Tau}
        found = tree.joint_wrenches(self.Q, self.V, **forces, **base)
        close(wrenches.values_array, found.values_array)
        link = r.link_names[-1]
        close(
            r.frame_acceleration(q, v, a, frame=link, **base),
            tree.frame_acceleration(self.Q, self.V, A, frame=link, **base),
        )
        many = r.forward_dynamics(np.stack([q, q]), np.stack([v, v]), self.tau, **base)
        close(many, np.stack([a, a]))

    def differences(self, h=1e-4):
        """Speeds and accelerations of all joints by differences over time."""
        q, v = self.q, self.v
        a = self.robot.forward_dynamics(q, v, self.tau)
        before, now, after = (
            self.timeless.at(T + s).expand(self.robot.integrate(q, s * v + 0.5 * s * s * a))
            for s in (-h, 0.0, h)
        )
        ahead, behind = self.tree.difference(now, after), self.tree.difference(before, now)
        return (ahead + behind) / (2.0 * h), (ahead - behind) / h**2, a


@pytest.mark.parametrize(
    ("name", "kind", "base"),
    [
        ("five_bar", "point_on_plane", "fixed"),
        ("palletizer", "distance", "floating"),
        ("excavator", "distance", "moving"),
    ],
)
def test_frame_constraints_beside_loops_in_closed_form(name, kind, base):
    case = Beside(name, constraints=[wall(name, kind, base)], base=base)
    assert case.robot.nc == 1
    case.check()


def test_forces_impacts_and_derivatives_beside_loops():
    held = wall("five_bar", "point_on_plane", "fixed")
    case = Beside("five_bar", constraints=[held])
    r, tree, q, v, tau = case.robot, case.tree, case.q, case.v, case.tau
    found = r.hybrid_dynamics(q, v, controlled={"left_drive": 0.7})
    other = tree.hybrid_dynamics(case.Q, case.V, controlled={"left_drive": 0.7})
    close(case.of_tree(found.tau), other.tau)
    a = r.forward_dynamics(q, v, tau)
    plain = rd.load("five_bar", constraints=[held], gravity=r.gravity)
    A = r.expand_acceleration(q, v, a)
    close(r.joint_wrenches(q, v, a)["wall"], plain.joint_wrenches(case.Q, case.V, A)["wall"])
    close(case.of_tree(r.inverse_dynamics(q, v, a)), plain.inverse_dynamics(case.Q, case.V, A))
    hit = r.impact(q, v, "right_rod", [0.1, 0.0, 0.2], [0.0, 0.0, -1.0])
    struck = tree.impact(case.Q, case.V, "right_rod", [0.1, 0.0, 0.2], [0.0, 0.0, -1.0])
    close(r.expand_velocity(q, hit.v), struck.v)
    close(hit.joint_impulses.values_array, struck.joint_impulses.values_array)
    slopes, h = r.derivatives("forward_dynamics", q, v, tau), 1e-5
    ends = []
    for s in (h, -h):
        x = r.closed_state(r.integrate(q, s * v), v)[0]
        y = r.consistent_velocity(x, v)
        ends.append((x, y, r.forward_dynamics(x, y, tau)))
    dq, dv, da = ((one - other) / (2.0 * h) for one, other in zip(*ends, strict=True))
    close_within(1e-6)(slopes["q"] @ dq + slopes["v"] @ dv, da)


def test_a_motion_is_that_with_all_constraints():
    r = rd.load(
        "five_bar", coordinates="minimal",
        constraints=[wall("five_bar", "point_on_plane", "fixed")],
    )  # fmt: skip
    v = r.consistent_velocity(r.neutral(), np.ones(r.nv))
    run = rd.simulate(r, v0=v, duration=0.1)
    q, V = r.expand(r.neutral()), r.expand_velocity(r.neutral(), v)
    other = rd.simulate(r.tree_form, q0=q, v0=V, duration=0.1)
    close(r.expand(run.q), other.q)
    close(run.audit.unexplained, other.audit.unexplained)


def test_a_constraint_reads_a_slide_that_follows_and_keeps_joints_that_turn():
    mechanism = replace(urdf.load_mechanism("excavator"), actuators=())
    pivots = ("swing", "boom_pivot", "arm_pivot", "bucket_pivot")
    given = rd.Constraint(
        "tie", lambda q: q[0] + 0.3 * q[1] + q[1] * q[1], ("swing", "boom_cylinder")
    )
    case = Beside(pl.with_independent(mechanism, *pivots), constraints=[given])
    assert "boom_cylinder" in case.robot.dependent_joints
    case.check()
    tie = rd.Constraint("tie", lambda q: q[0] - q[1], ("crank_drive", "rocker_pivot"))
    with pytest.raises(rd.TopologyError, match="read by constraint tie"):
        rd.load("four_bar", coordinates="minimal", constraints=[tie])


@pytest.mark.parametrize(
    ("name", "joint", "n", "function"),
    [
        ("five_bar", "left_drive", 0, turning),
        ("five_bar", "left_drive", 1, turning),
        ("five_bar", "left_elbow", 1, winding),
        ("stewart", "leg1", 1, sliding),
    ],
)
def test_joints_of_loops_that_time_moves(name, joint, n, function):
    case = Beside(name, joint_maps={joint: rd.JointMap(n, function)})
    case.check()
    V, A, a = case.differences()
    close_within(1e-5)(V, case.V)
    close_within(1e-5)(A, case.robot.expand_acceleration(case.q, case.v, a))


def test_constraints_that_time_moves_and_what_is_prescribed_entirely():
    clock = rd.Constraint("clock", lambda q, t: q[0] - 0.3 * t - 0.1 * t * t, "crank_drive")
    case = Beside("four_bar", constraints=[clock])
    case.check()
    close(case.robot.expand_velocity(case.q, case.v)[0], 0.3 + 0.2 * T)
    maps, plane = {"shoulder": rd.JointMap(0, turning)}, np.eye(4)
    free = rd.load("palletizer", coordinates="minimal", joint_maps=maps).at(T)
    plane[:3, 3] = free.frame_pose(free.neutral(), frame="flange")[:3, 3]
    ends = ("world", plane), ("flange", np.eye(4))
    held = rd.FrameConstraint("held", "point_on_plane", ends)
    case = Beside("palletizer", constraints=[held], joint_maps=maps)
    case.check()
    driven = rd.load("four_bar", coordinates="minimal", joint_maps={"crank_drive": rd.JointMap(
        0, turning)})  # fmt: skip
    assert (driven.nv, driven.nc) == (0, 0)
    run = rd.simulate(driven, duration=0.05)
    assert np.isfinite(driven.at(run.t).expand(run.q)).all()
    lifted = rd.JointMap(0, lambda q, t: [[1, 0, 0, 0], [0, 1, 0, 0.1 * t], [0, 0, 1, 0]])
    with pytest.raises(rd.TopologyError, match="leaves its plane"):
        rd.load("five_bar", coordinates="minimal", joint_maps={"left_drive": lifted})


def test_constraints_that_repeat_or_contradict_loops(four_bar):
    gap = four_bar.loop_gaps(four_bar.neutral())[0]
    frames = [
        np.linalg.inv(four_bar.frame_pose(four_bar.neutral(), frame=link)) @ gap.poses[0]
        for link in gap.links
    ]
    again = rd.FrameConstraint("again", "translation", tuple(zip(gap.links, frames, strict=True)))
    robot = rd.load("four_bar", coordinates="minimal", constraints=[again])
    assert robot.dof == 1
    assert len(robot.redundant_constraints) == robot.nc == 3
    free = rd.load("four_bar", coordinates="minimal")
    q, v = robot.random(np.random.default_rng(0)), np.ones(1)
    close(robot.forward_dynamics(q, v, [0.0]), free.forward_dynamics(q, v, [0.0]))
    far = np.eye(4)
    far[0, 3] = 9.0
    apart = rd.FrameConstraint("apart", "translation", (("world", far), ("rocker", np.eye(4))))
    with pytest.raises(rd.TopologyError, match="apart"):
        rd.load("four_bar", coordinates="minimal", constraints=[apart])


def test_states_that_break_loops_or_constraints_are_refused_by_name():
    r = rd.load(
        "excavator", coordinates="minimal", constraints=[wall("excavator", "distance", "fixed")]
    )
    v, tau = np.zeros(r.nv), np.zeros(r.nv)
    with pytest.raises(rd.InconsistentStateError, match="wall"):
        r.forward_dynamics(r.neutral() + 0.02, v, tau)
    with pytest.raises(rd.InconsistentStateError, match="does not close"):
        r.forward_dynamics(np.full(r.nv, 9.0), v, tau)


def test_postures_keep_the_joints_that_follow_within_their_limits():
    plain = urdf.load_mechanism("five_bar")
    narrow = tuple(
        replace(x, kind="revolute", limits=Limits(-0.2, 0.2, 9.0, 9.0))
        if x.name == "left_elbow"
        else x
        for x in plain.joints
    )
    mechanism = replace(plain, joints=narrow)
    held = wall("five_bar", "point_on_plane", "fixed")
    r = rd.load(mechanism, coordinates="minimal", constraints=[held])
    rng = np.random.default_rng(1)
    found = [r.dependent_positions(r.random(rng))["left_elbow"] for _ in range(4)]
    assert np.abs(found).max() <= 0.2 + 1e-8


def test_limits_of_joints_that_follow_have_the_slopes_of_how_far_these_are_beyond():
    """On a base whose quaternion has more numbers than speeds."""
    r = rd.load("five_bar", coordinates="minimal", base="floating")
    limited = tuple(
        replace(x, kind="revolute", limits=Limits(-0.01, 0.01, 9.0, 9.0))
        if x.name in r.dependent_joints
        else x
        for x in r.mechanism.joints
    )
    r = rd.load(replace(r.mechanism, joints=limited), coordinates="minimal", base="floating")
    own, tree = r._made.parts, r.tree_form._made.parts
    limits = FollowingLimits(r.nv, tree.model, tree.cut_limits, own.expansion)
    q, h = rd.load("five_bar", coordinates="minimal", base="floating").random(3), 1e-6
    slopes = limits.jacobian(q)
    assert np.abs(slopes[:, 6:]).max(axis=1).all()
    for column, step in zip(slopes.T, h * np.eye(r.nv), strict=True):
        ahead, behind = (limits.residual(r.integrate(q, way * step)) for way in (1, -1))
        np.testing.assert_allclose(column, (ahead - behind) / (2.0 * h), atol=1e-7)


def test_controlling_what_a_constraint_holds_is_an_error():
    """Its row, of which rounding alone is left in the other speeds, once gave 1e35 N m."""
    case = Beside("palletizer", constraints=[wall("palletizer", "distance", "fixed")])
    for robot, q, v in ((case.robot, case.q, case.v), (case.tree, case.Q, case.V)):
        with pytest.raises(rd.ActuationError, match="waist"):
            robot.hybrid_dynamics(q, v, controlled={"waist": 0.7})
