"""Tracing: the parts that equations share are made once, and no equation changes them."""

from dataclasses import replace

import numpy as np
import pytest
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.equations.catalogue import COST, QUANTITIES, programs, trace
from robodyn.equations.quantities.common import tracer
from robodyn.equations.quantities.common.quantity import traced
from robodyn.equations.quantities.tasks import TaskEquations
from robodyn.equations.tree import articulated_body
from robodyn.model.settings import Settings
from robodyn.robot import Robot
from robodyn.symbolic.simplification import simplified

#: Choices without which a quantity is not defined.
CHOICES = {"frame": "foot", "controlled": (0,), "joints": ("thigh", "shin")}
CHOICES |= {"tasks": (TaskEquations("pose", ("foot", "world"), (0, 2), 16),)}
CHOICES |= {"independent": (0,), "forces": (0,), "actuated": ("thigh", "shin")}

#: Quantities that are evaluated where the mechanism is and where it moves to.
DERIVED = ("linear_model", *(name for name in QUANTITIES if name.endswith("_derivatives")))

#: How often joints are evaluated: for elastic forces and hits that are differentiated also at rest.
POINTS = {**dict.fromkeys(DERIVED, 2), "impact_derivatives": 3, "energy_and_power": 2}

LEG = """
<robot name="leg">
  <link name="hip"/>
  <link name="upper"><inertial><origin xyz="0.1 0 -0.2"/><mass value="3"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0 0.1 -0.2"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="foot"/>
  <joint name="thigh" type="revolute"><parent link="hip"/><child link="upper"/>
    <axis xyz="0 1 0"/><dynamics damping="0.1" friction="0.2"/>
    <limit lower="-1" upper="1" effort="9" velocity="9"/></joint>
  <joint name="shin" type="revolute"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0 -0.4" rpy="0.1 0.2 0.3"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="9" velocity="9"/></joint>
  <joint name="ankle" type="fixed"><parent link="lower"/><child link="foot"/>
    <origin xyz="0 0 -0.4"/></joint>
</robot>
"""


@pytest.mark.parametrize("base", ("fixed", "moving"))
@pytest.mark.parametrize("name", QUANTITIES)
def test_joints_and_base_are_evaluated_once(monkeypatch, name, base):
    """Hash-consing hides it in the result, but not in the time."""
    times = {"joints": 0, "base": 0}
    evaluate_joints, at_rest = tracer.evaluate_joints, tracer.BaseState.at_rest

    def counted(*given):
        times["joints"] += 1
        return evaluate_joints(*given)

    def counted_base(*given):
        times["base"] += 1
        return at_rest(*given)

    setup = rd.load(LEG, base=base).model.setup
    options = {k: x for k, x in CHOICES.items() if k in QUANTITIES[name].options}
    monkeypatch.setattr(tracer, "evaluate_joints", counted)
    monkeypatch.setattr(tracer.BaseState, "at_rest", counted_base)
    made = programs(name, setup, options)
    points = POINTS.get(name, 1)
    assert times["joints"] <= points * len(made)
    assert times["base"] <= points * len(made)


def cost(program):
    return sum(COST[kind] * count for kind, count in program.operations().items())


def random_tree(size, base):
    rng = np.random.default_rng(size)
    kinds = rng.choice(["revolute", "prismatic", "universal"], size, p=[0.6, 0.3, 0.1])
    return Robot(random_mechanism(rng, kinds), Settings(base=base)).model.setup


#: Trees on both sides of what is called deep.
TREES = [(size, base) for size in (3, 8, 13, 20) for base in ("fixed", "floating")]


@pytest.mark.parametrize(("size", "base"), TREES)
def test_the_algorithm_with_fewer_operations_is_taken(size, base):
    """Where trees are deep, without having traced the other."""
    setup = random_tree(size, base)
    rng = np.random.default_rng(size)
    for share in (0.0, 0.4):
        controlled = tuple(int(k) for k in np.flatnonzero(rng.random(setup.model.nv) < share))
        options = {"controlled": controlled}
        best = min(programs("hybrid_dynamics", setup, options), key=cost)
        assert cost(trace("hybrid_dynamics", setup, options)) == cost(simplified(best, cost))


def test_of_deep_trees_one_algorithm_is_traced(monkeypatch):
    setups = [random_tree(*tree) for tree in TREES]
    deep = [articulated_body.preferred(setup.model, frozenset()) for setup in setups]
    assert any(deep)
    assert not all(deep)
    assert not any(
        articulated_body.preferred(x.model, frozenset(range(x.model.nv))) for x in setups
    )
    times = []
    monkeypatch.setenv("ROBODYN_CACHE", "0")  # where they may be kept from the last time
    evaluate_joints = tracer.evaluate_joints
    monkeypatch.setattr(
        tracer, "evaluate_joints", lambda *given: times.append(1) or evaluate_joints(*given)
    )
    for setup, alone in zip(setups, deep, strict=True):
        times.clear()
        trace("forward_dynamics", setup)
        assert len(times) == (1 if alone else 2)


def test_a_row_that_promises_another_shape_is_an_error():
    """A matrix by rows of another length is never taken for one of the right size."""
    setup = rd.load(LEG).model.setup
    row = QUANTITIES["mass_matrix"]
    with pytest.raises(ValueError, match="4 numbers for 'M'"):
        traced(
            "mass_matrix",
            replace(row, outputs=(replace(row.outputs[0], shape=("nv", 3)),)),
            row.trace,
            setup,
            {},
        )
