"""Linkages whose mobility depends on the rounding of numbers in their file.

Axes that are parallel but for a rounded angle leave rows of the loops that are nearly dependent:
taken to the letter they lock joints that are meant to move.
"""

from __future__ import annotations

import numpy as np

from robodyn.array_types import Array
from robodyn.caller import warn
from robodyn.errors import LoopWarning
from robodyn.model.model import Model
from robodyn.tolerances import CONSTRAINT_RANK, ROUNDED_FILE_RANK

__all__ = ["doubt", "is_doubtful", "warn_if_doubtful"]

#: Value of ``snap`` [rad] that messages suggest for axes that are nearly parallel.
SNAPS = {1e-4: "1e-4", 1e-3: "1e-3"}

#: Least part of the largest component with which a row or joint counts as involved.
INVOLVED = 0.2

#: Number of rows and joints named in a message.
SHOWN = 6


def _ranks(values: Array) -> tuple[Array, Array]:
    """Ranks from singular values (..., n): as they are, and without the small ones."""
    largest = values[..., :1]
    exact = (values > CONSTRAINT_RANK * largest).sum(axis=-1)
    return exact, (values > ROUNDED_FILE_RANK * largest).sum(axis=-1)


def is_doubtful(K: Array) -> bool:
    """Whether rounding may determine the rank of K (..., nc, nv), which is without units.

    With several postures: whether it may at all of them.
    """
    exact, safe = _ranks(np.linalg.svd(K, compute_uv=False))
    return bool(exact.max(initial=0) > safe.max(initial=0))


def doubt(model: Model, K: Array) -> str:
    """The message about a linkage whose mobility is doubtful.

    Parameters
    ----------
    model : Model
    K : ndarray, shape (n, nc, nv)
        Slopes of the rows at some postures, without units.
    """
    exact, safe = _ranks(np.linalg.svd(K, compute_uv=False))
    U, values, Vt = np.linalg.svd(K[int(safe.argmax())])
    few, many = int(safe.max()), int(exact.max())
    nv = K.shape[-1]
    rows = _involved(U[:, few:many])
    speeds = {*_involved(Vt[few:many].T).tolist()}
    joints = [
        name
        for name in model.joint_names
        if speeds & {*range(model.joints[name].v.start, model.joints[name].v.stop)}
    ]
    larger = [shown for snap, shown in SNAPS.items() if snap > model.settings.parallel]
    snap = f", or load with snap={larger[0]}" if larger else ""
    return (
        f"whether the loops leave {nv - many} or {nv - few} degrees of freedom hangs on the last "
        f"digits: rows {_shown([model.setup.row_names[k] for k in rows])} are independent of the "
        f"others by {values[few:many].max() / values[0]:.1e} only, and hold joints "
        f"{_shown(joints)}. They count, so that it has {nv - many}. Where axes are meant to be "
        f"parallel, write angles and axes with more digits{snap}"
    )


def warn_if_doubtful(model: Model, K: Array) -> None:
    """Warn, once, of a linkage whose mobility is doubtful."""
    if not is_doubtful(K):
        return
    mechanism = model.mechanism
    message = LoopWarning(doubt(model, K), file=mechanism.file, element=f"robot {mechanism.name!r}")
    warn(message)


def _involved(vectors: Array) -> Array:
    size = np.linalg.norm(vectors, axis=1)
    return np.flatnonzero(size > INVOLVED * size.max(initial=0.0))


def _shown(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
