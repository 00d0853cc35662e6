"""Constraints between frames: what they hold, and forces that act on links where they act."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from support.interpreted import interpreted
from support.newton_euler import imbalance, in_world, slip_rate
from support.random_mechanisms import random_inertia, random_mechanism

import robodyn as rd
from robodyn.description import Link, Loop, Mechanism, Pose

GRAVITY = np.array([1.0, 2.0, -9.81])
JOINTS = ["revolute", "prismatic", "spherical", "universal"]
DISTANCE, PITCH = 0.7, 0.3
NUMBERS = {"distance": {"distance": DISTANCE}, "screw": {"pitch": PITCH}}
KINDS = (
    "point_on_line point_on_plane distance parallel perpendicular translation rotation screw"
).split()


def pose(rng, R=None, p=None):
    X = np.eye(4)
    X[:3, :3] = Rotation.from_quat(rng.normal(size=4)).as_matrix() if R is None else R
    X[:3, 3] = rng.normal(size=3) if p is None else p
    return X


def about(axis, angle):
    return Rotation.from_euler(axis, angle).as_matrix()


def allowed(kind, rng):
    """A pose of B in A that a kind allows."""
    (x, y, z), (a, b) = p, _ = rng.normal(size=3), rng.normal(size=2)
    return {
        "point_on_line": pose(rng, p=[0, 0, z]),
        "point_on_plane": pose(rng, p=[x, y, 0]),
        "distance": pose(rng, p=DISTANCE * p / np.linalg.norm(p)),
        "parallel": pose(rng, R=about("z", a)),
        "perpendicular": pose(rng, R=about("z", a) @ about("x", np.pi / 2) @ about("z", b)),
        "translation": pose(rng, p=[0, 0, 0]),
        "rotation": pose(rng, R=np.eye(3)),
        "screw": pose(rng, R=about("z", a), p=[0, 0, PITCH * a]),
    }[kind]


def hat(s):
    v, w = np.array(s[:3]), s[3:]
    X = np.zeros((4, 4))
    X[:3, :3] = [[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]]
    X[:3, 3] = v
    return X


class Case:
    """A random tree, a state of it, and frames on two links that a kind of constraint allows."""

    def __init__(self, kind, base="fixed", seed=0, joints=JOINTS):
        self.rng = rng = np.random.default_rng(seed)
        tree = random_mechanism(rng, joints)
        chain = [replace(x, parent=f"link{i}") for i, x in enumerate(tree.joints)]
        self.mechanism = replace(tree, joints=tuple(chain))
        self.tree = self.robot(base=base)
        self.q = self.tree.random(rng)
        self.twist, self.acceleration = rng.normal(size=(2, 6))
        first = {"fixed": "link1", "floating": "world", "moving": "link0"}[base]
        last = self.tree.link_names[-1]
        X = np.linalg.inv(self.poses(0.0, self.q)[last]) @ self.poses(0.0, self.q)[first]
        XA = pose(rng)
        self.between = ((first, XA), (last, X @ XA @ allowed(kind, rng)))

    def robot(self, *constraints, **options):
        base = options.pop("base", None) or self.tree.base
        return interpreted(
            self.mechanism, gravity=GRAVITY, base=base, constraints=constraints, **options
        )

    def base(self, t):
        """Of a base that moves: the motion at a time, to second order."""
        if self.tree.base != "moving":
            return {}
        V, A = self.twist, self.acceleration
        X = expm(hat(t * V + 0.5 * t * t * A))
        return {"base": rd.BaseMotion(X, V, A)}

    def poses(self, t, q):
        found = self.tree.frame_poses(q, **self.base(t))
        return dict(zip(self.tree.frame_names, found, strict=True)) | {"world": np.eye(4)}

    def state(self, robot):
        v = robot.consistent_velocity(self.q, self.rng.normal(size=robot.nv))
        tau = self.rng.normal(size=robot.nv)
        if robot.base == "floating":
            tau[:6] = 0.0
        return v, tau

    def imbalance(self, robot, v, a, wrenches):
        def poses(t):
            return self.poses(t, self.tree.integrate(self.q, t * v + 0.5 * t * t * a))

        return imbalance(robot, wrenches, poses, GRAVITY)


@pytest.mark.parametrize("kind", KINDS)
def test_forces_and_moments_balance_on_every_link(kind):
    base = ("fixed", "floating", "moving")[KINDS.index(kind) % 3]
    case = Case(kind, base, seed=KINDS.index(kind))
    tie = rd.FrameConstraint("tie", kind, case.between, **NUMBERS.get(kind, {}))
    robot = case.robot(tie)
    np.testing.assert_allclose(robot.loop_residual(case.q), 0.0, atol=1e-14)
    v, tau = case.state(robot)
    a = robot.forward_dynamics(case.q, v, tau, **case.base(0.0))
    wrenches = robot.joint_wrenches(case.q, v, a, **case.base(0.0))
    assert case.imbalance(robot, v, a, wrenches) < 1e-8
    assert slip_rate(robot, case.q, v, a) < 1e-6
    (_, _), (last, X) = case.between
    expected = in_world(case.poses(0.0, case.q)[last] @ X, wrenches["tie"])
    np.testing.assert_allclose(wrenches.in_frame("world")["tie"], expected, atol=1e-9)
    # a wrench that holds nothing does no work along what the kind leaves free
    (first, _), (last, X) = case.between
    twist = case.tree.frame_twist(case.q, v, last, relative_to=first)
    at_B = np.r_[X[:3, :3].T @ (twist[:3] + np.cross(twist[3:], X[:3, 3])), X[:3, :3].T @ twist[3:]]
    assert abs(wrenches["tie"] @ at_B) < 1e-12 * np.abs(wrenches["tie"]).max()


LOOPS = {
    "distance": ("distance",),
    "translation": ("spherical",),
    "screw": ("helical",),
    "translation rotation": ("fixed",),
    "translation parallel": ("revolute",),
    "point_on_line parallel": ("cylindrical",),
    "rotation point_on_line": ("prismatic",),
    "point_on_plane parallel": ("planar",),
}


@pytest.mark.slow
@pytest.mark.parametrize("kinds", LOOPS)
def test_constraints_are_those_of_a_joint_that_closes_a_loop(kinds):
    case = Case("screw", seed=3, joints=[*JOINTS, "universal", "revolute"])
    (A, XA), (B, XB) = case.between
    if "screw" not in kinds:
        X_WA = case.poses(0.0, case.q)[A] @ XA
        XB = np.linalg.solve(case.poses(0.0, case.q)[B], X_WA)
    if kinds == "distance":
        XB = XB @ pose(case.rng, p=[DISTANCE, 0.0, 0.0])
    ties = [
        rd.FrameConstraint(kind, kind, ((A, XA), (B, XB)), **NUMBERS.get(kind, {}))
        for kind in kinds.split()
    ]
    number = NUMBERS.get(kinds, {})
    ends = Pose.from_matrix(XA), Pose.from_matrix(XB)
    loop = Loop("loop", *LOOPS[kinds], A, B, *ends, axis=(0.0, 0.0, 1.0), **number)
    one, other = case.robot(*ties), case.robot(loops=[loop])
    assert one.nc == other.nc
    v, tau = case.state(one)
    a = one.forward_dynamics(case.q, v, tau)
    np.testing.assert_allclose(other.forward_dynamics(case.q, v, tau), a, atol=1e-9)
    wrenches, expected = one.joint_wrenches(case.q, v, a), other.joint_wrenches(case.q, v, a)
    total = sum(wrenches[kind] for kind in kinds.split())
    np.testing.assert_allclose(total, expected["loop"], atol=1e-8)
    for joint in case.tree.joint_names:
        np.testing.assert_allclose(wrenches[joint], expected[joint], atol=1e-8)


def test_a_function_of_the_pose_is_the_kind_it_says():
    case = Case("point_on_line", seed=5)
    kind = rd.FrameConstraint("tie", "point_on_line", case.between)
    function = rd.FrameConstraint("tie", lambda X, twist: X[:2, 3], case.between)

    def velocity(X, twist, t):  # the same at the level of speeds
        return (X[:3, :3] @ twist[:3])[:2]

    speeds = rd.FrameConstraint("tie", velocity, case.between)
    one, two, three = map(case.robot, (kind, function, speeds))
    v, tau = case.state(one)
    a = one.forward_dynamics(case.q, v, tau)
    for other in (two, three):
        np.testing.assert_allclose(other.forward_dynamics(case.q, v, tau), a, atol=1e-10)
        found = other.joint_wrenches(case.q, v, a)["tie"]
        np.testing.assert_allclose(found, one.joint_wrenches(case.q, v, a)["tie"], atol=1e-9)
    assert not three.loop_residual(case.tree.random(1)).any()  # of positions it says nothing
    assert two.loop_residual(case.tree.random(1)).all()
    assert not three.depends_on_time


def moving(t):
    c, s = rd.cos(0.7 * t), rd.sin(0.7 * t)
    return np.array([[c, -s, 0, 0.3 * t], [s, c, 0, 0.2 * s], [0, 0, 1, 0.1 * t * t], [0, 0, 0, 1]])


@pytest.mark.parametrize("kind", ["point_on_plane", "distance", "rotation", "screw"])
def test_frames_and_numbers_may_move_with_time(kind):
    case = Case(kind, seed=7)
    (A, XA), (B, XB) = case.between
    number = dict(NUMBERS.get(kind, {}))
    if kind == "distance":
        number["distance"] = lambda t: DISTANCE + 0.1 * rd.sin(3.0 * t)
    frames = ((A, lambda t: XA @ moving(t)), (B, lambda t: XB @ moving(-1.7 * t)))
    robot = case.robot(rd.FrameConstraint("tie", kind, frames, **number))
    assert robot.depends_on_time
    now = robot.at(0.0)
    np.testing.assert_allclose(now.loop_residual(case.q), 0.0, atol=1e-14)
    v, tau = case.state(now)
    a = now.forward_dynamics(case.q, v, tau)
    wrenches = now.joint_wrenches(case.q, v, a)
    assert case.imbalance(robot, v, a, wrenches) < 1e-8
    assert slip_rate(robot, case.q, v, a) < 1e-6

    def gap(t):
        return robot.at(t).loop_residual(robot.integrate(case.q, t * v + 0.5 * t * t * a))

    h = 1e-4
    np.testing.assert_allclose((gap(h) - gap(-h)) / (2 * h), 0.0, atol=1e-5)
    np.testing.assert_allclose((gap(h) - 2 * gap(0) + gap(-h)) / h**2, 0.0, atol=1e-4)


@pytest.mark.parametrize("first", [True, False])
def test_a_function_of_speeds_sees_a_frame_that_moves_in_its_link(first):
    case, now = Case("distance", seed=6), 0.4
    (A, XA), (B, XB) = case.between
    ways = (moving, lambda t: np.eye(4))[:: 1 if first else -1]
    places = [lambda t, X=X, way=way: X @ way(t) for X, way in zip((XA, XB), ways, strict=True)]
    frames = (A, lambda t: places[0](t)), (B, lambda t: places[1](t))
    tie = rd.FrameConstraint("tie", lambda X, twist, t: twist[:2], frames)
    robot = case.robot(tie).at(now)
    v, tau = case.state(robot)
    a = robot.forward_dynamics(case.q, v, tau)

    def seen(s):
        X = case.poses(s, robot.integrate(case.q, s * v + 0.5 * s * s * a))
        X_A, X_B = (place(now + s).astype(float) for place in places)
        return np.linalg.inv(X[A] @ X_A) @ X[B] @ X_B

    def slip(s, h=1e-3):
        near, far = (seen(s + k * h) - seen(s - k * h) for k in (1, 2))
        return (np.linalg.inv(seen(s)) @ (8.0 * near - far) / (12.0 * h))[:2, 3]

    np.testing.assert_allclose(slip(0.0), 0.0, atol=1e-9)
    np.testing.assert_allclose((slip(1e-3) - slip(-1e-3)) / 2e-3, 0.0, atol=1e-4)


@pytest.mark.parametrize("kind", ["parallel", "rotation"])
def test_axes_are_assembled_the_same_way_and_not_opposite(kind):
    body = Mechanism("body", (Link("body", random_inertia(np.random.default_rng(0))),))
    tie = rd.FrameConstraint("tie", kind, (("world", np.eye(4)), ("body", np.eye(4))))
    robot = interpreted(body, base="floating", constraints=[tie])
    q = robot.integrate(robot.neutral(), np.r_[np.zeros(3), 3.0, 0.2, 0.1])
    assert robot.frame_pose(q, "body")[2, 2] < -0.9
    assert np.abs(robot.loop_residual(q)).max() > 1.0
    X = robot.frame_pose(robot.assemble(q), "body")
    np.testing.assert_allclose(X[2, :3], [0.0, 0.0, 1.0], atol=1e-9)


def test_a_payload_leaves_constraints_as_they_are():
    """Of a copy that shares code, and of rows of parameters."""
    ends = (("world", pose(None, np.eye(3), [0.5, 0.0, -0.4])), ("tip", np.eye(4)))
    tie = rd.FrameConstraint("rod", "distance", ends, distance=0.9)
    robot = rd.load("double_pendulum", constraints=[tie])
    q = robot.assemble([0.4, 0.5])
    v = robot.consistent_velocity(q, [0.3, 0.0])
    load = rd.Inertia(0.7, Pose((0.1, 0.2, 0.3)), 0.1, 0, 0, 0.1, 0, 0.1)
    lower = robot.link_names[2]
    loaded = robot.with_(payload={lower: load})
    anew = rd.load(loaded.mechanism)
    a = anew.forward_dynamics(q, v, [0.2, 0.0])
    np.testing.assert_allclose(loaded.forward_dynamics(q, v, [0.2, 0.0]), a, atol=1e-10)
    mass = robot.with_(parameters={f"{lower}.m": [1.5, 2.5]})
    rows = mass.forward_dynamics([q, q], [v, v], [[0.2, 0.0]] * 2)
    one = robot.with_(parameters={f"{lower}.m": 2.5}).forward_dynamics(q, v, [0.2, 0.0])
    np.testing.assert_allclose(rows[1], one, atol=1e-10)


def test_faults_are_named():
    tree = Case("distance").tree
    ends = (("link0", np.eye(4)), ("link3", np.eye(4)))
    with pytest.raises(rd.UnknownNameError, match="point_on_curve"):
        rd.FrameConstraint("tie", "point_on_curve", ends)
    for lost in ((ends[0], ("link33", np.eye(4))), (("wrold", np.eye(4)), ends[1])):
        with pytest.raises(rd.UnknownNameError, match="constraint 'tie'"):
            tree.with_(constraints=[rd.FrameConstraint("tie", "parallel", lost)])
    for between, words in (
        ((("link1", np.eye(4)), ("link1", np.eye(4))), "two links"),
        ((("link1", np.eye(3)), ends[1]), r"\(3, 3\)"),
        ((("link1", 2 * np.eye(4)), ends[1]), "no rigid body"),
        (("link1",), "two frames"),
        (("link1", ("link2", np.eye(4), 1.0)), "expected a link"),
    ):
        with pytest.raises(rd.ShapeError, match=words):
            rd.FrameConstraint("tie", "parallel", between)
    for given in ({}, {"distance": -1.0}, {"distance": 0.5, "pitch": 1.0}):
        with pytest.raises(rd.ShapeError, match="'tie'"):
            rd.FrameConstraint("tie", "distance", ends, **given)
    for function, words in (
        (lambda X, twist: twist[0] * twist[1], "not linear"),
        (lambda X, twist: 1.0, "constrains no motion"),
        (lambda X: X[0, 3], "failed"),
        (lambda X, twist: None, "must return"),
    ):
        with pytest.raises(rd.ShapeError, match=words):
            rd.FrameConstraint("tie", function, ends)
    good = rd.FrameConstraint("tie", "parallel", ends)
    with pytest.raises(rd.ShapeError, match="is taken"):
        tree.with_(constraints=[good, good])
    with pytest.raises(rd.ShapeError, match="FrameConstraint"):
        tree.with_(constraints=["tie"])
    held = rd.FrameConstraint("tie", "parallel", (("world", np.eye(4)), ends[1]))
    with pytest.raises(rd.SettingsError, match="base='moving'"):
        tree.with_(constraints=[held], base="moving")
