"""Files of motions: tables with one row for each sample, and units in the header (CSV, pandas)."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import ShapeError, optional
from robodyn.simulation.loads import column_names
from robodyn.simulation.trajectory.files.archive import check_columns
from robodyn.simulation.trajectory.files.validity import reporting_damage
from robodyn.simulation.trajectory.states.samples import not_in_columns

#: Number of rows that are written together.
BLOCK = 4096

#: Beginning of the name of a column without numbers, which says what the motion had besides.
NOT_HERE = "not in this file: "


def header(fields: Mapping[str, Any]) -> list[str]:
    """Names of all columns, ``"v:elbow [rad/s]"``; without units if the robot is not known."""
    robot, nq, nv = fields["robot"], fields["q"].shape[-1], fields["v"].shape[-1]
    speeds: Sequence[str] = fields["joint_names"]
    if len(speeds) != nv:
        speeds = [str(k) for k in range(nv)]
    places = speeds if nq == nv else [str(k) for k in range(nq)]
    units, moved = ("",) * nq, ("",) * nv
    if robot is not None:
        places = column_names.coordinate_names(robot)
        units, moved = column_names.coordinate_units(robot), column_names.speed_units(robot)
    groups = [("q:", places, units)]
    for prefix, per in (("v:", "/s"), ("a:", "/s^2")):
        groups.append((prefix, speeds, tuple(unit and unit + per for unit in moved)))
    groups.append(("tau:", speeds, tuple(map(column_names.force_unit, moved))))
    groups.append(("", ["energy", "loop_residual"], ("J", "")))
    for x in robot.sensors if fields["measurements"] else ():
        groups.append(("sensor:", [f"{x.name}.{column}" for column in x.columns], x.units))
    return ["t [s]"] + [
        f"{prefix}{name}" + (f" [{unit}]" if unit else "")
        for prefix, names, own in groups
        for name, unit in zip(names, own, strict=True)
    ]


def rows(fields: Mapping[str, Any], part: slice) -> FloatArray:
    """Rows of the table."""
    parts = [fields[name][part] for name in ("t", "q", "v", "a", "tau", "energy", "loop_residual")]
    parts += [x[part] for x in fields["measurements"].values()]
    return np.hstack([x[:, None] if x.ndim == 1 else x for x in parts])


def _one_motion(what: str, fields: Mapping[str, Any]) -> None:
    shape = fields["q"].shape
    if len(shape) != 2:
        raise ShapeError(
            f"{what} holds one motion, and q has shape {shape}"
            + (": take trajectory.motion(k)" if len(shape) > 2 else ""),
            name="q",
            given=shape,
        )


def write(name: str, fields: Mapping[str, Any]) -> None:
    """Write one motion with all digits of its numbers."""
    _one_motion("a CSV", fields)
    with open(name, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        head, lost = header(fields), not_in_columns(fields)
        place = head.index("energy [J]")
        nothing = [NOT_HERE + "; ".join(lost)] if lost else []
        writer.writerow(head[:place] + nothing + head[place:])
        for first in range(0, len(fields["t"]), BLOCK):
            part = rows(fields, slice(first, first + BLOCK))
            if lost:
                part = np.insert(part, place, np.nan, axis=1)
            writer.writerows(part.tolist())


@reporting_damage
def read(source: Path) -> dict[str, Any]:
    """The fields of a trajectory from a CSV.

    Raises ShapeError: If it is damaged or holds something else.
    """
    with source.open(newline="", encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    told = next((name for name in head if name.startswith(NOT_HERE)), "")
    table = np.array(lines, float).reshape(len(lines), len(head))
    columns = [re.sub(r" \[[^\[\]]*\]$", "", name) for name in head]  # without units
    fields: dict[str, Any] = {
        name: table[:, columns.index(name)] for name in ("t", "energy", "loop_residual")
    }
    for letter in ("q", "v", "a", "tau"):
        places = [k for k, name in enumerate(columns) if name.startswith(f"{letter}:")]
        fields[letter] = np.ascontiguousarray(table[:, places])
    check_columns(fields)
    names = (name.partition(":") for name in columns)
    fields["joint_names"] = tuple(name for letter, _, name in names if letter == "tau")
    fields["not_saved"] = tuple(told.removeprefix(NOT_HERE).split("; ")) if told else ()
    return fields


def to_pandas(fields: Mapping[str, Any]) -> Any:
    """A table of pandas, with the time as its index."""
    DataFrame = optional("pandas", "pandas", "a table of a trajectory").DataFrame
    _one_motion("a table", fields)
    time, *names = header(fields)
    table = DataFrame(rows(fields, slice(None))[:, 1:], columns=names)
    return table.set_index(DataFrame({time: fields["t"]})[time])
