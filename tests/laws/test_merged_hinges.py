"""Three hinges through one point, with massless links between, move as the ball they are."""

import dataclasses

import numpy as np
import pytest
from support.random_mechanisms import random_inertia

import robodyn as rd
from robodyn.description import Inertia, Joint, Limits, Link, Loop, Mechanism, Mimic, Pose
from robodyn.errors import UrdfWarning

Z = (0.0, 0.0, 1.0)


def turned(rng):
    return tuple(rng.normal(size=3))


def gimbal(*, offsets=(0.0, 0.0, 0.0), mass=0.0, seed=0, **changed):
    """An arm, three hinges in random frames, a rod, and a hinge at its end.

    Parameters
    ----------
    offsets : (3,) [m]
        From the common point to the origins of the hinges, along their axes.
    mass : float [kg]
        Of each link between the hinges.
    **changed
        Attributes of the second hinge.
    """
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    centre = np.array([0.3, -0.1, 0.4])
    X = np.eye(4)
    joints = [Joint("arm", "revolute", "base", "upper", Pose((0.0, 0.0, 0.1), turned(rng)), Z)]
    names = ["upper", "one", "two", "rod"]
    for k, offset in enumerate(offsets):
        Y = Pose(tuple(centre + offset * axes[k]), turned(rng)).matrix
        axis = tuple(Y[:3, :3].T @ axes[k])
        origin = Pose.from_matrix(np.linalg.inv(X) @ Y)
        joints.append(Joint("abc"[k], "revolute", names[k], names[k + 1], origin, axis))
        X = Y
    joints[2] = dataclasses.replace(joints[2], **changed)
    joints.append(Joint("end", "revolute", "rod", "tip", Pose((0.2, 0.1, -0.3), turned(rng)), Z))
    light = Inertia(mass, Pose((0.01, 0.0, 0.02)), *(1e-4 * mass * np.array([1, 0, 0, 1, 0, 1])))
    links = (
        Link("base"),
        *(Link(name, random_inertia(rng)) for name in ("upper", "rod", "tip")),
        Link("one", light if mass else None),
        Link("two", light if mass else None),
    )
    return Mechanism("gimbal", links, tuple(joints))


def load(mechanism, **options):
    return rd.load(mechanism, passive=False, merge_hinges=True, **options)


class Both:
    """The robot with hinges at a random state, and the state of the one with a ball there."""

    def __init__(self, mechanism, seed=1):
        rng = np.random.default_rng(seed)
        self.hinged, self.ball = rd.load(mechanism, passive=False), load(mechanism)
        q = self.q = rng.uniform(-0.6, 0.6, self.hinged.nq)
        v, tau = self.v, self.tau = rng.normal(size=(2, self.hinged.nv))
        for name in "abc":
            tau[self.hinged.joints[name].v] = 0.0  # what acts in a hinge is another thing
        self.a = self.hinged.forward_dynamics(q, v, tau)
        self.Q = self.ball.neutral()
        self.V, self.A, self.force = np.zeros((3, self.ball.nv))
        for name in ("arm", "end"):
            own, other = self.hinged.joints[name], self.ball.joints[name]
            self.Q[other.q] = q[own.q]
            self.V[other.v], self.A[other.v], self.force[other.v] = (
                x[own.v] for x in (v, self.a, tau)
            )
        joint = self.ball.joints["a-b-c"]
        seen = {"frame": "rod", "relative_to": "upper"}
        turn = self.hinged.frame_pose(0.0 * q, **seen)[:3, :3].T
        turn = turn @ self.hinged.frame_pose(q, **seen)[:3, :3]
        self.Q[joint.q] = quaternion(turn)
        self.V[joint.v] = self.hinged.frame_twist(q, v, **seen)[3:]
        self.A[joint.v] = self.hinged.frame_acceleration(q, v, self.a, **seen)[3:]


def quaternion(R):
    w = 0.5 * np.sqrt(max(1.0 + np.trace(R), 1e-300))
    x = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4.0 * w)
    return np.array([*x, w])


@pytest.mark.parametrize("offsets", [(0.0, 0.0, 0.0), (0.1, -0.2, 0.0), (0.05, 0.1, 0.15)])
def test_the_ball_moves_as_the_hinges_do(offsets):
    both = Both(gimbal(offsets=offsets))
    hinged, ball = both.hinged, both.ball
    assert (ball.nq, ball.nv) == (6, 5)
    assert ball.joints["a-b-c"].merged == ("a", "b", "c")
    assert ball.joints["a-b-c"].type == "spherical"
    for frame in ("rod", "tip"):
        np.testing.assert_allclose(
            ball.frame_pose(both.Q, frame), hinged.frame_pose(both.q, frame), atol=1e-13
        )
        np.testing.assert_allclose(
            ball.frame_twist(both.Q, both.V, frame),
            hinged.frame_twist(both.q, both.v, frame),
            atol=1e-12,
        )
    scale = np.abs(both.A).max()
    a = ball.forward_dynamics(both.Q, both.V, both.force)
    np.testing.assert_allclose(a, both.A, rtol=0.0, atol=1e-10 * scale)
    for name in ("kinetic_energy", "momentum"):
        one, other = getattr(ball, name)(both.Q, both.V), getattr(hinged, name)(both.q, both.v)
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert ball.total_mass == hinged.total_mass


def test_a_light_link_is_merged_and_its_mass_goes_with_the_rod():
    heavy = sum(link.inertia.mass for link in gimbal().links if link.inertia is not None)
    light, too_heavy = gimbal(mass=0.9e-6 * heavy), gimbal(mass=1.1e-6 * heavy)
    both = Both(light)
    assert abs(both.ball.total_mass - both.hinged.total_mass) < 1e-15 * heavy
    q = both.ball.neutral()
    np.testing.assert_allclose(
        both.ball.center_of_mass(q), both.hinged.center_of_mass(np.zeros(5)), atol=1e-14
    )
    a = both.ball.forward_dynamics(both.Q, both.V, both.force)
    assert 0.0 < np.abs(a - both.A).max() < 1e-4 * np.abs(both.A).max()
    assert "a" in load(too_heavy).joints


def test_simulation_passes_through_the_locked_gimbal():
    """The second hinge turns by a quarter: the hinges cannot be simulated there, the ball can."""
    mechanism = gimbal()
    both = Both(mechanism)
    q = np.zeros(both.hinged.nq)
    q[both.hinged.joints["b"].q] = 0.5 * np.pi
    with pytest.raises((rd.SingularError, FloatingPointError)):
        a = both.hinged.forward_dynamics(q, both.v, both.tau)
        if np.abs(a).max() > 1e10:
            raise FloatingPointError
    ball = load(mechanism, gravity=(0.0, 0.0, 0.0))
    joint, Q = ball.joints["a-b-c"], ball.neutral()
    # half a turn about the second hinge in one second, so that the gimbal is passed midway
    seen = {"frame": "rod", "relative_to": "upper"}
    v = np.zeros(both.hinged.nv)
    v[both.hinged.joints["b"].v] = np.pi
    V = np.zeros(ball.nv)
    V[joint.v] = both.hinged.frame_twist(np.zeros_like(q), v, **seen)[3:]
    run = rd.simulate(ball, q0=Q, v0=V, duration=1.0, step=1e-3)
    energy = ball.kinetic_energy(run.q, run.v)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)
    assert np.abs(run.a).max() < 1e4


def test_hinges_that_are_something_else_stay():
    plain = gimbal()
    motor = dataclasses.replace(plain, actuators=(("c", rd.Actuator()),))
    loop = Loop("string", "distance", "one", "base", distance=0.5)
    spring = rd.PointSpring("two", (0.0, 0.0, 0.0), "base", (0.0, 0.0, 0.0), 10.0)
    mimic = Joint("d", "revolute", "tip", "more", axis=Z, mimic=Mimic("b", 2.0))
    more = Link("more", random_inertia(np.random.default_rng(5)))
    marked = Joint("marked", "fixed", "two", "mark")
    others = [
        gimbal(damping=0.1),
        gimbal(friction=0.1),
        gimbal(stiffness=3.0),
        gimbal(independent=True),
        gimbal(mimic=Mimic("arm")),
        gimbal(kind="prismatic"),
        motor,
        dataclasses.replace(plain, loops=(loop,)),
        dataclasses.replace(plain, link_elements=(spring,)),
        dataclasses.replace(plain, links=(*plain.links, more), joints=(*plain.joints, mimic)),
        dataclasses.replace(
            plain, links=(*plain.links, Link("mark")), joints=(*plain.joints, marked)
        ),
    ]
    for name in ("a-b-c", "a-b-c_fixed"):  # the names of the ball and of the weld behind it
        others.append(
            dataclasses.replace(
                plain,
                links=(*plain.links, Link("mark")),
                joints=(*plain.joints, Joint(name, "fixed", "rod", "mark")),
            )
        )
    for mechanism in others:
        assert not any(info.merged for info in load(mechanism).joints.values())
    assert load(plain).joints["a-b-c"].merged
    assert "a" in rd.load(plain).joints  # off by default
    tied = rd.Constraint("tied", lambda q: q[0] - 2.0 * q[1], ("a", "arm"))
    assert "a" in load(plain, constraints=[tied]).joints
    assert "a" in load(plain, actuators={"b": rd.Actuator()}).joints


def test_hinges_that_sensors_read_stay():
    assert "b" not in load(gimbal(), sensors=[rd.Sensor("imu", at="rod")]).joint_names
    for sensor in (rd.Sensor("wrench", joint="b"), rd.Sensor("imu", at="one")):
        robot = load(gimbal(), sensors=[sensor])
        assert "b" in robot.joint_names
        still = np.zeros(robot.nv)
        assert robot.measure(robot.neutral(), still, still)[sensor.name].shape == (6,)


def test_axes_that_pass_each_other_or_are_oblique_or_parallel_stay():
    plain = gimbal()

    def moved(k, **changes):
        joints = list(plain.joints)
        joints[k] = dataclasses.replace(joints[k], **changes)
        return dataclasses.replace(plain, joints=tuple(joints))

    xyz, rpy = np.array(plain.joints[3].origin.xyz), plain.joints[3].origin.rpy
    assert "a" in load(moved(3, origin=Pose(tuple(xyz + 3e-6), rpy))).joints
    axis = np.array(plain.joints[3].axis) + np.array([0.3, -0.2, 0.1])
    assert "a" in load(moved(3, axis=tuple(axis / np.linalg.norm(axis)))).joints
    # the third along the first: a gimbal that is locked at zero
    R = plain.joints[2].origin.matrix[:3, :3] @ plain.joints[3].origin.matrix[:3, :3]
    first = R.T @ np.array(plain.joints[1].axis)
    assert "a" in load(moved(3, axis=tuple(first))).joints


def test_names_of_merged_hinges_are_known():
    with pytest.raises(rd.UnknownNameError, match=r"'a'.*part of the ball 'a-b-c'"):
        load(gimbal(), near={"a": 0.1})
    robot = load(gimbal(), near={"a-b-c": (0.0, 0.6, 0.0, 0.8)})
    with pytest.raises(rd.UnknownNameError, match="part of the ball"):
        _ = robot.joints["b"]
    copy = robot.with_(gravity=(0.0, 0.0, -1.6))
    assert copy.joints["a-b-c"].merged == ("a", "b", "c")


def test_limits_are_left_out_with_a_warning():
    limited = gimbal(limits=Limits(-1.0, 1.0))
    with pytest.warns(UrdfWarning, match=r"'a-b-c'.*limits of position"):
        load(limited)


def test_rods_with_balls_at_both_ends_close_a_loop():
    """Hinges at either end of a rod, its tip welded: merged, it is the loop of two balls."""
    rng = np.random.default_rng(4)
    plain = gimbal()
    joints, links = list(plain.joints[:-1]), [x for x in plain.links if x.name != "tip"]
    names = ["rod", "five", "six", "mark"]
    origin = Pose((0.2, 0.1, -0.3))
    for k, axis in enumerate(np.eye(3)):
        joints.append(Joint("def"[k], "continuous", names[k], names[k + 1], origin, tuple(axis)))
        origin = Pose()
        links.append(Link(names[k + 1]))
    joints.append(
        Joint("other", "revolute", "base", "rocker", Pose((0.5, 0.2, 0.0)), (0, 0.6, 0.8))
    )
    links.append(Link("rocker", random_inertia(rng)))
    open_one = Mechanism("rod", tuple(links), tuple(joints))
    end = rd.load(open_one, allow_unphysical=True).frame_pose(np.zeros(8), "mark")
    rocker = rd.load(open_one, allow_unphysical=True).frame_pose(np.zeros(8), "rocker")
    weld = Loop(
        "weld", "fixed", "mark", "rocker", Pose(), Pose.from_matrix(np.linalg.inv(rocker) @ end)
    )
    mechanism = dataclasses.replace(open_one, loops=(weld,))
    hinged, ball = rd.load(mechanism), load(mechanism)
    assert [info.name for info in ball.joints.values() if info.merged] == ["a-b-c", "d-e-f"]
    assert hinged.dof == ball.dof
    v = np.zeros(hinged.nv)
    v[hinged.joints["arm"].v] = 1.0
    q = np.zeros(hinged.nq)
    v = hinged.consistent_velocity(q, v, hold=("arm",))
    V = np.zeros(ball.nv)
    V[ball.joints["arm"].v] = 1.0
    Q = ball.neutral()
    V = ball.consistent_velocity(Q, V, hold=("arm",))
    assert abs(V[ball.joints["other"].v] - v[hinged.joints["other"].v]) < 1e-10
