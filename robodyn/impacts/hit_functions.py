"""Impacts by one function each, which gives NaN if the case has to be solved in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.evaluator import Evaluator, Wrenches
from robodyn.model.model import Model
from robodyn.motion.base_motion import BaseMotion


@dataclass(frozen=True)
class HitForm:
    """Options that determine the functions of an impact.

    link: That is hit.
    other: Link of the same robot that it meets, if it does.
    against: It meets something that moves and is no part of the robot.
    speeds: Those of joints that are controlled.
    """

    link: str
    other: str = ""
    against: bool = False
    speeds: tuple[int, ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        """Options of the function."""
        chosen = {"other": self.other, "against": self.against, "controlled": self.speeds}
        return {"frame": self.link, **{x: y for x, y in chosen.items() if y}}


class HitFunctions:
    """The functions for impacts of one robot.

    evaluator: Of the robot as it moves.
    """

    def __init__(self, model: Model, evaluator: Evaluator) -> None:
        self._model, self._evaluator = model, evaluator

    def of(
        self,
        name: str,
        options: Mapping[str, Any],
        arrays: tuple[ArrayLike, ...],
        base: BaseMotion | None,
        make: Callable[..., Any] | None = None,
        method: str = "",
        wrenches: Wrenches | None = None,
    ) -> Any:
        """The result of a quantity of a hit, as a method returns it.

        Parameters
        ----------
        options : mapping
            Of its function.
        make : callable, optional
            Makes the result of what the function gives and of its inputs, where the row of the
            quantity does not say so.
        method : str
            Name of the method. Default: that of the quantity.

        Returns
        -------
        result : object or None
            ``None`` where there are no numbers, as near singular postures, or no speeds to tell.
        """
        if self._model.setup.rheonomic or not self._model.bodies.nv:
            return None
        given = tuple(x if isinstance(x, float) else np.asarray(x, float) for x in arrays)
        return self._evaluator.answer(
            name, given, method=method, base=base, make=make, of_inputs=make is not None,
            fallback=lambda asked: None, wrenches=wrenches, **options,
        )  # fmt: skip
