"""Postures of a linkage in minimal coordinates: whether they close, and on which branch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.errors import AssemblyError, InconsistentStateError
from robodyn.minimal.coordinates import Expansion
from robodyn.model.model import Model
from robodyn.parts.configuration_space import ConfigurationSpace

#: Guess, posture of a branch -> posture; either may be None.
Assembly = Callable[[ArrayLike | None, ArrayLike | None], Array]

#: Number of postures that are looked at on the way from one to another.
LOOKS = 65


def closing(
    model: Model, space: ConfigurationSpace, expansion: Expansion, one: Assembly
) -> Assembly:
    """How a robot assembles a posture, with errors where its branches do not lead there.

    one: What finds the independent coordinates.
    """

    def closed(guess: ArrayLike | None, near: ArrayLike | None) -> Array:
        q = one(guess, near)
        try:
            expansion.closed_positions(q)
        except InconsistentStateError as error:
            raise AssemblyError(str(error), residual=np.zeros(0), q=q) from None
        if near is None:
            return q
        start = space.positions("near", near)
        parts = np.linspace(0.0, 1.0, LOOKS)[:, None]
        way = space.integrate(
            np.broadcast_to(start, (LOOKS, len(q))), parts * space.difference(start, q)
        )
        ends = _ends(model, expansion, way)
        if ends is not None:
            k, why = ends
            shown = np.array2string(way[k], precision=4, separator=", ")
            raise AssemblyError(
                f"{model.mechanism.name!r} does not get there from that posture on the way that is "
                f"straight in its coordinates: beyond q = {shown} {why}",
                residual=np.zeros(0),
                q=way[k],
            )
        return q

    return closed


def _ends(model: Model, expansion: Expansion, way: Array) -> tuple[int, str] | None:
    """The last posture on its way that a linkage gets to, and why; ``None`` if it gets to all."""
    full, flat = expansion.positions(way), model.flat_postures
    open_ = np.flatnonzero(~np.isfinite(full).all(axis=-1))
    if len(open_):
        return max(int(open_[0]) - 1, 0), "its loops do not close"
    loops = [k for k, loop in enumerate(flat.loops) if not (loop.fold and loop.fold.smooth)]
    whole = np.floor(flat.phases(way, expansion.dependent_positions)[:, loops])
    passed = np.argwhere(whole[1:] != whole[:-1])
    if not len(passed):
        return None
    k, loop = passed[0]
    name = flat.loops[loops[loop]].name
    return int(k), f"loop {name!r} lies flat, where two ways to assemble it meet"
