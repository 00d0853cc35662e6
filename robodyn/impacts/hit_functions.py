"""Impacts by one function each, which gives NaN if the case has to be solved in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import all_finite
from robodyn.codegen import CallForm, Memo
from robodyn.evaluator import Evaluator, Wrenches
from robodyn.model.model import Model
from robodyn.motion.base_motion import BaseMotion
from robodyn.parts.dynamics import Dynamics

__all__ = ["HitForm", "HitFunctions"]


@dataclass(frozen=True)
class HitForm:
    """Options that determine the functions of an impact.

    Attributes
    ----------
    link : str
        That is hit.
    other : str
        Link of the same robot that it meets, if it does.
    against : bool
        It meets something that moves and is no part of the robot.
    joints, speeds : tuple of str, tuple of int
        Joints whose speeds are controlled, and these speeds.
    """

    link: str
    other: str = ""
    against: bool = False
    joints: tuple[str, ...] = ()
    speeds: tuple[int, ...] = ()

    @property
    def of_function(self) -> dict[str, Any]:
        """Options of the function."""
        chosen = {"other": self.other, "against": self.against, "controlled": self.speeds}
        return {"frame": self.link, **{x: y for x, y in chosen.items() if y}}

    @property
    def of_method(self) -> dict[str, Any]:
        """Options of methods for hits of this form."""
        other = {"other": self.other} if self.other else {}
        return {"link": self.link, **other, "controlled": self.joints}


class HitFunctions:
    """The functions for impacts of one robot.

    Parameters
    ----------
    model : Model
    evaluator : Evaluator
        Of the robot as it moves.
    dynamics : Dynamics
        Of that one, too.
    """

    def __init__(self, model: Model, evaluator: Evaluator, dynamics: Dynamics) -> None:
        self._model, self._evaluator, self._dynamics = model, evaluator, dynamics
        self._makers: Memo[Callable[..., Any]] = Memo()

    def of(
        self,
        name: str,
        hit: HitForm,
        arrays: tuple[ArrayLike, ...],
        base: BaseMotion | None,
        form: CallForm | None = None,
    ) -> Any:
        """The result of a quantity of a hit; of a method, as all calls like it get it from then on.

        Parameters
        ----------
        name : str
        hit : HitForm
        arrays : tuple of array_like
            As they were given, after they have been checked.
        base : BaseMotion, optional
        form : CallForm, optional
            Of the call; with ``make``, which makes the result of what the function gives and of its
            inputs, where the row of the quantity does not say so. Default: other calls do not go to
            the function, which gives a tuple.

        Returns
        -------
        result : object or None
            ``None`` where there are no numbers, as near singular postures.
        """
        checked = self._checked(hit)
        if checked is None:
            return None
        return self._made(name, {**hit.of_function, **checked}, arrays, base, form)

    def latched(
        self,
        speeds: tuple[int, ...],
        joints: tuple[str, ...],
        state: tuple[ArrayLike, ArrayLike],
        base: BaseMotion | None,
        make: Callable[..., Any],
    ) -> Any:
        """The result if some joints stop suddenly."""
        checked = self._dynamics.checked_beside(speeds)
        if checked is None:
            return None
        form = CallForm({"joints": joints}, method="latch", make=make)
        return self._made("latch", {"controlled": speeds, **checked}, state, base, form)

    def given(
        self,
        wrenches: Wrenches,
        hit: HitForm,
        state: tuple[ArrayLike, ArrayLike],
        base: BaseMotion | None,
        make: Callable[..., Any],
    ) -> Any:
        """The result under given impulses and couples."""
        form = CallForm({"controlled": hit.joints}, method="impulses", make=make)
        options = {"controlled": hit.speeds} if hit.speeds else {}
        checked = self._checked(hit)
        if checked is None:
            return None
        return self._made("impulses", {**options, **checked}, state, base, form, wrenches)

    def _checked(self, hit: HitForm) -> Mapping[str, Any] | None:
        speeds = hit.speeds
        return self._dynamics.checked_beside(speeds) if speeds else self._dynamics.checked

    def _made(
        self,
        name: str,
        options: Mapping[str, Any],
        arrays: tuple[ArrayLike, ...],
        base: BaseMotion | None,
        form: CallForm | None,
        wrenches: Wrenches | None = None,
    ) -> Any:
        """The result of a function, or of a method for calls that have this form."""
        motion = self._evaluator.environment(name, base)
        if form is not None and form.make is not None:
            links = tuple(wrenches or ())
            key, make = (form.method, name, *form.options.values(), links), form.make
            kept = self._makers.get(key, lambda: make)
            form = replace(form, make=kept, made_of=len(arrays) + len(motion) + len(links))
        found = self._found(name, options, arrays, base, form, wrenches)
        if found is None or form is None:
            return found
        if form.make is None:
            return self._evaluator.made(name, found)
        loads = (wrenches or {}).values()
        return form.make(found, *_numbers(arrays), *motion, *_numbers(loads))

    def _found(
        self,
        name: str,
        options: Mapping[str, Any],
        arrays: tuple[ArrayLike, ...],
        base: BaseMotion | None,
        form: CallForm | None,
        wrenches: Wrenches | None,
    ) -> Any:
        """Outputs of a function; ``None`` if they are NaN, or if there are no speeds to tell."""
        if self._model.setup.rheonomic or not self._model.bodies.nv:
            return None
        found = self._evaluator.results(
            name, _numbers(arrays), base=base, wrenches=wrenches, form=form, **options
        )
        whole = all(map(all_finite, found if isinstance(found, tuple) else (found,)))
        return found if whole else None


def _numbers(arrays: Iterable[ArrayLike]) -> tuple[Array, ...]:
    return tuple(np.asarray(x, float) for x in arrays)
