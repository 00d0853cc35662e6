"""Derivatives equal complex steps, Pinocchio's on trees, and differences along closed motions.

A complex step of ``integrate`` moves quaternions along their speeds, so that it says what a column
in tangent space is.
"""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.bundled import bundled
from support.closed_cases import CLOSED
from support.comparison import close_within
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.joints import KINDS
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.evaluate import evaluate

close = close_within(1e-10)

BASES = ("fixed", "floating", "moving")
MOVING = [str(kind) for kind in KINDS.values() if kind.in_files and kind.in_tree and kind.nv]
GRAVITY = (1.0, 2.0, -9.81)

#: Of a complex step: nothing of it is lost to rounding, and its square is nothing.
H = 1e-30


def complex_steps(robot, program, arrays, name, raw=False):
    """Derivatives of all outputs of a program by an input, a column at a time."""
    place = [port.name for port in program.inputs].index(name)
    moves = name == "q" and not raw
    size = robot.nv if moves else program.inputs[place].size
    columns = []
    for e in np.eye(size):
        moved = list(arrays)
        if moves:
            step = robot.function("integrate").program
            (moved[place],) = evaluate(step, arrays[place], 1j * H * e, dtype=complex)
        else:
            moved[place] = arrays[place] + 1j * H * e.reshape(np.shape(arrays[place]))
        columns.append([x.imag / H for x in evaluate(program, *moved, dtype=complex)])
    return [np.stack(parts, axis=-1) for parts in zip(*columns, strict=True)]


def some_inputs(robot, f, rng):
    """Arrays for the inputs of a function, the state aside."""
    given = {"q": robot.random(rng)}
    for port in f.inputs:
        if port.name == "base_pose":
            position, quaternion = rng.normal(size=3), rng.normal(size=4)
            given[port.name] = rd.BaseMotion.from_world(position, quaternion).pose
        elif port.name not in given:
            given[port.name] = rng.normal(size=port.shape)
    return given


def check_whole(robot, name, given=None, **options):
    """Value and derivatives in one pass, and each derivative as a function of its own."""
    f, whole = robot.function(name, **options), robot.function(f"{name}_derivatives", **options)
    given = some_inputs(robot, f, np.random.default_rng(3)) | (given or {})
    arrays = [given[port.name] for port in f.inputs]
    assert [port.name for port in whole.inputs] == [port.name for port in f.inputs]
    outputs = [port.name for port in whole.outputs]
    found = dict(zip(outputs, evaluate(whole.program, *arrays), strict=True))
    for port, value in zip(f.outputs, evaluate(f.program, *arrays), strict=True):
        close(found.pop(port.name), value)
    inputs = dict.fromkeys(key.split(" / d ")[1] for key in found)
    assert list(inputs)[:2] == ["q", "v"]
    for x in inputs:
        if not np.size(given[x]):
            assert all(not found.pop(f"d {port.name} / d {x}").size for port in f.outputs)
            continue
        exact = complex_steps(robot, f.program, arrays, x)
        alone = evaluate(jacobian(f.program, x), *arrays)
        for port, wanted, single in zip(f.outputs, exact, alone, strict=True):
            close(found.pop(f"d {port.name} / d {x}"), wanted)
            close(single, wanted)
    assert not found


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kind", MOVING)
def test_every_kind_of_joint_on_every_base(kind, base):
    """Two joints of a kind with one speed; of others one, which moves with more than that."""
    rng = np.random.default_rng([ord(x) for x in kind])
    kinds = ("revolute", kind, "prismatic", *[kind] * (KINDS[kind].nv == 1))
    mechanism = random_mechanism(rng, kinds, damping=0.3, friction=0.2)
    robot = rd.load(mechanism, base=base, gravity=GRAVITY, friction_speed=0.5)
    links = (mechanism.links[-1].name, mechanism.links[1].name)
    check_whole(robot, "inverse_dynamics", wrenches=links)
    check_whole(robot, "forward_dynamics", wrenches=links)
    ends = "joint0", robot.joint_names[-1]
    for controlled in (("joint1",), ends, tuple(robot.joint_names)):
        check_whole(robot, "hybrid_dynamics", controlled=controlled)


SPECIAL = {
    "motors": ("puma560", {}),
    "gyrostats": ("satellite", {"base": "floating"}),
    "minimal": ("five_bar", {"coordinates": "minimal"}),
    "springs": ("double_pendulum", {"springs": {"elbow": (30.0, 0.2)}}),
    "ground": ("double_pendulum", {}),
    "ground below a floating base": ("pan_tilt", {"base": "floating"}),
}


@pytest.mark.parametrize("case", SPECIAL)
def test_what_else_belongs_to_a_mechanism(case):
    source, options = SPECIAL[case]
    robot = rd.load(source, gravity=GRAVITY, **options)
    given = {"q": robot.neutral()} if case == "minimal" else {}
    if case.startswith("ground"):
        link = robot.link_names[-1]
        plane = rd.Ground({"tip": (link, (0.1, 0.0, -0.2))}, height=10.0, damping=0.1, friction=0.5)
        robot = robot.with_(ground=plane)
    check_whole(robot, "inverse_dynamics", given)
    check_whole(robot, "forward_dynamics", given)


@pytest.mark.slow
@pytest.mark.parametrize("parametric", ["inverse_dynamics", "forward_dynamics"])
def test_inertial_parameters_as_inputs(parametric):
    robot = rd.load("arm7", base="floating")
    f = robot.function(parametric, parameters=True)
    given = {"parameters": robot.inertial_parameters}
    check_whole(robot, parametric, given, parameters=True)
    state = some_inputs(robot, f, np.random.default_rng(1)) | given
    arrays = [state[port.name] for port in f.inputs]
    (found,) = evaluate(f.jacobian("parameters").program, *arrays)
    close(found, complex_steps(robot, f.program, arrays, "parameters")[0])


#: Without those whose formulas take too long to evaluate node by node for a test.
CLOSED_FUNCTIONS = [
    name for name in CLOSED if name not in ("bricard", "delta", "steering", "stewart", "two_feet")
]


def closed_state(robot, seed=2):
    rng = np.random.default_rng(seed)
    q = robot.random(rng)
    return q, robot.consistent_velocity(q, rng.normal(size=robot.nv)), rng.normal(size=robot.nv)


@pytest.mark.parametrize("name", CLOSED_FUNCTIONS)
def test_through_closed_loops(name):
    """The formulas themselves by complex steps, and differences between closed states."""
    robot = rd.load(name, gravity=GRAVITY)
    q, v, tau = closed_state(robot)
    state = {"q": q, "v": v}
    check_whole(robot, "forward_dynamics", state | {"tau": tau})
    check_whole(robot, "hybrid_dynamics", state, controlled=robot.independent_joints[:1])
    check_inverse(robot, q, v, robot.forward_dynamics(q, v, tau))

    found = robot.derivatives("forward_dynamics", q, v, tau)
    close(found["forward_dynamics"], robot.forward_dynamics(q, v, tau), 1e-9)
    dtau, h = np.random.default_rng(5).normal(size=robot.nv), 1e-5

    def at(s):
        moved = robot.assemble(
            robot.integrate(q, s * v), hold=robot.independent_joints, beyond_limits=True
        )
        dq = robot.difference(q, moved)
        speeds = robot.consistent_velocity(moved, v, hold=robot.independent_joints)
        return dq, speeds, robot.forward_dynamics(moved, speeds, tau + s * dtau)

    ahead, behind = at(h), at(-h)
    dq, dv, da = ((x - y) / (2 * h) for x, y in zip(ahead, behind, strict=True))
    close(found["q"] @ dq + found["v"] @ dv + found["tau"] @ dtau, da, 1e-5)


def check_inverse(robot, q, v, a):
    """The derivatives of forces at the motors, by the formula and by the method."""
    found = robot.derivatives("inverse_dynamics", q, v, a)
    close(found["inverse_dynamics"], robot.inverse_dynamics(q, v, a), 1e-9)
    f = robot.function("inverse_dynamics")
    for x in ("q", "v", "a"):
        exact = complex_steps(robot, f.program, (q, v, a), x)[0]
        close(found[x], exact, 1e-9)
        close(evaluate(jacobian(f.program, x), q, v, a)[0], exact, 1e-9)


#: Constraints of a floating base, by their function: those of positions and those of speeds.
HOLDING = {
    "height": (lambda q: q[2] - 0.5 * q[7] - 0.1 * q[0] * q[0], "holonomic"),
    "place": (lambda q, v: (1.0 + q[0] * q[1]) * v[6] + 0.3 * q[5] * v[7], "nonholonomic"),
}


@pytest.mark.parametrize("what", HOLDING)
def test_a_floating_base_that_is_not_free(what):
    function, kind = HOLDING[what]
    joints = ("floating_base", *bundled("pan_tilt").joint_names)
    constraint = rd.Constraint(what, function, joints, kind=kind)
    robot = rd.load("pan_tilt", base="floating", gravity=GRAVITY, constraints=[constraint])
    check_whole(robot, "forward_dynamics")


QUANTITIES = {
    "kinetic_energy": {},
    "potential_energy": {},
    "mass_matrix": {},
    "mass_matrix_inverse": {},
    "gravity_forces": {},
    "coriolis_matrix": {},
    "momentum": {},
    "center_of_mass": {},
    "regressor": {},
    "joint_wrenches": {},
    "integrate": {},
    "frame_pose": {"frame": "link2"},
    "frame_jacobian": {"frame": "link2", "axes": "world"},
    "frame_acceleration": {"frame": "link2"},
}


@pytest.mark.parametrize("name", QUANTITIES)
def test_everything_that_depends_on_coordinates(name):
    rng = np.random.default_rng(4)
    kinds = ("spherical", "planar", "universal", "cylindrical")
    robot = rd.load(random_mechanism(rng, kinds), base="floating", gravity=GRAVITY)
    f = robot.function(name, **QUANTITIES[name])
    given = some_inputs(robot, f, rng)
    arrays = [given[port.name] for port in f.inputs]
    for raw, size in ((False, robot.nv), (True, robot.nq)):
        slope = f.jacobian("q", raw=raw)
        assert slope.outputs[0].shape == (*f.outputs[0].shape, size)
        exact = complex_steps(robot, f.program, arrays, "q", raw)
        close(evaluate(slope.program, *arrays)[0], exact[0])


def test_second_derivatives_move_coordinates_too():
    robot = rd.load("pan_tilt", base="floating")
    f = robot.function("potential_energy")
    q = robot.random(1)
    second = f.jacobian("q").jacobian("q")
    assert second.outputs[0].shape == (robot.nv, robot.nv)
    exact = complex_steps(robot, f.jacobian("q").program, [q], "q")[0]
    close(second(q), exact)
    assert np.abs(exact).max() > 1.0


class Nothing:
    """A controller that lets everything go."""

    symbolic = True

    def __call__(self, t, q, v):
        return v * 0.0


def test_the_function_of_a_closed_loop_moves_coordinates():
    robot = rd.load("pan_tilt", base="floating")
    f = rd.closed_loop(robot, Nothing())
    q, v = robot.random(1), np.random.default_rng(0).normal(size=robot.nv)
    wanted = robot.derivatives("forward_dynamics", q, v, np.zeros(robot.nv))
    close(f.jacobian("q")(0.0, q, v), wanted["q"])


def example(name):
    """A robot of example-robot-data beside Pinocchio, with a random state."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
    try:
        import contestants
    finally:
        sys.path.pop(0)
    return contestants.pair(name, 3)


@pytest.mark.skipif(
    importlib.util.find_spec("pinocchio") is None, reason="pinocchio is not installed"
)
@pytest.mark.parametrize("name", ["panda", "anymal", "talos_reduced"])
def test_equal_pinocchio(name):
    pair = example(name)
    robot = pair.robot
    q, v, a = (x[0] for x in pair.ours)
    tau = robot.inverse_dynamics(q, v, a)
    for quantity, given in (("inverse_dynamics", a), ("forward_dynamics", tau)):
        program = robot.function(f"{quantity}_derivatives").program
        there = getattr(pair.oracle, f"{quantity}_derivatives")(q, v, given)
        for here, wanted in zip(evaluate(program, q, v, given)[1:], there, strict=True):
            close(here, wanted, 1e-9)


@pytest.mark.parametrize("name", ["pan_tilt", "five_bar"])
def test_hybrid_dynamics_over_all_speeds(name):
    """The method has the columns of the function, and zeros where there is nothing to give."""
    robot = rd.load(name, base="floating" if name == "pan_tilt" else "fixed", gravity=GRAVITY)
    q, v, tau = closed_state(robot)
    driven = robot.independent_joints[-1]
    at = robot.joints[driven].v.start
    tau[at] = 0.0
    roles = {"controlled": {driven: 0.7}}
    found = robot.derivatives("hybrid_dynamics", q, v, tau, **roles)
    assert list(found) == ["hybrid_dynamics", "q", "v", "a", "tau"]
    value = robot.hybrid_dynamics(q, v, tau=tau, **roles)
    close(found["hybrid_dynamics"].a, value.a, 1e-9)
    close(found["hybrid_dynamics"].tau, value.tau, 1e-9)
    free = [k for k in range(robot.nv) if k != at]
    f = robot.function("hybrid_dynamics_derivatives", controlled=(driven,))
    outputs = dict(zip([x.name for x in f.outputs], f(q, v, [0.7], tau[free]), strict=True))
    for part in ("a", "tau"):
        for x, given, own in (("a", "a_controlled", [at]), ("tau", "tau_free", free)):
            whole = getattr(found[x], part)
            close(whole[:, own], outputs[f"d {part} / d {given}"], 1e-12)
            assert not np.delete(whole, own, axis=-1).any()
        for x in "qv":
            close(getattr(found[x], part), outputs[f"d {part} / d {x}"], 1e-12)
    everything = robot.derivatives("hybrid_dynamics", q, v, tau)
    plain = robot.derivatives("forward_dynamics", q, v, tau)
    for x in ("q", "v", "tau"):
        close(everything[x].a, plain[x], 1e-8)
    assert not everything["a"].a.any()


@pytest.mark.slow
def test_what_there_is_no_derivative_of(palletizer):
    q, v, tau = closed_state(palletizer)
    with pytest.raises(rd.UnknownNameError, match=r"inverse_dynamics|forward_dynamics"):
        palletizer.derivatives("mass", q, v, tau)
    for name in (["forward_dynamics"], None):
        with pytest.raises(rd.ShapeError, match=r"name is .*, expected a name"):
            palletizer.derivatives(name, q, v, tau)
    with pytest.raises(rd.UnknownNameError, match="no input 'qq'"):
        palletizer.function("forward_dynamics").jacobian("qq")
    with pytest.raises(rd.InconsistentStateError):
        palletizer.derivatives("forward_dynamics", q + 0.1, v, tau)
    with pytest.raises(rd.ShapeError, match="controlled= and locked= are for hybrid_dynamics"):
        palletizer.derivatives("forward_dynamics", q, v, tau, locked=["waist"])
    tied = {name: 0.0 for name in palletizer.joint_names}
    with pytest.raises(rd.ActuationError, match="tie the controlled joints"):
        palletizer.derivatives("hybrid_dynamics", q, v, None, controlled=tied)
    described = bundled("five_bar").mechanism
    weak = rd.load(replace(described, actuators=described.actuators[:1]))
    state = weak.neutral(), np.zeros(weak.nv), np.zeros(weak.nv)
    with pytest.raises(rd.ActuationError):
        weak.derivatives("inverse_dynamics", *state)
