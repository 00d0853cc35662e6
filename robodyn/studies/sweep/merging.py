"""Files of shares of one sweep put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from robodyn.errors import SweepError
from robodyn.studies.sweep.identity import differences
from robodyn.studies.sweep.rows import RowResult
from robodyn.studies.sweep.store import SAVED, StoredSweep, read, refuse_written


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
