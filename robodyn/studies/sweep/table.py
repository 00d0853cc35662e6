"""`SweepTable`: results of a sweep over the values of its arguments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.arrays import mismatch
from robodyn.caller import warn
from robodyn.errors import ShapeError, SweepWarning, UnknownNameError, optional
from robodyn.files import as_path
from robodyn.html_tables import html_table
from robodyn.studies.sweep.picture import draw_sweep
from robodyn.studies.sweep.rows import RowResult
from robodyn.studies.sweep.store import SAVED, Coords, StoredSweep, merged, read, written


def _part(value: Any, index: tuple[int, ...]) -> Any:
    return value if value is None or not index else value[index].item()


def _axes(name: str, along: tuple[str, ...], array: Array) -> tuple[str, ...]:
    return along + tuple(f"{name}_{k}" for k in range(array.ndim - len(along)))


@dataclass(frozen=True, eq=False, repr=False)
class SweepTable:
    """Results of a study over the values that it was called with.

    ``table["peak"]`` is an array over the dimensions, followed by the axes of one result. Where a
    row failed or was not computed stands NaN, or empty text.

    Attributes
    ----------
    dims : tuple of str
        Names of the dimensions: the arguments of the study, or ``"row"`` where values were given
        row by row.
    shape : tuple of int
        How many values there are along each.
    coords : mapping of name to ndarray
        The values of each argument, by the names of objects.
    names : tuple of str
        Of the results.

    Examples
    --------
    >>> import robodyn as rd
    >>> table = rd.sweep(lambda x: {"square": x**2}, {"x": [1.0, 2.0, 3.0]})
    >>> table["square"].tolist()
    [1.0, 4.0, 9.0]
    """

    dims: tuple[str, ...]
    _coords: Coords = field(repr=False)
    _cells: Array = field(repr=False)

    def __len__(self) -> int:
        return int(self._cells.size)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values along each dimension."""
        return self._cells.shape

    @property
    def coords(self) -> Mapping[str, Array]:
        """The values of each argument."""
        return MappingProxyType({name: labels for name, (_, labels) in self._coords.items()})

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the results, in the order in which rows have them."""
        return tuple(dict.fromkeys(name for cell in self._done() for name in cell.results))

    @property
    def done(self) -> Array:
        """Which rows have results; an array of bool of the table's shape."""
        return np.array([bool(x and not x.error) for x in self._cells.flat]).reshape(self.shape)

    @property
    def failures(self) -> Mapping[int, str]:
        """Error messages of failed rows, by their index in ``rows``."""
        cells = enumerate(self._cells.flat)
        return MappingProxyType({k: cell.error for k, cell in cells if cell and cell.error})

    @property
    def rows(self) -> tuple[dict[str, Any], ...]:
        """Each row as a mapping of name to value and result, or ``"error"``.

        The last dimension is the fastest.
        """
        return tuple(self._row(k, cell) for k, cell in enumerate(self._cells.flat))

    def __getitem__(self, name: str) -> Array:
        """A result, or a coordinate, by name.

        Raises `ShapeError` if its shape differs from row to row: ``rows`` has it then.
        """
        if name in self._coords:
            return self._coords[name][1]
        arrays = {
            k: cell.results[name]
            for k, cell in enumerate(self._cells.flat)
            if cell and name in cell.results
        }
        if not arrays:
            raise UnknownNameError("result", name, (*self.names, *self._coords), "this sweep")
        first = next(iter(arrays.values()))
        for k, array in arrays.items():
            if array.shape != first.shape:
                raise ShapeError(
                    f"{name!r} has shape {array.shape} in row {k} and {first.shape} in row "
                    f"{next(iter(arrays))}: take it from rows",
                    name=name,
                )
        return _stacked(arrays, len(self), first.shape).reshape(self.shape + first.shape)

    def sel(self, **labels: Any) -> SweepTable:
        """The part with these values: ``table.sel(gain=10.0)``, ``table.sel(gain=[10.0, 20.0])``.

        One value takes its dimension away. Of values that were given row by row, all rows that have
        one of them are left.

        Parameters
        ----------
        **labels
            A value by the name of an argument, or a list of them.

        Raises
        ------
        UnknownNameError
            For other names, and values that are not in the table.
        """
        part = self
        for name, wanted in labels.items():
            along, have = part._coordinate(name)
            alone = np.ndim(wanted) < have.ndim
            found = [_matches(name, have, one) for one in ([wanted] if alone else wanted)]
            if along == name and alone and len(found[0]) > 1:
                raise ShapeError(f"{name} = {wanted!r} occurs several times: use isel", name=name)
            at = np.sort(np.concatenate(found)) if along != name else np.concatenate(found)
            part = part.isel(**{along: int(at[0]) if alone and along == name else at})
        return part

    def isel(self, **indices: Any) -> SweepTable:
        """The part at these indices along dimensions: numbers, slices, or arrays of numbers.

        Parameters
        ----------
        **indices
            By the name of a dimension.

        Raises
        ------
        UnknownNameError
        """
        part = self
        for dim, index in indices.items():
            if dim not in part.dims:
                raise UnknownNameError("dimension", dim, part.dims, "this sweep")
            axis = part.dims.index(dim)
            if np.arange(part.shape[axis])[index].ndim > 1:
                raise IndexError(f"{dim!r} is one dimension, and {index!r} makes further ones")
            cells = np.empty_like(part._cells[(slice(None),) * axis + (index, ...)])
            cells[...] = part._cells[(slice(None),) * axis + (index, ...)]
            dims = part.dims if cells.ndim == part._cells.ndim else _without(part.dims, dim)
            coords = {
                name: (tuple(d for d in along if d in dims), x[index] if dim in along else x)
                for name, (along, x) in part._coords.items()
            }
            part = SweepTable(dims, coords, cells)
        return part

    def to_pandas(self) -> Any:
        """A pandas.DataFrame: one line a row; arrays of one shape as columns ``name[k]``.

        Raises
        ------
        MissingExtraError
            If pandas is not installed (extra ``pandas``).
        """
        pandas = optional("pandas", "pandas", "a table as a DataFrame")
        rows, columns = self.rows, dict[str, list[Any]]()
        for name in (*self._coords, *self.names):
            shapes = {np.shape(row[name]) for row in rows if name in row}
            split = len(shapes) == 1 and shapes != {()}
            for index in np.ndindex(*shapes.pop()) if split else [()]:
                column = f"{name}[{','.join(map(str, index))}]" if split else name
                columns[column] = [_part(row.get(name), index) for row in rows]
        if any("error" in row for row in rows):
            columns["error"] = [row.get("error", "") for row in rows]
        return pandas.DataFrame(columns)

    def to_xarray(self) -> Any:
        """An xarray.Dataset of the same dimensions and coordinates.

        Other axes are called ``name_0``, ``name_1``.

        Raises
        ------
        MissingExtraError
            If xarray is not installed (extra ``xarray``).
        """
        xarray = optional("xarray", "xarray", "a table as a Dataset")
        found = {name: self[name] for name in self.names}
        return xarray.Dataset(
            {name: (_axes(name, self.dims, x), x) for name, x in found.items()},
            {name: (_axes(name, along, x), x) for name, (along, x) in self._coords.items()},
        )

    def plot(
        self,
        results: str | Iterable[str] | None = None,
        path: str | os.PathLike[str] | None = None,
        *,
        axes: Any = None,
    ) -> Any:
        """Draw results over the arguments of the sweep, one panel for each.

        Over one argument a result is a curve. Over two it is a curve for each value of the second
        where these are eight or fewer, else a map of colours.

        Parameters
        ----------
        results : names, optional
            Default: all that are one number a row (over one argument, arrays of numbers as well).
        path : path, optional
            Image file to write. Default: show a window, where there is a display.
        axes : sequence of matplotlib axes, optional
            To draw into, one for each result.

        Returns
        -------
        figure : matplotlib.figure.Figure

        Raises
        ------
        MissingExtraError, UnknownNameError
        ShapeError
            For more than two arguments: `sel` and `isel` choose values of the others.
        """
        drawn = {name: self[name] for name in self.names}
        failed = len(self.failures)
        return draw_sweep(path, drawn, self.coords, self.dims, results, axes, failed)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a file as ``sweep(..., path=)`` does, either completely or not at all.

        Parameters
        ----------
        path : path

        Raises
        ------
        MissingFileError, FileError
        SweepError
            If a sweep is writing that file.
        """
        outcomes = {k: cell for k, cell in enumerate(self._cells.flat) if cell}
        sweep = StoredSweep(self.shape, self.dims, self._coords, outcomes, SAVED)
        written(as_path("path", path), sweep)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SweepTable:
        """Read a saved table, or the rows that a running sweep has stored so far.

        Parameters
        ----------
        path : path

        Raises
        ------
        MissingFileError, FileError
        """
        return table_of(read(as_path("path", path)))

    @classmethod
    def merge(
        cls, paths: Iterable[str | os.PathLike[str]], into: str | os.PathLike[str]
    ) -> SweepTable:
        """Put the files of shares of a sweep together into one.

        The sweep with ``path=into`` then goes on: it computes the rows that are missing. Rows that
        are in several files count once.

        Parameters
        ----------
        paths : sequence of paths
            Files that ``sweep(..., path=, rows=(k, n))`` has written, finished or not.
        into : path
            File to write, completely or not at all. If it exists, it is one of the shares: the rows
            that it holds are kept.

        Returns
        -------
        table : SweepTable
            A `robodyn.errors.SweepWarning` says how many rows are in none of the files.

        Raises
        ------
        SweepError
            If they are not of one sweep, as when a job had another study, values, seed or version;
            if two have different results of a row; if a sweep is writing ``into``.
        ShapeError
            Without any file.
        MissingFileError, FileError

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import robodyn as rd
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for k in range(2):                              # each by a job of its own
        ...     share = rd.sweep(lambda x: x**2, {"x": [1.0, 2.0, 3.0]}, rows=(k, 2),
        ...                      path=folder / f"{k}.sweep")
        >>> table = rd.SweepTable.merge(sorted(folder.glob("*.sweep")), folder / "all.sweep")
        >>> table["value"].tolist()
        [1.0, 4.0, 9.0]
        """
        target = as_path("into", into)
        sweep = merged(_paths(paths), target)
        written(target, sweep)
        table = table_of(sweep)
        missing = [k for k, cell in enumerate(table._cells.flat) if cell is None]
        if missing:
            some = ", ".join(map(str, missing[:8])) + (", ..." if len(missing) > 8 else "")
            warn(
                SweepWarning(
                    f"{len(missing)} of {len(table)} rows are in none of the files: rows {some}; "
                    f"rd.sweep of the same study with path={os.fspath(into)!r} computes them"
                )
            )
        return table

    def __repr__(self) -> str:
        sizes = ", ".join(f"{d} {n}" for d, n in zip(self.dims, self.shape, strict=True))
        lines = [f"<SweepTable: {len(self)} rows" + (f" over {sizes}" if sizes else "")]
        lines += [f"  {name}: {_shortened(x)}" for name, (_, x) in self._coords.items()]
        lines += [f"  results: {', '.join(self.names) or 'none'}"]
        failed, missing = len(self.failures), sum(cell is None for cell in self._cells.flat)
        lines += [f"  {failed} failed, see failures"] if failed else []
        lines += [f"  {missing} not computed"] if missing else []
        return "\n".join(lines) + ">"

    def _repr_html_(self) -> str:
        """A table with one line a row, within a notebook."""
        results = self.names
        rows = (self._row(k, cell) for k, cell in enumerate(self._cells.flat))
        head = (*self._coords, *results, *(("error",) if len(self.failures) else ()))
        cells = ([_cell(row.get(name, "")) for name in head] for row in rows)
        return html_table(f"SweepTable of {len(self)} rows", head, cells)

    def _done(self) -> list[RowResult]:
        return [cell for cell in self._cells.flat if cell]

    def _coordinate(self, name: str) -> tuple[str, Array]:
        """The dimension that an argument runs along, and its values."""
        if name not in self._coords or not self._coords[name][0]:
            left = [name for name, (along, _) in self._coords.items() if along]
            raise UnknownNameError("argument", name, left, "this sweep")
        (along,), labels = self._coords[name]
        return along, labels

    def _row(self, k: int, cell: RowResult | None) -> dict[str, Any]:
        at = dict(zip(self.dims, np.unravel_index(k, self.shape), strict=True)) if self.dims else {}
        values = {n: x[tuple(at[d] for d in along)] for n, (along, x) in self._coords.items()}
        error = "not computed" if cell is None else cell.error
        results = {"error": error} if error else cell.results  # type: ignore[union-attr]
        return {name: _as_scalar(x) for name, x in {**values, **results}.items()}


def table_of(sweep: StoredSweep) -> SweepTable:
    """Make a table from the rows that have been computed."""
    cells = np.full(sweep.shape, None, object)
    for row, outcome in sweep.outcomes.items():
        cells.flat[row] = outcome
    return SweepTable(sweep.dims, dict(sweep.coords), cells)


def _paths(given: Any) -> list[Path]:
    """Files to merge."""
    paths = [] if isinstance(given, str | bytes | os.PathLike) else [*given]
    if not paths:
        raise mismatch("paths", given, "a list of files, such as sorted(folder.glob('*.sweep'))")
    return [as_path("paths", path) for path in paths]


def _cell(x: Any) -> Any:
    """A result, or the shape of one that does not fit into a cell."""
    return f"array {np.shape(x)}" if np.ndim(x) else x


def _as_scalar(x: Any) -> Any:
    """A number or text instead of a zero-dimensional array."""
    return np.asarray(x).item() if np.ndim(x) == 0 else x


def _without(dims: tuple[str, ...], dim: str) -> tuple[str, ...]:
    return tuple(d for d in dims if d != dim)


def _matches(name: str, labels: Array, wanted: Any) -> Array:
    """Indices of a label."""
    found = np.flatnonzero([np.array_equal(label, wanted) for label in labels])
    if not len(found):
        raise UnknownNameError(f"value of {name!r}", wanted, map(str, labels), "this sweep")
    return found


def _stacked(arrays: Mapping[int, Array], rows: int, shape: tuple[int, ...]) -> Array:
    """Stack results; missing ones are NaN or empty text."""
    kind = np.result_type(*{array.dtype for array in arrays.values()})
    if len(arrays) < rows and kind.kind in "biu":  # without NaN
        kind = np.dtype(float)
    nothing = {"U": "", "f": np.nan, "c": np.nan}.get(kind.kind, 0)
    full = np.full((rows, *shape), nothing, kind)
    for k, array in arrays.items():
        full[k] = array
    return full


def _shortened(labels: Array) -> str:
    """Labels as one short line of text."""
    if not labels.ndim:
        return str(labels.item())
    if labels.ndim > 1:
        return f"{len(labels)} arrays of shape {labels.shape[1:]}"
    shown = [str(x) for x in labels.tolist()]
    return ", ".join(shown if len(shown) <= 6 else [*shown[:3], "...", shown[-1]])
