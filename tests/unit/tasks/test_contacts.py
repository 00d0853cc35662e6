"""Contacts by choice: against closed forms, joint wrenches and least squares."""

import math

import numpy as np
import pytest

import robodyn as rd
from robodyn.tasks.contact_forces import cone

MASS, SIDE = 3.0, 0.2


def _box(mu=0.7, kind="surface", **more):
    """A cube of 0.4 m on the plane of the world, or elsewhere."""
    J = MASS * (2 * SIDE) ** 2 / 6
    links = rd.Link("box", rd.Inertia(MASS, ixx=J, iyy=J, izz=J))
    robot = rd.load(rd.Mechanism("box", (links,)), base="floating")
    if kind != "grip":
        more.setdefault("half_sizes", {"point": None, "line": SIDE, "surface": (SIDE, SIDE)}[kind])
    return robot.with_(contacts={"box": rd.Contact(kind, at=(0, 0, -SIDE), mu=mu, **more)})


def _slope(angle):
    X = np.eye(4)
    X[:3, :3] = [
        [math.cos(angle), 0, math.sin(angle)],
        [0, 1, 0],
        [-math.sin(angle), 0, math.cos(angle)],
    ]
    return X


@pytest.mark.parametrize(("kind", "rows"), [("point", 3), ("line", 5), ("surface", 6), ("grip", 6)])
def test_each_kind_takes_its_freedoms(kind, rows):
    robot = _box(kind=kind)
    assert robot.dof == 6 - rows and len(robot.constraint_names) == rows
    q, rest = robot.neutral(), np.zeros(robot.nv)
    a = robot.forward_dynamics(q, rest, rest)
    J = robot.frame_jacobian(q, "box contact", axes="body")
    held = {"point": (0, 1, 2), "line": (0, 1, 2, 4, 5)}.get(kind, range(6))
    np.testing.assert_allclose((J @ a)[list(held)], 0.0, atol=1e-12)


def test_a_point_may_be_turned_any_way():
    """With the z axis of the contact frame in the surface, too."""
    for turned in (np.eye(3), _slope(math.pi / 2)[:3, :3], np.eye(3)[[1, 2, 0]]):
        at = np.eye(4)
        at[:3, :3], at[2, 3] = turned, -SIDE
        free = _box(kind="point").with_(contacts={})
        robot = free.with_(contacts={"box": rd.Contact("point", at=at)})
        q = np.array([0, 0, SIDE, 0, 0, 0, 1.0])
        a = robot.forward_dynamics(q, np.zeros(6), [0.1, 0.2, 0, 0.3, 0.1, 0.2])
        V = robot.frame_jacobian(q, "box contact", axes="world") @ a
        np.testing.assert_allclose(V[:3], 0.0, atol=1e-12)
        assert robot.dof == 3 and np.abs(V[3:]).min() > 1e-3


def test_a_box_on_a_slope():
    angle, mu = 0.4, 0.3
    robot = _box(mu=mu, on=("world", _slope(angle)))
    q, rest = robot.neutral(), np.zeros(6)
    forces = robot.contact_forces(q, rest)
    weight = MASS * 9.81
    along, across = -weight * math.sin(angle), weight * math.cos(angle)
    turned = robot.frame_pose(q, "box")[:3, :3].T @ _slope(angle)[:3, :3]
    f = forces["box"].copy()
    f[:3], f[3:] = turned.T @ f[:3], turned.T @ f[3:]
    expected = [along, 0, across, 0, along * SIDE, 0]
    np.testing.assert_allclose(f, expected, atol=1e-9)
    slides = max(np.abs(forces["box"][:2])) - mu / math.sqrt(2) * across
    assert forces.broken["box"] >= slides > 0
    np.testing.assert_allclose(
        forces["box"], robot.joint_wrenches(q, rest)["box contact"], atol=1e-9
    )


@pytest.mark.parametrize("kind", ["line", "surface"])
def test_the_cone_of_a_rectangle_is_that_of_forces_in_its_corners(kind):
    """[Caron, Pham, Nakamura 2015], against wrenches that four points with friction can give."""
    contact = rd.Contact(kind, half_sizes=(0.1, 0.05) if kind == "surface" else 0.1, mu=0.6)
    rng = np.random.default_rng(0)
    C, mu = cone(contact), 0.6 / math.sqrt(2)
    x, y = contact.sizes
    corners = [(i * x, j * y, 0.0) for i in (1, -1) for j in (1, -1)]
    for _ in range(200):
        total = np.zeros(6)
        for p in corners:
            n = rng.uniform(0, 1)
            f = np.array([*rng.uniform(-mu * n, mu * n, 2), n])
            total += [*f, *np.cross(p, f)]
        assert (C @ total <= 1e-12).all()
    for extreme in ([0, 0, -1, 0, 0, 0], [0.5, 0, 1, 0, 0, 0], [0, 0, 1, 0, 1.1 * x, 0]):
        assert (C @ np.array(extreme, float) > 0).any()
    # friction at its limit along x leaves no moment about z
    assert (C @ np.array([mu, 0, 1, 0, 0, 0.05]) > 0).any() or kind == "line"


@pytest.mark.parametrize("kind", ["point", "line", "surface"])
def test_cones_are_the_same_on_all_sides(kind):
    """Friction of a pyramid within the cone, no pull, the zero-moment point within the sides."""
    sizes = {"point": None, "line": 0.1, "surface": (0.1, 0.05)}[kind]
    C, mu = cone(rd.Contact(kind, half_sizes=sizes, mu=0.6)), 0.6 / math.sqrt(2)
    push = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    most = [mu, mu, None, 0.05, 0.1, mu * 0.15][: 2 if kind == "point" else 6]
    assert (C @ -push > 0.0).any()
    for k, limit in enumerate(most):
        for side in (1.0, -1.0) if limit and (kind == "surface" or k not in (3, 5)) else ():
            assert (C @ (push + side * 0.999 * limit * np.eye(6)[k]) <= 0.0).all(), (k, side)
            assert (C @ (push + side * 1.001 * limit * np.eye(6)[k]) > 0.0).any(), (k, side)


def _held(mu=0.7):
    """Two arms of one body hold on to the ground: more forces than rows that they need."""
    robot = rd.load("dual_arm", base="floating")
    q = robot.neutral()
    contacts = {}
    for hand in ("left_grasp", "right_grasp"):
        plane = np.eye(4)
        plane[2, 3] = robot.frame_pose(q, hand)[2, 3]
        X = robot.frame_pose(q, hand)
        at = np.eye(4)
        at[:3, :3] = X[:3, :3].T  # z of the contact frame is up
        contacts[hand] = rd.Contact("point", at=at, mu=mu, on=("world", plane))
    return robot.with_(contacts=contacts, near=q), q


def test_forces_of_several_contacts_are_those_of_least_norm():
    robot, q = _held()
    rest = np.zeros(robot.nv)
    robot = robot.with_(contacts={x: rd.Contact("grip") for x in robot.contacts}, near=q)
    tau = robot.inverse_dynamics(q, rest, rest)
    a = robot.forward_dynamics(q, rest, tau)
    forces = robot.contact_forces(q, rest, a, tau)
    A = np.concatenate(
        [robot.frame_jacobian(q, f"{x} contact", axes="body") for x in robot.contacts]
    ).T
    wanted = robot.mass_matrix(q) @ a + robot.bias_forces(q, rest) - tau
    expected = np.linalg.pinv(A) @ wanted
    np.testing.assert_allclose(np.concatenate([*forces.values()]), expected, atol=1e-7)


def _stool():
    """A body on two points along x, the first of which carries little of it."""
    links = (
        rd.Link("body", rd.Inertia(2.0, rd.Pose((0.4, 0, 0)), ixx=0.1, iyy=0.1, izz=0.1)),
        rd.Link("light"),
        rd.Link("heavy"),
    )
    joints = tuple(
        rd.Joint(f"{name} leg", "fixed", "body", name, rd.Pose((x, 0, -0.3)))
        for name, x in (("light", -0.5), ("heavy", 0.5))
    )
    robot = rd.load(rd.Mechanism("stool", links, joints), base="floating")
    point = rd.Contact("point", mu=0.6)
    robot = robot.with_(contacts={"light": point, "heavy": point})
    return robot, robot.assemble([0, 0, 0.3, 0, 0, 0, 1])


@pytest.mark.parametrize(("pushed", "kept"), [(3.0, True), (-3.0, True), (12.0, False)])
def test_friction_cones_are_kept_where_they_can_be(pushed, kept):
    """Feet that push against each other take the friction from the one that carries little.

    With the push along x as a force at the height of the feet.
    """
    robot, q = _stool()
    rest, mu, weight = np.zeros(6), 0.6 / math.sqrt(2), 2.0 * 9.81
    tau = np.array([-pushed, 0, 0, 0, 0.3 * pushed, 0])
    normal = {"light": 0.1 * weight, "heavy": 0.9 * weight}
    for cones in (False, True):
        forces = robot.contact_forces(q, rest, rest, tau, cones=cones)
        along = {name: f[0] for name, f in forces.items()}
        for name, f in forces.items():
            np.testing.assert_allclose(f[1:3], [0.0, normal[name]], atol=1e-6)
            over = abs(f[0]) - mu * normal[name]
            assert forces.broken[name] == pytest.approx(max(over, 0.0), abs=1e-4)
        assert sum(along.values()) == pytest.approx(pushed, abs=1e-6)
        if not cones:
            assert along["light"] == pytest.approx(pushed / 2) and forces.broken["light"] > 0.0
        elif kept:
            assert set(map(float, forces.broken.values())) == {0.0}
            expected = math.copysign(mu * normal["light"], pushed)  # nearest to least norm
            assert along["light"] == pytest.approx(expected, abs=1e-4)
        else:  # both by as little as they can
            least = (pushed - mu * weight) / 2
            assert [*forces.broken.values()] == pytest.approx([least, least], abs=1e-3)


@pytest.mark.parametrize("kind", ["point", "line", "surface", "grip"])
def test_forces_of_motors_count(kind):
    """What acts on a box that stays is balanced by what each kind can carry."""
    robot, rest = _box(mu=9.0, kind=kind), np.zeros(6)
    held = {"point": (0, 1, 2), "line": (0, 1, 2, 4, 5)}.get(kind, range(6))
    wanted = np.array([1.0, 2.0, 25.0, 0.1, 0.2, 0.3]) * np.isin(range(6), held)
    f, n = wanted[:3], wanted[3:] + np.cross([0.0, 0.0, -SIDE], wanted[:3])
    tau = np.array([0.0, 0.0, MASS * 9.81, 0.0, 0.0, 0.0]) - np.r_[f, n]
    found = robot.contact_forces(robot.neutral(), rest, rest, tau)["box"]
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_a_contact_on_a_moving_link_has_the_wrench_of_its_constraint():
    free = rd.load("puma560", base="floating")
    first, last = free.link_names[2], free.link_names[-1]
    q = free.random(1)
    X = free.frame_pose(q, last, relative_to=first)
    robot = free.with_(contacts={last: rd.Contact("point", on=(first, X))}, near=q)
    rng = np.random.default_rng(3)
    v = robot.consistent_velocity(q, 0.3 * rng.normal(size=robot.nv))
    tau = np.r_[np.zeros(6), rng.normal(size=6)]
    a = robot.forward_dynamics(q, v, tau)
    forces = robot.contact_forces(q, v, a, tau, cones=False)
    wrenches = robot.joint_wrenches(q, v, tau=tau)
    np.testing.assert_allclose(forces[last], wrenches[f"{last} contact"], atol=1e-8)
    assert np.abs(forces[last]).max() > 1.0


def test_states_in_batches_are_one_by_one():
    robot = _box()
    q, rest = robot.neutral(), np.zeros(6)
    tau = np.random.default_rng(0).normal(size=(3, 6))
    forces = robot.contact_forces(np.tile(q, (3, 1)), np.zeros((3, 6)), None, tau)
    for k in range(3):
        one = robot.contact_forces(q, rest, None, tau[k])
        np.testing.assert_allclose(forces["box"][k], one["box"], atol=1e-12)


def test_contacts_replace_and_end():
    robot = _box()
    moved = robot.with_(contacts={"box": rd.Contact("point")})
    assert (robot.dof, moved.dof, robot.with_(contacts={}).dof) == (0, 3, 6)
    assert [x.kind for x in moved.contacts.values()] == ["point"]
    assert robot.with_(contacts={}).link_names == ("box",)


def test_a_link_on_a_moving_link():
    """A grip between two links of an arm, against the same as a loop that welds them."""
    robot = rd.load("puma560", base="floating")
    first, last = robot.link_names[2], robot.link_names[-1]
    gripped = robot.with_(contacts={last: rd.Contact("grip", on=first)})
    q = robot.random(1)
    assert gripped.mobility(q) == gripped.nv - np.linalg.matrix_rank(
        robot.frame_jacobian(q, last, relative_to=first), tol=1e-9
    )


def test_a_box_that_falls_sticks_where_it_lands():
    free = _box().with_(contacts={})
    standing = rd.Contact("surface", at=(0, 0, -SIDE))
    q0 = np.array([0, 0, SIDE + 0.1, 0, 0, 0, 1.0])
    landing = rd.Event(
        lambda t, q, v: q[2] - SIDE,
        name="landing",
        then=rd.events.become(free.with_(contacts={"box": standing})),
        direction=-1,
    )
    run = rd.simulate(free, q0=q0, v0=[0.2, 0, 0, 0, 0, 0], duration=0.3, events=[landing])
    assert abs(run.v[-1]).max() < 1e-9
    assert run.q[-1, 2] == pytest.approx(SIDE, abs=1e-9)
    assert run.q[-1, 0] == pytest.approx(0.2 * math.sqrt(2 * 0.1 / 9.81), abs=1e-6)


def _hopper(mass, foot, stiffness, length):
    links = rd.Link("rail"), rd.Link("foot", rd.Inertia(foot)), rd.Link("body", rd.Inertia(mass))
    height = rd.Joint("height", "prismatic", "rail", "foot", axis=(0, 0, 1))
    leg = rd.Joint(
        "leg", "prismatic", "foot", "body", axis=(0, 0, 1), stiffness=stiffness, rest=length
    )
    return rd.load(rd.Mechanism("hopper", links, (height, leg)))


def test_a_hopper_lands_and_lifts():
    """The foot stops in a plastic impact, and leaves the ground where this would have to pull."""
    m, foot, k, length, g, height = 2.0, 0.5, 400.0, 0.3, 9.81, 0.2
    free = _hopper(m, foot, k, length)
    standing = free.with_(contacts={"foot": rd.Contact("point")})

    def above(state):
        return 1.0 if state.robot.contacts else state.q[0]

    def push(state):
        if not state.robot.contacts:
            return 1.0
        a = state.accelerations()
        return state.robot.contact_forces(state.q, state.v, a)["foot"][2]

    events = [
        rd.Event(above, rd.events.become(standing), name="landing", direction=-1),
        rd.Event(push, rd.events.become(free), name="lifting", direction=-1),
    ]
    run = rd.simulate(free, q0=[height, length], duration=1.0, events=events)
    assert [x.name for x in run.events] == ["landing", "lifting", "landing"]
    assert [phase.robot.dof for phase in run.phases] == [2, 1, 2, 1]
    first, lift, _ = run.events
    u, w, sag = math.sqrt(2 * g * height), math.sqrt(k / m), m * g / k
    assert first.time == pytest.approx(u / g, abs=1e-9)
    assert first.energy_loss == pytest.approx(0.5 * foot * u**2, rel=1e-9)
    # the body swings about its rest on the spring until this pulls with the weight of the foot
    pulled = 2 * math.pi - math.acos((foot * g / k + sag) / math.hypot(sag, u / w))
    swung = (pulled - math.atan2(u / w, sag)) / w
    assert lift.time - first.time == pytest.approx(swung, abs=1e-6)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"kind": "flat"}, rd.UnknownNameError, "surface"),
        ({"mu": -0.1}, rd.SettingsError, "mu is -0.1"),
        ({"kind": "surface", "half_sizes": (0.1, 0.0)}, rd.ShapeError, "positive"),
        ({"kind": "line", "half_sizes": (0.1, 0.1)}, rd.ShapeError, "expected one length"),
        ({"kind": "point", "half_sizes": 0.1}, rd.SettingsError, "no half_sizes"),
        ({"at": np.zeros((4, 4))}, rd.ShapeError, "contact frame"),
    ],
)
def test_what_is_no_contact_is_refused(given, error, said):
    with pytest.raises(error, match=said):
        rd.Contact(**given)


def test_what_contradicts_is_told():
    robot = _box()
    q, rest = robot.neutral(), np.zeros(6)
    with pytest.raises(rd.UnknownNameError, match="bag"):
        robot.with_(contacts={"bag": rd.Contact()})
    with pytest.raises(rd.UnknownNameError, match="table"):
        robot.with_(contacts={"box": rd.Contact(on="table")})
    for on in ("box", ("box", (0, 0, 1))):
        with pytest.raises(rd.SettingsError, match="on 'box' itself"):
            robot.with_(contacts={"box": rd.Contact(on=on)})
    with pytest.raises(rd.SettingsError, match="no contacts"):
        rd.load("puma560").contact_forces(np.zeros(6), np.zeros(6))
    point = robot.with_(contacts={"box": rd.Contact("point", at=(0, 0, -SIDE))})
    with pytest.raises(rd.ActuationError, match="contradict"):
        point.contact_forces(q, rest, np.array([0, 0, 0, 1.0, 0, 0]), rest)


def test_a_contact_off_its_surface_is_told_with_the_distance():
    robot, rest = _box(), np.zeros(6)
    q = robot.integrate(robot.neutral(), [0, 0, 0.1, 0, 0, 0])
    task = rd.Task(q, quantity="posture")
    for asked in (
        lambda: robot.contact_forces(q, rest),
        lambda: robot.forward_dynamics(q, rest, rest),
        lambda: robot.velocity_for(task, q, dt=0.1),
        lambda: robot.acceleration_for(task, q, rest),
    ):
        with pytest.raises(rd.InconsistentStateError, match=r"'box contact' by 0\.1 m"):
            asked()
    with pytest.raises(rd.AssemblyError, match=r"open by 0\.1 m \('box contact'\)"):
        rd.simulate(robot, q0=q, duration=0.1)
    landing = rd.Event(0.01, rd.events.become(robot))
    with pytest.raises(rd.SimulationError, match=r"open by 0\.0995 m \('box contact'\) after"):
        rd.simulate(robot.with_(contacts={}), q0=q, duration=0.1, events=[landing])


def test_contacts_that_contradict_are_told_with_the_distance():
    """Of one body on two heights, and of one on a plane out of reach."""
    links = rd.Link("a", rd.Inertia(1, ixx=1, iyy=1, izz=1)), rd.Link("b")
    robot = rd.load(
        rd.Mechanism("step", links, (rd.Joint("weld", "fixed", *"ab"),)), base="floating"
    )
    flat = rd.Contact("surface")
    both = robot.with_(contacts={"a": flat, "b": rd.Contact("surface", on=("world", (0, 0, 0.3)))})
    with pytest.raises(rd.TopologyError, match=r"contact' is off by 0\.15 m at best"):
        both.neutral()
    floor = rd.Contact("point", on=("world", (0, 0, -2.5)))
    with pytest.raises(rd.TopologyError, match=r"'tip contact' is off by 0\.5 m at best"):
        rd.load("double_pendulum").with_(contacts={"tip": floor}).neutral()


@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".sdf", ".usda"])
def test_a_robot_in_contact_is_written_without(suffix, tmp_path):
    if suffix == ".usda":
        pytest.importorskip("pxr", reason="usd-core is not installed")
    robot, path = _box(), tmp_path / f"box{suffix}"
    with pytest.raises(rd.UrdfError, match=r"'box contact'.*with_\(contacts=\{\}\) has none"):
        rd.convert(robot, path)
    rd.convert(robot.with_(contacts={}), path)
    assert "box contact" not in path.read_text()
