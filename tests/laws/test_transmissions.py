"""Motors that several joints turn: a wrist, a differential and a belt against equations by hand.

The equations by hand are Lagrange's, of energies written here, differentiated by complex steps.
"""

import dataclasses

import numpy as np
import pytest
from support.comparison import close_within

import robodyn as rd

close = close_within(1e-9)
STEP = 1e-30
GRAVITY = 9.81


def turned(axis, angle):
    """Rotation about x, y or z by an angle that may be complex."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = [(1, 2), (2, 0), (0, 1)]["xyz".index(axis)]
    R = np.eye(3, dtype=complex)
    R[i, i] = R[j, j] = c
    R[i, j], R[j, i] = -s, s
    return R


def lagrange(kinetic, potential, q, v, a):
    """Generalised forces of motion; the kinetic energy is a quadratic form of speeds."""
    n = len(q)
    unit = np.eye(n)

    def mass(q):
        twice = [[kinetic(q, x + y) - kinetic(q, x) - kinetic(q, y) for y in unit] for x in unit]
        return np.array(twice)

    slopes = np.array([mass(q + 1j * STEP * e).imag / STEP for e in unit])  # [k, i, j]
    lift = np.array([complex(potential(q + 1j * STEP * e)).imag / STEP for e in unit])
    rate = np.einsum("kij,k->ij", slopes, v)
    return mass(q).real @ a + rate @ v - 0.5 * np.einsum("kij,i,j->k", slopes, v, v) + lift


def file_of(joints, masses):
    """Links in a row: (name, axis, origin) of each joint, (mass, centre, moments) of each link."""
    text = '<robot name="arm"><link name="base"/>'
    parent = "base"
    for (name, axis, at), (m, c, moments) in zip(joints, masses, strict=True):
        direction = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}[axis]
        x, y, z = moments
        text += f"""<joint name="{name}" type="continuous"><parent link="{parent}"/>
<child link="{name}_link"/><origin xyz="{at[0]} {at[1]} {at[2]}"/><axis xyz="{direction}"/></joint>
<link name="{name}_link"><inertial><origin xyz="{c[0]} {c[1]} {c[2]}"/><mass value="{m}"/>
<inertia ixx="{x}" iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
        parent = f"{name}_link"
    return text + "</robot>"


def energies(joints, masses, rotors):
    """Kinetic and potential energy; rotors are (carrier, axis, inertia, ratios).

    A carrier counts the inertia of its rotors as if they did not turn.
    """

    def motion(q, v):
        R = np.eye(3, dtype=complex)
        w, p, p_dot = np.zeros((3, 3), complex)
        for (_, axis, at), x, rate in zip(joints, q, v, strict=True):
            p_dot = p_dot + np.cross(w, R @ at)
            p = p + R @ at
            R = R @ turned(axis, x)
            w = w + R[:, "xyz".index(axis)] * rate
            yield R, w, p, p_dot

    def kinetic(q, v):
        total, spins = 0.0, [(np.eye(3), np.zeros(3))]
        for (R, w, _, p_dot), (m, c, moments) in zip(motion(q, v), masses, strict=True):
            velocity, own = p_dot + np.cross(w, R @ c), R.T @ w
            total = total + 0.5 * m * velocity @ velocity + 0.5 * own @ (moments * own)
            spins.append((R, w))
        for carrier, axis, inertia, ratios in rotors:
            R, w = spins[carrier]
            spin = np.dot(ratios, v)
            total = total + inertia * (0.5 * spin**2 + spin * (R[:, "xyz".index(axis)] @ w))
        return total

    def potential(q):
        steps = zip(motion(q, np.zeros(len(q))), masses, strict=True)
        return sum(m * GRAVITY * (p + R @ c)[2] for (R, _, p, _), (m, c, _) in steps)

    return kinetic, potential


def numbers(*values):
    return np.array(values, float)


# A wrist as that of Talos: two motors along the forearm turn the hand about x and y together.
WRIST = (
    [
        ("forearm", "z", numbers(0.0, 0.0, 0.1)),
        ("wrist_x", "x", numbers(0.0, 0.0, -0.26)),
        ("wrist_y", "y", numbers(0.0, 0.0, 0.0)),
    ],
    [
        (1.7, numbers(0.0, 0.01, -0.12), numbers(0.011, 0.01, 0.003)),
        (0.3, numbers(0.01, 0.0, 0.0), numbers(4e-4, 5e-4, 6e-4)),
        (0.9, numbers(0.02, -0.01, -0.09), numbers(4e-3, 5e-3, 2e-3)),
    ],
)
#: A differential on the base: both of its motors along y.
DIFFERENTIAL = (
    [("pitch", "y", numbers(0.0, 0.0, 0.2)), ("roll", "x", numbers(0.05, 0.0, 0.0))],
    [
        (1.0, numbers(0.03, 0.0, 0.0), numbers(2e-3, 3e-3, 4e-3)),
        (0.8, numbers(0.1, 0.02, 0.01), numbers(3e-3, 4e-3, 5e-3)),
    ],
)
#: Two links in a plane, both driven from the base: the second by a belt along the first.
BELT = (
    [("shoulder", "y", numbers(0.0, 0.0, 0.0)), ("elbow", "y", numbers(0.4, 0.0, 0.0))],
    [
        (1.2, numbers(0.2, 0.0, 0.0), numbers(1e-3, 0.02, 0.02)),
        (0.7, numbers(0.15, 0.0, 0.0), numbers(1e-3, 0.01, 0.01)),
    ],
)


def motors_on(link, axes, gears, inertias, joints, **more):
    """Motors of joints, all on one link."""
    directions = {"y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
    rows = zip(joints, axes, gears, inertias, strict=True)
    return {
        name: rd.Actuator(gear, J, directions[axis], link, **more) for name, axis, gear, J in rows
    }


WRIST_JOINTS, ROUND = ("wrist_x", "wrist_y"), (100.0, 80.0)


def wrist(**more):
    motors = motors_on("forearm_link", "zz", ROUND, (2e-5, 3e-5), WRIST_JOINTS, **more)
    transmission = rd.Transmission.differential("wrist", WRIST_JOINTS, (1.2, 0.7))
    return rd.load(file_of(*WRIST), actuators=motors, transmissions=[transmission])


def differential(**more):
    motors = motors_on("base", "yy", (50.0, 60.0), (4e-5, 5e-5), ("pitch", "roll"), **more)
    transmission = rd.Transmission.differential("bevel", ("pitch", "roll"))
    return rd.load(file_of(*DIFFERENTIAL), actuators=motors, transmissions=[transmission])


def belt(**more):
    motors = motors_on("base", "yy", (30.0, 20.0), (1e-4, 2e-4), ("shoulder", "elbow"), **more)
    transmission = rd.Transmission.belts("belt", ("shoulder", "elbow"), [(0.02, 0.03)])
    return rd.load(file_of(*BELT), actuators=motors, transmissions=[transmission])


#: Robots, what they are made of, and how fast each rotor turns with each joint, by hand.
CASES = {
    "wrist": (wrist, WRIST, [[0.0, 120.0, 70.0], [0.0, 96.0, -56.0]],
              [1, 1], "zz", [2e-5, 3e-5]),
    "differential": (differential, DIFFERENTIAL, [[50.0, 50.0], [60.0, -60.0]],
                     [0, 0], "yy", [4e-5, 5e-5]),
    "belt": (belt, BELT, [[30.0, 0.0], [20.0, 30.0]], [0, 0], "yy", [1e-4, 2e-4]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_motion_is_that_of_lagrange(case):
    load, parts, ratios, carriers, axes, inertias = CASES[case]
    rotors = list(zip(carriers, axes, inertias, ratios, strict=True))
    kinetic, potential = energies(*parts, rotors)
    robot, rng = load(), np.random.default_rng(5)
    q, v, a = rng.normal(size=(3, 4, robot.nv))
    by_hand = np.array([lagrange(kinetic, potential, *x) for x in zip(q, v, a, strict=True)])
    close(robot.inverse_dynamics(q, v, a), by_hand)
    close(robot.forward_dynamics(q, v, by_hand), a)
    close(robot.kinetic_energy(q[0], v[0]), kinetic(q[0], v[0]).real)
    turned_by = np.array(ratios)[:, -2:]  # motors are those of the last two joints
    close(robot.motor_torques(q, v, a)[:, -2:], np.linalg.solve(turned_by.T, by_hand[:, -2:].T).T)
    torques, speeds = robot.motor_torques(q, v, a), v @ robot.transmission_matrix.T
    close(speeds[:, -2:], v[:, -2:] @ turned_by.T)
    close(robot.motor_power(q, v, a), torques * speeds)
    close(torques @ robot.transmission_matrix, by_hand)


def test_belt_has_the_mass_matrix_written_by_hand():
    """``M11 = ... + J1 n1^2 + J2 n2^2``, ``M12 = ... + J2 n2^2 r``, ``M22 = ... + J2 n2^2 r^2``."""
    alone = rd.load(file_of(*BELT), passive=False).mass_matrix([0.1, 0.7])
    (n1, n2), (J1, J2), r = (30.0, 20.0), (1e-4, 2e-4), 1.5
    felt = [[J1 * n1**2 + J2 * n2**2, J2 * n2**2 * r], [J2 * n2**2 * r, J2 * n2**2 * r**2]]
    close(belt().mass_matrix([0.1, 0.7]), alone + felt)


# ---- against rotors that are bodies of their own


def with_free_rotors(robot, source, base):
    """The robot with a free rotor for each coupled motor, and its speeds by those of joints."""
    joints = {joint.name: joint for joint in robot.mechanism.joints}
    (coupled,) = robot.transmissions
    rotors = []
    for name in coupled.joints:
        motor, joint = robot.actuators[name], joints[name]
        axis = joint.origin.matrix[:3, :3] @ joint.axis if motor.axis is None else motor.axis
        place = motor.mounted_on or joint.parent
        rotors.append(rd.Rotor(f"rotor of {name}", place, tuple(axis), motor.rotor_inertia))
    unloaded = {name: rd.Actuator() for name in coupled.joints}
    free = rd.load(source, base=base, rotors=rotors, actuators=unloaded)
    B, G = np.zeros((free.nv, robot.nv)), robot.transmission_matrix
    for name in robot.joint_names:
        B[free.joints[name].v, robot.joints[name].v] = np.eye(robot.joints[name].kind.nv)
    for name in coupled.joints:
        B[free.joints[f"rotor of {name}"].v] = G[robot.joints[name].v]

    def positions(q):
        x = np.array(free.neutral())
        for name in robot.joint_names:
            x[free.joints[name].q] = q[robot.joints[name].q]
        return x

    return free, B, positions


SHARED = {
    "wrist of three": ("arm7", "fixed", ("forearm_roll", "wrist_pitch", "flange_roll"),
                       [[1.0, 0.2, 0.0], [1.0, 1.0, 0.1], [0.3, 1.0, -1.0]]),
    "joints apart, floating": ("arm7", "floating", ("shoulder_pitch", "elbow_pitch"),
                               [[1.0, 0.2], [1.0, -1.0]]),
    "joints of two arms": ("dual_arm", "fixed", ("left_shoulder_roll", "right_wrist_pitch"),
                           [[1.0, 0.2], [1.0, -1.0]]),
}  # fmt: skip


@pytest.mark.parametrize("case", SHARED)
def test_rotors_are_bodies_that_joints_turn_together(case):
    source, base, joints, matrix = SHARED[case]
    motors = {name: rd.Actuator(10.0 + k, 1e-4 * (k + 1)) for k, name in enumerate(joints)}
    shared = rd.Transmission("shared", joints, matrix)
    robot = rd.load(source, base=base, actuators=motors, transmissions=[shared])
    free, B, positions = with_free_rotors(robot, source, base)
    rng = np.random.default_rng(2)
    q = robot.integrate(robot.neutral(), rng.normal(size=robot.nv))
    v, a = rng.normal(size=(2, robot.nv))
    x, w = positions(q), B @ v
    tau = B.T @ free.inverse_dynamics(x, w, B @ a)
    close(robot.inverse_dynamics(q, v, a), tau)
    close(robot.forward_dynamics(q, v, tau), a)
    close(robot.mass_matrix(q), B.T @ free.mass_matrix(x) @ B)
    close(robot.coriolis_matrix(q, v), B.T @ free.coriolis_matrix(x, w) @ B)
    close(robot.kinetic_energy(q, v), free.kinetic_energy(x, w))
    close(robot.momentum(q, v), free.momentum(x, w))
    close(robot.dynamic_regressor(q, v, a) @ robot.dynamic_parameters, tau)


# ---- friction, parameters, locked joints

FRICTION = {"viscous": 0.01, "coulomb": 0.02}


def test_friction_acts_on_motors():
    robot, smooth = wrist(**FRICTION), 0.01
    rng = np.random.default_rng(3)
    q, v, a = rng.normal(size=(3, 3))
    G = np.array(CASES["wrist"][2])
    w, slow = G @ v, smooth * np.linalg.norm(G, axis=1)
    torques = 0.01 * w + 0.02 * w / np.sqrt(w**2 + slow**2)
    close(robot.inverse_dynamics(q, v, a) - wrist().inverse_dynamics(q, v, a), G.T @ torques)
    close(robot.passive_forces(q, v), -G.T @ torques)
    close(robot.joint_wrenches(q, v, a).passive["wrist_x"] @ [0, 0, 0, 1, 0, 0],
          -(G.T @ torques)[1])  # fmt: skip
    close(robot.dynamic_regressor(q, v, a) @ robot.dynamic_parameters,
          robot.inverse_dynamics(q, v, a))  # fmt: skip
    assert not rd.load(file_of(*WRIST), passive=False).passive_forces(q, v).any()


CHANGES = {
    "wrist_x.rotor_inertia": 7e-5,
    "wrist_y.viscous": 0.3,
    "wrist_x.coulomb": 0.1,
    "wrist_x.damping": 0.2,
}


def test_parameters_of_coupled_motors_change_in_copies_and_rows():
    robot, rng = wrist(**FRICTION), np.random.default_rng(4)
    q, v, a = rng.normal(size=(3, 3))
    motors = dict(robot.actuators)
    motors["wrist_x"] = dataclasses.replace(motors["wrist_x"], rotor_inertia=7e-5, coulomb=0.1)
    motors["wrist_y"] = dataclasses.replace(motors["wrist_y"], viscous=0.3)
    joints = tuple(
        dataclasses.replace(joint, damping=0.2 if joint.name == "wrist_x" else 0.0)
        for joint in robot.mechanism.joints
    )
    changed = {"joints": joints, "actuators": tuple(motors.items())}
    anew = rd.load(dataclasses.replace(robot.mechanism, **changed))
    copy = robot.with_(parameters=CHANGES)
    values = dict(zip(robot.dynamic_parameter_names, robot.dynamic_parameters, strict=True))
    rows = robot.with_(parameters={k: np.array([values[k], x]) for k, x in CHANGES.items()})
    for found in (copy.inverse_dynamics(q, v, a), rows.inverse_dynamics(q, v, a)[1]):
        close(found, anew.inverse_dynamics(q, v, a))
    close(rows.forward_dynamics(q, v, a)[0], robot.forward_dynamics(q, v, a))
    assert copy.mechanism == anew.mechanism


def test_motors_turn_on_where_one_of_their_joints_is_locked():
    robot, rng = wrist(**FRICTION), np.random.default_rng(6)
    q, v, a = rng.normal(size=(3, 3))
    q[1], v[1], a[1] = 0.4, 0.0, 0.0
    locked = robot.with_(locked={"wrist_x": 0.4})
    left = [0, 2]
    found = locked.inverse_dynamics(q[left], v[left], a[left])
    close(found, robot.inverse_dynamics(q, v, a)[left])
    with pytest.raises(rd.ActuationError, match="wrist_x cannot move by itself") as raised:
        locked.motor_torques(q[left], v[left], a[left])
    assert raised.value.direction == ("wrist_x",)
    with pytest.raises(rd.ActuationError, match="wrist_x cannot move by itself"):
        locked.motor_power(q[left], v[left], a[left])


def test_a_rotor_keeps_its_axis_where_its_own_joint_is_locked():
    """It is along the axis of its joint, which another joint goes on to turn."""
    joints = ("wrist_pitch", "flange_roll")
    motors = {name: rd.Actuator(10.0, 1e-3) for name in joints}
    shared = rd.Transmission("shared", joints, [[1.0, 1.0], [0.0, 1.0]])
    robot = rd.load("arm7", actuators=motors, transmissions=[shared])
    q, v, a = np.random.default_rng(1).normal(size=(3, 7))
    q[5], v[5], a[5] = 0.7, 0.0, 0.0
    left = [0, 1, 2, 3, 4, 6]
    found = robot.with_(locked={"wrist_pitch": 0.7}).inverse_dynamics(q[left], v[left], a[left])
    close(found, robot.inverse_dynamics(q, v, a)[left])


def test_a_joint_that_closes_a_loop_is_not_locked_where_its_motor_is_coupled():
    place = rd.Pose((0.5, 0.0, -1.2))
    loop = rd.Loop("close", "revolute", "base", "tip", place, axis=(0.0, 1.0, 0.0))
    shared = [rd.Transmission.differential("shared", ("shoulder", "close"))]
    robot = rd.load("double_pendulum", loops=[loop], transmissions=shared)
    with pytest.raises(rd.SettingsError, match="'close' closes a loop, and transmission 'shared'"):
        robot.with_(locked={"close": 0.0})


def test_copies_without_some_rotors_do_not_share_equations_that_have_them():
    joints = ("forearm_roll", "wrist_pitch", "flange_roll")
    motors = {name: rd.Actuator(10.0, 1e-3) for name in joints}
    matrix = [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]
    shared = rd.Transmission("shared", joints, matrix)
    options = {"actuators": motors, "transmissions": [shared], "rotor_model": "armature"}
    robot, q = rd.load("arm7", **options), np.zeros(7)
    for k, name in enumerate(joints):
        copy = robot.with_(parameters={f"{name}.rotor_inertia": 0.0})
        row = 10.0 * np.array([matrix[k]])
        lost = np.zeros((7, 7))
        lost[4:, 4:] = 1e-3 * row.T @ row
        close(copy.mass_matrix(q), robot.mass_matrix(q) - lost)


def test_a_posture_in_which_only_the_other_joint_turns_the_rotor_is_singular():
    """A point mass on two links, and one rotor that turns with ``2 v1 + v2``."""
    nothing = numbers(0.0, 0.0, 0.0)
    joints = [("shoulder", "y", nothing), ("elbow", "y", numbers(1.0, 0.0, 0.0))]
    text = file_of(joints, [(0.0, nothing, nothing), (1.0, numbers(1.0, 0.0, 0.0), nothing)])
    motors = motors_on("base", "yy", (1.0, 1.0), (0.5, 0.0), ("shoulder", "elbow"))
    shared = rd.Transmission("shared", ("shoulder", "elbow"), [[2.0, 1.0], [0.0, 1.0]])
    robot = rd.load(text, actuators=motors, transmissions=[shared])
    q, v, tau = np.array([0.3, 0.9]), np.array([0.1, 0.2]), np.array([1.0, 2.0])
    close(robot.inverse_dynamics(q, v, robot.forward_dynamics(q, v, tau)), tau)
    for elbow in (0.0, 1e-6):  # beside it, next to no digit would be right
        with pytest.raises(rd.SingularError):
            robot.forward_dynamics(np.array([0.3, elbow]), v, tau)


def test_motors_are_identified_from_a_motion():
    robot = wrist(**FRICTION)
    t = np.linspace(0.0, 3.0, 200)[:, None]
    speeds, shifts = np.array([2.0, 3.1, 4.3]), np.array([0.1, 0.5, 0.9])
    q, v = np.sin(speeds * t + shifts), speeds * np.cos(speeds * t + shifts)
    a = -(speeds**2) * q
    start = robot.with_(parameters=dict.fromkeys(CHANGES, 0.05))
    tau = robot.inverse_dynamics(q, v, a)
    data = rd.Measurements(t=t[:, 0], q=q, v=v, a=a, tau=tau)
    found = rd.identify(start, data, parameters=list(CHANGES)).robot
    close(found.dynamic_parameters, robot.dynamic_parameters)


# ---- linkages


@pytest.mark.parametrize("coordinates", ["tree", "minimal"])
def test_motors_of_linkages_are_coupled(coordinates):
    options = {"coordinates": coordinates}
    joints = rd.load("five_bar", **options).actuated_joints
    motors = {name: rd.Actuator(10.0 + k, 1e-3 * (k + 1)) for k, name in enumerate(joints)}
    shared = rd.Transmission("shared", joints, [[1.0, 0.5], [1.0, -1.0]])
    unloaded = dict.fromkeys(joints, rd.Actuator())
    plain = rd.load("five_bar", actuators=unloaded, **options)
    robot = rd.load("five_bar", actuators=motors, transmissions=[shared], **options)
    q = robot.neutral()
    at = [robot.joints[name].v.start for name in joints]
    G = np.array([[10.0, 5.0], [11.0, -11.0]])
    felt = np.zeros((robot.nv, robot.nv))
    felt[np.ix_(at, at)] = G.T @ np.diag([1e-3, 2e-3]) @ G
    close(robot.mass_matrix(q), plain.mass_matrix(q) + felt)
    tau = np.zeros(robot.nv)
    tau[at] = 0.3, -0.2
    v = 0.0 * tau
    a = robot.forward_dynamics(q, v, tau)
    close(plain.forward_dynamics(q, v, tau - felt @ a), a)
    torques = robot.motor_torques(q, v, a)[at]
    close(G.T @ torques, tau[at])


def test_robots_that_a_rotor_alone_makes_heavy_are_solved():
    """A pitch link of no mass: only the rotors resist about it, in some of its motions."""
    joints, masses = DIFFERENTIAL
    text = file_of(joints, [(1e-12, numbers(0, 0, 0), numbers(1e-16, 1e-16, 1e-16)), masses[1]])
    motors = motors_on("base", "yy", (50.0, 60.0), (4e-5, 5e-5), ("pitch", "roll"))
    shared = rd.Transmission.differential("bevel", ("pitch", "roll"))
    robot = rd.load(text, actuators=motors, transmissions=[shared])
    q, v, a = np.random.default_rng(8).normal(size=(3, 6, 2))
    close(robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a)), a)


def test_a_joint_that_mimics_turns_motors_too():
    motors = {"wrist_pitch": rd.Actuator(10.0, 1e-3), "flange_roll": rd.Actuator(12.0, 2e-3)}
    shared = [rd.Transmission.differential("wrist", tuple(motors))]
    free = rd.load("arm7", actuators=motors, transmissions=shared)
    joints = [
        dataclasses.replace(joint, mimic=rd.description.Mimic("elbow_pitch", 0.5, 0.1))
        if joint.name == "flange_roll"
        else joint
        for joint in free.mechanism.joints
    ]
    robot = rd.load(dataclasses.replace(free.mechanism, joints=tuple(joints)))
    B = np.eye(7)[:, :6]
    B[6, 3] = 0.5
    q, v, a = np.random.default_rng(0).normal(size=(3, 6))
    at = B @ q + [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1]
    close(robot.inverse_dynamics(q, v, a), B.T @ free.inverse_dynamics(at, B @ v, B @ a))
    with pytest.raises(rd.ActuationError, match="flange_roll cannot move by itself"):
        robot.motor_torques(q, v, a)


def test_sensors_count_coupled_rotors_with_the_links_that_carry_them():
    links = ["forearm_link", "wrist_x_link", "wrist_y_link"]
    sensors = [rd.Sensor("kinetic_energy", bodies=[link], name=link) for link in links]
    robot, bodies = wrist(), rd.load(file_of(*WRIST))
    q, v = np.random.default_rng(7).normal(size=(2, 3))
    found, alone = (
        np.array([x.measure(q, v, 0.0 * v)[link][0] for link in links])
        for x in (robot.with_(sensors=sensors), bodies.with_(sensors=sensors))
    )
    spins = np.array(CASES["wrist"][2]) @ v
    of_rotors = np.array([2e-5, 3e-5]) @ (0.5 * spins**2 + spins * v[0])  # along the forearm's axis
    close(found - alone, [of_rotors, 0.0, 0.0])
    close(found.sum(), robot.kinetic_energy(q, v))


def test_motors_that_followers_turn_change_their_ratio_along_the_way():
    """A joint of a four-bar that follows the crank has a ratio that depends on the posture."""
    joints = ("crank_drive", "crank_pin")
    motors = {name: rd.Actuator(3.0, 1e-2, viscous=0.1) for name in joints}
    shared = [rd.Transmission("shared", joints, [[1.0, 0.5], [0.4, -1.0]])]
    robot, tree = (
        rd.load("four_bar", coordinates=which, actuators=motors, transmissions=shared)
        for which in ("minimal", "tree")
    )
    q, v, tau = np.array(robot.neutral()) + 0.1, np.array([0.7]), np.array([1.3])
    C, step = robot.coriolis_matrix(q, v), 1e-6 * v
    forces = robot.inverse_dynamics(q, v, 0.0 * v) - robot.inverse_dynamics(q, 0.0 * v, 0.0 * v)
    close(C @ v, forces + robot.passive_forces(q, v))
    rise = robot.mass_matrix(robot.integrate(q, step)) - robot.mass_matrix(q - step)
    close(rise / 2e-6, C + C.T, tolerance=1e-7)
    at, rates = robot.expand(q), robot.expand_velocity(q, v)
    close(robot.kinetic_energy(q, v), tree.kinetic_energy(at, rates))
    a = tree.forward_dynamics(at, rates, [tau[0], 0.0, 0.0])
    close(robot.forward_dynamics(q, v, tau), a[:1])


def test_the_wrench_of_a_locked_joint_whose_motors_rub():
    """That of the whole arm in which the joint is held."""
    joints = ("wrist_pitch", "flange_roll")
    motor = rd.Actuator(gear_ratio=100.0, rotor_inertia=2e-5, viscous=1e-5, coulomb=1e-3)
    arm = rd.load(
        "arm7",
        actuators=dict.fromkeys(joints, motor),
        transmissions=[rd.Transmission.differential("w", joints)],
    )
    for name in joints:
        held, k = arm.with_(locked={name: 0.2}), arm.joints[name].v.start
        rng = np.random.default_rng(2)
        q, v = rng.normal(size=(2, held.nv))
        place, speed = np.insert(q, k, 0.2), np.insert(v, k, 0.0)
        tau = np.linspace(-3.0, 3.0, held.nv)
        expected = arm.joint_wrenches(place, speed, tau=np.insert(tau, k, 0.0), locked=[name])
        found = held.joint_wrenches(q, v, tau=tau, joints=[name, *held.joint_names])
        for joint in (name, *held.joint_names):
            close(found[joint], expected[joint], 1e-10)
