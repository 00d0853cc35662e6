"""Methods of robots over rows of states: what each row gives alone, in either precision.

Methods are found by inspection, as in ``tests/laws/test_wrong_arguments.py``; other arguments have
the good values of ``tests/support/argument_table.py``.
"""

import dataclasses
import functools
import inspect

import numpy as np
import pytest
from support.argument_table import ROBOTS, table

import robodyn as rd

ROWS = 3

#: What a robot says once for any number of states, or of one state.
OF_NO_ROWS = {
    "acceleration_for", "assemble", "at", "base_parameters", "branch_sign", "contact_forces",
    "dh_table", "equilibrium", "function", "inverse_kinematics", "loop_gaps", "mobility", "neutral",
    "of_rows", "parameter_rows", "plot", "random", "reduced", "simultaneous_impacts", "start",
    "steady_motion", "velocity_for", "with_",
}  # fmt: skip
METHODS = [
    name
    for name in vars(rd.Robot)
    if inspect.isfunction(getattr(rd.Robot, name))
    and not name.startswith("_")
    and name not in OF_NO_ROWS
]


@functools.cache
def robot_of(which):
    return ROBOTS[which]()


@functools.cache
def states(which):
    """Rows of whatever has a row for each state, by the names of arguments."""
    robot, rng = robot_of(which), np.random.default_rng(3)
    q, more = (robot.random(rng, size=ROWS) for _ in range(2))
    v, w, a, tau = rng.normal(size=(4, ROWS, robot.nv))
    if robot.nc:
        v = robot.consistent_velocity(q, v)
        a = robot.consistent_acceleration(q, v, a)
    rows = {"q": q, "q0": q, "q1": more, "v": v, "dv": w, "a": a, "u": w, "tau": tau, "x": a}
    rows["a_controlled"], rows["tau_free"] = a[:, :1], tau[:, 1:]
    if robot.nc:  # of which what moves is not chosen freely
        rows["tau"] = robot.inverse_dynamics(q, v, a)
    return rows


def parts(x, name=""):
    """All arrays in what a method returns, by their places."""
    if isinstance(x, dict):
        for key, value in x.items():
            yield from parts(value, f"{name}[{key}]")
    elif dataclasses.is_dataclass(x):
        for field in dataclasses.fields(x):
            if not field.name.startswith("_"):
                yield from parts(getattr(x, field.name), f"{name}.{field.name}")
    elif isinstance(x, tuple) and not all(isinstance(y, str) for y in x):
        for k, value in enumerate(x):
            yield from parts(value, f"{name}[{k}]")
    elif hasattr(x, "values_array"):
        yield name, np.asarray(x.values_array)
    elif isinstance(x, np.ndarray | float | int | np.generic) and not isinstance(x, bool):
        yield name, np.asarray(x)


def arguments(which, name, kind=float):
    """Those that have a row for each state, and the others, of a method."""
    rows, given = {}, {}
    for p in [*inspect.signature(getattr(rd.Robot, name)).parameters.values()][1:]:
        row = table(which).get(f"{name}.{p.name}", table(which).get(p.name))
        if p.name in states(which) and (p.default is p.empty or p.name in "qva"):
            rows[p.name] = states(which)[p.name].astype(kind)
        elif p.default is p.empty or row.needed:
            given[p.name] = row.good
    if name in ("impact", "impact_derivatives"):
        given["direction"] = None  # whichever way a point moves, it stops
    return rows, given


CASES = [
    (name, which)
    for name in METHODS
    for which in ROBOTS
    if not (which == "linkage" and name in ("manipulability", "operational_inertia"))
]


@pytest.mark.parametrize(("name", "which"), CASES)
def test_rows_are_what_each_gives_alone(name, which):
    """With any leading axes, in lists, and written into an array that is given."""
    rows, given = arguments(which, name)
    method = getattr(robot_of(which), name)
    found = method(**{x: y[:, None] for x, y in rows.items()}, **given)
    many = dict(parts(found))
    for k in range(ROWS):
        one = dict(parts(method(**{x: y[k].tolist() for x, y in rows.items()}, **given)))
        assert one.keys() == many.keys()
        for part, y in one.items():
            x = many[part]
            assert x.shape == (ROWS, 1, *y.shape), part
            np.testing.assert_allclose(x[k, 0], y, atol=1e-9 * (1.0 + np.abs(y).max(initial=0.0)))
    if "out" in inspect.signature(method).parameters:
        out = np.full_like(found, np.nan)
        assert method(**{x: y[:, None] for x, y in rows.items()}, **given, out=out) is out
        np.testing.assert_array_equal(out, found)


@pytest.mark.parametrize(("name", "which"), CASES)
def test_single_precision_is_near_and_stays(name, which):
    robot = robot_of(which)
    if "out" not in inspect.signature(getattr(robot, name)).parameters:
        return  # of several results, some are counts
    rows, given = arguments(which, name, np.float32)
    found = getattr(robot, name)(**rows, **given)
    exact = getattr(robot, name)(**{x: y.astype(float) for x, y in rows.items()}, **given)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, exact, atol=2e-3 * (1.0 + np.abs(exact).max(initial=0.0)))
