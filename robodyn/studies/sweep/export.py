"""Tables of sweeps as pandas and xarray objects (extras ``pandas`` and ``xarray``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.errors import MissingExtraError
from robodyn.studies.sweep.store import Coords

__all__ = ["to_pandas", "to_xarray"]


def to_pandas(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Any:
    """One line a row; an array of one shape in all rows becomes columns ``name[i,j]``."""
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("pandas", "pandas", "a table as a DataFrame") from None
    columns: dict[str, list[Any]] = {}
    for name in names:
        shapes = {np.shape(row[name]) for row in rows if name in row}
        split = len(shapes) == 1 and shapes != {()}
        for index in np.ndindex(*shapes.pop()) if split else [()]:
            column = f"{name}[{','.join(map(str, index))}]" if split else name
            columns[column] = [_part(row.get(name), index) for row in rows]
    if any("error" in row for row in rows):
        columns["error"] = [row.get("error", "") for row in rows]
    return pandas.DataFrame(columns)


def _part(value: Any, index: tuple[int, ...]) -> Any:
    return value if value is None or not index else value[index].item()


def to_xarray(dims: tuple[str, ...], coords: Coords, results: Mapping[str, Array]) -> Any:
    """The same dimensions and coordinates; other axes are called ``name_0``, ``name_1``."""
    try:
        import xarray
    except ImportError:
        raise MissingExtraError("xarray", "xarray", "a table as a Dataset") from None
    return xarray.Dataset(
        {name: (_axes(name, dims, array), array) for name, array in results.items()},
        {name: (_axes(name, along, array), array) for name, (along, array) in coords.items()},
    )


def _axes(name: str, along: tuple[str, ...], array: Array) -> tuple[str, ...]:
    return along + tuple(f"{name}_{k}" for k in range(array.ndim - len(along)))
