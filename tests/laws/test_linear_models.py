"""Linear models equal differences of the motion itself, and poles that are known in closed form."""

import dataclasses

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq
from support.bundled import bundled
from support.comparison import close_within
from support.random_mechanisms import random_mechanism
from test_cantilever import FREQUENCY, beam
from test_gyrostats import gyrostat

import robodyn as rd

close = close_within(1e-10)

pytestmark = pytest.mark.filterwarnings("ignore:.*principal moments of inertia")


def same_poles(x, y, tolerance=1e-9):
    """The same numbers, in whatever order."""
    x, y = list(np.asarray(x, complex)), list(np.asarray(y, complex))
    assert len(x) == len(y)
    for pole in x:
        nearest = min(y, key=lambda other: abs(other - pole))
        assert abs(nearest - pole) < tolerance * max(1.0, abs(pole))
        y.remove(nearest)


# -- against differences --------------------------------------------------------------------------


def indices(robot, model, letter):
    """Where the states of a kind stand in v."""
    found = []
    for state in model.states:
        if state.startswith(f"{letter}:"):
            name, _, axis = state[2:].partition("[")
            found.append(robot.joints[name].v.start + (int(axis[:-1]) if axis else 0))
    return found


def rates_nearby(robot, model, q, v, tau, z, u, **around):
    """Rate of the step from the motion through ``q, v`` to the one that is ``z, u`` beside it.

    Both are followed for a short time, loops closed; of the independent coordinates.
    """
    places, speeds = indices(robot, model, "q"), indices(robot, model, "v")
    names = [state[2:] for state in model.states[: len(places)]]
    step, change = np.zeros(robot.nv), np.zeros(robot.nv)
    step[places], change[speeds] = z, u
    moved = robot.integrate(q, step)
    speed = v + change
    if robot.nc:
        names += around.get("controlled", {})
        moved = robot.assemble(moved, hold=names, beyond_limits=True)
        speed = robot.consistent_velocity(moved, speed, hold=names)
    h = 1e-4

    def later(position, velocity, s):
        a = robot.hybrid_dynamics(position, velocity, tau=tau, **around).a
        d = s * velocity + 0.5 * s * s * a
        return robot.integrate(position, d)

    ahead, behind = (robot.difference(later(q, v, s), later(moved, speed, s)) for s in (h, -h))
    a = robot.hybrid_dynamics(moved, speed, tau=tau, **around).a
    return ((ahead - behind) / (2 * h))[places], a[speeds]


def check_by_differences(robot, q, v, tau, tolerance=2e-6, **around):
    model = robot.linearize(q, v, tau, **around)
    count = len(indices(robot, model, "q"))
    h = 1e-4
    columns = []
    for e in np.eye(len(model.states)):
        pair = [
            np.concatenate(rates_nearby(robot, model, q, v, tau, z, u, **around))
            for z, u in (np.split(s * h * e, [count]) for s in (1, -1))
        ]
        columns.append((pair[0] - pair[1]) / (2 * h))
    close(model.A, np.stack(columns, axis=-1), tolerance)
    return model


#: Trees of all sorts of coordinates, closed linkages, and what is driven of them.
MOVING = {
    "tree": ("double_pendulum", {}, {}),
    "floating": ("pan_tilt", {"base": "floating"}, {}),
    "floating, driven": ("pan_tilt", {"base": "floating"}, {"controlled": {"pan": 0.7}}),
    "four_bar": ("four_bar", {}, {}),
    "five_bar": ("five_bar", {}, {}),
    "five_bar, driven": ("five_bar", {}, {"controlled": {"left_drive": -1.5}}),
    "minimal": ("five_bar", {"coordinates": "minimal"}, {}),
}


@pytest.mark.parametrize("case", MOVING)
def test_models_equal_differences_of_motions(case):
    name, options, around = MOVING[case]
    robot = rd.load(name, gravity=(1.0, 2.0, -9.81), **options)
    rng = np.random.default_rng(3)
    q = robot.random(rng)
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    tau = rng.normal(size=robot.nv)
    for driven in around.get("controlled", {}):
        tau[robot.joints[driven].v] = 0.0
    model = check_by_differences(robot, q, v, tau, **around)
    a = robot.hybrid_dynamics(q, v, tau=tau, **around).a
    close(model.acceleration, a[indices(robot, model, "v")])


@pytest.mark.parametrize("kinds", [("spherical", "planar"), ("universal", "cylindrical")])
def test_joints_whose_coordinates_do_not_add(kinds):
    rng = np.random.default_rng(5)
    robot = rd.load(random_mechanism(rng, kinds, damping=0.2), gravity=(1.0, 2.0, -9.81))
    check_by_differences(robot, robot.random(rng), *rng.normal(size=(2, robot.nv)))


def test_a_base_that_moves():
    """Turning, it pushes the links outward: the model of an instant."""
    robot = rd.load("double_pendulum", base="moving")
    rng = np.random.default_rng(6)
    motion = rd.BaseMotion.from_world(
        rng.normal(size=3), rng.normal(size=4), *(rng.normal(size=(4, 3)) * 2.0)
    )
    q, v, tau = rng.normal(size=(3, 2))
    model = robot.linearize(q, v, tau, base=motion)
    h = 1e-6
    columns = []
    for e in np.eye(4):
        pair = [
            robot.forward_dynamics(q + s * h * e[:2], v + s * h * e[2:], tau, base=motion)
            for s in (1, -1)
        ]
        columns.append((pair[0] - pair[1]) / (2 * h))
    close(model.A[2:], np.stack(columns, axis=-1), 1e-7)
    close(model.A[:2], np.eye(2, 4, k=2))
    assert np.abs(model.A - robot.linearize(q, v, tau).A).max() > 0.1


ROLLING = {
    "rolls": (lambda q, v: v[0] - rd.cos(q[2]) * v[3] - 0.4 * q[1], "nonholonomic"),
    "does not slip": (lambda q, v: v[1] - rd.sin(q[2]) * v[3], "nonholonomic"),
}


def test_batches_of_what_acts_on_one_state():
    """Of motions of the base, of wrenches and of times, as of states."""
    q, v, tau = np.array([0.3, -0.4]), np.array([1.0, 0.5]), np.array([0.1, 0.2])
    moving, fixed = (rd.load("double_pendulum", base=base) for base in ("moving", "fixed"))
    rng = np.random.default_rng(0)
    base = rd.BaseMotion(np.tile(np.eye(4), (3, 1, 1)), *rng.normal(size=(2, 3, 6)))
    one = [rd.BaseMotion(*x) for x in zip(base.pose, base.twist, base.acceleration, strict=True)]
    force = rng.normal(size=(3, 6))

    def swung(q, t):
        c, s = rd.cos(q[0] + t), rd.sin(q[0] + t)
        return [[c, 0, s, t * t], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1]]

    timed = rd.load("double_pendulum", joint_maps={"shoulder": rd.JointMap(1, swung)})
    cases = (
        (moving, {"base": base}, [(moving, {"base": x}) for x in one]),
        (
            fixed,
            {"wrenches": {"lower": force}},
            [(fixed, {"wrenches": {"lower": x}}) for x in force],
        ),
        (timed.at(np.arange(3.0)), {}, [(timed.at(float(k)), {}) for k in range(3)]),
    )
    for robot, given, rows in cases:
        many = robot.linearize(q, v, tau, outputs=["lower", "elbow"], **given)
        assert many.A.shape == (3, 4, 4)
        for k, (single, row) in enumerate(rows):
            alone = single.linearize(q, v, tau, outputs=["lower", "elbow"], **row)
            for name in "ABC":
                close(getattr(many, name)[k], getattr(alone, name), 1e-12)
            close(many.acceleration[k], alone.acceleration, 1e-12)


def test_rolling_leaves_more_positions_than_speeds():
    """A wheel that is steered, on a belt that is faster farther out: it can go two ways."""
    box = rd.Inertia.from_matrix(1.0, (0.0, 0.0, 0.0), 0.1 * np.eye(3))
    axes = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "steer": (0.0, 0.0, 1.0)}
    names = [*axes, "roll"]
    joints = [
        rd.Joint(
            name,
            "continuous" if name in ("steer", "roll") else "prismatic",
            parent,
            f"to_{name}",
            axis=axes.get(name, (0.0, 1.0, 0.0)),
            damping=0.3,
        )
        for parent, name in zip(["floor", *(f"to_{x}" for x in names)], names, strict=False)
    ]
    links = [rd.Link("floor"), *(rd.Link(f"to_{name}", box) for name in names)]
    constraints = [rd.Constraint(k, f, names, kind=kind) for k, (f, kind) in ROLLING.items()]
    mechanism = rd.Mechanism("wheel", tuple(links), tuple(joints))
    robot = rd.load(mechanism, constraints=constraints)
    q = np.array([0.2, -0.1, 0.4, 0.7])
    v = robot.consistent_velocity(q, [0.0, 0.0, 0.9, 1.3], hold=["steer", "roll"])
    tau = np.array([0.0, 0.0, 0.5, 0.8])
    model = robot.linearize(q, v, tau, independent=["steer", "roll"])
    assert len(model.states) == 6 and model.states[4:] == ("v:steer", "v:roll")
    h, at = 1e-5, [2, 3]
    columns = []
    for e in np.eye(6):
        pair = []
        for s in (h, -h):
            moved, speed = q + s * e[:4], v.copy()
            speed[at] += s * e[4:]
            speed = robot.consistent_velocity(moved, speed, hold=["steer", "roll"])
            a = robot.forward_dynamics(moved, speed, tau)
            pair.append(np.concatenate([speed, a[at]]))
        columns.append((pair[0] - pair[1]) / (2 * h))
    close(model.A, np.stack(columns, axis=-1), 1e-8)


# -- inputs and outputs ---------------------------------------------------------------------------


def test_inputs_are_forces_and_outputs_displacements(five_bar):
    q = five_bar.random(1)
    v = five_bar.consistent_velocity(q, np.ones(five_bar.nv))
    tau, h = np.zeros(five_bar.nv), 1e-6
    link = five_bar.link_names[-1]
    model = five_bar.linearize(q, v, tau, inputs=["left_elbow"], outputs=["right_elbow", link])
    assert model.inputs == ("tau:left_elbow",) and model.outputs[:2] == (
        "q:right_elbow",
        f"x:{link}",
    )
    push = np.zeros(five_bar.nv)
    push[five_bar.joints["left_elbow"].v] = h
    change = five_bar.forward_dynamics(q, v, push) - five_bar.forward_dynamics(q, v, -push)
    close(model.B[:, 0], [0, 0, *(change / (2 * h))[indices(five_bar, model, "v")]], 1e-8)
    names = [state[2:] for state in model.states[:2]]
    for e in np.eye(2):
        step = np.zeros(five_bar.nv)
        step[indices(five_bar, model, "q")] = h * e
        ahead, behind = (
            five_bar.assemble(five_bar.integrate(q, s * step), hold=names, beyond_limits=True)
            for s in (1, -1)
        )
        X, Y = (five_bar.frame_pose(x, link) for x in (ahead, behind))
        turn = (X[:3, :3] @ Y[:3, :3].T - np.eye(3)) / (2 * h)
        moved = [
            five_bar.difference(behind, ahead)[five_bar.joints["right_elbow"].v.start] / (2 * h),
            *(X[:3, 3] - Y[:3, 3]) / (2 * h),
            *(turn[2, 1], turn[0, 2], turn[1, 0]),
        ]
        close(model.C @ [*e, 0, 0], moved, 1e-6)
    assert not model.C[:, 2:].any() and not model.D.any()
    none = five_bar.linearize(q, v, tau, inputs=[], outputs=[])
    assert none.outputs == none.inputs == () and none.C.shape == (0, 4)


def test_motors_are_the_inputs_where_there_are_some():
    motor = {"actuators": {"elbow": rd.Actuator()}}
    pendulum, free = rd.load("double_pendulum", **motor), rd.load("pan_tilt", base="floating")
    assert pendulum.linearize([0, 0], [0, 0], None).inputs == ("tau:elbow",)
    model = free.linearize(free.neutral(), np.zeros(free.nv), None)
    assert model.inputs == ("tau:pan", "tau:tilt") and model.outputs == model.states
    model = free.linearize(free.neutral(), np.zeros(free.nv), None, locked=["pan"])
    assert model.inputs == ("tau:tilt",) and not {"q:pan", "v:pan"} & {*model.states}
    follows = {"actuators": {"cylinder": rd.Actuator()}, "coordinates": "minimal"}
    slider = rd.load("crank_slider", **follows)
    assert slider.dependent_joints == ("crank_pin", "cylinder")
    model = slider.linearize(slider.neutral(), [0.0], None)
    assert model.inputs == ("tau:crank_drive", "tau:cylinder")  # that of the file, and this one


def test_minimal_coordinates_have_the_same_model():
    """Following joints too may have motors, and be looked at."""
    minimal = rd.load("crank_slider", coordinates="minimal")
    tree = minimal.tree_form
    q, v = minimal.random(2), np.array([1.3])
    given = {"inputs": ["crank_pin"], "outputs": ["cylinder", minimal.link_names[-1]]}
    ours = minimal.linearize(q, v, [0.0], **given)
    theirs = tree.linearize(minimal.expand(q), minimal.expand_velocity(q, v), None, **given)
    for x, y in zip((ours.A, ours.B, ours.C), (theirs.A, theirs.B, theirs.C), strict=True):
        close(x, y)
    assert (ours.states, ours.inputs, ours.outputs) == (
        theirs.states,
        theirs.inputs,
        theirs.outputs,
    )


def test_poles_at_rest_do_not_depend_on_coordinates():
    """Not those of the independent joints, and not those of the loops."""
    robot = rd.load("five_bar", springs={"left_drive": (9.0, 0.1), "right_elbow": (5.0, 0.2)})
    q = robot.equilibrium(robot.neutral())
    ours = robot.linearize(q, np.zeros(robot.nv), None)
    others = robot.linearize(q, np.zeros(robot.nv), None, independent=["left_elbow", "right_elbow"])
    assert ours.states != others.states
    same_poles(ours.poles, others.poles)
    minimal = rd.load("five_bar", coordinates="minimal")
    both = {name: (9.0, 0.1) for name in minimal.joint_names}
    minimal, tree = (rd.load("five_bar", springs=both, coordinates=x) for x in ("minimal", "tree"))
    x = minimal.equilibrium(minimal.neutral())
    q = tree.equilibrium(minimal.expand(x))
    a, b = (r.linearize(p, np.zeros(r.nv), None) for r, p in ((minimal, x), (tree, q)))
    same_poles(a.poles, b.poles)


# -- frequencies that are known -------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10])
def test_g3_frequencies_of_the_cantilever(n):
    robot = beam(n, float(n))
    model = robot.linearize(np.zeros(n), np.zeros(n), None)
    assert model.natural_frequencies[0] == pytest.approx(FREQUENCY[n], abs=6e-7)
    assert model.stability == "marginal"
    close(model.damping_ratios, 0.0, 1e-9)
    K = -np.array([robot.passive_forces(e, np.zeros(n)) for e in np.eye(n)])
    squares, shapes = eigh(K, robot.mass_matrix(np.zeros(n)))
    for mode, square, shape in zip(model.modes, squares, shapes.T, strict=True):
        assert mode.natural_frequency == pytest.approx(np.sqrt(square), rel=1e-7)
        close(mode.shape[:n], shape / shape[np.abs(shape).argmax()], 1e-5)


def test_a_four_bar_with_springs_swings_as_its_energy_says():
    """Frequency from second differences of the potential along the closed motion."""
    robot = rd.load(
        "four_bar", springs={"crank_drive": (40.0, 0.4), "rocker_pivot": (15.0, -0.3)}, passive=True
    )
    q = robot.equilibrium(robot.neutral())
    undamped = robot.linearize(q, np.zeros(robot.nv), None)
    h = 1e-3

    def at(s):
        x = robot.assemble(q + np.array([s, 0.0, 0.0]), hold=["crank_drive"], beyond_limits=True)
        return x, float(robot.potential_energy(x))

    (ahead, U1), (_, U0), (behind, U2) = at(h), at(0.0), at(-h)
    stiffness = (U1 - 2 * U0 + U2) / h**2
    B = (ahead - behind) / (2 * h)
    mass = B @ robot.mass_matrix(q) @ B
    assert undamped.natural_frequencies[0] == pytest.approx(np.sqrt(stiffness / mass), rel=1e-5)
    assert undamped.stability == "stable"
    damping = -B @ robot.passive_forces(q, B) - B @ -robot.passive_forces(q, np.zeros(robot.nv))
    ratio = damping / (2 * np.sqrt(stiffness * mass))
    assert undamped.damping_ratios[0] == pytest.approx(ratio, rel=1e-4)


def test_a_pendulum_in_closed_form():
    """Hanging and upright, with damping; and its sampled model."""
    m, length, c, g = 2.0, 0.7, 0.3, 9.81
    bob = rd.Inertia.from_matrix(m, (0.0, 0.0, -length), np.zeros((3, 3)))
    joint = rd.Joint("pivot", "continuous", "wall", "rod", axis=(0.0, 1.0, 0.0), damping=c)
    rod = rd.Mechanism("pendulum", (rd.Link("wall"), rd.Link("rod", bob)), (joint,))
    robot = rd.load(rod)
    J = m * length**2
    for angle, sign, verdict in ((0.0, 1.0, "stable"), (np.pi, -1.0, "unstable")):
        model = robot.linearize([angle], [0.0], [0.0])
        close(model.A, [[0.0, 1.0], [-sign * g / length, -c / J]], 1e-12)
        close(model.B, [[0.0], [1.0 / J]])
        same_poles(model.poles, np.roots([1.0, c / J, sign * g / length]))
        assert model.stability == model.sampled(0.01).stability == verdict
    (mode,) = robot.linearize([0.0], [0.0], [0.0]).modes
    assert mode.damping_ratio == pytest.approx(c / J / (2 * np.sqrt(g / length)))


def test_a_satellite_with_two_gyrostats():
    """Two rotors across each other: the wobble of [Wittenburg 1977, 4.66] about a rest in space."""
    J, (h1, h2), Jr = np.diag([7.0, 5.0, 3.0]), (4.0, 9.0), 0.2
    E = np.eye(3)
    robot = gyrostat("floating", J, [(E[0], Jr), (E[2], Jr)])
    v = np.zeros(robot.nv)
    v[-2:] = h1 / Jr, h2 / Jr
    model = robot.linearize(robot.neutral(), v, None, locked=["rotor0", "rotor1"])
    x, y, z = h1 * E[0] + h2 * E[2]
    spin = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    expected = np.linalg.eigvals(np.linalg.solve(J, spin))
    same_poles(model.poles, [*expected, *np.zeros(len(model.states) - 3)], 1e-7)
    assert model.stability == "marginal"
    free = robot.linearize(robot.neutral(), v, None)
    lighter = J - Jr * (np.outer(E[0], E[0]) + np.outer(E[2], E[2]))
    expected = np.linalg.eigvals(np.linalg.solve(lighter, spin))
    same_poles(free.poles, [*expected, *np.zeros(len(free.states) - 3)], 1e-7)


# -- what inputs reach ----------------------------------------------------------------------------


def pendulums(lengths, on):
    """Pendulums side by side, on a cart or on a wall."""
    links, joints = [rd.Link("wall"), rd.Link("cart", mass(3.0))], []
    joints.append(rd.Joint("rail", "prismatic", "wall", "cart", axis=(1.0, 0.0, 0.0)))
    for k, length in enumerate(lengths):
        links.append(rd.Link(f"rod{k}", mass(1.0, -length)))
        joints.append(rd.Joint(f"pin{k}", "continuous", on, f"rod{k}", axis=(0.0, 1.0, 0.0)))
    return rd.load(rd.Mechanism("pendulums", tuple(links), tuple(joints)))


def mass(m, z=0.0):
    return rd.Inertia.from_matrix(m, (0.0, 0.0, z), np.zeros((3, 3)))


def test_what_no_motor_reaches_is_named():
    """Two pendulums on a cart that is pushed: equal ones swing against each other unmoved."""
    z = np.zeros(3)
    different, equal = (
        pendulums(x, "cart").linearize(z, z, None, inputs=["rail"])
        for x in ((1.0, 0.8), (1.0, 1.0))
    )
    assert different.uncontrollable_modes() == ()
    (mode,) = equal.uncontrollable_modes()
    assert mode.name in ("q:pin0", "q:pin1")
    assert mode.natural_frequency == pytest.approx(np.sqrt(9.81))
    close(mode.shape[:3], mode.shape[1] * np.array([0.0, 1.0, -1.0]))
    close(mode.shape @ equal.A, mode.pole * mode.shape)
    close(mode.shape @ equal.B, 0.0)
    apart = pendulums((1.0, 0.8), "wall")
    names = ["rail", "pin1"]
    (mode,) = apart.linearize(z, z, None, inputs=names).uncontrollable_modes()
    assert mode.name == "q:pin0"
    modes = apart.linearize(z, z, None, outputs=["pin0", "rail"]).unobservable_modes()
    assert [mode.name for mode in modes] == ["q:pin1"]
    assert modes[0].natural_frequency == pytest.approx(np.sqrt(9.81 / 0.8))
    nothing = apart.linearize(z, z, None, inputs=[])
    assert len(nothing.uncontrollable_modes()) == 4  # rest and drift of the cart, two pendulums


# -- modes as motions -----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "size"), [("double_pendulum", 2e-3), ("four_bar", 2e-3)])
def test_a_mode_is_how_the_robot_moves(name, size):
    robot = rd.load(name, springs={rd.load(name).joint_names[0]: (20.0, 0.1)})
    q = robot.equilibrium(robot.neutral())
    for mode in robot.linearize(q, np.zeros(robot.nv), None).modes:
        motion = rd.mode_motion(robot, q, mode, amplitude=size, cycles=1.0)
        assert len(motion) == 41 and motion.loop_residual.max() < 1e-11
        assert abs(motion.t[-1] * mode.pole.imag) == pytest.approx(2 * np.pi)
        step = motion.t[-1] / 400
        run = rd.simulate(robot, q0=motion.q[0], v0=motion.v[0], duration=motion.t[-1], step=step)
        np.testing.assert_allclose(motion.q, run.q[::10], rtol=0, atol=2.0 * size**2)
        np.testing.assert_allclose(motion.tau, 0.0, atol=400.0 * size**2)
        largest = np.abs(motion.q - q)[:, robot.joints[mode.name[2:]].q].max()
        assert largest == pytest.approx(size, rel=1e-3)


def test_modes_that_grow_end_large_and_modes_that_stand_still_are_none(double):
    q = np.array([np.pi, 0.0])
    modes = double.linearize(q, [0, 0], None).modes
    grows = next(mode for mode in modes if mode.pole.real > 1.0)
    motion = rd.mode_motion(double, q, grows, amplitude=0.1)
    moved = np.abs(motion.q - q).max(axis=-1)
    assert moved.argmax() == len(motion) - 1 and moved[0] < 0.01
    assert moved[-1] == pytest.approx(0.1)
    free = pendulums((1.0,), "cart")
    still = next(x for x in free.linearize([0, 0], [0, 0], None).modes if x.name == "q:rail")
    with pytest.raises(rd.ShapeError, match="stands still"):
        rd.mode_motion(free, [0, 0], still)
    with pytest.raises(rd.ShapeError, match="stands still"):  # up to rounding
        rd.mode_motion(free, [0, 0], dataclasses.replace(still, pole=-1e-16 + 1e-15j))
    with pytest.raises(rd.ShapeError, match="robot is str"):
        rd.mode_motion("cart", [0, 0], grows)
    with pytest.raises(rd.UnknownNameError):
        rd.mode_motion(free, [0, 0], grows)
    four_bar = rd.load("four_bar", springs={"crank_drive": (20.0, 0.1)})
    q = four_bar.equilibrium(four_bar.neutral())
    (mode,) = four_bar.linearize(q, np.zeros(3), None).modes
    with pytest.raises(rd.ShapeError, match="smaller amplitude"):
        rd.mode_motion(four_bar, q, mode, amplitude=40.0)


@pytest.mark.parametrize(
    ("name", "coordinates"),
    [("satellite", "tree"), ("four_bar", "tree"), ("four_bar", "minimal")],
)
def test_what_sensors_show_changes_as_they_do(name, coordinates):
    """Along states with closed loops, by differences of fourth order, under other forces too."""
    base = "floating" if name == "satellite" else "fixed"
    robot = rd.load(name, coordinates=coordinates, base=base)
    at = (robot.link_names[-1], [0.1, 0.2, 0.3])
    kinds = ("imu", "position", "angular_velocity")
    robot = robot.with_(sensors=[rd.Sensor(x, at=at, name=x) for x in kinds])
    rng = np.random.default_rng(4)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    motors = [robot.joints[x].v for x in robot.actuated_joints]
    tau = np.zeros(robot.nv)
    for own in motors:
        tau[own] = rng.normal()
    v = robot.consistent_velocity(q, v) if robot.nc else v
    model = robot.linearize(q, v, tau, outputs=kinds)

    def shown(q, v, tau):
        return np.concatenate([*robot.measure(q, v, tau=tau).values()])

    def slope(moved, h=1e-3):
        near, far = (moved(x) - moved(-x) for x in (h, 2.0 * h))
        return (8.0 * near - far) / (12.0 * h)

    free, crank = robot.nv if not robot.nc else 1, robot.independent_joints[:1]
    for k in range(free):
        unit = np.eye(robot.nv)[k]
        if robot.nc:
            unit = np.eye(robot.nv)[robot.joints[crank[0]].v][0]
            unit = robot.consistent_velocity(q, unit, hold=crank)

        def at_place(x, unit=unit, crank=crank):
            p = robot.integrate(q, x * unit)
            if not robot.nc:
                return shown(p, v, tau)
            p = robot.assemble(p, hold=crank)
            return shown(p, robot.consistent_velocity(p, v, hold=crank), tau)

        close(model.C[:, k], slope(at_place), 1e-8)
        close(model.C[:, free + k], slope(lambda x, unit=unit: shown(q, v + x * unit, tau)), 1e-8)
    for k, own in enumerate(motors):
        unit = np.zeros(robot.nv)
        unit[own] = 1.0
        close(model.D[:, k], slope(lambda x, unit=unit: shown(q, v, tau + x * unit)), 1e-8)
    assert model.outputs[:2] == ("imu.fx", "imu.fy")


# -- what is refused ------------------------------------------------------------------------------


def test_what_is_refused():
    robot, five_bar = bundled("four_bar"), bundled("five_bar")
    q, v = robot.neutral(), np.zeros(3)
    with pytest.raises(rd.UnknownNameError, match="crank"):
        robot.linearize(q, v, None, inputs=["crank"])
    with pytest.raises(rd.UnknownNameError, match="elbow"):
        robot.linearize(q, v, None, outputs=["elbow"])
    with pytest.raises(
        rd.UnknownNameError, match=r"no joint, link or sensor 'x:coupler'.*'coupler'"
    ):
        robot.linearize(q, v, None, outputs=["x:coupler"])
    with pytest.raises(rd.ActuationError, match=r"'crank_drive' .*twice in inputs"):
        robot.linearize(q, v, None, inputs=["crank_drive", "crank_drive"])
    with pytest.raises(rd.ActuationError, match=r"left_drive.*controlled"):
        five_bar.linearize(
            five_bar.neutral(), np.zeros(4), None, locked=["left_drive"], inputs=["left_drive"]
        )
    with pytest.raises(rd.ShapeError, match="dt"):
        robot.linearize(q, v, None, dt=0.0)
    with pytest.raises(rd.SingularError, match="2 speeds are named"):
        robot.linearize(q, v, None, independent=["crank_drive", "crank_pin"])
    with pytest.raises(rd.InconsistentStateError):
        robot.linearize(q + 0.1, v, None)


def test_joints_that_stand_still_while_others_move_are_not_independent():
    """The piston of a crank at its dead centre."""
    slider = bundled("crank_slider")

    def at(s):
        return slider.assemble([s, 0.0, 0.0], hold=["crank_drive"], beyond_limits=True)

    def rate(s):
        """Of the piston, a unit of that of the crank."""
        return slider.consistent_velocity(at(s), [1.0, 0.0, 0.0], hold=["crank_drive"])[2]

    turns = np.linspace(0.0, 6.0, 25)
    k = next(k for k in range(24) if rate(turns[k]) * rate(turns[k + 1]) < 0.0)
    dead = at(brentq(rate, turns[k], turns[k + 1], xtol=1e-14))
    assert slider.linearize(dead, np.zeros(3), None).states == ("q:crank_drive", "v:crank_drive")
    with pytest.raises(
        rd.SingularError, match=r"cylinder do not determine .* independent="
    ) as caught:
        slider.linearize(dead, np.zeros(3), None, independent=["cylinder"])
    assert caught.value.joints == ("cylinder",)


def test_a_robot_that_depends_on_time():
    """A slide on a table that turns ever faster: the model of an instant."""

    def table(q, t):
        c, s = rd.cos(0.5 * t * t), rd.sin(0.5 * t * t)
        return [[c, -s, 0, c * q[0]], [s, c, 0, s * q[0]], [0, 0, 1, 0], [0, 0, 0, 1]]

    slide = rd.Joint("slide", "prismatic", "ground", "stone")
    stone = rd.Mechanism("table", (rd.Link("ground"), rd.Link("stone", mass(2.0))), (slide,))
    robot = rd.load(stone, joint_maps={"slide": rd.JointMap(1, table)}, gravity=(0, 0, 0))
    model = robot.at(1.7).linearize([0.3], [0.2], None)
    close(model.A, [[0.0, 1.0], [1.7**2, 0.0]], 1e-9)
    assert model.stability == "unstable"


def test_a_base_that_constraints_hold_needs_a_mass(double):
    """Its joints move no mass without the constraints, though these have one rank everywhere."""
    q, v, tau = np.array([0.3, 0.4]), np.array([0.5, 0.6]), np.array([1.0, 2.0])

    def linearized(inertia):
        links = [
            dataclasses.replace(x, inertia=inertia) if x.name == "base" else x
            for x in double.mechanism.links
        ]
        kinds = "translation", "rotation"
        robot = rd.load(
            dataclasses.replace(double.mechanism, links=tuple(links)),
            base="floating",
            constraints=[rd.FrameConstraint(x, x, between=("world", "base")) for x in kinds],
        )
        at = np.r_[robot.neutral()[:7], q]
        return robot.linearize(at, *(np.r_[np.zeros(6), x] for x in (v, tau)))

    with pytest.raises(rd.SingularError, match=r"no mass .*: floating_base, .*give 'base' a"):
        linearized(None)
    found = linearized(rd.Inertia(0.5, ixx=0.1, iyy=0.1, izz=0.1))
    np.testing.assert_allclose(found.A, double.linearize(q, v, tau).A, atol=1e-12)
