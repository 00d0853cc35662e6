"""Identity of a sweep: a file may be resumed only by the sweep that it was written by."""

from __future__ import annotations

import functools
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np

from robodyn.studies.sweep.digest import digest
from robodyn.studies.sweep.grid import Axis, Grid
from robodyn.studies.sweep.study_runner import Study
from robodyn.version import __version__

__all__ = ["differences", "identity"]


#: How labels are printed: as numpy does by default, but in short.
PRINTED: Any = {
    "precision": 8, "threshold": 6, "edgeitems": 2, "linewidth": 75, "suppress": False,
    "nanstr": "nan", "infstr": "inf", "formatter": None, "sign": "-", "floatmode": "maxprec",
    "legacy": False,
}  # fmt: skip


def identity(study: Study, grid: Grid, seed: int | None, batch: int | None) -> dict[str, str]:
    """Everything that the results depend on, as text by name."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {
        "the study": _name(study),
        "the arguments": ", ".join(axis.name for axis in grid.axes),
        "product": str(grid.product),
        **{f"values[{axis.name!r}]": _shown(axis) for axis in grid.axes},
        "seed": str(seed),
        "batch": str(batch),
        "the code of the study and what it uses": f"#{digest(study)}",
        "the version of robodyn": __version__,
        "the version of Python": python,
    }


def differences(there: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    """Descriptions of the differences, causes before consequences."""
    found = []
    for name in [*here, *(name for name in there if name not in here)]:
        if there.get(name) != here.get(name):
            old, new = (x.get(name, "nothing") for x in (there, here))
            found.append(name if old.startswith("#") else f"{name}: {old} there, {new} here")
    return found


def _name(study: Study) -> str:
    inner = study.func if isinstance(study, functools.partial) else study
    return getattr(inner, "__qualname__", type(inner).__qualname__)


def _shown(axis: Axis) -> str:
    """Labels in short, with a digest of their full content."""
    with np.printoptions(**PRINTED):  # whatever is set elsewhere
        labels = np.array2string(axis.labels, separator=", ")
    mark = digest((axis.labels, axis.objects))
    return f"{len(axis)} values {' '.join(labels.split())} #{mark}"
