"""Operational-space inertia and manipulability of frames."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import mismatch, named
from robodyn.errors import SettingsError, SingularError
from robodyn.evaluator import Evaluator, Request
from robodyn.literals import Axes
from robodyn.model.model import Model
from robodyn.tolerances import JACOBIAN_RANK


class OperationalSpace:
    """Inertia and manipulability of frames of a robot without closed loops."""

    def __init__(self, model: Model, evaluator: Evaluator) -> None:
        self._model, self._evaluator = model, evaluator

    def inertia(self, q: ArrayLike, frame: str, axes: Axes, components: Iterable[int]) -> Array:
        """``(J M^-1 J^T)^-1``, shape (..., n, n)."""
        rows = self._checked(components)

        def solved(asked: Request) -> Array:
            J = self._jacobian(q, frame, axes, rows).astype(float)
            values = np.linalg.svd(J, compute_uv=False)
            enough = values.shape[-1] > 0 and J.shape[-2] <= J.shape[-1]
            if not enough or (values[..., -1] <= JACOBIAN_RANK * values[..., 0]).any():
                raise SingularError(
                    f"frame {frame!r} of {self._model.mechanism.name!r} cannot move in all of "
                    f"components {list(rows)} in this posture, so its inertia is infinite; "
                    "choose components= in which it can"
                )
            M_inverse = self._evaluator.call("mass_matrix_inverse", (q,))
            inertia = np.linalg.inv(J @ M_inverse @ np.swapaxes(J, -1, -2))
            return np.asarray(inertia, M_inverse.dtype)

        return self._evaluator.call(
            "operational_inertia", (q,), frame=frame, axes=axes, components=rows, fallback=solved
        )

    def manipulability(
        self, q: ArrayLike, frame: str, axes: Axes, components: Iterable[int]
    ) -> Array:
        """``sqrt(det(J J^T))``, shape (...)."""
        rows = self._checked(components)

        def solved(asked: Request) -> Array:
            J = self._jacobian(q, frame, axes, rows)
            if J.shape[-2] > J.shape[-1]:
                return np.zeros(J.shape[:-2], J.dtype)[()]
            values = np.linalg.svd(J.astype(float), compute_uv=False)
            return np.asarray(values.prod(axis=-1), J.dtype)[()]

        return self._evaluator.call(
            "manipulability", (q,), frame=frame, axes=axes, components=rows, fallback=solved
        )

    def _jacobian(self, q: ArrayLike, frame: str, axes: Axes, rows: tuple[int, ...]) -> Array:
        J = self._evaluator.call("frame_jacobian", (q,), frame=frame, axes=axes)
        return np.asarray(J[..., list(rows), :])

    def _checked(self, components: Iterable[int]) -> tuple[int, ...]:
        """Components of a twist, of a robot whose joints move independently.

        Raises SettingsError: If the robot has closed loops.
        Raises ShapeError: For an invalid component, and for one given twice.
        """
        if self._model.setup.closed:
            raise SettingsError(
                f"{self._model.mechanism.name!r} has closed loops, so its joints do not move "
                "independently: load it with coordinates='minimal'"
            )
        rows = named("components", components, "numbers of components 0 to 5")
        if not rows or len(set(rows)) < len(rows) or not set(rows) <= set(range(6)):
            raise mismatch(
                "components",
                components,
                "some of 0 to 5, each once: linear x, y, z, angular x, y, z",
            )
        return rows
