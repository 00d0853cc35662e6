"""Operational-space inertia and manipulability of frames."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import all_finite, named
from robodyn.errors import SettingsError, ShapeError, SingularError
from robodyn.evaluator import Evaluator
from robodyn.literals import Axes
from robodyn.model.model import Model
from robodyn.tolerances import JACOBIAN_RANK

__all__ = ["OperationalSpace"]


class OperationalSpace:
    """Inertia and manipulability of frames of a robot without closed loops.

    Parameters
    ----------
    model : Model
    evaluator : Evaluator
    """

    def __init__(self, model: Model, evaluator: Evaluator) -> None:
        self._model, self._evaluator = model, evaluator

    def inertia(self, q: ArrayLike, frame: str, axes: Axes, components: Iterable[int]) -> Array:
        """``(J M^-1 J^T)^-1``, shape (..., n, n)."""
        rows = _checked(components)
        J = self._jacobian(q, frame, axes, rows)
        J = J.astype(float)
        values = np.linalg.svd(J, compute_uv=False)
        enough = values.shape[-1] > 0 and J.shape[-2] <= J.shape[-1]
        if not enough or (values[..., -1] <= JACOBIAN_RANK * values[..., 0]).any():
            raise SingularError(
                f"frame {frame!r} of {self._model.mechanism.name!r} cannot move in all of "
                f"components {list(rows)} in this posture, so its inertia is infinite; "
                "choose components= in which it can"
            )
        found = self._by_code("operational_inertia", q, frame, axes, components)
        if found is not None:
            return found
        M_inverse = self._evaluator.call("mass_matrix_inverse", (q,))
        inertia = np.linalg.inv(J @ M_inverse @ np.swapaxes(J, -1, -2))
        return np.asarray(inertia, M_inverse.dtype)

    def manipulability(
        self, q: ArrayLike, frame: str, axes: Axes, components: Iterable[int]
    ) -> Array:
        """``sqrt(det(J J^T))``, shape (...)."""
        J = self._jacobian(q, frame, axes, _checked(components))
        if J.shape[-2] > J.shape[-1]:
            return np.zeros(J.shape[:-2], J.dtype)[()]
        found = self._by_code("manipulability", q, frame, axes, components)
        if found is not None:
            return found
        values = np.linalg.svd(J.astype(float), compute_uv=False)
        return np.asarray(values.prod(axis=-1), J.dtype)[()]

    def _by_code(
        self, name: str, q: ArrayLike, frame: str, axes: Axes, components: Iterable[int]
    ) -> Array | None:
        """The result of one compiled function; None if it is not finite."""
        options: dict[str, Any] = {"frame": frame, "axes": axes}
        found: Array = self._evaluator.call(name, (q,), **options, components=_checked(components))
        return found if all_finite(found) else None

    def _jacobian(self, q: ArrayLike, frame: str, axes: Axes, rows: tuple[int, ...]) -> Array:
        if self._model.setup.closed:
            raise SettingsError(
                f"{self._model.mechanism.name!r} has closed loops, so its joints do not move "
                "independently: load it with coordinates='minimal'"
            )
        J = self._evaluator.call("frame_jacobian", (q,), frame=frame, axes=axes)
        return np.asarray(J[..., list(rows), :])


def _checked(components: Iterable[int]) -> tuple[int, ...]:
    """Components of a twist.

    Raises
    ------
    ShapeError
        For an invalid component, and for one given twice.
    """
    rows = named("components", components, "numbers of components 0 to 5")
    if not rows or len(set(rows)) < len(rows) or not set(rows) <= set(range(6)):
        raise ShapeError(
            f"components is {components!r}, expected some of 0 to 5, each once: linear x, y, "
            "z, angular x, y, z",
            name="components",
            given=components,
        )
    return rows
