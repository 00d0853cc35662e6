"""Rows of a catalogue of motors and gears, from a table or a CSV file."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from robodyn.description import Actuator, Motor, Winding
from robodyn.errors import ActuationError, FileError, MissingFileError, ShapeError, UnknownNameError

#: A CSV file, or rows as mappings from the names of columns.
Catalogue: TypeAlias = "str | os.PathLike[str] | Iterable[Mapping[str, object]]"

#: Columns of numbers, and what stands where a cell is empty; ``None``: nothing.
NUMBERS: Mapping[str, float | None] = {
    "gear_ratio": 1.0, "rotor_inertia": 0.0, "viscous": 0.0, "coulomb": 0.0, "efficiency": 1.0,
    "backward_efficiency": None, "torque_limit": math.inf, "rated_torque": math.inf,
    "speed_limit": math.inf, "gear_torque": math.inf, "torque_constant": None, "resistance": None,
    "inductance": 0.0, "voltage": None, "current": None, "winding_resistance": None,
    "housing_resistance": None, "winding_time_constant": None, "housing_time_constant": None,
    "temperature_limit": None,
}  # fmt: skip

#: Columns of a `Winding`, in the order of its fields.
_HEAT = (
    "winding_resistance", "housing_resistance", "winding_time_constant", "housing_time_constant",
    "temperature_limit",
)  # fmt: skip


@dataclass(frozen=True)
class CatalogueRow:
    """A motor with its gear.

    name: Of both, if they are of two tables.
    actuator: With the electric motor, if the row has one.
    rated_torque, speed_limit [N m], [rad/s]: At the shaft, in continuous duty, and at most.
    gear_torque [N m, N]: Largest one at the output of the gear.
    """

    name: str
    actuator: Actuator
    rated_torque: float
    speed_limit: float
    gear_torque: float


def catalogue_rows(motors: Catalogue, gears: Catalogue | None = None) -> list[CatalogueRow]:
    """All rows; with a table of gears, each motor with each of them.

    Raises MissingFileError, FileError: If a file cannot be read.
    Raises UnknownNameError: For a column that is none.
    Raises ShapeError: For a cell that is no number, and tables without rows.
    Raises ActuationError: For a motor or gear that cannot be; it names the row.
    """
    one = _read(motors)
    if gears is None:
        return [_row(where, cells) for where, cells in one]
    found = []
    for place, cells in one:
        for where, others in _read(gears):
            both = ({*cells} & {*others}) - {"name"}
            if both:
                raise ShapeError(
                    f"both tables have a column {min(both)!r}: give it in that of motors or in "
                    "that of gears",
                    name=min(both),
                )
            name = f"{cells.get('name', place)} + {others.get('name', where)}"
            found.append(_row(f"{place}, {where}", {**cells, **others, "name": name}))
    return found


def _read(given: Catalogue) -> list[tuple[str, dict[str, object]]]:
    """Cells that are not empty, with the place of their row."""
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        try:
            with path.open(newline="", encoding="utf-8-sig") as file:
                read = csv.DictReader(file, skipinitialspace=True)
                rows = [(f"{path.name}:{read.line_num}", row) for row in read]
        except FileNotFoundError:
            raise MissingFileError(f"there is no catalogue {str(path)!r}") from None
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise FileError(f"the catalogue {str(path)!r} cannot be read: {error}") from None
    else:
        rows = [(f"row {k}", dict(row)) for k, row in enumerate(given)]
    if not rows:
        raise ShapeError("the catalogue has no rows, expected one at least", name="catalogue")
    found = []
    for where, row in rows:
        cells = {name: x for name, x in row.items() if x is not None and str(x).strip()}
        for name in cells:
            if name != "name" and name not in NUMBERS:
                known = ("name", *NUMBERS)
                raise UnknownNameError("column", str(name), known, f"the catalogue, {where}")
        found.append((where, cells))
    return found


def _row(where: str, cells: Mapping[str, object]) -> CatalogueRow:
    numbers = dict(NUMBERS)
    for name, text in cells.items():
        if name != "name":
            try:
                numbers[name] = float(str(text))
            except ValueError:
                raise ShapeError(
                    f"{name} is {text!r} in {where} of the catalogue, expected a number", name=name
                ) from None
    x = {name: math.nan if y is None else y for name, y in numbers.items()}
    try:
        actuator = Actuator(
            gear_ratio=x["gear_ratio"],
            rotor_inertia=x["rotor_inertia"],
            viscous=x["viscous"],
            coulomb=x["coulomb"],
            torque_limit=x["torque_limit"],
            efficiency=x["efficiency"],
            backward_efficiency=numbers["backward_efficiency"],
            motor=_motor(x, numbers),
        )
        _check(actuator)
    except ActuationError as error:
        raise ActuationError(f"{where} of the catalogue: {error}", direction=where) from None
    name = str(cells.get("name", where))
    return CatalogueRow(name, actuator, x["rated_torque"], x["speed_limit"], x["gear_torque"])


def _motor(x: Mapping[str, float], given: Mapping[str, float | None]) -> Motor | None:
    """The electric motor of a row; without a torque constant it is none."""
    electric = [name for name in ("resistance", "voltage", "current", *_HEAT) if given[name]]
    if given["torque_constant"] is None:
        if electric:
            raise ActuationError(f"it has {electric[0]} and no torque_constant")
        return None
    heat = [given[name] for name in _HEAT]
    if any(heat) and None in heat:
        missing = next(name for name in _HEAT if given[name] is None)
        raise ActuationError(f"it has no {missing}, which heat needs beside the others")
    if given["resistance"] is None:
        raise ActuationError("it has a torque_constant and no resistance")
    thermal = None
    if any(heat):
        r1, r2, t1, t2, top = (x[name] for name in _HEAT)
        thermal = Winding((r1, r2), (t1, t2), top)
    return Motor(
        x["torque_constant"], x["resistance"], inductance=x["inductance"],
        voltage=given["voltage"], current=given["current"], thermal=thermal,
    )  # fmt: skip


def _check(x: Actuator) -> None:
    if not x.gear_ratio or not math.isfinite(x.gear_ratio):
        raise ActuationError(f"gear_ratio={x.gear_ratio}, expected a number that is not zero")
    if not 0.0 < x.efficiency <= 1.0 or not 0.0 <= x.driven_efficiency <= 1.0:
        raise ActuationError("efficiencies are shares of power, from 0 to 1, and not 0 forwards")
    if min(x.rotor_inertia, x.viscous, x.coulomb) < 0.0:
        raise ActuationError("rotor_inertia, viscous and coulomb are not negative")
