"""Finds out why a result is not finite although its state is, and raises an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.codegen import Function
from robodyn.equations.catalogue import QUANTITIES
from robodyn.errors import SingularError
from robodyn.model.model import Model
from robodyn.model.states import (
    listed,
    overflow,
    refuse_dead_points,
    refuse_open_linkages,
    rows_of,
    too_large,
)
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import NEARLY_SINGULAR

#: What says by NaN that there is no such posture, or is asked where there may be none.
TELL_BY_NAN = {
    "cut_joint_poses",
    "cut_joint_speeds",
    "dependent_places",
    "joint_positions",
    "joint_velocities",
    "loop_bias",
    "loop_jacobian",
    "loop_violation",
    "loop_residual",
    "loop_velocity_offset",
    "loop_conditioning",
}

#: What has no value in some states, as its caller says.
MAY_BE_UNDEFINED = {"measure"}

#: States of a batch that are looked at for the joints at fault.
LOOKED_AT = 5


@dataclass(frozen=True, eq=False)
class NonFiniteDiagnosis:
    """Raises what a result that is not finite is due to.

    function: From the name of a quantity to its function.
    mass_matrices: From postures, the leading axes of a batch and their rows in it to their mass
        matrices.
    """

    _model: Model
    _function: Callable[[str], Function]
    _mass_matrices: Callable[[Array, tuple[int, ...], Array], Array]

    def refuse(
        self,
        name: str,
        f: Function,
        given: Sequence[ArrayLike],
        found: Array,
        controlled: tuple[int, ...],
    ) -> None:
        """Look for the cause, and raise it.

        name: Of the quantity; of those that tell by NaN, an overflow alone is raised.
        given: Its arguments: all finite.
        found: Its first result.
        controlled: Speeds whose acceleration was given.
        Raises InconsistentStateError: A loop that is solved in closed form does not close.
        Raises SingularError: Accelerations are not determined, because joints move no mass in that
            posture.
        Raises ShapeError: An argument is too large.
        """
        by_name = {port.name: x for port, x in zip(f.inputs, given, strict=True)}
        if name in TELL_BY_NAN and not too_large(by_name):
            return
        axes = tuple(range(-len(f.outputs[0].shape), 0))
        wrong = np.asarray(~np.isfinite(found).all(axis=axes))
        if f.inputs[0].name == "q":
            time = given[-1:] if f.inputs[-1].name == "t" else ()
            self._refuse_open(np.asarray(given[0]), wrong, time)
        if name in MAY_BE_UNDEFINED:
            return
        if QUANTITIES[name].solves:
            self._refuse_singular(np.asarray(given[0]), found.dtype, wrong, controlled)
        raise overflow(self._model, name, by_name, wrong)

    def _refuse_open(self, q: Array, wrong: Array, time: Sequence[ArrayLike]) -> None:
        """Refuse postures in which joints that follow others cannot, or need infinite speeds."""
        if self._model.bodies.linkages or self._model.bodies.followers:
            postures = np.broadcast_to(q, (*wrong.shape, q.shape[-1])).astype(float)
            times = [np.broadcast_to(t, wrong.shape).astype(float) for t in time]
            places = self._function("dependent_places")(postures, *times)
            refuse_open_linkages(self._model, postures, places)
            speed_map = self._function("dependent_speed_map")(postures, *times)
            refuse_dead_points(self._model, speed_map)

    def _refuse_singular(
        self, q: Array, kind: np.dtype[np.floating], wrong: Array, controlled: tuple[int, ...]
    ) -> None:
        """Refuse postures in which some joints move no mass."""
        batch, rows = wrong.shape, np.flatnonzero(wrong)
        postures = np.broadcast_to(q, (*batch, q.shape[-1])).reshape(-1, q.shape[-1])[rows]
        light = self._model.bodies.light
        nearly = NEARLY_SINGULAR[kind == np.float32] if light else (0.0, 0.0)
        joints: dict[str, None] = {}
        looked = postures[:LOOKED_AT].astype(float), batch, rows[:LOOKED_AT]
        for M in self._mass_matrices(*looked):
            if np.isfinite(M).all():
                joints |= dict.fromkeys(self._model.undetermined(controlled, M, *nearly))
        if not joints:
            return  # numbers that are too large, or masses: not this posture
        where = f", in states {listed(rows)} of the batch" if batch else ""
        raise SingularError(
            f"joints {', '.join(joints)} of {self._model.mechanism.name!r} move no mass in this "
            f"posture, at least not independently{where}: their accelerations are not determined",
            joints=tuple(joints),
            rows=rows_of(wrong),
        )
