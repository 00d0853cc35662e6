"""Straight-line code of a closed linkage: whether it exists, and over which rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.closed_loops.constraints.precision import all_numbers
from robodyn.closed_loops.rank.analysis import Motors, spanning_rows
from robodyn.closed_loops.rank.mobility import Mobility
from robodyn.closed_loops.rank.probes import probe
from robodyn.codegen import CallForm, Function
from robodyn.equations.elimination.singularity import Probe
from robodyn.errors import ShapeError, TopologyError
from robodyn.evaluator import Evaluator, Wrenches
from robodyn.model.model import Model
from robodyn.motion.base_motion import BaseMotion

__all__ = ["Code", "StraightLine"]

Options = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Code:
    """One quantity as straight-line code over constraint rows.

    Attributes
    ----------
    evaluator : Evaluator
    name : str
        Of the quantity.
    options : mapping
        Of its function.
    """

    evaluator: Evaluator
    name: str
    options: Options

    @cached_property
    def function(self) -> Function:
        """The compiled function."""
        return self.evaluator.function(self.name, **self.options)

    def having(self, **options: Any) -> Code:
        """A copy with further options."""
        return Code(self.evaluator, self.name, {**self.options, **options})

    def results(
        self,
        evaluator: Evaluator,
        arrays: tuple[ArrayLike, ...],
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        extra: tuple[Array, ...] = (),
        form: CallForm | None = None,
    ) -> tuple[Array, ...] | None:
        """Results of the function; ``None`` if one of them is NaN.

        Parameters
        ----------
        evaluator : Evaluator
            At the time of the states.
        arrays : tuple of array_like
            Inputs of the quantity.
        wrenches, base
            As in `robodyn.Robot.forward_dynamics`.
        extra : tuple of ndarray
            Inputs that options ask for.
        form : CallForm, optional
            Of the calls of the method that may go to the function.

        Raises
        ------
        ShapeError
            For inputs that do not fit, or are not finite.
        """
        if not (form or base or wrenches or extra) and evaluator.of_state_alone:
            found = _numbers(self.function(*arrays))
            if found is not None:
                return found
        return _numbers(
            evaluator.results(
                self.name,
                arrays,
                base=base,
                wrenches=wrenches,
                extra=extra,
                form=form,
                **self.options,
            )
        )


def _numbers(found: Any) -> tuple[Array, ...] | None:
    """Results as a tuple; ``None`` if one of them holds NaN."""
    results = found if isinstance(found, tuple) else (found,)
    return results if all(map(all_numbers, results)) else None


class StraightLine:
    """Decides which dynamics of a linkage can be straight-line code over independent rows.

    It depends on the linkage alone, and is the same object at all times. Each of its answers is
    `Code`, or ``None`` where the dynamics have to be solved numerically, by a decomposition that
    reveals the rank.

    Parameters
    ----------
    model : Model
    evaluator : Evaluator
    mobility : Mobility
    """

    def __init__(self, model: Model, evaluator: Evaluator, mobility: Mobility) -> None:
        self._model, self._evaluator, self._mobility = model, evaluator, mobility
        self._hybrid: dict[tuple[int, ...], Code | None] = {}
        self._inverse: dict[tuple[int, ...], Code | None] = {}
        self._projections: dict[tuple[str, tuple[int, ...]], Code | None] = {}
        self._hybrid_probes: dict[tuple[int, ...], Probe] = {}

    @cached_property
    def forward(self) -> Code | None:
        """Forward dynamics, if the same rows suffice in all postures and all speeds move mass."""
        found = self._mobility.analysis.choice
        if found is None or self._model.undetermined(()):
            return None
        return Code(self._evaluator, "forward_dynamics", found.options)

    def hybrid(self, controlled: tuple[int, ...]) -> Code | None:
        """Hybrid dynamics, if the same rows suffice in the speeds that are not controlled."""
        if controlled not in self._hybrid:
            try:
                self._hybrid[controlled] = self._beside(controlled)
            except (ShapeError, TopologyError):  # there is no posture to look at
                self._hybrid[controlled] = None
        return self._hybrid[controlled]

    def _beside(self, controlled: tuple[int, ...]) -> Code | None:
        free = [k for k in range(self._model.bodies.nv) if k not in controlled]
        rank = self._mobility.analysis.general_rank
        if self.forward is None or not spanning_rows(self._mobility.chosen_rows, rank, free):
            return None
        options = {**self.forward.options, "controlled": controlled}
        return Code(self._evaluator, "hybrid_dynamics", options)

    def projection(
        self, name: str, tolerance: tuple[float, float], held: tuple[int, ...] = ()
    ) -> Code | None:
        """A projection onto closed states, NaN near singular postures or if it fails.

        Parameters
        ----------
        name : str
            Of the quantity.
        tolerance : (float, float)
            By which loops may be open, in double and in single precision.
        held : tuple of int
            Speeds that keep their values.
        """
        key = name, held
        if key not in self._projections:
            code = self.hybrid(held)
            if code is not None:
                probe = self.hybrid_probe(held)
                options = {**code.options, "closure_tolerance": tolerance, "probe": probe}
                code = Code(self._evaluator, name, options)
            self._projections[key] = code
        return self._projections[key]

    @cached_property
    def mobility(self) -> Code | None:
        """Degrees of freedom, NaN near singular postures or if redundancy is in doubt."""
        code = self.hybrid(())
        if code is None:
            return None
        options = {**code.options, "probe": self.hybrid_probe(())}
        return Code(self._evaluator, "mobility", options)

    def inverse(self, motors: tuple[int, ...]) -> Code | None:
        """Inverse dynamics with motors at some speeds, as many as degrees of freedom or more."""
        if motors not in self._inverse:
            self._inverse[motors] = self._by(motors)
        return self._inverse[motors]

    def _by(self, motors: tuple[int, ...]) -> Code | None:
        choice, over = self._mobility.analysis.choice, self._mobility.motors(motors)
        if choice is None or over is None:
            return None
        if isinstance(over, Motors):
            options = {"rows": choice.rows, **vars(over)}
        elif self.forward is not None:
            options = {**choice.options, **vars(over)}
        else:
            return None
        return Code(self._evaluator, "inverse_dynamics", options)

    # -- how near to a singular posture such code has numbers -----------------------------------

    @cached_property
    def probe(self) -> Probe:
        """Probe of forward dynamics."""
        seen = self._mobility
        return probe(seen.chosen_rows, self._model.some_mass_matrix, seen.distance)

    def motor_probe(self, inverse: Code) -> Probe:
        """Probe of inverse dynamics."""
        dependent = inverse.options.get("dependent")
        return self._spare_probe if dependent is None else self._mobility.motor_probe(dependent)

    @cached_property
    def _spare_probe(self) -> Probe:
        seen = self._mobility
        return probe(seen.chosen_rows, np.eye(self._model.bodies.nv), seen.distance)

    def hybrid_probe(self, controlled: tuple[int, ...]) -> Probe:
        """Probe of hybrid dynamics."""
        if controlled not in self._hybrid_probes:
            free = [k for k in range(self._model.bodies.nv) if k not in controlled]
            M = self._model.some_mass_matrix[np.ix_(free, free)]
            seen = self._mobility
            self._hybrid_probes[controlled] = probe(seen.chosen_rows[..., free], M, seen.distance)
        return self._hybrid_probes[controlled]
