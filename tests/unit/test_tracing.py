"""Tracing: the parts that equations share are made once, and no equation changes them."""

from __future__ import annotations

import pytest

import robodyn as rd
from robodyn.equations.catalogue import QUANTITIES, programs
from robodyn.equations.quantities import tracer

#: Choices without which a quantity is not defined.
CHOICES = {"frame": "foot", "controlled": (0,), "joints": ("thigh", "shin")}

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

    setup = rd.load(LEG, base=base)._model.setup
    options = {k: x for k, x in CHOICES.items() if k in QUANTITIES[name].options}
    monkeypatch.setattr(tracer, "evaluate_joints", counted)
    monkeypatch.setattr(tracer.BaseState, "at_rest", counted_base)
    made = programs(name, setup, options)
    assert times["joints"] <= len(made)
    assert times["base"] <= len(made)
