"""Closing the loops of a linkage, near a guess and within limits."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.closed_loops.constraint_rows import ConstraintRows, PositionRows
from robodyn.closed_loops.solvers import assemble
from robodyn.configuration_space import ConfigurationSpace
from robodyn.description import Loop
from robodyn.errors import AssemblyError, TopologyError
from robodyn.model.model import Model

__all__ = ["LoopCloser"]

Array = NDArray[Any]

#: Rows of residuals this small [m, rad] are closed.
CLOSED = 1e-11


class LoopCloser:
    """Finds positions at which the loops of a linkage are closed.

    Parameters
    ----------
    model : Model
    rows : ConstraintRows
    space : ConfigurationSpace
    """

    def __init__(self, model: Model, rows: ConstraintRows, space: ConfigurationSpace) -> None:
        self._model, self._rows, self._space = model, rows, space

    @cached_property
    def neutral(self) -> Array:
        """The zero position, or the closed posture nearest to it, shape (nq,)."""
        try:
            return self.closed(
                self._space.zero(), self._all, self._rows.interpreted_position_rows()
            )
        except AssemblyError as error:
            raise TopologyError(
                f"{error}; if a second parent is a typing error, mend it; if not, this is the "
                f"closure to mend: {_elements(self._model.tree.cuts)}",
                file=self._model.mechanism.file,
                element=f"robot {self._model.mechanism.name!r}",
            ) from error

    @property
    def _all(self) -> Array:
        return np.ones(self._space.nv, bool)

    def nearby(self, q: Array, rng: np.random.Generator) -> Array:
        """Another closed posture near a closed one, without a compiler."""
        moved = self._space.integrate(q, rng.uniform(-0.3, 0.3, self._space.nv))
        return self.closed(moved, self._all, self._rows.interpreted_position_rows())

    def near(self, guess: Array, free: Array | None = None, guesses: int = 20) -> Array:
        """A closed posture near a guess, shape (nq,).

        Parameters
        ----------
        guess : ndarray, shape (nq,)
        free : ndarray of bool, shape (nv,), optional
            Speeds along which it may move. Default: all.
        guesses : int
            Starts of the search, the given one first.

        Raises
        ------
        AssemblyError
        """
        free = self._all if free is None else free
        return self.closed(guess, free, self._rows.position_rows(), guesses)

    def closed(self, guess: Array, free: Array, rows: PositionRows, guesses: int = 20) -> Array:
        """A closed posture near a guess, by given functions of the position."""
        if np.abs(rows.residual(guess)).max(initial=0.0) < CLOSED:
            return guess.copy()
        try:
            return assemble(
                rows.residual,
                rows.jacobian,
                self._space.integrate,
                guess,
                free=free,
                lower=np.minimum(self._model.lower, guess),
                upper=np.maximum(self._model.upper, guess),
                guesses=guesses,
            )
        except AssemblyError as error:
            worst = int(np.abs(error.residual).argmax())
            names = [self._rows.names[k] for k in self._model.setup.position_rows]
            raise AssemblyError(
                f"the loops of {self._model.mechanism.name!r} do not close: {names[worst]} is off "
                f"by {np.abs(error.residual).max():.3g} (m or rad) at best",
                residual=error.residual,
                q=error.q,
            ) from None


def _elements(cuts: Any) -> str:
    """The closures as elements of a URDF, to be pasted."""
    texts = []
    for cut in cuts:
        ends = (
            (cut.predecessor, cut.successor) if isinstance(cut, Loop) else (cut.parent, cut.child)
        )
        axis = " ".join(f"{x:g}" for x in cut.axis)
        texts.append(
            f'<loop name="{cut.name}" type="{cut.kind}"><predecessor link="{ends[0]}"/>'
            f'<successor link="{ends[1]}"/><axis xyz="{axis}"/></loop>'
        )
    return " ".join(texts)
