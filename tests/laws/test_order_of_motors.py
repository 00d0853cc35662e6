"""Motors have one order, that of q, however the elements of a file are ordered."""

import dataclasses
import itertools
import re
import zipfile

import numpy as np
import pytest
from support.comparison import close_within

import robodyn as rd
from robodyn import urdf
from robodyn.controllers import LQR, TimeVaryingLQR

alike = close_within(1e-12)

MOTORS = {
    "shoulder": '<motor joint="shoulder" gear_ratio="50" rotor_inertia="1e-4" torque_limit="3"/>',
    "elbow": '<motor joint="elbow" gear_ratio="30" rotor_inertia="2e-4" torque_limit="2"/>',
    "wrist": '<motor joint="wrist" gear_ratio="20" rotor_inertia="1e-4" torque_limit="1"/>',
    "finger": '<motor joint="finger" gear_ratio="10" rotor_inertia="3e-4" torque_limit="0.5"/>',
}

#: Of which the second couples the motors of two joints.
TRANSMISSIONS = (
    '<transmission name="plain"><type>transmission_interface/SimpleTransmission</type>'
    '<joint name="elbow"/><actuator name="e"><mechanicalReduction>30</mechanicalReduction>'
    "</actuator></transmission>",
    '<transmission name="both"><type>transmission_interface/DifferentialTransmission</type>'
    '<joint name="wrist"><role>joint1</role><mechanicalReduction>2</mechanicalReduction></joint>'
    '<joint name="shoulder"><role>joint2</role><mechanicalReduction>3</mechanicalReduction></joint>'
    '<actuator name="a"><role>actuator1</role><mechanicalReduction>40</mechanicalReduction>'
    '</actuator><actuator name="b"><role>actuator2</role><mechanicalReduction>25'
    "</mechanicalReduction></actuator></transmission>",
)


def _link(name, mass):
    return (
        f'<link name="{name}"><inertial><origin xyz="0.05 0 0.2"/><mass value="{mass}"/>'
        '<inertia ixx="0.3" iyy="0.3" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def _joint(name, parent, child, more=""):
    return (
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0 0 0.4"/><axis xyz="0 1 0"/>{more}</joint>'
    )


def arm(elements, *, follows=False):
    """An arm of three joints, with a finger that follows the wrist if asked for."""
    mimic = '<mimic joint="wrist" multiplier="-2"/>' if follows else ""
    body = [
        '<link name="base"/>', _link("a", 3), _link("b", 2), _link("c", 1), _link("d", 1),
        _joint("shoulder", "base", "a"), _joint("elbow", "a", "b"), _joint("wrist", "b", "c"),
        _joint("finger", "b", "d", mimic),
    ]  # fmt: skip
    return f'<robot name="arm">{"".join(body)}{"".join(elements)}</robot>'


def orders(elements):
    """Some orders of elements, the given one first."""
    every = [*itertools.permutations(elements)]
    return [every[0], every[-1], every[len(every) // 2]]


KINDS = {
    "motors": (tuple(MOTORS.values()), False),
    "some motors": ((MOTORS["elbow"], MOTORS["shoulder"], MOTORS["finger"]), False),
    "motor at a follower": ((MOTORS["finger"], MOTORS["elbow"], MOTORS["shoulder"]), True),
    "transmissions": ((*TRANSMISSIONS, MOTORS["finger"]), False),
}


@pytest.fixture(params=KINDS)
def kind(request):
    elements, follows = KINDS[request.param]
    return [rd.load(arm(given, follows=follows)) for given in orders(elements)]


def state(robot):
    rng = np.random.default_rng(3)
    return [rng.normal(size=n) for n in (robot.nq, robot.nv, robot.nv)]


def test_motors_stand_in_the_order_of_q(kind):
    for robot in kind:
        in_tree = [joint.name for joint in robot.mechanism.joints]
        assert [*robot.actuated_joints] == [x for x in in_tree if x in robot.actuators]


def test_arrays_of_motors(kind):
    first, *others = kind
    q, v, a = state(first)
    for robot in others:
        assert robot.actuated_joints == first.actuated_joints
        alike(robot.gear_ratios, first.gear_ratios)
        np.testing.assert_array_equal(robot.motor_torque_limits, first.motor_torque_limits)
        alike(robot.transmission_matrix, first.transmission_matrix)
        alike(robot.actuation_matrix(q), first.actuation_matrix(q))
        alike(robot.motor_torques(q, v, a), first.motor_torques(q, v, a))
        alike(robot.motor_power(q, v, a), first.motor_power(q, v, a))


def test_parameters_and_regressors(kind):
    """To the last bit, as sums are taken in the order of joints."""
    first, *others = kind
    q, v, a = state(first)
    for robot in others:
        assert robot.dynamic_parameter_names == first.dynamic_parameter_names
        for name in ("dynamic_regressor", "inverse_dynamics", "forward_dynamics"):
            found, expected = (getattr(x, name)(q, v, a) for x in (robot, first))
            np.testing.assert_array_equal(found, expected)


def test_linear_models_and_regulators(kind):
    """The columns of one multiply the rows of the other, with weights in the same order."""
    gains = []
    for loaded in kind:
        robot = loaded.with_(gravity=(0, 0, 0), springs={"wrist": (5.0, 0.0)})
        q, rest = np.zeros(robot.nq), np.zeros(robot.nv)
        model = robot.linearize(q, rest, None)
        assert model.inputs == tuple(f"tau:{name}" for name in robot.actuated_joints)
        dear = 10.0 ** np.arange(len(model.inputs))
        law = LQR(robot, q, effort=dear)
        assert law.model.inputs == model.inputs
        assert np.linalg.eigvals(model.A - model.B @ law.gains).real.max() < 0.0
        run = rd.simulate(robot, law, q0=q, duration=0.02, step=0.01, limits="ignore")
        along = TimeVaryingLQR(robot, run, effort=dear[: len(robot.actuated_joints)])
        gains.append((law.gains, along.gains, law(0.0, q + 0.1, rest)))
    for found in gains[1:]:
        for x, y in zip(found, gains[0], strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-6 * np.abs(y).max())


def test_independent_joints_do_not_follow_the_order_of_motors():
    """Where more joints of a linkage have motors than can be independent."""
    described = rd.load("two_feet").mechanism
    found = {
        rd.load(
            dataclasses.replace(described, actuators=tuple(motors)), coordinates="minimal"
        ).independent_joints
        for motors in orders(described.actuators[:4])
    }
    assert len(found) == 1, found


def _driven(robot):
    return robot.actuation_matrix(np.zeros(robot.nq)).any(axis=1)


def test_sizing_and_limits(kind):
    tables, violations = [], []
    for robot in kind:
        forces = 400.0 * np.arange(1.0, robot.nv + 1.0) * _driven(robot)
        run = rd.simulate(robot, lambda t, q, v: forces, duration=0.01, limits="ignore")  # noqa: B023
        tables.append(run.sizing())
        violations.append(sorted(x.joint for x in run.limit_violations))
        assert tuple(tables[-1]) == robot.actuated_joints
        enforced = rd.simulate(robot, lambda t, q, v: forces, duration=0.01, limits="enforce")  # noqa: B023
        most = np.abs(enforced.motor_torques).max(axis=0)
        assert (most <= robot.motor_torque_limits * (1.0 + 1e-9)).all()
        alike(enforced.tau[0], rd.simulate(
            kind[0], lambda t, q, v: forces, duration=0.01, limits="enforce",  # noqa: B023
        ).tau[0])  # fmt: skip
    for table in tables[1:]:
        alike(table.torques, tables[0].torques)
        for row, first in zip(table.rows, tables[0].rows, strict=True):
            assert row.motor == first.motor
            assert row.torque_limit == pytest.approx(first.torque_limit)
            assert row.speed_limit == first.speed_limit
    assert all(found == violations[0] for found in violations)


def _code(robot, folder, target, *functions):
    rd.export(robot, functions, target, folder)
    return {x.name: x.read_bytes() for x in sorted(folder.rglob("*")) if x.is_file()}


@pytest.mark.slow
def test_exported_code_has_the_same_arguments(kind, tmp_path):
    """Header and variables of an FMU are the same text."""
    seen = []
    for n, robot in enumerate(kind):
        code = _code(robot, tmp_path / f"c{n}", "c", "motor_torques", "inverse_dynamics")
        (path,) = rd.export(robot, ["step"], "fmu", tmp_path / f"fmu{n}").iterdir()
        with zipfile.ZipFile(path) as unit:
            model = unit.read("modelDescription.xml").decode()
        seen.append((code["arm.h"], re.findall(r'<\w+ name="[^"]*"', model)))
    assert all(x == seen[0] for x in seen)


@pytest.mark.parametrize("gone", [("elbow",), ("elbow", "shoulder")])
def test_no_motor_and_motors_at_all_joints_are_two_things(gone):
    """Locked motors leave joints without motors, which get no torque."""
    text = arm([MOTORS["elbow"], MOTORS["shoulder"]])
    held = rd.load(text).with_(locked={name: 0.3 for name in gone})
    assert held.actuated_joints == tuple({"shoulder"} - {*gone})
    assert {*held.actuators} == {"elbow", "shoulder"}
    assert rd.load(urdf.write(held.mechanism)).actuated_joints == held.actuated_joints
    undriven = dataclasses.replace(rd.load(text).mechanism, actuators=())
    assert rd.load(undriven).actuated_joints == ("shoulder", "elbow", "wrist", "finger")


def test_a_locked_motor_of_a_loop_leaves_no_motors(four_bar):
    """Where the joint with the only motor closes a loop, too."""
    described = dataclasses.replace(four_bar.mechanism, actuators=())
    for name in ("crank_drive", "rocker_pin"):
        robot = rd.load(described, actuators={name: rd.Actuator(5.0, 1e-4)})
        assert robot.actuated_joints == (name,)
        q = robot.neutral()
        held = robot.with_(locked={name: float(robot.joint_positions(q)[name])})
        assert held.actuated_joints == ()
