"""What `help` says about a robot's methods."""

import dataclasses
import doctest
import functools
import importlib
import inspect
import pydoc
import re
from pathlib import Path

import numpy as np
import pytest
from test_public_names import described

import robodyn as rd

ROOT = Path(__file__).parents[1]
NAMES = [name for name in dir(rd.load("four_bar")) if not name.startswith("_")]
METHODS = [name for name in NAMES if callable(getattr(rd.Robot, name, None))]


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_a_docstring(name):
    text = inspect.getdoc(inspect.getattr_static(rd.Robot, name, None))
    if text is None:
        assert re.search(rf"\b{name}\b", rd.Robot.__doc__), f"nothing says what {name} is"
        return
    assert f"Robot.{name}`" not in text.splitlines()[0], "a docstring that points at itself"


def test_every_method_has_a_row_in_the_table_of_times():
    text = (ROOT / "benchmarks" / "methods.py").read_text()
    assert not [x for x in METHODS if f"r.{x}(" not in text and f'"{x}"' not in text]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_describes_its_parameters_and_what_it_returns(name):
    method = getattr(rd.Robot, name)
    parameters = [p for p in inspect.signature(method).parameters if p != "self"]
    text = inspect.getdoc(method)
    left = [p for p in parameters if p not in (described(text) or ())]
    assert left == [], f"Robot.{name} does not describe {left}"
    assert name == "check_state" or "\nReturns\n-------\n" in text


@pytest.mark.parametrize("name", METHODS)
def test_every_array_has_a_shape_and_a_unit(name):
    text = inspect.getdoc(getattr(rd.Robot, name))
    for line in re.findall(r"^\w.* : (?:array_like|ndarray).*", text, re.MULTILINE):
        if not line.startswith("out : "):
            assert "shape" in line, line
            assert "[" in line or " of bool" in line or " of int" in line, line


@functools.cache
def examples():
    """Names of what a robot has, of which the docstring has examples that are run."""
    found = doctest.DocTestFinder().find(importlib.import_module("robodyn.robot"))
    return {test.name.rpartition(".")[2] for test in found if test.examples}


@pytest.mark.parametrize("name", NAMES)
def test_everything_has_an_example_that_is_run(name):
    assert name in examples()


def test_help_shows_the_parameters():
    text = pydoc.render_doc(rd.Robot.joint_wrenches, renderer=pydoc.plaintext)
    section = text[text.index("Parameters\n") :]
    for parameter in inspect.signature(rd.Robot.joint_wrenches).parameters:
        assert parameter == "self" or re.search(rf"\b{parameter}\b", section), parameter


def test_help_of_a_compiled_method_is_that_of_a_bound_method():
    robot = rd.load("double_pendulum")
    method = robot.gravity_forces
    text = pydoc.render_doc(method, "%s", renderer=pydoc.plaintext)
    assert text.startswith("method gravity_forces in module robodyn.robot\n\ngravity_forces(q: ")
    assert inspect.signature(method) == inspect.signature(rd.Robot.gravity_forces.__get__(robot))
    assert method.__func__ is rd.Robot.gravity_forces
    assert method.__qualname__ == "Robot.gravity_forces"
    assert "gravity_forces(self, q: " in pydoc.render_doc(rd.Robot, renderer=pydoc.plaintext)


def parts_of(x, depth=0):
    """Arrays, lists and dictionaries in what an attribute gives."""
    if isinstance(x, np.ndarray | dict | list):
        yield x
    inner = x.values() if isinstance(x, dict) else x if isinstance(x, tuple | list) else ()
    if dataclasses.is_dataclass(x) and depth < 4:
        inner = [getattr(x, f.name) for f in dataclasses.fields(x) if not f.name.startswith("_")]
    for part in inner if depth < 4 else ():
        yield from parts_of(part, depth + 1)


@pytest.mark.parametrize("name", ["stewart", "four_bar", "arm7"])
def test_attributes_cannot_be_written_to(name):
    """What a robot gives is a copy, or is read-only: a robot is never changed."""
    robot = rd.load(name)
    found = robot.loops_analysis if robot.nc else None
    for attribute in dir(robot):
        given = inspect.getattr_static(type(robot), attribute, None)
        if attribute == "model" or not isinstance(given, property | functools.cached_property):
            continue
        try:
            one, other = ([*parts_of(getattr(robot, attribute))] for _ in range(2))
        except rd.RobodynError:  # it has none
            continue
        for x, y in zip(one, other, strict=True):
            if isinstance(x, np.ndarray):
                assert not (x.flags.writeable and np.shares_memory(x, y)), attribute
            else:
                assert x is not y, attribute
    if found is not None:
        with pytest.raises(ValueError, match="read-only"):
            found.q[0] = 1.0
        with pytest.raises(TypeError):
            found.redundant[0] = ()
