"""What is wrong in an argument of any public function is an error of ours that names it.

Functions, methods, controllers, references, events and descriptions are found by inspection. Each
parameter is tried with all that is wrong in its place: of another shape, not a number, complex,
text, a date, an object of another kind, a name that nothing has, and ``None`` where it is not
optional. A parameter without a row in ``argument_table`` fails here.
"""

import inspect
import re
from dataclasses import replace

import numpy as np
import pytest
from support.argument_table import ROBOTS, table

import robodyn as rd
import robodyn.controllers
from robodyn.simulation import events

#: Made by robodyn, for its users to read.
RESULTS = {
    "BaseParameters", "Comparison", "Conversion", "Excitation", "Function", "HybridDynamics",
    "IKResult", "Identified", "Impact", "JointWrenches", "Mechanism", "Payload", "Plan",
    "PlannedMotion", "Robot", "State", "SteadyMotion", "StepDerivatives", "SweepTable",
    "Trajectory", "TrajectoryGradient",
}  # fmt: skip
#: Of numbers and symbols, which behave as those of Python's ``math`` do.
LIKE_MATH = {
    "arctan", "arctan2", "cos", "cosh", "exp", "floor", "log", "maximum", "minimum", "sign",
    "sin", "sinh", "sqrt", "tan", "tanh", "where",
}  # fmt: skip
#: Of joints that move independently.
NOT_FOR_LINKAGES = {"manipulability", "operational_inertia"}

METHODS = [
    name
    for name in vars(rd.Robot)
    if inspect.isfunction(getattr(rd.Robot, name)) and not name.startswith("_")
]
FUNCTIONS = {
    name: getattr(module, name)
    for module in (rd, events, robodyn.controllers)
    for name in module.__all__
    if callable(getattr(module, name)) and name not in RESULTS | LIKE_MATH
}
FUNCTIONS = {
    name: function
    for name, function in FUNCTIONS.items()
    if not (inspect.isclass(function) and issubclass(function, Exception))
}
#: What takes a robot, and differs between trees and linkages; what is slow is tried with a tree.
OF_LINKAGES = {
    name
    for name, function in FUNCTIONS.items()
    if "robot" in inspect.signature(function).parameters
} - {"excitation", "identify", "identify_payload"}


def names_it(error, name, row):
    """Whether a message says which argument, or which name, is wrong."""
    called = (name, *row.called)
    words = "|".join(re.escape(word) for word in called)
    said = str(error)
    return bool(re.search(rf"\b({words})", said)) or "nosuch" in said or error.name in called


def arguments(call, owner, rows):
    """The parameters of a call, their rows, and good arguments for those that are needed."""
    parameters = [
        p
        for p in inspect.signature(call).parameters.values()
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    known = {p.name: rows.get(f"{owner}.{p.name}", rows.get(p.name)) for p in parameters}
    missing = [name for name, row in known.items() if row is None]
    assert not missing, (
        f"tests/support/argument_table.py has no row for {missing} of {owner}: "
        "add a good value and a kind"
    )
    needed = [p.name for p in parameters if p.default is p.empty or known[p.name].needed]
    return parameters, known, {name: known[name].good for name in needed}


def faults(call, owner, rows):
    """What goes wrong with wrong arguments, in words."""
    parameters, known, given = arguments(call, owner, rows)
    good = call(**given)
    for p in parameters:
        row = known[p.name]
        for wrong in [*row.kind(row.good), *([] if row.none or p.default is None else [None])]:
            try:
                result = call(**{**given, p.name: wrong})
            except rd.RobodynError as error:
                if not (isinstance(error, rd.UnknownNameError) or names_it(error, p.name, row)):
                    yield f"{p.name}={wrong!r} is not named: {error}"
            except Exception as error:
                yield f"{p.name}={wrong!r} is a {type(error).__name__}: {error}"
            else:
                if not reaches_nothing(p.name, parameters, wrong, good, result):
                    yield f"{p.name}={wrong!r} gives {result!r}"


def reaches_nothing(name, parameters, wrong, good, result):
    """Whether a method goes straight to machine code, and its result does not depend on NaN."""
    compiled = "out" in [p.name for p in parameters]
    return compiled and np.isnan(np.asarray(wrong)).all() and np.array_equal(good, result)


@pytest.mark.parametrize("which", ROBOTS)
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.filterwarnings("ignore")
def test_methods_of_robots(which, name):
    robot = ROBOTS[which]()
    if which == "linkage" and name in NOT_FOR_LINKAGES:
        with pytest.raises(rd.SettingsError, match="closed loops"):
            getattr(robot, name)(robot.neutral(), robot.link_names[-1])
    elif name == "contact_forces":
        with pytest.raises(rd.SettingsError, match="no contacts"):
            robot.contact_forces(robot.neutral(), np.zeros(robot.nv))
    elif which != "tree" and name == "dh_table":
        with pytest.raises(rd.TopologyError, match="loop"):
            robot.dh_table()
    else:
        assert not [*faults(getattr(robot, name), name, table(which))]


@pytest.mark.parametrize(
    ("which", "name"),
    [
        (which, name)
        for name, function in FUNCTIONS.items()
        for which in ("tree", "linkage")
        if which == "tree" or name in OF_LINKAGES
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_functions_controllers_and_descriptions(which, name):
    before = rd.get_num_threads()
    try:
        assert not [*faults(FUNCTIONS[name], name, table(which))]
    finally:
        rd.set_num_threads(before)


def calls_of(thing):
    """Methods of a controller or a reference that are given a time or a state."""
    for name in ("__call__", "running_cost", "final_cost", "force", "damped", "energy", "sliding"):
        if name in vars(type(thing)):
            yield name, getattr(thing, name)


@pytest.mark.parametrize("name", robodyn.controllers.__all__)
@pytest.mark.filterwarnings("ignore")
def test_what_controllers_and_references_are_asked(name):
    """NaN goes through them, and is seen by whom it comes out for."""
    rows, made = table("tree"), getattr(robodyn.controllers, name)
    if name in RESULTS or not inspect.isclass(made):
        return
    thing = made(**arguments(made, name, rows)[2])
    asked = {x: replace(row, kind=without_nan(row.kind)) for x, row in rows.items()}
    for method, call in calls_of(thing):
        assert not [*faults(call, f"{name}.{method}", asked)]


def without_nan(kind):
    """The same wrong values, but for arrays of NaN."""

    def wrong(good):
        for value in kind(good):
            real = isinstance(value, np.ndarray) and value.dtype == float
            if not real or np.ma.is_masked(value) or not np.isnan(value).all():
                yield value

    return wrong
