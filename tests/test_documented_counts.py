"""The operation counts that docs/theory/equations.md gives are those of the code."""

from __future__ import annotations

import importlib.util
import re
import warnings
from pathlib import Path

import pytest
from support.sayers_satellite import BUS_AND_CLOCK, satellite, without_lumping

import robodyn as rd
from robodyn.equations import catalogue
from robodyn.equations.catalogue import trace

PAGE = Path(__file__).parents[1] / "docs/theory/equations.md"
COLUMNS = {
    "inverse dynamics": "inverse_dynamics",
    "mass matrix": "mass_matrix",
    "forward dynamics": "forward_dynamics",
}
SUMS = {name: COLUMNS[name] for name in ("mass matrix", "inverse dynamics", "forward dynamics")}
#: Bundled robots of which it is counted what shorter sums save.
SHORTER = ("double_pendulum", "four_bar", "puma560", "scara")
#: The same two with their derivatives.
WHOLE = {
    "inverse dynamics": "inverse_dynamics_derivatives",
    "forward dynamics": "forward_dynamics_derivatives",
}
#: Robots of which these are counted.
DERIVED = ("Panda, fingers locked", "ANYmal B, floating")
FINGERS = ("panda_finger_joint1", "panda_finger_joint2")
#: Robot of the page -> file of example-robot-data, base, locked joints.
ROBOTS = {
    "UR5": ("ur_description/urdf/ur5_robot.urdf", "fixed", ()),
    "Panda, fingers locked": ("panda_description/urdf/panda.urdf", "fixed", FINGERS),
    "ANYmal B, floating": ("anymal_b_simple_description/robots/anymal.urdf", "floating", ()),
    "Talos (38), floating": ("talos_data/robots/talos_reduced.urdf", "floating", ()),
}
#: Satellite of the page -> links left out.
SATELLITES = {
    "bus and clock": BUS_AND_CLOCK,
    "without the camera": ("camera",),
    "whole": (),
}


def table(first):
    """Rows of the table whose head begins so: name -> texts by column."""
    lines = PAGE.read_text().splitlines()
    (start,) = (k for k, line in enumerate(lines) if line.startswith(f"| {first} |"))
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[start:]]
    head, rows = cells[0], {}
    for line, row in zip(lines[start + 2 :], cells[2:], strict=False):
        if not line.startswith("|"):
            break
        rows[row[0]] = dict(zip(head[1:], row[1:], strict=True))
    return rows


def path_of(file):
    """Where example-robot-data has a file; its wheel lies beside that of pinocchio."""
    spec = importlib.util.find_spec("pinocchio")
    for parent in Path(spec.origin).parents if spec and spec.origin else ():
        path = parent / "cmeel.prefix/share/example-robot-data/robots" / file
        if path.is_file():
            return path
    return pytest.skip("example-robot-data is not installed")


def check(first, name, counted):
    """Numbers of a row against those of the code, by column."""
    row = table(first)[name]
    written = {column: tuple(map(int, re.findall(r"\d+", text))) for column, text in row.items()}
    for column in row:
        assert written[column] == counted[column], (
            f"{PAGE.name}, {name}, {column}: {row[column]!r} should say {counted[column]}; "
            f"the whole row: {counted}"
        )


def test_the_tables_are_of_these_robots():
    assert table("robot").keys() == ROBOTS.keys()
    assert table("parts of the satellite").keys() == SATELLITES.keys()
    for row in (*table("robot").values(), *table("parts of the satellite").values()):
        assert row.keys() == COLUMNS.keys()


@pytest.mark.parametrize("name", ROBOTS)
def test_multiplications_and_additions(name):
    check("robot", name, counts_of(name, COLUMNS))


@pytest.mark.parametrize("name", DERIVED)
def test_multiplications_and_additions_of_derivatives(name):
    assert table("derivatives").keys() == {*DERIVED}
    check("derivatives", name, counts_of(name, WHOLE))


def counts_of(name, columns):
    """Multiplications and additions by column."""
    file, base, locked = ROBOTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # couplings of motors, which take no part here
        robot = rd.load(path_of(file), base=base, passive=False)
    if locked:
        robot = robot.with_(locked=dict.fromkeys(locked, 0.0))
    if match := re.search(r"\((\d+)\)", name):
        assert robot.nv == int(match[1])
    counted = {}
    for column, quantity in columns.items():
        counts = robot.function(quantity).operations
        counted[column] = (counts["mul"], counts["add"])
    return counted


@pytest.mark.parametrize("name", SATELLITES)
def test_all_operations_with_and_without_lumping(name):
    robot = satellite(*SATELLITES[name], passive=False)
    apart, counted = without_lumping(robot), {}
    for column, quantity in COLUMNS.items():
        programs = robot.function(quantity), trace(quantity, apart)
        counts = programs[0].operations, programs[1].operations()
        counted[column] = tuple(sum(count.values()) for count in counts)
    check("parts of the satellite", name, counted)


@pytest.mark.parametrize("name", SHORTER)
def test_all_operations_with_and_without_shorter_sums(name, monkeypatch):
    after = all_operations(name)
    monkeypatch.setattr(catalogue, "simplified", lambda program, cost: program)
    before = all_operations(name)
    both = {column: (before[column], after[column]) for column in SUMS}
    check("sums", name, {column: x if x[0] != x[1] else x[:1] for column, x in both.items()})


def all_operations(name):
    """Operations by column, a sine and cosine as one."""
    robot = rd.load(name)
    return {x: sum(robot.function(y).operations.values()) for x, y in SUMS.items()}
