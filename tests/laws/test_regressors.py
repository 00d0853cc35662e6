"""Inverse dynamics as a linear function of inertial parameters, and which of them can be seen."""

import dataclasses
import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.bundled import bundled
from support.comparison import close_within
from support.examples import examples
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.description import JOINT_KINDS
from robodyn.symbolic.evaluate import evaluate

close = close_within(1e-12, least=1e-9)

KINDS = [kind for kind in JOINT_KINDS if kind != "fixed"]
BASES = ("fixed", "floating", "moving")


#: Files that are no robots, and a part of what is said about them.
REFUSED = {
    "alex_psyonic_hands.urdf": "mimics: no joint 'index_q1'",
    "ur3.urdf": "the mechanism has no links",
}


def example_robots():
    spec = importlib.util.find_spec("pinocchio")
    for parent in Path(spec.origin).parents if spec else ():
        folder = parent / "cmeel.prefix/share/example-robot-data/robots"
        if folder.is_dir():
            return sorted(folder.rglob("*.urdf"))
    return []


class Case:
    def __init__(self, robot, seed=0):
        rng = np.random.default_rng(seed)
        self.robot, self.q = robot, robot.random(rng)
        self.v, self.a = rng.normal(size=(2, robot.nv))
        self.base = ()
        if robot.base == "moving":
            pose = rd.BaseMotion.from_world(rng.normal(size=3), rng.normal(size=4)).pose
            self.base = (pose, *rng.normal(size=(2, 6)))

    def get(self, name, *more, **options):
        """Quantity at the state, by the interpreter, as the functions take their arguments."""
        f = self.robot.function(name, **options)
        known = {"q": self.q, "v": self.v, "a": self.a, "tau": self.a}
        state = [known[port.name] for port in f.inputs if port.name in known]
        base = self.base if any(port.name == "base_pose" for port in f.inputs) else ()
        return evaluate(f.program, *state, *base, *more)[0]


@examples(20)
@given(
    kinds=st.lists(st.sampled_from([*KINDS, "fixed"]), min_size=1, max_size=6),
    base=st.sampled_from(BASES),
    seed=st.integers(0, 999),
)
def test_regressor_of_random_trees(kinds, base, seed):
    if set(kinds) == {"fixed"}:
        return
    mechanism = random_mechanism(np.random.default_rng(seed), kinds)
    c = Case(rd.load(mechanism, base=base, passive=False, rigid=True), seed)
    close(c.get("regressor") @ c.robot.inertial_parameters, c.get("inverse_dynamics"), 1e-11)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("path", [pytest.param(p, id=p.stem) for p in example_robots()])
def test_regressor_of_example_robots(path):
    options = {"passive": False, "rigid": True, "allow_unphysical": True, "base": "floating"}
    if path.name in REFUSED:
        with pytest.raises(rd.RobodynError, match=REFUSED[path.name]):
            rd.load(path, **options)
        return
    robot = rd.load(path, **options)
    c = Case(robot)
    close(c.get("regressor") @ robot.inertial_parameters, c.get("inverse_dynamics"))


@pytest.mark.parametrize("name", ["puma560", "dual_arm", "scara"])
def test_parameters_of_pinocchio_are_ours(name, tmp_path):
    pin = pytest.importorskip("pinocchio")
    robot = rd.load(name, passive=False)
    path = tmp_path / "robot.urdf"
    from robodyn.urdf import write

    write(robot.mechanism, path)
    model = pin.buildModelFromUrdf(str(path))
    for k, link in enumerate(robot.body_names):
        joint = next(n for n, info in robot.joints.items() if info.child == link)
        there = model.inertias[model.getJointId(joint)].toDynamicParameters()
        here = robot.inertial_parameters[10 * k : 10 * k + 10]
        np.testing.assert_allclose(here, there, atol=1e-10)


@examples(10)
@given(
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=4),
    base=st.sampled_from(BASES),
    seed=st.integers(0, 999),
)
def test_functions_of_other_parameters(kinds, base, seed):
    """A function with parameters as input, given those of another robot, is that robot's."""
    one, other = (
        Case(
            rd.load(random_mechanism(np.random.default_rng(seed), kinds), base=base, rigid=True), 1
        )
        for _ in range(2)
    )
    payload = {"link1": rd.Inertia.from_matrix(1.5, (0.1, 0.2, 0.3), np.diag([0.02, 0.03, 0.04]))}
    other.robot = other.robot.with_(payload=payload)
    pi = other.robot.inertial_parameters
    for name in ("inverse_dynamics", "forward_dynamics", "mass_matrix", "kinetic_energy"):
        close(one.get(name, pi, parameters=True), other.get(name), 1e-9)


@pytest.mark.parametrize(
    ("name", "base", "count"),
    [
        # in the plane of motion: the inertia and first moment of each body
        ("double_pendulum", "fixed", 6),
        ("puma560", "fixed", None),
        # the number that the literature gives for arms of this kind
        ("arm7", "fixed", 43),
        ("dual_arm", "fixed", None),
        ("arm7", "floating", None),
    ],
)
def test_base_parameters_predict_and_are_independent(name, base, count):
    robot = rd.load(name, base=base, passive=False)
    found = robot.base_parameters()
    rng = np.random.default_rng(5)
    n = 2 + 40 * robot.body_names.__len__() // robot.nv
    q = np.array([robot.random(rng) for _ in range(n)])
    v, a = rng.normal(size=(2, n, robot.nv))
    Y = evaluate(robot.function("regressor").program, q, v, a)[0]
    tau = evaluate(robot.function("inverse_dynamics").program, q, v, a)[0]
    close(Y[..., found.columns] @ found.values, tau, 1e-10)
    # the number is the rank, found here by singular values
    stacked = Y.reshape(-1, Y.shape[-1])
    sizes = np.linalg.svd(stacked, compute_uv=False)
    assert len(found) == np.sum(sizes > 1e-9 * sizes[0])
    assert count is None or len(found) == count
    assert len(found.names) == len(found.expressions) == len(found)
    close(found.combination @ robot.inertial_parameters, found.values)


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "palletizer", "delta"])
def test_base_parameters_of_linkages_are_those_of_closed_motions(name):
    """As many as singular values of the power along closed motions say."""
    robot = rd.load(name, passive=False)
    found = robot.base_parameters()
    rng, powers = np.random.default_rng(1), []
    for k in range(4 * len(robot.inertial_parameters) // robot.dof):
        q = robot.random(k)
        v = robot.consistent_velocity(q, 3.0 * rng.normal(size=robot.nv))
        a = robot.forward_dynamics(q, v, 20.0 * rng.normal(size=robot.nv))
        directions = [
            robot.consistent_velocity(q, x) for x in rng.normal(size=(robot.dof, robot.nv))
        ]
        powers.append(np.array(directions) @ robot.regressor(q, v, a))
    sizes = np.linalg.svd(np.vstack(powers), compute_uv=False)
    assert len(found) == np.sum(sizes > 1e-9 * sizes[0])
    close(found.combination @ robot.inertial_parameters, found.values)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["palletizer", "excavator", "stephenson", "steering"])
def test_base_parameters_in_minimal_coordinates(name):
    """Their identity holds at all postures; their number is the rank, whatever the seed."""
    robot = rd.load(name, coordinates="minimal", passive=False)
    assert len({len(robot.base_parameters(k)) for k in range(3)}) == 1
    found, rng = robot.base_parameters(), np.random.default_rng(7)
    q = robot.random(rng, size=1500)
    # digits go near postures where branches meet
    q = q[robot.tree_form.loop_rank(robot.expand(q)).distance > 1e-4]
    assert len(q) > 1400
    v, a = rng.normal(size=(2, len(q), robot.nv))
    Y = robot.regressor(q, v, a)
    Y /= np.linalg.norm(Y, axis=(1, 2), keepdims=True)
    full = Y @ robot.inertial_parameters
    assert np.abs(Y[..., found.columns] @ found.values - full).max() < 1e-9 * np.abs(full).max()
    columns = Y.reshape(-1, Y.shape[-1])
    size = np.linalg.norm(columns, axis=0)
    s = np.linalg.svd(columns / np.where(size > 1e-9 * size.max(), size, 1.0), compute_uv=False)
    assert len(found) == np.sum(s > 1e-9 * s[0])


def test_base_parameters_of_parallelograms_in_minimal_coordinates():
    """As of a tree whose joints are coupled linearly, as parallelograms couple them."""
    robot = rd.load("palletizer", coordinates="minimal", passive=False)
    tree = robot.tree_form
    turns = {"elbow": (-1.0, 1.0), "wrist": (0.0, -1.0), "triangle_pivot": (-1.0, 0.0)}
    turns |= {"upper_tie_pin": (0.0, 1.0), "crank_pin": (1.0, -1.0), "lower_tie_pivot": (1.0, 0.0)}
    T = np.zeros((tree.nv, robot.nv))
    for joint in tree.joint_names:
        if joint in turns:
            of = [robot.joints[x].v.start for x in ("shoulder", "crank_drive")]
            T[tree.joints[joint].v, of] = turns[joint]
        else:
            T[tree.joints[joint].v, robot.joints[joint].v] = 1.0
    rng = np.random.default_rng(7)
    q, v, a = rng.uniform(-1.0, 1.0, (3, 400, robot.nv)) @ T.T
    assert np.abs(tree.loop_residual(q)).max() < 1e-14
    Y = T.T @ tree.regressor(q, v, a)
    sizes = np.linalg.svd(Y.reshape(-1, Y.shape[-1]), compute_uv=False)
    found, full = robot.base_parameters(), Y @ tree.inertial_parameters
    assert len(found) == np.sum(sizes > 1e-9 * sizes[0])
    assert np.abs(Y[..., found.columns] @ found.values - full).max() < 1e-11 * np.abs(full).max()


def test_what_base_parameters_of_a_linkage_leave_open_changes_no_motion():
    robot = rd.load("five_bar", passive=False)
    found, pi = robot.base_parameters(), robot.inertial_parameters
    null = np.linalg.svd(found.combination)[2][len(found) :]
    forward = robot.function("forward_dynamics", parameters=True)
    q = robot.random(0)
    rng = np.random.default_rng(2)
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    tau = rng.normal(size=robot.nv)
    expected = robot.forward_dynamics(q, v, tau)
    for direction in null:
        close(forward(q, v, tau, pi + 0.01 * direction), expected, 1e-8)
    moved = forward(q, v, tau, pi + 0.01 * found.combination[0])
    assert np.abs(moved - expected).max() > 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parameters": {"lower.m": -1.0}}, "body 'lower' .*mass -1 kg is negative"),
        ({"parameters": {"lower.Izz": 50.0}}, "body 'lower' .*exceeds the sum of the others"),
        ({"payload": {"upper": (2.0, np.diag([1.0, 1.0, 9.0]))}}, "body 'upper' .*exceeds the sum"),
    ],
)
def test_bodies_that_none_can_be_are_not_made_by_changes_either(change, message):
    robot = bundled("double_pendulum")
    if "payload" in change:
        ((link, (m, about)),) = change["payload"].items()
        change = {"payload": {link: rd.Inertia.from_matrix(m, (0.0, 0.0, -0.5), about)}}
    with pytest.raises(rd.errors.InertiaError, match=message):
        robot.with_(**change)
    asked = robot.with_(**change, allow_unphysical=True)
    assert not np.array_equal(asked.inertial_parameters, robot.inertial_parameters)
    # what was taken as it is stays so, and a mass at a point is a body
    assert asked.with_(parameters={"lower.hx": 0.01}).nv == 2
    point = rd.Inertia.from_matrix(1.0, (0.3, 0.2, -0.4), np.zeros((3, 3)))
    assert robot.with_(payload={"lower": point}).total_mass > robot.total_mass


def test_expressions_name_what_combines():
    found = rd.load("arm7", passive=False).base_parameters()
    assert all(
        text.startswith(name) for name, text in zip(found.names, found.expressions, strict=True)
    )
    assert any(" + " in text for text in found.expressions)


def test_parameters_only_where_they_enter():
    with pytest.raises(rd.UnknownNameError):
        bundled("arm7").function("frame_pose", frame="base", parameters=True)


# -- with motors and friction ---------------------------------------------------------------------


def hindered(name, **options):
    """A bundled robot all of whose joints resist, also the cut ones, loaded with some options."""
    mechanism = rd.load(name).mechanism
    rng = np.random.default_rng(1)

    def resisting(joint):
        if joint.kind == "fixed":
            return joint
        damping, friction = rng.uniform(0.1, 2.0, 2)
        return dataclasses.replace(joint, damping=damping, friction=friction)

    joints, loops = (tuple(map(resisting, x)) for x in (mechanism.joints, mechanism.loops))
    return rd.load(dataclasses.replace(mechanism, joints=joints, loops=loops), **options)


def check_dynamic(robot):
    c = Case(robot)
    forces = c.get("mass_matrix") @ c.a + c.get("bias_forces")
    close(c.get("dynamic_regressor") @ robot.dynamic_parameters, forces)
    inertial = slice(len(robot.parameter_names))
    close(c.get("dynamic_regressor")[:, inertial], c.get("regressor"), 1e-13)


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", rd.robots())
def test_dynamic_regressor_has_all_forces(name, base):
    check_dynamic(rd.load(name, base=base))


@pytest.mark.parametrize(
    "robot",
    [
        pytest.param(lambda: hindered("five_bar"), id="cut joints"),
        pytest.param(lambda: hindered("watt", coordinates="minimal"), id="minimal coordinates"),
        pytest.param(lambda: hindered("puma560", rotor_model="armature"), id="armatures"),
        pytest.param(lambda: hindered("scara", base="moving"), id="moving base"),
        pytest.param(lambda: rd.load("puma560", passive=False), id="bodies alone"),
    ],
)
def test_dynamic_regressor_of_variants(robot):
    check_dynamic(robot())


def test_dynamic_regressor_gives_the_torques_of_motors(puma):
    """The bodies alone leave more than thirty newton metres of this arm unexplained."""
    c = Case(puma)
    motors = puma.motor_torques(c.q, c.v, c.a) * puma.gear_ratios
    found = puma.dynamic_regressor(c.q, c.v, c.a) @ puma.dynamic_parameters
    close(found, motors)
    bodies = puma.regressor(c.q, c.v, c.a) @ puma.inertial_parameters
    assert np.abs(bodies - motors).max() > 30.0
    assert {x.rpartition(".")[2] for x in puma.dynamic_parameter_names[60:]} == {
        "rotor_inertia",
        "damping",
        "friction",
    }


def test_a_motor_without_known_inertia_has_a_column():
    motor = rd.Actuator(gear_ratio=50.0)
    robot = rd.load("double_pendulum", actuators={"elbow": motor})
    assert robot.dynamic_parameters[robot.dynamic_parameter_names.index("elbow.rotor_inertia")] == 0
    check_dynamic(robot)
    check_dynamic(robot.with_(parameters={"elbow.rotor_inertia": 1e-3}))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_friction_stays_with_the_motor_as_far_as_it_goes(sign):
    scara = bundled("scara")  # friction on the motor's side alone
    motor = scara.actuators["elbow"]
    motor = dataclasses.replace(motor, gear_ratio=sign * abs(motor.gear_ratio))
    scara = rd.load(scara.mechanism, actuators={**scara.actuators, "elbow": motor})
    at = scara.dynamic_parameter_names.index("elbow.friction")
    had = scara.dynamic_parameters[at]
    assert had == pytest.approx(abs(motor.gear_ratio) * motor.coulomb)
    for share in (0.5, 2.0):
        changed = scara.with_(parameters={"elbow.friction": share * had})
        assert changed.dynamic_parameters[at] == pytest.approx(share * had)
        assert changed.actuators["elbow"].coulomb == pytest.approx(min(share, 1.0) * motor.coulomb)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"link4.mass": 1.0}, rd.UnknownNameError, "link4.mass"),
        ({"link4.m": np.inf}, rd.SettingsError, "expected a finite number"),
        ({"link4.m": 0.0}, rd.SettingsError, "without mass"),
        ({"link4.m": "heavy"}, rd.ShapeError, "link4.m"),
    ],
)
def test_parameters_that_no_robot_has(arm, given, error, message):
    with pytest.raises(error, match=message):
        arm.with_(parameters=given)
