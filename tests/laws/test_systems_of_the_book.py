"""Systems of Wittenburg's fifth chapter that are drawn with all their hinges."""

import numpy as np
from support.interpreted import interpreted
from support.newton_euler import imbalance
from support.random_mechanisms import random_inertia

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism, Pose

X, Y, Z = np.eye(3).tolist()


def test_s25_hinges_of_the_arm_prosthesis():
    """Axes and left-over accelerations of shoulder, elbow and wrist [W example 5.2]."""
    solid = Inertia(1.0, ixx=0.1, iyy=0.1, izz=0.1)
    names = "base", "first", "second", "upper", "fore", "between", "hand"
    links = [Link(x, solid if x in ("upper", "fore", "hand") else None) for x in names]
    joints = [
        Joint(f"{k}", "revolute", *names[k : k + 2], Pose((0.1 * k, 0.2, 0)), axis)
        for k, axis in enumerate((X, Y, Z, X, Y, X))
    ]
    robot = rd.load(Mechanism("arm", tuple(links), tuple(joints)))
    q, v = np.random.default_rng(25).uniform(-1, 1, (2, 6))
    _, s12, s13, _, s31, s32 = np.sin(q)
    _, c12, c13, _, c31, c32 = np.cos(q)
    columns = np.eye(6)
    for link, parent, own, axes, left in (
        (
            *("upper", "base", slice(0, 3)),
            [[c12 * c13, -c12 * s13, s12], [s13, c13, 0.0], [0.0, 0.0, 1.0]],
            [
                v[0] * (-v[1] * s12 * c13 - v[2] * c12 * s13) + v[1] * v[2] * c13,
                v[0] * (v[1] * s12 * s13 - v[2] * c12 * c13) - v[1] * v[2] * s13,
                v[0] * v[1] * c12,
            ],
        ),
        ("fore", "upper", slice(3, 4), [[1.0, 0.0, 0.0]], [0.0, 0.0, 0.0]),
        (
            *("hand", "fore", slice(4, 6)),
            [[0.0, c32, -s32], [1.0, 0.0, 0.0]],
            [0.0, -v[4] * v[5] * s32, -v[4] * v[5] * c32],
        ),
    ):
        J = robot.frame_jacobian(q, link, relative_to=parent)[3:]
        np.testing.assert_allclose(J, np.array(axes).T @ columns[own], atol=1e-14)
        a = robot.frame_acceleration(q, v, np.zeros(6), link, relative_to=parent, classical=True)
        np.testing.assert_allclose(a[3:], left, atol=1e-14)
    wrist = [[c31, 0.0, -s31], [s31 * s32, c32, c31 * s32], [s31 * c32, -s32, c31 * c32]]
    turn = robot.frame_pose(q, "hand", relative_to="fore")[:3, :3]
    np.testing.assert_allclose(turn.T, wrist, atol=1e-14)


def test_s30_seven_bodies_with_hinges_of_all_types():
    """The graph of S10 with arcs either way: every link is balanced [W fig. 5.35]."""
    plus, minus = (0, 6, 6, 4, 2, 2, 3), (1, 7, 1, 1, 1, 5, 2)
    kinds = "revolute", "cylindrical", "universal", "prismatic", "spherical", "planar", "helical"
    rng = np.random.default_rng(30)
    links = [Link("body0"), *(Link(f"body{k}", random_inertia(rng)) for k in range(1, 8))]
    joints = []
    for a, (i, k, kind) in enumerate(zip(plus, minus, kinds, strict=True), 1):
        axis, other = np.linalg.qr(rng.normal(size=(3, 2)))[0].T.tolist()
        origin = Pose(rng.normal(size=3), rng.normal(size=3))
        pitch = 0.1 if kind == "helical" else 0.0
        joints.append(
            Joint(f"arc{a}", kind, f"body{i}", f"body{k}", origin, axis, other, pitch=pitch)
        )
    mechanism = Mechanism("seven", tuple(links), tuple(joints))
    gravity = (0.3, -0.2, -9.81)
    robot = interpreted(mechanism, root="body0", gravity=gravity)
    assert robot.nv == 1 + 2 + 2 + 1 + 3 + 3 + 1
    assert {*robot.graph.arcs} == {joint.name for joint in joints}
    q, (v, tau) = robot.random(rng), rng.normal(size=(2, robot.nv))
    a = robot.forward_dynamics(q, v, tau)

    def poses(t):
        x = robot.integrate(q, t * v + 0.5 * t * t * a)
        return dict(zip(robot.frame_names, robot.frame_poses(x), strict=True))

    assert imbalance(robot, robot.joint_wrenches(q, v, a), poses, gravity) < 1e-8
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), tau, atol=1e-9)
