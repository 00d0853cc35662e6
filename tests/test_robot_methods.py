"""What `help` says about a robot's methods, and that each public name stands in the docs."""

from __future__ import annotations

import doctest
import functools
import importlib
import inspect
import pydoc
import re
from pathlib import Path

import pytest
from test_public_names import described

import robodyn as rd

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [name for name in dir(rd.load("four_bar")) if not name.startswith("_")]
METHODS = [name for name in NAMES if callable(inspect.getattr_static(rd.Robot, name, None))]


@pytest.mark.parametrize("name", NAMES)
def test_the_docs_speak_of_every_public_name(name):
    assert any(re.search(rf"\b{name}\b", page.read_text()) for page in PAGES)


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
