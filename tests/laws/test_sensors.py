"""What sensors show: against the methods of the robot, and against differences of positions."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.codegen.calls.trace_graph import TraceGraph, symbols
from robodyn.equations.sensors.kinds import KINDS

STEP = 1e-5


def pose(p, w=(0.0, 0.0, 0.0)):
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = Rotation.from_rotvec(w).as_matrix(), p
    return X


AT = ("link3", pose((0.1, 0.2, 0.3), (0.3, 0.1, -0.2)))
FROM = ("link1", pose((-0.1, 0.1, 0.2), (0.1, 0.5, 0.2)))
OUTSIDE = ("world", pose((0.5, -0.3, 0.2), (0.4, -0.1, 0.3)))

#: Sensors of two frames: the frame they are at, and what it is seen from.
PLACES = {"": (AT, FROM), "_in_world": (AT, OUTSIDE), "_of_world": (OUTSIDE, AT)}
RATES = {
    "velocity": "position",
    "acceleration": "velocity",
    "angular_acceleration": "angular_velocity",
    "distance_rate": "distance",
    "angle_rate": "angle",
    "turn_rate": "turn",
}


def motion_sensors():
    kinds = {*RATES, *RATES.values()}
    for suffix, (at, reference) in PLACES.items():
        for kind in sorted(kinds):
            yield rd.Sensor(kind, at=at, relative_to=reference, name=kind + suffix)
    for kind in ("position", "velocity", "acceleration", "angular_velocity"):
        for axes, text in (("own", "own"), ("link0", "link0"), ("world", "world")):
            yield rd.Sensor(kind, at=AT, relative_to=FROM, axes=axes, name=f"{kind}_{text}")
    yield rd.Sensor("orientation", at=AT, relative_to=FROM, name="orientation")
    yield rd.Sensor("position", at=AT, name="point")
    yield rd.Sensor("velocity", at=AT, axes="own", name="speed")
    yield rd.Sensor("imu", at=AT, name="imu")
    yield rd.Sensor(lambda X, V, A: [X[0, 3], V @ V, A[2]], at=AT, relative_to=FROM, name="law")


class Case:
    """A random tree with a rotor, at a state, on any base."""

    def __init__(self, base):
        rng = np.random.default_rng(3)
        kinds = ["revolute", "spherical", "prismatic", "universal"]
        rotor = rd.Actuator(8.0, 0.01, axis=(1.0, 2.0, -2.0), mounted_on="link0")
        self.robot = rd.load(
            random_mechanism(rng, kinds), base=base, actuators={"joint2": rotor},
            gravity=(1.0, 2.0, -9.81), sensors=motion_sensors(),
        )  # fmt: skip
        self.q = self.robot.random(rng)
        self.v, self.a = rng.normal(size=(2, self.robot.nv))
        self.base = None
        if base == "moving":
            self.base = rd.BaseMotion(pose((0.1, 0.2, 0.3), (0.2, 0.1, 0.3)),
                                      *rng.normal(size=(2, 6)))  # fmt: skip
        self.given = {} if self.base is None else {"base": self.base}

    def at(self, t):
        """A short time later, to second order."""
        q = self.robot.integrate(self.q, t * self.v + 0.5 * t * t * self.a)
        given = {}
        if self.base is not None:
            V, A = self.base.twist, self.base.acceleration
            turn, way = t * V[3:] + 0.5 * t * t * A[3:], t * V[:3]
            X = self.base.pose @ pose(way + 0.5 * t * t * (A[:3] + np.cross(V[3:], V[:3])), turn)
            given = {"base": rd.BaseMotion(X, V + t * A, A)}
        return self.robot.measure(q, self.v + t * self.a, self.a, **given)

    def measure(self):
        return self.robot.measure(self.q, self.v, self.a, **self.given)


@pytest.fixture(scope="module", params=["fixed", "floating", "moving"])
def case(request):
    return Case(request.param)


def test_rates_are_differences_of_what_is_measured(case):
    shown, after, before = case.measure(), case.at(STEP), case.at(-STEP)
    for rate, measured in RATES.items():
        for suffix in PLACES:
            slope = (after[measured + suffix] - before[measured + suffix]) / (2 * STEP)
            np.testing.assert_allclose(shown[rate + suffix], slope, rtol=1e-6, atol=2e-8)
    # seen along axes of the world, where these do not turn with what it is seen from
    slope = (after["point"] - before["point"]) / (2 * STEP)
    R = case.robot.frame_pose(case.q, "link3", **case.given)[:3, :3] @ AT[1][:3, :3]
    np.testing.assert_allclose(R @ shown["speed"], slope, rtol=1e-6, atol=2e-8)


def test_sensors_of_frames_are_methods_of_frames(case):
    robot, q, v, a, shown = case.robot, case.q, case.v, case.a, case.measure()
    robot = robot.with_(frames={"F": AT, "A": FROM})
    X = robot.frame_pose(q, "F", relative_to="A")
    V = robot.frame_twist(q, v, "F", relative_to="A")
    A = robot.frame_acceleration(q, v, a, "F", relative_to="A", classical=True)
    R, X_W = X[:3, :3], robot.frame_pose(q, "F", **case.given)
    expected = {
        "position": X[:3, 3], "velocity": R @ V[:3], "angular_velocity": R @ V[3:],
        "acceleration": R @ A[:3], "distance": [np.linalg.norm(X[:3, 3])],
        "orientation": R.ravel(), "angle": [np.arccos(R[2, 2])],
        "turn": [np.arctan2(R[1, 0], R[0, 0])],
        "position_own": R.T @ X[:3, 3], "acceleration_own": A[:3],
        "velocity_world": X_W[:3, :3] @ V[:3],
        "angular_velocity_link0": robot.frame_pose(q, "F", relative_to="link0")[:3, :3] @ V[3:],
    }  # fmt: skip
    rate = robot.frame_acceleration(q, v, a, "F", relative_to="A")
    expected["law"] = [X[0, 3], V @ V, rate[2]]
    outside = np.linalg.inv(OUTSIDE[1]) @ X_W
    expected["position_in_world"], expected["position_of_world"] = (
        outside[:3, 3],
        (np.linalg.inv(outside)[:3, 3]),
    )
    for name, value in expected.items():
        np.testing.assert_allclose(shown[name], value, rtol=1e-9, atol=1e-11, err_msg=name)


def test_what_the_world_is_where_a_link_is_called_world():
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    body = f'<inertial><mass value="1"/>{inertia}</inertial>'
    urdf = f"""<robot name="vessel"><link name="world">{body}</link><link name="arm">{body}</link>
        <joint name="hinge" type="continuous"><origin xyz="1 0 0"/><parent link="world"/>
        <child link="arm"/><axis xyz="0 0 1"/></joint></robot>"""
    kinds = {"position": "relative_to", "velocity": "axes"}
    sensors = [rd.Sensor(kind, at="arm", name=kind, **{x: "world"}) for kind, x in kinds.items()]
    sensors.append(rd.Sensor("position", at="world", name="hull"))
    robot = rd.load(urdf, base="floating", sensors=sensors)
    rng = np.random.default_rng(3)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    found = robot.measure(q, v)
    X_WA, X_WL = robot.frame_pose(q, "arm"), robot.frame_pose(q, "world")
    np.testing.assert_allclose(found["position"], X_WA[:3, 3], atol=1e-13)
    speed = robot.frame_twist(q, v, "arm", axes="world")
    np.testing.assert_allclose(found["velocity"], speed[:3], atol=1e-13)
    np.testing.assert_allclose(found["hull"], X_WL[:3, 3], atol=1e-13)


def test_wrenches_and_momenta_along_axes_of_other_frames(case):
    robot = case.robot.with_(frames={"F": AT, "A": FROM})
    joints = ("joint0", "joint1", "joint2", "base")
    sensors = [rd.Sensor("wrench", joint=name, at=AT, name=name) for name in joints]
    sensors += [rd.Sensor("momentum", name="plain"), rd.Sensor("momentum", axes=FROM, name="own")]
    robot = robot.with_(sensors=sensors)
    q, v, a, given = case.q, case.v, case.a, case.given
    shown = robot.measure(q, v, a, **given)
    expected = robot.joint_wrenches(q, v, a, **given).in_frame("F")
    for name in joints:
        np.testing.assert_allclose(shown[name], expected[name], rtol=1e-9, atol=1e-9)
    R = robot.frame_pose(q, "A", **given)[:3, :3]
    turned = np.concatenate([R.T @ shown["plain"][:3], R.T @ shown["plain"][3:]])
    np.testing.assert_allclose(shown["own"], turned, rtol=1e-9, atol=1e-10)


def test_a_function_reads_no_more_than_it_says(case):
    """Of joints, also with other numbers of coordinates than of speeds."""
    joints = ("joint1", "joint0")
    laws = {
        "of q": lambda q, v, a: [q[4]], "of v": lambda q, v, a: [v[0], q[0]],
        "of a": lambda q, v, a: [a[3], a[0]], "of none": lambda q, v, a: [2.0],
    }  # fmt: skip
    robot = case.robot.with_(sensors=[rd.Sensor(f, joint=joints, name=x) for x, f in laws.items()])
    assert [sensor.reads for sensor in robot.sensors] == ["q", "v", "a", "q"]
    first, second = (robot.joints[name] for name in joints)
    shown = robot.measure(case.q, case.v, case.a, **case.given)
    np.testing.assert_allclose(shown["of q"], case.q[second.q])
    np.testing.assert_allclose(shown["of v"], [case.v[first.v][0], case.q[first.q][0]], rtol=1e-14)
    expected = [*case.a[second.v], case.a[first.v][0]]
    np.testing.assert_allclose(shown["of a"], expected, rtol=1e-14)
    np.testing.assert_allclose(shown["of none"], 2.0)


def test_an_imu_shows_what_holds_it_against_gravity(case):
    robot, q, v, a = case.robot.with_(frames={"F": AT}), case.q, case.v, case.a
    X = robot.frame_pose(q, "F", **case.given)
    A = robot.frame_acceleration(q, v, a, "F", classical=True, **case.given)
    w = robot.frame_twist(q, v, "F", **case.given)[3:]
    force = A[:3] - X[:3, :3].T @ np.array(robot.gravity)
    np.testing.assert_allclose(case.measure()["imu"], [*force, *w], rtol=1e-10, atol=1e-10)


def test_an_imu_at_rest_shows_gravity_upwards_and_none_in_free_fall():
    imu = rd.Sensor("imu", at=("upper", pose((0, 0, 0), (np.pi / 2, 0, 0))))
    robot = rd.load("double_pendulum", sensors=[imu])
    shown = robot.measure([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])["imu_upper"]
    np.testing.assert_allclose(shown, [0.0, 9.81, 0.0, 0.0, 0.0, 0.0], atol=1e-12)  # y is up
    falling = Case("floating").robot.with_(passive=False)
    still = np.zeros(falling.nv)
    shown = falling.measure(falling.random(1), still, tau=still, sensors=["imu"])["imu"]
    np.testing.assert_allclose(shown, 0.0, atol=1e-10)


def body_sensors(robot, root):
    links = [name for name in robot.body_names if name != root]
    for kind in ("kinetic_energy", "potential_energy", "momentum", "center_of_mass"):
        yield rd.Sensor(kind)
        for name in (root, *links):
            if kind in ("momentum", "center_of_mass") and not (
                robot.base != "fixed" or name != root
            ):
                continue
            at = {"at": ("world", (0.3, 0.2, 0.1))} if kind == "momentum" else {}
            yield rd.Sensor(kind, bodies=[name], **at)


@pytest.mark.parametrize("base", ["fixed", "floating", "moving"])
def test_energies_and_momenta_of_bodies_add_to_those_of_the_robot(base):
    case = Case(base)
    root, robot = case.robot.link_names[0], case.robot
    links = [name for name in robot.body_names if name != root]
    robot = robot.with_(sensors=body_sensors(robot, root))
    q, v, given = case.q, case.v, case.given
    shown = robot.measure(q, v, **given)
    close = dict(rtol=1e-10, atol=1e-10)
    kinetic = robot.kinetic_energy(q, v, **given)
    np.testing.assert_allclose(shown["kinetic_energy"], kinetic, **close)
    apart = sum(shown[f"kinetic_energy_{name}"] for name in (root, *links))
    np.testing.assert_allclose(apart, kinetic, **close)
    potential = robot.potential_energy(q, **given) - robot.elastic_energy(q, **given)
    np.testing.assert_allclose(shown["potential_energy"], potential, **close)
    apart = sum(shown[f"potential_energy_{name}"] for name in (root, *links))
    np.testing.assert_allclose(apart, potential, **close)
    whole, c = robot.momentum(q, v, **given), robot.center_of_mass(q, **given)
    np.testing.assert_allclose(shown["momentum"], whole, **close)
    np.testing.assert_allclose(shown["center_of_mass"], c, **close)
    if base != "fixed":
        apart = sum(shown[f"momentum_{name}"] for name in (root, *links))
        about = whole[3:] + np.cross(c - (0.3, 0.2, 0.1), whole[:3])
        np.testing.assert_allclose(apart, [*whole[:3], *about], **close)


def test_energy_of_a_rotor_counts_with_its_carrier():
    """A rotor on the base, of a joint that turns a link of no inertia about the axis."""
    robot = rd.load("pan_tilt")
    motor = robot.actuators["tilt"]
    assert motor.mounted_on == "fork" and motor.rotor_inertia
    names = ("camera", "fork")
    robot = robot.with_(sensors=[rd.Sensor("kinetic_energy", bodies=[x], name=x) for x in names])
    shown = robot.measure([0.2, 0.3], [0.0, 2.0])
    spin = 0.5 * motor.rotor_inertia * (2.0 * motor.gear_ratio) ** 2
    np.testing.assert_allclose(shown["fork"], spin, rtol=1e-12)
    total = robot.kinetic_energy([0.2, 0.3], [0.0, 2.0])
    np.testing.assert_allclose(shown["camera"], total - spin, rtol=1e-12)


def test_energy_of_an_armature_counts_with_the_link_that_it_moves():
    """Beside that of a rotor which another link carries."""
    described = rd.load("pan_tilt").mechanism
    joints = tuple(replace(x, armature=0.05 * (x.name == "tilt")) for x in described.joints)
    names = ("camera", "fork", "base")
    sensors = [rd.Sensor("kinetic_energy", bodies=[x], name=x) for x in names if x != "base"]
    q, v = [0.2, 0.3], [0.0, 2.0]
    before = rd.load(described, sensors=sensors).measure(q, v)
    after = rd.load(replace(described, joints=joints), sensors=sensors).measure(q, v)
    np.testing.assert_allclose(after["camera"] - before["camera"], 0.5 * 0.05 * 4.0, rtol=1e-9)
    np.testing.assert_allclose(after["fork"], before["fork"], rtol=1e-12)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_bodies_are_the_same_beside_the_wrench_of_a_fixed_joint(base):
    """Links that a joint fixes are one body, also those fixed to a base that stands still."""
    names = ("base", "post", "arm", "tool", "tip")
    kinds = (("stand", "fixed"), ("hinge", "continuous"), ("flange", "fixed"), ("screw", "fixed"))
    joints = tuple(
        rd.Joint(name, kind, names[k], names[k + 1], origin=rd.Pose((0.2, 0.1 * k, 0.3)))
        for k, (name, kind) in enumerate(kinds)
    )
    links = tuple(
        rd.Link(name, rd.Inertia.from_matrix(1.0 + k, (0.1, 0.2, 0.3 * k), np.eye(3)))
        for k, name in enumerate(names)
    )
    robot = rd.load(rd.Mechanism("flange", links, joints), base=base)
    some = [(), *((name,) for name in names[base == "fixed" and 2 :])]
    sensors = [
        rd.Sensor(kind, bodies=bodies, name=f"{kind} of {'_'.join(bodies)}")
        for kind in ("kinetic_energy", "potential_energy", "momentum", "center_of_mass")
        for bodies in some
    ]
    wrenches = [rd.Sensor("wrench", joint=name, name=name) for name, kind in kinds]
    q, v, a = robot.neutral(), np.linspace(0.3, 0.8, robot.nv), np.zeros(robot.nv)
    alone = robot.with_(sensors=sensors).measure(q, v, a)
    beside = robot.with_(sensors=[*sensors, *wrenches]).measure(q, v, a)
    for name, expected in alone.items():
        np.testing.assert_allclose(beside[name], expected, rtol=1e-12, atol=1e-12, err_msg=name)


def test_a_link_that_is_cut_in_two_is_one_body():
    """All hinges of the linkage have motors: one of the links is cut, and welded again."""
    links = ("ground", "crank", "coupler", "rocker")
    hinges = ("crank_drive", "crank_pin", "rocker_pivot", "rocker_pin")
    kinds = ("kinetic_energy", "center_of_mass")
    sensors = [rd.Sensor(kind, bodies=[x]) for kind in kinds for x in links[kind == kinds[1] :]]
    whole = rd.load("four_bar", sensors=sensors)
    motors = dict.fromkeys(hinges, rd.Actuator())
    cut = rd.load("four_bar", actuators=motors, sensors=sensors)
    assert len(cut.link_names) > len(whole.link_names)
    q, v, _ = consistent(cut, np.random.default_rng(6))
    places = {name: whole.joints[name].q for name in whole.joint_names}
    p, w = np.zeros(whole.nq), np.zeros(whole.nv)
    for name, at in places.items():
        p[at], w[at] = q[cut.joints[name].q], v[cut.joints[name].v]
    shown, expected = cut.measure(q, v), whole.with_(passive=False).measure(p, w)
    for name, x in expected.items():
        np.testing.assert_allclose(shown[name], x, rtol=1e-9, atol=1e-12, err_msg=name)


def consistent(robot, rng):
    q = robot.neutral()
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    return q, v, robot.consistent_acceleration(q, v, rng.normal(size=robot.nv))


@pytest.mark.parametrize("coordinates", ["tree", "minimal"])
def test_wrenches_are_those_in_joints(coordinates):
    """Of a linkage, in moving and cut joints, in frames of their own and in others."""
    rng = np.random.default_rng(5)
    robot = rd.load("four_bar", coordinates=coordinates)
    joints = ("crank_drive", "rocker_pin", "base")
    frame = ("coupler", pose((0.1, 0.0, 0.2), (0.1, 0.4, 0.2)))
    sensors = [rd.Sensor("wrench", joint=name, name=name) for name in joints]
    sensors += [rd.Sensor("wrench", joint="rocker_pin", at=frame, name="turned"),
                rd.Sensor("wrench", joint="rocker_pin", at="world", name="world")]  # fmt: skip
    robot = robot.with_(sensors=sensors, frames={"F": frame})
    q, v, a = consistent(robot, rng)
    loads = {"rocker": rng.normal(size=6)}
    shown = robot.measure(q, v, a, wrenches=loads)
    wrenches = robot.joint_wrenches(q, v, a, wrenches=loads)
    for name in joints:
        np.testing.assert_allclose(shown[name], wrenches[name], rtol=1e-10, atol=1e-10)
    for name, frame in (("turned", "F"), ("world", "world")):
        expected = wrenches.in_frame(frame)["rocker_pin"]
        np.testing.assert_allclose(shown[name], expected, rtol=1e-9, atol=1e-9)
    # forces of motors say how it moves, too
    tau = robot.inverse_dynamics(q, v, a, wrenches=loads)
    again = robot.measure(q, v, tau=tau, wrenches=loads)
    for name, x in shown.items():
        np.testing.assert_allclose(again[name], x, rtol=1e-7, atol=1e-7)


def test_one_function_for_a_linkage_with_the_forces_of_its_motors():
    sensors = [rd.Sensor("wrench", joint="rocker_pin", name="pin"), rd.Sensor("imu", at="coupler")]
    robot = rd.load("four_bar", sensors=sensors)
    q, v, a = consistent(robot, np.random.default_rng(7))
    f = robot.function("measure")
    assert [x.name for x in (*f.inputs, *f.outputs)] == ["q", "v", "a", "pin", "imu_coupler"]
    expected = robot.joint_wrenches(q, v, a)["rocker_pin"]
    np.testing.assert_allclose(f(q, v, a)[0], expected, rtol=1e-10, atol=1e-10)
    assert np.isnan(f(q, v, a + np.eye(3)[0])[0]).any()  # no motor can do that
    with pytest.raises(rd.RobodynError, match="open the loops"):
        robot.measure(q, v, a + np.eye(3)[0])
    with pytest.raises(rd.InconsistentStateError, match="are open"):
        robot.measure(q + 0.1, v, a)
    graph = TraceGraph()
    shown = robot.measure(*(symbols(graph, 3 * k, 3) for k in range(3)))
    assert shown["pin"].shape == (6,) and shown["pin"].dtype == object
    with pytest.raises(rd.UnknownNameError, match="minimal coordinates"):
        robot.with_(coordinates="minimal").function("measure")
    described = rd.load("five_bar").mechanism
    weak = rd.load(replace(described, actuators=described.actuators[:1]))
    weak = weak.with_(sensors=[rd.Sensor("wrench", joint=weak.loops[0].name)])
    with pytest.raises(rd.SingularError, match="call the method"):
        weak.function("measure")


def test_a_flange_is_a_fixed_joint_and_a_bearing_a_constraint():
    """A fixed joint of a tree, and a constraint between frames."""
    X = pose((0.0, 0.0, -0.3))
    robot = rd.load("double_pendulum").with_(frames={"tool": ("lower", X)})
    robot = robot.with_(
        payload={"tool": rd.Inertia.from_matrix(2.0, (0.1, 0.0, 0.2), np.eye(3) * 0.1)}
    )
    robot = robot.with_(sensors=[rd.Sensor("wrench", joint="lower_to_tool", name="flange")])
    state = [0.3, 0.4], [1.0, 2.0], [3.0, 4.0]
    expected = robot.joint_wrenches(*state, joints=["lower_to_tool"])["lower_to_tool"]
    np.testing.assert_allclose(robot.measure(*state)["flange"], expected, rtol=1e-12)
    assert np.linalg.norm(expected[:3]) > 10.0
    bound = rd.FrameConstraint("slot", "point_on_plane", (("world", np.eye(4)), ("lower", X)))
    sensor = rd.Sensor("wrench", joint="slot")
    robot = rd.load("double_pendulum", constraints=[bound], sensors=[sensor], near=[0.4, 1.0])
    q = robot.neutral()
    shown = robot.measure(q, np.zeros(2), tau=np.array([1.0, 2.0]))["wrench_slot"]
    expected = robot.joint_wrenches(q, np.zeros(2), tau=np.array([1.0, 2.0]))["slot"]
    np.testing.assert_allclose(shown, expected, rtol=1e-10, atol=1e-10)
    assert np.linalg.norm(expected) > 0.1


def pendulum(**more):
    """With a sensor of each sort that needs other inputs."""
    sensors = [
        rd.Sensor("position", at=("lower", (0, 0, -1)), name="tip"),
        rd.Sensor("velocity", at=("lower", (0, 0, -1)), name="speed"),
        rd.Sensor("imu", at="lower"),
        rd.Sensor("wrench", joint="elbow"),
        rd.Sensor("kinetic_energy", bodies=["lower"]),
        rd.Sensor(
            lambda q, v, a: [rd.sin(q[0]) * q[1], q[0] * q[1]],
            joint=("elbow", "shoulder"), name="law", columns=("s", "p"), units=("1", "rad^2"),
        ),
    ]  # fmt: skip
    return rd.load("double_pendulum", sensors=sensors, **more)


def test_one_function_of_what_the_sensors_need():
    robot = pendulum()
    f = robot.function("measure")
    assert [port.name for port in f.inputs] == ["q", "v", "a"]
    assert [(x.name, x.shape) for x in f.outputs] == [
        (x.name, (len(x.columns),)) for x in robot.sensors
    ]
    assert "double *wrench_elbow" in f.c_source("measure")
    position = robot.function("measure", sensors=("tip", "law"))
    assert [port.name for port in position.inputs] == ["q"]
    rng = np.random.default_rng(2)
    q, v, a = rng.normal(size=(3, 4, 5, 2))
    shown = robot.measure(q, v, a)
    for name, x, expected in zip(shown, f(q, v, a), shown.values(), strict=True):
        np.testing.assert_allclose(x, expected, rtol=1e-13)
        alone = robot.measure(q[1, 2], v[1, 2], a[1, 2])[name]
        np.testing.assert_allclose(alone, expected[1, 2], rtol=1e-12, atol=1e-13)
    law = np.stack([np.sin(q[..., 1]) * q[..., 0], q[..., 0] * q[..., 1]], axis=-1)
    np.testing.assert_allclose(shown["law"], law, rtol=1e-13)
    single = robot.measure(*(x.astype(np.float32) for x in (q, v, a)))
    assert all(x.dtype == np.float32 for x in single.values())
    slope = robot.function("measure", sensors=("tip",)).jacobian("q")(q[0, 0])
    expected = robot.with_(frames={"T": ("lower", pose((0, 0, -1)))}).frame_jacobian(
        q[0, 0], "T", axes="world"
    )
    np.testing.assert_allclose(slope, expected[:3], atol=1e-12)


def test_copies_rows_pickles_and_symbols():
    robot = pendulum()
    q, v, a = np.random.default_rng(4).normal(size=(3, 3, 2))
    masses = np.array([1.0, 2.0, 3.0])
    rows = robot.with_(parameters={"lower.m": masses}).measure(q, v, a)
    for k, mass in enumerate(masses):
        one = robot.with_(parameters={"lower.m": mass}).measure(q[k], v[k], a[k])
        for name, x in one.items():
            np.testing.assert_allclose(rows[name][k], x, rtol=1e-12, atol=1e-12, err_msg=name)
    again = pickle.loads(pickle.dumps(robot))
    for name, x in again.measure(q, v, a).items():
        np.testing.assert_allclose(x, robot.measure(q, v, a)[name], rtol=1e-13, atol=1e-13)
    assert not robot.with_(sensors=()).sensors
    kept = rd.load("double_pendulum", sensors=robot.sensors)
    assert kept.sensors == robot.sensors
    graph = TraceGraph()
    shown = robot.measure(symbols(graph, 0, 2), symbols(graph, 2, 2), sensors=["tip", "speed"])
    assert shown["tip"].shape == (3,) and shown["tip"].dtype == object


def test_a_controller_reads_sensors():
    """Force at the tip by a law over symbols, as by numbers."""
    robot = pendulum()

    class Law:
        symbolic = True

        def __call__(self, t, q, v):
            tip, speed = robot.measure(q, v, sensors=["tip", "speed"]).values()
            return np.array([-3.0 * tip[0] - speed[0], 0.5 * speed[2]])

    run = rd.simulate(robot, Law(), q0=[0.3, 0.2], duration=0.02, step=1e-3)
    for k in (0, 7):
        tau = Law()(0.0, run.q[k], run.v[k])
        np.testing.assert_allclose(run.tau[k], tau, rtol=1e-12)


def test_sensors_of_time_and_of_no_number():
    """Of a robot that depends on time; where a rate is not defined."""
    crank = rd.Constraint("clock", lambda q, t: q[0] - 0.3 * t, "crank_drive")
    sensors = [rd.Sensor("position", at="coupler"), rd.Sensor("wrench", joint="crank_pin")]
    robot = rd.load("four_bar", constraints=[crank], sensors=sensors)
    with pytest.raises(rd.ShapeError, match=r"ask robot.at\(t\)"):
        robot.measure(robot.at(1.0).assemble())
    now = robot.at(1.0)
    q = now.assemble()
    X = now.frame_pose(q, "coupler")
    np.testing.assert_allclose(
        now.measure(q, sensors=["position_coupler"])["position_coupler"], X[:3, 3]
    )


def test_where_a_sensor_shows_no_number():
    """Named, with the states of a batch; or in any state."""
    gap = rd.Sensor("distance_rate", at=("lower", (0, 0, -1)), relative_to="upper", name="gap")
    robot = rd.load("double_pendulum", sensors=[gap])
    q = np.array([[0.0, 0.0], [0.0, np.pi], [0.0, 1.0]])
    rate = robot.measure(q[[0, 2]], [0.0, 1.0])["gap"]
    np.testing.assert_allclose(rate[:, 0], [0.0, -np.sin(1.0) / (2.0 * np.cos(0.5))], atol=1e-12)
    flat = rd.Sensor("angle_rate", at="lower", relative_to="upper", name="bend")
    bent = rd.load("double_pendulum", sensors=[flat])
    with pytest.raises(rd.SingularError, match=r"'bend' \(angle_rate\) .* in states 0 of") as info:
        bent.measure(q, [0.0, 1.0])
    assert info.value.rows == (0,)
    for sensor in (
        rd.Sensor("distance_rate", at="upper", relative_to="world", name="none"),
        rd.Sensor(lambda X, V, A: X[0, 0] / X[1, 0], at="upper", name="none"),
    ):
        with pytest.raises(rd.SingularError, match=r"sensor 'none' .* no number in any state"):
            rd.load("double_pendulum", sensors=[sensor]).measure([0.0, 0.0], [1.0, 0.0])


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: rd.Sensor("positon", at="lower"), rd.UnknownNameError, "did you mean 'position'"),
        (lambda: rd.Sensor("function", at="lower"), rd.UnknownNameError, "'function' in kind="),
        (lambda: rd.Sensor("imu"), rd.ShapeError, "needs at="),
        (lambda: rd.Sensor("distance", at="lower"), rd.ShapeError, "needs relative_to="),
        (lambda: rd.Sensor("imu", at="lower", bodies=["lower"]), rd.ShapeError, "takes no bodies="),
        (lambda: rd.Sensor("imu", at=("lower", np.eye(3))), rd.ShapeError, "4, 4"),
        (lambda: rd.Sensor("imu", at=("lower", 2 * np.eye(4))), rd.ShapeError, "rotation"),
        (lambda: rd.Sensor("imu", at=("lower", (0, 0, np.nan))), rd.ShapeError, "finite"),
        (lambda: rd.Sensor("imu", at=("lower", (0, 0))), rd.ShapeError, "expected"),
        (lambda: rd.Sensor("imu", at=("lower", np.eye(4), 1)), rd.ShapeError, "expected a link"),
        (lambda: rd.Sensor("imu", at="lower", name="q"), rd.ShapeError, "cannot be called 'q'"),
        (lambda: rd.Sensor("imu", at="lower", units=["m"]), rd.ShapeError, "functions alone"),
        (lambda: rd.Sensor("wrench", joint=["elbow", "shoulder"]), rd.ShapeError, "one joint"),
        (lambda: rd.Sensor(lambda X, V, A: X), rd.ShapeError, "of a frame, at=, or of joints"),
        (lambda: rd.Sensor("imu", at="lowr"), rd.UnknownNameError, "did you mean 'lower'"),
        (lambda: rd.Sensor("wrench", joint="elbo"), rd.UnknownNameError, "did you mean 'elbow'"),
        (lambda: rd.Sensor("momentum", bodies=["hand"]), rd.UnknownNameError, "no link 'hand'"),
        (lambda: rd.Sensor("momentum", axes="hand"), rd.UnknownNameError, "no link 'hand'"),
        (lambda: rd.Sensor(lambda q, v, a: q, joint="elbo"), rd.UnknownNameError, "elbow"),
        (lambda: rd.Sensor(lambda X, V, A: [], at="lower"), rd.ShapeError, "returns no numbers"),
        (lambda: rd.Sensor(lambda X, V, A: [np.nan], at="lower"), rd.ShapeError, "not finite"),
        (lambda: rd.Sensor(lambda X, V: X, at="lower"), rd.ShapeError, "failed with TypeError"),
        (lambda: rd.Sensor(lambda X, V, A: abs(V[0]) > 1, at="lower"), rd.ShapeError, "of symbols"),
        (lambda: rd.Sensor(lambda X, V, A: V, at="lower", columns=["x"]), rd.ShapeError, "returns"),
    ],
)  # fmt: skip
def test_wrong_sensors_are_refused(make, error, text):
    with pytest.raises(error, match=text):
        rd.load("double_pendulum", sensors=[make()])


def test_wrong_sets_of_sensors_are_refused():
    imu = rd.Sensor("imu", at="lower")
    with pytest.raises(rd.ShapeError, match="two sensors are called 'imu_lower'"):
        rd.load("double_pendulum", sensors=[imu, rd.Sensor("imu", at=("lower", (0, 0, 1)))])
    with pytest.raises(rd.ShapeError, match="sensors"):
        rd.load("double_pendulum", sensors=["imu"])
    robot = rd.load("double_pendulum", sensors=[imu])
    with pytest.raises(rd.UnknownNameError, match="did you mean 'imu_lower'"):
        robot.measure([0, 0], sensors=["imu_lover"])
    with pytest.raises(rd.SettingsError, match="has no sensors"):
        rd.load("double_pendulum").measure([0, 0])
    law = rd.Sensor(lambda q, v, a: q, joint="elbow", name="law")
    locked = robot.with_(sensors=[law]).with_(locked={"elbow": 0.1})
    with pytest.raises(rd.TopologyError, match="sensor 'law': it reads 'elbow'"):
        locked.measure([0.0])


def test_a_wrench_that_is_not_determined_is_refused():
    """A constraint between joints does not say where its force acts."""
    tie = rd.Constraint("tie", lambda q: q[0] - 2.0 * q[1], ["joint1", "joint6"])
    sensors = [rd.Sensor("wrench", joint="joint3"), rd.Sensor("imu", at="link6")]
    robot = rd.load("puma560", constraints=[tie], sensors=sensors)
    q = robot.neutral()
    assert robot.measure(q, 0 * q, 0 * q, sensors=["imu_link6"])
    with pytest.raises(rd.UndeterminedWrenchError, match="'joint3'"):
        robot.measure(q, 0 * q, 0 * q)


def test_every_kind_says_what_it_is():
    for name, kind in KINDS.items():
        assert name == kind.name and len(kind.columns) == len(kind.units)
        assert kind.reads in ("q", "v", "a")
