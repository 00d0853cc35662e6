"""Errors of files that are damaged, and checks that what a file holds can be a motion."""

from __future__ import annotations

import csv
import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import FileError, ShapeError

#: What reading a file that is damaged, or holds something else, may raise. `FileNotFoundError` is
#: that of an array that a folder lacks.
DAMAGED = (
    ValueError, TypeError, KeyError, IndexError, EOFError, BadZipFile, csv.Error, FileNotFoundError,
)  # fmt: skip

Read = Callable[[Path], dict[str, Any]]


def reporting_damage(read: Read) -> Read:
    """Decorate a reader of files: errors of damaged files are `ShapeError`, others `FileError`."""

    @functools.wraps(read)
    def reported(source: Path) -> dict[str, Any]:
        try:
            return read(source)
        except DAMAGED as error:
            raise ShapeError(
                f"{source.name} is not a trajectory, or is damaged: {error}", name="path"
            ) from error
        except OSError as error:
            raise FileError(f"cannot read {str(source)!r}: {error.strerror or error}") from error

    return reported


def check_contents(file: str, fields: Mapping[str, Any]) -> None:
    """Check that fields can be those of a motion.

    Accelerations and forces may be unknown (NaN), and so may all states of a simultaneous motion
    after its end.

    file: Name of the file.
    fields: Fields of a trajectory.
    Raises ShapeError: It names the field.
    """

    def refuse(field: str, what: str) -> None:
        raise ShapeError(
            f"{file} holds no motion: {field} {what}", name=field, given=fields.get(field)
        )

    if not np.isfinite(t := np.atleast_1d(fields["t"])).all():
        refuse("t", f"is {_first(t, ~np.isfinite(t))}")
    check_order(file, t)
    over = _over(fields["q"], fields["v"])
    for name in ("q", "v", "a", "tau"):
        x = fields[name]
        wrong = np.isinf(x) if name in ("a", "tau") else ~np.isfinite(x)
        wrong = wrong if over is None else wrong & ~over[..., None]
        if wrong.any():
            refuse(name, f"is {_first(x, wrong)}")
    names, width = fields.get("joint_names", ()), fields["v"].shape[-1]
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if twice:
        refuse("joint_names", f"has {twice[0]!r} twice")
    if names and len(names) != width:
        refuse("joint_names", f"has {len(names)} names for {width} columns")
    driven = fields.get("driven", ())
    if len({*driven}) < len(driven) or not {*driven} <= {*range(width)}:
        refuse("driven", f"is {driven!r}, expected columns of v: 0 to {width - 1}")


def check_order(file: str, t: FloatArray) -> None:
    """Refuse samples that run back in time, of a file that is read or to be written.

    Raises ShapeError.
    """
    back = np.flatnonzero(np.diff(np.atleast_1d(t)) < 0.0)  # one state has no axis of samples
    if len(back):
        k = int(back[0])
        why = f"t runs back, from {t[k]:.6g} s to {t[k + 1]:.6g} s at sample {k + 1}"
        raise ShapeError(f"{file} holds no motion: {why}", name="t", given=t)


def _over(q: FloatArray, v: FloatArray) -> Any:
    """Whether simultaneous motions have ended, shape (n, ...); ``None`` for a single motion."""
    if q.ndim < 3:
        return None
    gone = np.asarray(np.isnan(q).all(axis=-1) & np.isnan(v).all(axis=-1))
    return np.logical_and.accumulate(gone[::-1], axis=0)[::-1]


def _first(x: FloatArray, wrong: Any) -> str:
    """The first wrong number and its sample, for messages."""
    place = tuple(int(k) for k in np.argwhere(wrong)[0])
    return f"{x[place]} at sample {place[0]}" + (f", place {place[1:]}" if place[1:] else "")
