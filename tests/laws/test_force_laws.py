"""Forces given as functions: the same as elements built in, virtual work, energies, time."""

import pickle
import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.bundled import bundled
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism
from robodyn.urdf import write

STEP = 1e-5
STIFFNESS = np.diag([100.0, 200.0, 300.0, 10.0, 20.0, 30.0])
DAMPING = np.diag([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])


def pose(p, w=(0.0, 0.0, 0.0)):
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = Rotation.from_rotvec(w).as_matrix(), p
    return X


FRAMES = (
    ("link1", pose((0.1, 0.2, 0.3), (0.3, 0.1, -0.2))),
    (
        "link2",
        pose((-0.1, 0.1, 0.2), (0.1, 0.5, 0.2)),
    ),
)


def bushing(x, w, t):
    return -(STIFFNESS @ x) - DAMPING @ w


def spring(joint, stiffness=30.0, rest=0.1):
    return rd.Force(
        lambda q, v, t: [-stiffness * (q[0] - rest)],
        joint=joint,
        potential=lambda q: 0.5 * stiffness * (q[0] - rest) ** 2,
    )


def strut(one, other):
    """What a `PointSpring` is: 50 N/m, 0.3 m, 2 N s/m."""

    def law(x, w, t):
        length = np.sqrt(x[:3] @ x[:3])
        pull = 50.0 * (length - 0.3) + 2.0 * (x[:3] @ w[:3]) / length
        return [*(-pull * x[:3] / length), 0.0, 0.0, 0.0]

    def energy(x):
        return 25.0 * (np.sqrt(x[:3] @ x[:3]) - 0.3) ** 2

    ends = (one, pose((0.1, 0.2, 0.3))), (other, pose((0.2, 0.0, 0.1)))
    return rd.Force(law, between=ends, potential=energy)


def close(x, y, size=None):
    atol = 1e-12 * (np.abs(y).max(initial=0.0) if size is None else size)
    np.testing.assert_allclose(x, y, rtol=1e-12, atol=atol)


def slope(robot, function, q):
    steps = STEP * np.eye(robot.nv)
    ends = [[function(robot.integrate(q, s * e)) for s in (1, -1)] for e in steps]
    return np.array([(a - b) / (2 * STEP) for a, b in ends])


@pytest.mark.parametrize("coordinates", ["tree", "minimal"])
@pytest.mark.parametrize("joint", ["crank_drive", "rocker_pin"])
def test_a_spring_as_a_law_is_the_spring_of_the_joint(coordinates, joint):
    """Also where the joint closes a loop, and as two laws that add up."""
    if (coordinates, joint) == ("minimal", "rocker_pin"):
        joint = "crank_pin"
    own = rd.load("four_bar", springs={joint: (30.0, 0.1)}, coordinates=coordinates)
    halves = [spring(joint, 20.0), spring(joint, 10.0)]
    law = rd.load("four_bar", forces=halves, coordinates=coordinates)
    assert law.joint_names == own.joint_names
    rng = np.random.default_rng(3)
    q, v = own.neutral() + 0.02, rng.normal(size=own.nv)
    if own.nc:
        q, v = own.closed_state(q, v)
    tau = rng.normal(size=own.nv)
    a = own.forward_dynamics(q, v, tau)
    close(law.forward_dynamics(q, v, tau), a)
    close(law.inverse_dynamics(q, v, a), own.inverse_dynamics(q, v, a))
    close(law.potential_energy(q), own.potential_energy(q))
    close(law.elastic_forces(q), own.elastic_forces(q))
    wanted, found = own.joint_wrenches(q, v, a), law.joint_wrenches(q, v, a)
    for name in wanted:
        close(found[name], wanted[name], 1e2)
    close(found.passive[joint], wanted.passive[joint], 1e2)
    runs = [rd.simulate(robot, q0=q, v0=v, duration=0.05) for robot in (own, law)]
    close(runs[1].q, runs[0].q)


def test_laws_in_all_joints_of_a_loop_are_springs_in_all_of_them():
    """One of them has to be cut, and keeps a coordinate all the same."""
    names = ("crank_drive", "crank_pin", "rocker_pivot", "rocker_pin")
    own = rd.load("four_bar", springs=dict.fromkeys(names, (30.0, 0.1)))
    law = rd.load("four_bar", forces=[spring(name) for name in names])
    assert law.joint_names == own.joint_names
    q, v = own.closed_state(own.neutral(), np.random.default_rng(3).normal(size=own.nv))
    close(law.elastic_forces(q), own.elastic_forces(q))
    close(law.forward_dynamics(q, v, v), own.forward_dynamics(q, v, v))


def test_hinges_with_laws_are_not_merged():
    """Nor does a base take the place of a free joint that has one."""
    ball = Inertia.from_matrix(1.0, (0.1, 0.2, 0.3), np.eye(3))
    links = (Link("ground"), Link("one"), Link("two"), Link("three", ball))
    joints = tuple(
        Joint(name, "revolute", parent.name, child.name, axis=axis)
        for name, parent, child, axis in zip(
            "abc", links, links[1:], np.eye(3).tolist(), strict=False
        )
    )
    mechanism = Mechanism("gimbal", links, joints)
    given = {"merge_hinges": True, "allow_unphysical": True}
    assert rd.load(mechanism, **given).joint_names == ("a-b-c",)
    assert rd.load(mechanism, forces=[spring("b")], **given).joint_names == ("a", "b", "c")
    free = Mechanism(
        "free", (Link("ground"), Link("body", ball)), (Joint("j", "floating", "ground", "body"),)
    )
    drag = rd.Force(lambda q, v, t: -v, joint="j")
    assert rd.load(free, base="floating").joint_names == ("floating_base",)
    with pytest.raises(rd.SettingsError, match="cannot take the place of joint 'j'"):
        rd.load(rd.load(free, forces=[drag]).mechanism, base="floating")


@pytest.mark.parametrize("base", ["fixed", "floating", "moving"])
def test_a_strut_as_a_law_is_a_point_spring(base):
    """To the world and to the base too, which moves."""
    rng = np.random.default_rng(4)
    moved = {}
    if base == "moving":
        twist, acceleration = rng.normal(size=(2, 6))
        X = pose(rng.normal(size=3), rng.normal(size=3))
        moved = {"base": rd.BaseMotion(pose=X, twist=twist, acceleration=acceleration)}
    for ends in (("world", "lower"), ("lower", "world"), ("base", "lower"), ("upper", "base")):
        points = (ends[0], (0.1, 0.2, 0.3), ends[1], (0.2, 0.0, 0.1), 50.0, 0.3, 2.0)
        own = rd.load("double_pendulum", base=base, springs=[rd.PointSpring(*points)])
        law = rd.load("double_pendulum", base=base, forces=[strut(*ends)])
        q, (v, a) = own.random(rng), rng.normal(size=(2, own.nv))
        wanted, found = (r.joint_wrenches(q, v, a, **moved) for r in (own, law))
        for name in wanted:
            close(found[name], wanted[name], 1e3)
        close(law.potential_energy(q, **moved), own.potential_energy(q, **moved), 1e3)
        close(law.elastic_forces(q, **moved), own.elastic_forces(q, **moved), 1e3)


@pytest.mark.parametrize("kind", ["spherical", "universal", "cylindrical", "planar", "floating"])
def test_a_bushing_does_the_work_of_its_wrench(kind):
    """On both links, along every speed; positions, and their rates, from poses of frames."""
    mechanism = random_mechanism(np.random.default_rng(1), [kind, kind])
    force = rd.Force(bushing, between=FRAMES)
    robot, rng = rd.load(mechanism, forces=[force]), np.random.default_rng(2)
    bare = robot.with_(forces=())
    assert force.name == "link1 - link2" and not bare.forces
    q, v = robot.random(rng), rng.normal(size=robot.nv)

    def ends(q):
        return [robot.frame_pose(q, link) @ X for link, X in FRAMES]

    def position(q):
        A, B = ends(q)
        X = np.linalg.inv(A) @ B
        return np.concatenate([X[:3, 3], Rotation.from_matrix(X[:3, :3]).as_rotvec()])

    A, B = ends(q)
    ahead, behind = (position(robot.integrate(q, s * STEP * v)) for s in (1, -1))
    F = bushing(position(q), (ahead - behind) / (2 * STEP), 0.0)
    f, n = A[:3, :3] @ F[:3], A[:3, :3] @ F[3:]
    work = []
    for e in np.eye(robot.nv):
        (A1, B1), (A0, B0) = (ends(robot.integrate(q, s * STEP * e)) for s in (1, -1))
        turned = [
            Rotation.from_matrix(x[:3, :3] @ y[:3, :3].T).as_rotvec() / (2 * STEP)
            for x, y in ((A1, A0), (B1, B0))
        ]
        moved = (B1 - B0)[:3, 3] / (2 * STEP)
        carried = (A1 - A0)[:3, 3] / (2 * STEP) + np.cross(turned[0], (B - A)[:3, 3])
        work.append(f @ (moved - carried) + n @ (turned[1] - turned[0]))
    exerted = robot.passive_forces(q, v) - bare.passive_forces(q, v)
    np.testing.assert_allclose(exerted, work, atol=1e-8 * np.abs(work).max())
    a = robot.forward_dynamics(q, v, 0.0 * v)
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), 0.0, atol=1e-9)
    M, h = robot.mass_matrix(q), bare.bias_forces(q, v)
    np.testing.assert_allclose(M @ a + h, exerted, atol=1e-9 * np.abs(exerted).max())


POTENTIALS = {
    "joint": ({"joint": "joint1"}, lambda q: 3.0 * (q[0] - 0.5 * q[-1]) ** 2 + q[0]),
    "on": ({"on": FRAMES[1]}, lambda X: 3.0 * X[0, 3] ** 2 + X[1, 3] * X[0, 0] + 5.0 * X[2, 1]),
    "between": ({"between": FRAMES}, lambda x: 0.5 * (x @ STIFFNESS @ x) + x[0] * x[4]),
}


@pytest.mark.parametrize("where", POTENTIALS)
@pytest.mark.parametrize("kind", ["revolute", "spherical", "floating"])
def test_the_force_of_a_potential_is_its_slope(where, kind):
    place, energy = POTENTIALS[where]
    mechanism = random_mechanism(np.random.default_rng(1), [kind, kind])
    robot = rd.load(mechanism, forces=[rd.Force(None, potential=energy, **place)])
    q = robot.random(np.random.default_rng(2))
    wanted = -slope(robot, robot.elastic_energy, q)
    np.testing.assert_allclose(
        robot.elastic_forces(q), wanted, atol=1e-8 * np.abs(wanted).max(), rtol=0.0
    )
    v = np.ones(robot.nv)
    close(robot.passive_forces(q, v), robot.elastic_forces(q), np.abs(wanted).max())


def test_slopes_of_a_relaxed_bushing_are_numbers():
    """Where both frames are one, rotation vectors have to be smooth: ``-K`` is the slope there."""
    mechanism = random_mechanism(np.random.default_rng(1), ["floating"])
    origin = mechanism.joints[0].origin.matrix
    ends = ("link0", origin), ("link1", np.eye(4))
    robot = rd.load(mechanism, gravity=(0, 0, 0), forces=[rd.Force(bushing, between=ends)])
    q, v = robot.neutral(), np.zeros(robot.nv)
    slopes = robot.derivatives("inverse_dynamics", q, v, v)
    np.testing.assert_allclose(slopes["q"], STIFFNESS, atol=1e-9)
    np.testing.assert_allclose(slopes["v"], DAMPING, atol=1e-9)


def test_a_floating_base_on_a_spring_feels_where_it_is():
    """Derivatives know of a body that moves freely that it does not matter where it is."""
    law = rd.Force(lambda q, v, t: [*(-7.0 * q[:3]), *(-0.3 * v[3:])], joint="floating_base")
    mechanism = random_mechanism(np.random.default_rng(1), ["revolute", "prismatic"])
    robot, rng = rd.load(mechanism, base="floating", forces=[law]), np.random.default_rng(3)
    q, (v, tau) = robot.random(rng), rng.normal(size=(2, robot.nv))
    found = robot.derivatives("forward_dynamics", q, v, tau)
    wanted = slope(robot, lambda x: robot.forward_dynamics(x, v, tau), q).T
    np.testing.assert_allclose(found["q"], wanted, atol=1e-7 * np.abs(wanted).max())


def test_energies_of_motions_add_up():
    """With a force that has an energy, one that takes some, and one that puts some in."""
    forces = [
        strut("world", "lower"),
        rd.Force(lambda q, v, t: [1.5 - 0.2 * v[0]], joint="elbow", name="fan"),
    ]
    robot = rd.load("double_pendulum", forces=forces)
    audit = rd.simulate(robot, q0=[0.4, 0.2], duration=0.5).audit
    assert np.abs(audit.dissipated).max() > 0.1
    assert np.abs(audit.unexplained).max() < 1e-8 * np.max(audit.exchanged)


def test_a_force_of_time_acts_as_the_same_torque():
    force = rd.Force(lambda q, v, t: [3.0 * rd.sin(2.0 * t)], joint="elbow", name="drive")
    robot, bare = rd.load("double_pendulum", forces=[force]), bundled("double_pendulum")
    assert robot.depends_on_time
    q, v = np.array([0.1, 0.2]), np.array([0.3, 0.4])
    with pytest.raises(rd.ShapeError, match=r"force 'drive'.*robot\.at\(t\)"):
        robot.forward_dynamics(q, v, v)
    tau = np.array([0.0, 3.0 * np.sin(0.6)])
    close(robot.at(0.3).forward_dynamics(q, v, v), bare.forward_dynamics(q, v, v + tau))
    run = rd.simulate(robot, q0=q, v0=v, duration=0.1)
    held = np.diff(run.v, axis=0) / np.diff(run.t)[:, None]
    at = run.t[:-1] + 0.5 * np.diff(run.t)
    middle = 0.5 * (run.q[1:] + run.q[:-1]), 0.5 * (run.v[1:] + run.v[:-1])
    a = robot.at(at).forward_dynamics(*middle, np.zeros_like(held))
    np.testing.assert_allclose(held, a, atol=1e-4)
    assert not robot.with_(passive=False).depends_on_time


def test_copies_keep_the_forces_that_they_can():
    robot = rd.load("double_pendulum", forces=[spring("elbow"), strut("world", "lower")])
    q, v = np.array([0.1, 0.2]), np.array([0.3, 0.4])
    forces = robot.passive_forces(q, v)
    load = Inertia.from_matrix(0.3, (0, 0, 0), 0.01 * np.eye(3))
    close(robot.with_(payload={"lower": load}).passive_forces(q, v), forces)
    close(robot.with_(forces=robot.forces).passive_forces(q, v), forces)
    close(pickle.loads(pickle.dumps(robot)).passive_forces(q, v), forces)
    rows = robot.with_(parameters={"lower.m": [1.0, 2.0]})
    one = robot.with_(parameters={"lower.m": 2.0})
    close(rows.forward_dynamics(q, v, v)[1], one.forward_dynamics(q, v, v))
    assert not robot.with_(passive=False).passive_forces(q, v).any()
    locked = robot.with_(locked={"elbow": 0.2})
    assert [force.name for force in locked.forces] == ["world - lower"]
    without = robot.with_(forces=robot.forces[1:])
    close(locked.passive_forces(q[:1], v[:1]), without.passive_forces(q, [0.3, 0.0])[:1])
    with pytest.raises(rd.UrdfError, match="forces of one's own have no notation"):
        write(robot.mechanism)


def test_s1_a_ball_with_a_spring_swings_as_a_clock_does():
    """S1 [Wittenburg, fig. 5.1]: a spring in a ball, 5 N m/rad about every axis, 0.2 kg m^2."""
    ball = Inertia.from_matrix(1.0, (0, 0, 0), 0.2 * np.eye(3))
    joint = Joint("ball", "spherical", "frame", "ball")
    mechanism = Mechanism("s1", (Link("frame"), Link("ball", ball)), (joint,))
    ends = ("frame", np.eye(4)), ("ball", np.eye(4))
    force = rd.Force(None, between=ends, potential=lambda x: 2.5 * (x @ x))
    robot = rd.load(mechanism, forces=[force])
    axis, omega = np.array([2.0, -1.0, 2.0]) / 3.0, np.sqrt(5.0 / 0.2)
    q0 = np.append(np.sin(0.6) * axis, np.cos(0.6))  # 1.2 rad from where it is relaxed
    run = rd.simulate(robot, q0=q0, duration=1.0, step=1e-3)
    angles = 2.0 * np.arctan2(run.q[:, :3] @ axis, run.q[:, 3])
    np.testing.assert_allclose(angles, 1.2 * np.cos(omega * run.t), atol=1e-8)


def test_s4_a_hinge_of_six_freedoms_holds_its_load():
    """S4 [Wittenburg, fig. 5.4]: a body on a bushing sags by its weight, and swings freely."""
    body = Inertia.from_matrix(2.0, (0, 0, 0), 0.1 * np.eye(3))
    joint = Joint("hinge", "floating", "frame", "body")
    mechanism = Mechanism("s4", (Link("frame"), Link("body", body)), (joint,))
    ends = ("frame", np.eye(4)), ("body", np.eye(4))
    robot = rd.load(mechanism, forces=[rd.Force(bushing, between=ends)])
    q = robot.equilibrium(robot.neutral())
    np.testing.assert_allclose(q[:3], [0.0, 0.0, -2.0 * 9.81 / 300.0], atol=1e-9)
    poles = robot.linearize(q, np.zeros(6), np.zeros(6)).poles
    sizes = np.sqrt(np.array([50.0, 100.0, 150.0, 100.0, 200.0, 300.0]))
    np.testing.assert_allclose(np.sort(np.abs(poles))[::2], np.sort(sizes), rtol=1e-7)


X0 = np.eye(4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "one of joint=, on= and between="),
        ({"joint": "elbow", "on": ("lower", X0)}, "one of joint=, on= and between="),
        ({"on": ("lower", np.eye(3))}, "on in 'lower' has shape"),
        ({"on": ("lower", 2.0 * X0)}, "on in 'lower' is that of no rigid body"),
        ({"on": ("world", X0)}, "the world alone"),
        ({"between": (("lower", X0),)}, "between"),
        ({"between": (("world", X0), ("world", X0))}, "the world alone"),
    ],
)
def test_a_force_says_where_it_acts(arguments, words):
    with pytest.raises(rd.ShapeError, match=re.escape(words)):
        rd.Force(lambda *given: [0.0], **arguments)


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (lambda q, v, t: [-q[0], 0.0], "returns 2 numbers, expected shape (1,)"),
        (lambda q, v: -q, "It is called with (q, v, t)"),
        (lambda q, v, t: [float(q[0])], "has no number yet"),
        (lambda q, v, t: -q if q[0] > 0.0 else q, "Take rd.where"),
        (lambda q, v, t: -q * {0.0: 1.0}.get(q[0], 2.0), "no key of dictionaries"),
        (lambda q, v, t: [np.nan], "not finite"),
        (lambda q, v, t: ["much"], "failed with ValueError"),
        (lambda q, v, t: [np.sqrt(-1.0 - q[0] * q[0])], "not a finite number anywhere"),
        (lambda q, v, t: [-v[0] / np.sqrt(v[0] * v[0])], "'elbow' is not smooth at rest"),
        (lambda q, v, t: [-v[0] * np.sqrt(np.sqrt(v[0] * v[0]))], "is not smooth at rest"),
    ],
)
def test_a_law_that_is_none_is_refused(law, words):
    with pytest.raises(rd.ShapeError, match=re.escape(words)):
        rd.load("double_pendulum", forces=[rd.Force(law, joint="elbow")])


def test_a_law_reads_its_own_arguments():
    kept = []
    rd.load(
        "double_pendulum",
        forces=[rd.Force(lambda q, v, t: [kept.append(q[0]) or -q[0]], joint="elbow")],
    )
    with pytest.raises(rd.ShapeError, match="symbols of another function"):
        rd.load("double_pendulum", forces=[rd.Force(lambda q, v, t: kept, joint="elbow")])


def test_what_contradicts_is_refused():
    def law(q, v, t):
        return -2.0 * q

    wrong = rd.Force(law, joint="elbow", potential=lambda q: q[0] * q[0] * 1.1)
    with pytest.raises(rd.ShapeError, match="'elbow' is not the slope of its potential"):
        rd.load("double_pendulum", forces=[wrong])
    with pytest.raises(rd.ShapeError, match=r"potential of force 'elbow' returns 2 numbers"):
        several = rd.Force(law, joint="elbow", potential=lambda q: [q[0], 1.0])
        rd.load("double_pendulum", forces=[several])
    with pytest.raises(rd.ShapeError, match=r"potential= has to be given"):
        rd.Force(None, joint="elbow")
    with pytest.raises(rd.UnknownNameError, match="wrist"):
        rd.load("double_pendulum", forces=[rd.Force(law, joint="wrist")])
    with pytest.raises(rd.UnknownNameError, match="joint with coordinates"):
        rd.load("double_pendulum", forces=[rd.Force(law, joint="")])
    with pytest.raises(rd.UnknownNameError, match="hand"):
        rd.load("double_pendulum", forces=[rd.Force(law, on=("hand", X0))])
    with pytest.raises(rd.ShapeError, match="forces"):
        rd.load("double_pendulum", forces=[law])
    thrust = rd.Force(lambda X, V, t: [1.0, 0, 0, 0, 0, 0], on=("lower", X0))
    robot = rd.load("double_pendulum", base="moving", forces=[thrust])
    run = rd.simulate(robot, duration=0.01)
    with pytest.raises(rd.SettingsError, match="lower"):
        _ = run.audit


def test_a_force_in_a_joint_that_is_gone_is_refused():
    """A base that floats no more has none; one that is locked keeps still, and needs none."""
    mechanism = random_mechanism(np.random.default_rng(1), ["revolute"])
    force = rd.Force(lambda q, v, t: -v, joint="floating_base", name="drag")
    robot = rd.load(mechanism, base="floating", forces=[force])
    with pytest.raises(rd.TopologyError, match="floating_base") as info:
        robot.with_(base="fixed")
    assert "drag" in str(info.value)
    assert not robot.with_(base="fixed", forces=()).forces
    assert not robot.with_(locked={"floating_base": robot.neutral()[:7]}).forces


@pytest.mark.parametrize("name", ["forces", "springs"])
def test_what_passive_would_leave_out_is_refused(name):
    """Given together they left the forces out, unheard."""
    law = rd.Force(lambda q, v, t: -3.0 * (q - 0.1), joint="elbow")
    given = {name: [law] if name == "forces" else {"elbow": (3.0, 0.1)}}
    with pytest.raises(rd.SettingsError, match=f"{name}= would do nothing with passive=False"):
        rd.load("double_pendulum", passive=False, **given)
    bare = rd.load("double_pendulum", passive=False)
    for change in (lambda: bare.with_(**given), lambda: bare.with_(passive=False, **given)):
        with pytest.raises(rd.SettingsError, match="leave one of them out"):
            change()
    forced = rd.load("double_pendulum", **given)
    q = [0.1, 0.5]
    turned = bare.with_(passive=True, **given)
    assert turned.passive_forces(q, [0.0, 0.0])[1] == pytest.approx(-3.0 * 0.4)
    assert forced.with_(passive=False).passive_forces(q, [0.0, 0.0])[1] == 0.0  # asked for


def test_copies_get_springs():
    given = {"rocker_pin": (3.0, 0.1)}
    copy, loaded = bundled("four_bar").with_(springs=given), rd.load("four_bar", springs=given)
    q = loaded.neutral()
    assert copy.joint_names == loaded.joint_names
    close(copy.elastic_forces(q), loaded.elastic_forces(q))
    strut_ = rd.PointSpring("world", (0, 0, 1.0), "lower", (0, 0, 0), 30.0)
    robot = bundled("double_pendulum").with_(springs=[strut_])
    assert robot.mechanism.link_elements == (strut_,)
    with pytest.raises(rd.UrdfError, match="stiffness is -3"):
        robot.with_(springs={"elbow": (-3.0, 0.1)})
    with pytest.raises(rd.SettingsError, match="alone"):
        robot.with_(springs=given, parameters={"lower.m": [1.0, 2.0]})


def test_gradients_by_masses_that_a_planet_draws_are_refused():
    """Its forces are no linear functions of masses, and the regressor does not have them."""
    planet = rd.InverseSquareGravity(50.0, (0.0, 1.0, -4.0))
    robot = rd.load("double_pendulum", forces=[planet])
    q = np.zeros(2)
    with pytest.raises(rd.SettingsError, match="'gravity of a planet'"):
        rd.step_derivatives(robot, q, q, q, parameters=True)
    run = rd.simulate(robot, duration=0.002)
    with pytest.raises(rd.SettingsError, match="'gravity of a planet'"):
        rd.trajectory_gradient(run, q=np.ones_like(run.q), parameters=True)
    rd.step_derivatives(robot, q, q, q)
    rows = np.zeros((20, 2))
    with pytest.raises(rd.SettingsError, match="'gravity of a planet' draws"):
        rd.identify(robot, rd.Measurements(np.arange(20.0), rows, rows, rows, rows))
