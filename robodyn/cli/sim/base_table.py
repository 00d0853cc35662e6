"""The option ``--base-path``: motion of the base from a table."""

from __future__ import annotations

import csv
import functools
import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

import robodyn as rd
from robodyn.errors import RobodynError

__all__ = ["base_path"]

#: Size of the cache of base motions: a simulation evaluates each time several times.
KEPT = 1 << 15

COLUMNS = ("t", "x", "y", "z", "qx", "qy", "qz", "qw")


def base_path(file: Path, duration: float) -> rd.BasePath:
    """A smooth path through the rows of a table: t [s], x, y, z [m], qx, qy, qz, qw.

    Raises
    ------
    RobodynError
        If the file does not hold such rows, or ends before the simulation does.
    """
    try:
        with file.open(newline="", encoding="utf-8") as lines:
            rows = _rows(file, csv.reader(lines))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise RobodynError(f"--base-path: cannot read {str(file)!r}: {reason}") from error
    if len(rows) < 2:
        raise RobodynError(f"--base-path: {file} has {len(rows)} rows, expected two at least")
    table = np.array(rows)
    t = table[:, 0]
    if not (np.diff(t) > 0.0).all():
        k = int(np.argmin(np.diff(t) > 0.0))
        raise RobodynError(f"--base-path: in {file} t = {t[k + 1]:g} s comes after {t[k]:g} s")
    if t[0] > 0.0 or t[-1] < duration:
        raise RobodynError(
            f"--base-path: {file} is about {t[0]:g} s to {t[-1]:g} s, the motion lasts from 0 to "
            f"{duration:g} s: give samples of all of it, or a shorter --duration"
        )
    path = rd.BasePath.from_samples(t, table[:, 1:4], table[:, 4:])
    return rd.BasePath(functools.lru_cache(KEPT)(path.function))


def _rows(file: Path, lines: Iterable[list[str]]) -> list[list[float]]:
    rows = []
    for k, line in enumerate(lines, start=1):
        words = [word.strip() for word in line]
        if not any(words) or words[0].startswith("#") or (k == 1 and words == [*COLUMNS]):
            continue
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            numbers = []
        if len(numbers) != len(COLUMNS) or not all(map(math.isfinite, numbers)):
            raise RobodynError(
                f"--base-path: {file}, line {k}: {','.join(line)!r}, expected eight numbers: "
                f"{', '.join(COLUMNS)}"
            )
        rows.append(numbers)
    return rows
