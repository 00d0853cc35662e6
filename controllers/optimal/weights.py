"""Weights of quadratic costs, checked once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robodyn import ShapeError
from robodyn.array_types import FloatArray
from robodyn.tolerances import EIGENVALUE_ZERO


def weights(name: str, value: ArrayLike, size: int, of: str, definite: bool = False) -> FloatArray:
    """A matrix of weights, shape (size, size), of one for all, one for each, or a matrix.

    Parameters
    ----------
    name : str
        Of the argument, for messages.
    value : array_like, shape (), (size,) or (size, size)
    of : str
        The weighted quantity, for messages.
    definite : bool
        The matrix has to be positive definite.

    Raises
    ------
    ShapeError
        If it is neither, or not symmetric, or a weight is negative, or, where it has to be
        definite, zero.
    """
    given = np.asarray(value, float)
    if given.shape not in ((), (size,), (size, size)):
        raise ShapeError(
            f"{name} has shape {given.shape}, expected a number, ({size},) or "
            f"({size}, {size}): {of}",
            name=name,
            given=given.shape,
            expected=(size, size),
        )
    full = np.array(given) if given.ndim == 2 else np.diag(np.broadcast_to(given, (size,)))
    if not np.isfinite(full).all() or not np.allclose(full, full.T, rtol=1e-10, atol=0.0):
        raise ShapeError(
            f"{name} is {given.tolist()}, expected finite and symmetric weights",
            name=name,
            given=value,
        )
    values = np.linalg.eigvalsh(full) if given.ndim == 2 else np.sort(np.diag(full))
    values = values if size else np.ones(1)
    least, most = float(values[0]), float(values[-1])
    slack = EIGENVALUE_ZERO * max(most, 0.0) if given.ndim == 2 else 0.0
    if least < -slack or (definite and least <= slack):
        expected = "positive" if definite else "not negative"
        of_what = "smallest eigenvalue" if given.ndim == 2 else "smallest weight"
        raise ShapeError(
            f"{name} has the {of_what} {least:.3g}, expected all {expected}", name=name, given=value
        )
    full = 0.5 * (full + full.T)
    full.flags.writeable = False
    return full
