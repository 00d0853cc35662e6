"""The file of a sweep: an SQLite database, to which rows are added in transactions.

SQLite, as it comes with Python, adds rows in transactions that a killed process cannot leave half
done, knows by checksums how far its journal is good, and locks the file against a second writer
with locks that end with their process. Others may read while it is written.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from robodyn.array_types import Array
from robodyn.errors import FileError, MissingFileError, SweepError
from robodyn.files import refuse_missing_folder, replacing
from robodyn.studies.sweep.identity import differences
from robodyn.studies.sweep.rows import Done, RowResult

#: By name of a value: the dimensions that it runs along, and its labels.
Coords = Mapping[str, tuple[tuple[str, ...], Array]]

#: SQLite's application id of files of sweeps: "rdsw".
MARK = 0x72647377

TABLES = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, content TEXT)",
    "CREATE TABLE coordinates "
    "(name TEXT PRIMARY KEY, dims TEXT, dtype TEXT, shape TEXT, data BLOB)",
    "CREATE TABLE rows (row INTEGER PRIMARY KEY, error TEXT)",
    "CREATE TABLE results "
    "(row INTEGER, name TEXT, dtype TEXT, shape TEXT, data BLOB, PRIMARY KEY (row, name))",
    f"PRAGMA application_id = {MARK}",
)


#: What files of tables that were saved have instead of the identity of a sweep.
SAVED = {"the study": "a table that was saved"}


@dataclass(frozen=True)
class StoredSweep:
    """What a file of a sweep holds."""

    shape: tuple[int, ...]
    dims: tuple[str, ...]
    coords: Coords
    outcomes: Mapping[int, RowResult]
    identity: dict[str, str]


class Store:
    """A file of a sweep, open for writing and locked against other writers."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path, self._connection = path, connection

    def outcomes(self) -> dict[int, RowResult]:
        """Outcomes stored so far."""
        with _own_errors(self._path):
            return _outcomes(self._connection)

    def add(self, done: Done) -> None:
        """Add rows in one transaction, except lost ones, which will be tried again."""
        kept = [(row, outcome) for row, outcome in done if not outcome.lost]
        arrays = [(row, name, *_packed(x)) for row, o in kept for name, x in o.results.items()]
        with _own_errors(self._path):
            execute = self._connection.executemany
            execute("INSERT INTO rows VALUES (?, ?)", [(row, o.error) for row, o in kept])
            execute("INSERT INTO results VALUES (?, ?, ?, ?, ?)", arrays)
            self._connection.execute("COMMIT")
            self._connection.execute("BEGIN IMMEDIATE")  # still the only one to write


@contextmanager
def storing(
    path: Path, shape: tuple[int, ...], dims: tuple[str, ...], coords: Coords, own: dict[str, str]
) -> Iterator[Store]:
    """Open a file of a sweep for writing: a new one, or an existing one of the same sweep.

    Raises `SweepError` if it is of another sweep, or is written by another process, and
    `MissingFileError` or `FileError` if it cannot be written, or is no sweep.
    """
    refuse_missing_folder(path)
    beside = [] if path.exists() else [x.name for x in _beside(path) if x.exists()]
    if beside:
        raise FileError(
            f"{str(path)!r} is not there, but {', '.join(beside)}, which would be lost: SQLite "
            "takes it for what is left of the file; move it, or give another path"
        )
    with _own_errors(path):
        connection = sqlite3.connect(path, timeout=0.5, isolation_level=None)
    try:
        with _own_errors(path):
            if not _is_empty(connection):  # before anything is written
                _refuse_different(path, connection, own)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("BEGIN IMMEDIATE")
            if _is_empty(connection):
                _begin(connection, shape, dims, coords, own)
            _refuse_different(path, connection, own)
        yield Store(path, connection)
    finally:
        _close(connection)


def read(path: Path) -> StoredSweep:
    """Read a file, also while it is written."""
    if not path.is_file():
        raise MissingFileError(f"cannot read {str(path)!r}: no such file")
    with _own_errors(path):
        connection = sqlite3.connect(path, timeout=0.5, isolation_level=None)
    try:
        with _own_errors(path):
            _refuse_other(path, connection)
            connection.execute("BEGIN")  # a consistent snapshot
            about = dict(connection.execute("SELECT name, content FROM about"))
            rows = connection.execute("SELECT * FROM coordinates ORDER BY rowid")
            coords = {name: (tuple(json.loads(d)), _unpacked(*x)) for name, d, *x in rows}
            shape, dims = (tuple(json.loads(about[name])) for name in ("shape", "dims"))
            own = json.loads(about["identity"])
            return StoredSweep(shape, dims, coords, _outcomes(connection), own)
    finally:
        connection.close()


def written(path: Path, sweep: StoredSweep) -> None:
    """Write a complete file, which replaces an existing one.

    Raises `SweepError` if a sweep is writing that one: it would go on into a file without a name.
    """
    with replacing(path) as unfinished:
        about = sweep.shape, sweep.dims, sweep.coords, sweep.identity
        try:
            with storing(unfinished, *about) as store:
                store.add(list(sweep.outcomes.items()))
            refuse_written(path)
        finally:  # where the disk is full, SQLite leaves its journal
            for left in _beside(unfinished):
                left.unlink(missing_ok=True)


def refuse_written(path: Path, patience: float = 0.0) -> None:
    """Refuse a file that a sweep is writing. What a killed one left beside it goes into it.

    patience: Time that it has to end [s].
    """
    if not path.is_file():
        return
    connection = sqlite3.connect(path, timeout=patience, isolation_level=None)
    with _own_errors(path), closing(connection):
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.DatabaseError as error:  # what is no database is replaced
            if "locked" in str(error):
                raise


def _beside(path: Path) -> list[Path]:
    """Files that SQLite makes, and removes, beside another."""
    return [path.with_name(path.name + ending) for ending in ("-journal", "-wal", "-shm")]


def _begin(
    connection: sqlite3.Connection,
    shape: tuple[int, ...],
    dims: tuple[str, ...],
    coords: Coords,
    own: dict[str, str],
) -> None:
    """Write the tables and the description of the sweep."""
    for statement in TABLES:
        connection.execute(statement)
    about = {"shape": shape, "dims": dims, "identity": own}
    connection.executemany(
        "INSERT INTO about VALUES (?, ?)", [(name, json.dumps(x)) for name, x in about.items()]
    )
    connection.executemany(
        "INSERT INTO coordinates VALUES (?, ?, ?, ?, ?)",
        [(name, json.dumps(along), *_packed(x)) for name, (along, x) in coords.items()],
    )
    connection.execute("COMMIT")
    connection.execute("BEGIN IMMEDIATE")


def _close(connection: sqlite3.Connection) -> None:
    """Close the file, and merge its journal into it if nobody reads it."""
    try:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.execute("PRAGMA journal_mode = DELETE")
    except (
        sqlite3.Error
    ):  # someone reads it; the journal is good, and used by whoever opens it next
        pass
    finally:
        connection.close()


def _is_empty(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,))


def _refuse_other(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse a database that does not hold a sweep."""
    if connection.execute("PRAGMA application_id").fetchone() != (MARK,):
        raise FileError(f"{str(path)!r} is a database, but not of a sweep: give another path")


def _refuse_different(path: Path, connection: sqlite3.Connection, own: dict[str, str]) -> None:
    """Refuse a database that does not hold this sweep."""
    _refuse_other(path, connection)
    query = "SELECT content FROM about WHERE name = 'identity'"
    different = differences(json.loads(connection.execute(query).fetchone()[0]), own)
    if different:
        raise SweepError(
            f"{str(path)!r} holds another sweep; what differs: {'; '.join(different)}. Give "
            "another path, or remove the file to begin anew",
            differences=tuple(different),
        )


def _outcomes(connection: sqlite3.Connection) -> dict[int, RowResult]:
    """All rows, in order."""
    results: dict[int, dict[str, Array]] = {}
    for row, name, *packed in connection.execute("SELECT * FROM results ORDER BY rowid"):
        results.setdefault(row, {})[name] = _unpacked(*packed)
    rows = connection.execute("SELECT row, error FROM rows ORDER BY row")
    return {row: RowResult(results.get(row, {}), error) for row, error in rows}


def _packed(array: Array) -> tuple[str, str, bytes]:
    return array.dtype.str, json.dumps(array.shape), array.tobytes()


def _unpacked(dtype: str, shape: str, data: bytes) -> Array:
    return np.frombuffer(data, np.dtype(dtype)).reshape(json.loads(shape)).copy()


@contextmanager
def _own_errors(path: Path) -> Iterator[None]:
    """Raise errors of SQLite as `SweepError` or `FileError`."""
    try:
        yield
    except sqlite3.Error as error:
        if "locked" in str(error):
            raise SweepError(
                f"{str(path)!r} is being written by another sweep: wait for it, or give another "
                "path"
            ) from None
        raise FileError(f"cannot use {str(path)!r} as the file of a sweep: {error}") from error


def merged(paths: Iterable[Path], target: Path) -> StoredSweep:
    """All rows of these files, and of the target where it exists.

    Raises `SweepError` if a file is of another sweep than the first one, or has another result of a
    row than a file before it, or if a sweep is writing the target.
    """
    refuse_written(target, patience=0.5)
    files = [*paths, *([target] if target.exists() else [])]
    first = read(files[0])
    rows: dict[int, RowResult] = {}
    source: dict[int, Path] = {}
    for path in files:
        share = read(path)
        _refuse_foreign(path, share, files[0], first)
        for row, outcome in share.outcomes.items():
            if row in rows and not _same(rows[row], outcome):
                raise SweepError(
                    f"row {row} is {_shown(rows[row])} in {str(source[row])!r} and "
                    f"{_shown(outcome)} in {str(path)!r}: leave the wrong one of these files out",
                    row=row,
                )
            rows.setdefault(row, outcome)
            source.setdefault(row, path)
    return replace(first, outcomes=rows)


def _refuse_foreign(
    path: Path, share: StoredSweep, path_of_first: Path, first: StoredSweep
) -> None:
    if share.identity == SAVED:
        raise SweepError(
            f"{str(path)!r} is a table that was saved, which does not say of which study it is: "
            "merge takes files that sweep(..., path=) has written"
        )
    different = differences(first.identity, share.identity)
    if different:
        raise SweepError(
            f"{str(path)!r} is not of the sweep of {str(path_of_first)!r}; what differs: "
            f"{'; '.join(different)} (there: {path_of_first.name}, here: {path.name})",
            differences=tuple(different),
        )


def _same(one: RowResult, other: RowResult) -> bool:
    """Whether two files say the same of a row, to the last bit; errors may be worded otherwise."""
    if one.error or other.error:
        return bool(one.error and other.error)
    return {*one.results} == {*other.results} and all(
        x.dtype == other.results[name].dtype
        and x.shape == other.results[name].shape
        and x.tobytes() == other.results[name].tobytes()
        for name, x in one.results.items()
    )


def _shown(outcome: RowResult) -> str:
    return f"failed ({outcome.error})" if outcome.error else f"{dict(outcome.results)}"
