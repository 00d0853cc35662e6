"""A step is that of the textbook: with numbers, as machine code, with derivatives and symbols.

What it has to be is computed anew by `support.textbook_steps`, as all ways share the text of a
step. Machine code is the step by numbers to the last bit. Derivatives come with values of their own
code, and symbols are inlined into one program, so that these agree to rounding.
"""

import numpy as np
import pytest
from support.random_mechanisms import random_mechanism
from support.textbook_steps import TextbookStep

import robodyn as rd
from robodyn.simulation.integrators import EXPLICIT
from robodyn.simulation.loads.arguments import base_path
from robodyn.simulation.loads.driven_joints import driven_joints
from robodyn.simulation.loads.loads import BASE, Loads, loads_on
from robodyn.simulation.sensitivity.step_jacobian import StepJacobian
from robodyn.simulation.step.operations.numeric import NumericOperations
from robodyn.simulation.step.operations.step import instants_of, with_end
from robodyn.simulation.step.stepper import Stepper

#: Length of the step [s]: so long that loops drift apart and are closed anew.
H = 0.01


def swing(t, size=0.3, rate=3.0):
    """Position, velocity, acceleration."""
    s, c = np.sin(rate * t), np.cos(rate * t)
    return size * s, size * rate * c, -size * rate**2 * s


def carrier(t):
    """A base that goes to and fro along three axes."""
    x, dx, ddx = (np.array([k * part for k in (1.0, -0.5, 0.2)]) for part in swing(t))
    return rd.BaseMotion.from_world(x, [0, 0, 0, 1], dx, [0, 0, 0], ddx, [0, 0, 0])


def clock():
    law = rd.Constraint("clock", lambda q, t: q[0] - 0.4 * rd.sin(1.5 * t), "left_drive")
    return rd.load("five_bar", constraints=[law])


def cam():
    """A joint that is a map of its coordinate and of time."""

    def pose(q, t):
        c, s = rd.cos(0.7 * q[0] + t * t), rd.sin(0.7 * q[0] + t * t)
        return [[c, -s, 0, 0.4 * rd.cos(q[0] + t)], [s, c, 0, 0], [0, 0, 1, 0.1 * t], [0, 0, 0, 1]]

    mechanism = random_mechanism(np.random.default_rng(1), ["revolute"] * 3, damping=0.2)
    return rd.load(mechanism, joint_maps={"joint1": rd.JointMap(1, pose)})


#: Robot, its base, and what acts on it.
CASES = {
    "arm": ("double_pendulum", "fixed", {}),
    "arm with a wrench": ("arm7", "fixed", {"wrenches": {"link7": np.arange(6.0)}}),
    "quaternions": ("pan_tilt", "floating", {}),
    "moving base": ("arm7", "moving", {"base": carrier, "wrenches": {"link4": np.ones(6)}}),
    "driven joint": ("arm7", "moving", {"base": carrier, "controlled": {"elbow_pitch": swing}}),
    "locked joints": ("scara", "fixed", {"locked": ["shoulder"]}),
    "driven joint of a free robot": ("pan_tilt", "floating", {"controlled": {"pan": swing}}),
    "linkage": ("four_bar", "fixed", {}),
    "linkage on a moving base": ("four_bar", "moving", {"base": carrier}),
    "floating linkage": ("four_bar", "floating", {}),
    "driven linkage": ("five_bar", "fixed", {"controlled": {"left_drive": swing}}),
    "locked linkage": ("five_bar", "fixed", {"locked": ["left_drive"]}),
    "several loops": ("stephenson", "fixed", {}),
    "constraint of speeds": ("steering", "fixed", {}),
    "constraint of time": (clock, None, {}),
    "joint of time": (cam, None, {}),
    "gains": ("four_bar", "fixed", {"stabilization": (40.0, 30.0)}),
    "gains of a driven linkage": (
        "five_bar",
        "fixed",
        {"controlled": {"left_drive": swing}, "stabilization": (30.0, 20.0)},
    ),
}


def given(case):
    """The robot, what acts on it, and a state."""
    name, base, acting = CASES[case]
    robot = name() if callable(name) else rd.load(name, base=base)
    times = np.array([0.0, H])
    driven = driven_joints(robot, acting.get("controlled"), acting.get("locked", ()), times)
    path = base_path(acting.get("base"), times)
    loads = loads_on(robot, driven, path, acting.get("wrenches"), acting.get("stabilization"))
    rng = np.random.default_rng(1)
    q, v = robot.at(0.0).neutral(), rng.uniform(-1.0, 1.0, robot.nv)
    if robot.nc:
        v = robot.at(0.0).consistent_velocity(q, v)
    q, v = Stepper(loads).start(0.0, q, v)
    tau = rng.normal(size=robot.nv)
    tau[list(driven.speeds)] = 0.0
    return loads, q, v, tau


def by_the_textbook(case, robot, integrator, q, v, tau):
    acting = CASES[case][2]
    paths = dict(acting.get("controlled", {}))
    paths |= {name: lambda t: (None, 0.0, 0.0) for name in acting.get("locked", ())}
    textbook = TextbookStep(
        robot, paths, acting.get("base"), acting.get("wrenches"), acting.get("stabilization")
    )
    return textbook(integrator, 0.0, q, v, tau, H)


def by_machine_code(loads, integrator, q, v, tau):
    def fallback(k, r):
        raise AssertionError("a step was done by Python")

    motion = Stepper(loads, integrator).compiled(np.array([0.0, H]), q, v)
    motion.tau[...] = tau
    motion.samples([np.zeros((2, 1, x.shape[-1])) for x in (q, v, v, v)])
    motion.advance(0, 1, False, fallback)
    return motion.q[0], motion.v[0]


def with_derivatives(loads, integrator, q, v, tau):
    moved = StepJacobian(loads, integrator)(np.zeros(1), q, v, tau, np.full(1, H))
    return [x.value for x in moved]


def by_symbols(loads, integrator, q, v, tau, **named):
    class Held:
        symbolic = True

        def __call__(self, t, q, v):
            return tau

    f = rd.step_function(
        loads.robot, Held(), step=H, integrator=integrator, wrenches=loads.external.wrenches,
        **named,
    )  # fmt: skip
    asked = instants_of(EXPLICIT[integrator])
    rows, at = loads.at(H * np.array(asked)), loads.at(H * np.array(with_end(asked)))
    names = ("driven_position", "driven_velocity", "driven_acceleration")
    inputs = {"t": 0.0, "q": q, "v": v, **{name: rows.varying.get(name) for name in BASE}}
    inputs |= rows.constant | dict(zip(names, at.driven, strict=False))
    return f(*(inputs[port.name] for port in f.inputs))


#: Each case by one integrator, some by all of them.
BY = {
    (case, integrator)
    for k, case in enumerate(CASES)
    for n, integrator in enumerate(EXPLICIT)
    if n == k % len(EXPLICIT) or case in ("quaternions", "driven linkage")
}


@pytest.mark.parametrize(("case", "integrator"), sorted(BY))
def test_a_step_is_that_of_the_textbook_by_all_operations(case, integrator, monkeypatch):
    loads, q, v, tau = given(case)
    corrected = []
    where_open = NumericOperations.where_open
    monkeypatch.setattr(
        NumericOperations, "where_open", lambda *x: corrected.append(1) or where_open(*x)
    )
    expected = Stepper(loads, integrator).step(0.0, q, v, tau, H)
    if loads.robot.nc and not {"constraint", "gains"} & {*case.split()}:
        assert corrected, "loops are to drift apart here"
    assert np.abs(expected[0] - q).max() > 1e-4
    textbook = by_the_textbook(case, loads.robot, integrator, q, v, tau)
    for x, y in zip(textbook, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=0.0, atol=1e-11 * (1.0 + np.abs(y).max()))
    for x, y in zip(by_machine_code(loads, integrator, q, v, tau), expected, strict=True):
        np.testing.assert_array_equal(x, y)
    if loads.gains is not None:  # neither derivatives nor symbols are offered with them
        return
    named = {name: [*CASES[case][2].get(name, ())] for name in ("controlled", "locked")}
    for found in (
        with_derivatives(loads, integrator, q, v, tau),
        by_symbols(loads, integrator, q, v, tau, **named),
    ):
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=0.0, atol=1e-13 * (1.0 + np.abs(y).max()))


@pytest.mark.parametrize(
    "case", ["linkage", "driven linkage", "locked linkage", "several loops", "constraint of time"]
)
def test_a_step_without_straight_line_code_is_that_of_the_textbook(case, monkeypatch):
    """Solvers that reveal the rank close loops, and leave driven joints where they are."""
    monkeypatch.setattr(Loads, "functions", None)
    loads, q, v, tau = given(case)
    found = Stepper(loads).step(0.0, q, v, tau, H)
    there = by_the_textbook(case, loads.robot, "rk4", q, v, tau)
    for x, y in zip(found, there, strict=True):
        np.testing.assert_allclose(x, y, rtol=0.0, atol=1e-11 * (1.0 + np.abs(y).max()))
