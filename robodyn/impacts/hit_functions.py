"""Hits by one function each, which gives no numbers where their equations have to be looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arrays import all_finite
from robodyn.codegen import CallForm, Memo
from robodyn.evaluator import Evaluator
from robodyn.model.model import Model
from robodyn.motion.base_motion import BaseMotion
from robodyn.parts.dynamics import Dynamics

__all__ = ["HitFunctions"]


class HitFunctions:
    """The functions of the hits of one robot.

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

    def numbers(
        self, name: str, link: str, arrays: tuple[ArrayLike, ...], base: BaseMotion | None
    ) -> Any:
        """What the function of a quantity gives.

        Parameters
        ----------
        name : str
        link : str
            That is hit.
        arrays : tuple of array_like
            As they were given, after they have been checked.
        base : BaseMotion, optional

        Returns
        -------
        found : ndarray, tuple of ndarray or None
            ``None`` where it is no numbers, as near singular postures.
        """
        checked = self._dynamics.checked
        if checked is None:
            return None
        return self._found(name, {"frame": link, **checked}, arrays, base, None)

    def of(
        self,
        name: str,
        link: str,
        arrays: tuple[ArrayLike, ...],
        base: BaseMotion | None,
        make: Callable[..., Any] | None = None,
        method: str = "",
        missing: tuple[str, ...] = (),
    ) -> Any:
        """The result of a method, as all calls like it get it from then on.

        Parameters
        ----------
        name, link, arrays, base
            As for `numbers`.
        make : callable, optional
            Makes the result of what the function gives and of its inputs. Default: as the row of
            the quantity says.
        method : str
            Its name, if it is not that of the quantity.
        missing : tuple of str
            Arrays of the method that such calls leave out.

        Returns
        -------
        result : object or None
            ``None`` where there are no numbers.
        """
        checked = self._dynamics.checked
        if checked is None:
            return None
        form = CallForm({"link": link}, method=method or name, missing=missing)
        return self._made(name, {"frame": link, **checked}, arrays, base, form, make)

    def latched(
        self,
        speeds: tuple[int, ...],
        joints: tuple[str, ...],
        state: tuple[ArrayLike, ArrayLike],
        base: BaseMotion | None,
        make: Callable[..., Any],
    ) -> Any:
        """The same where some joints stop at once; arguments as for `of`."""
        checked = self._dynamics.checked_beside(speeds)
        if checked is None:
            return None
        form = CallForm({"joints": joints}, method="latch")
        return self._made("latch", {"controlled": speeds, **checked}, state, base, form, make)

    def _made(
        self,
        name: str,
        options: dict[str, Any],
        arrays: tuple[ArrayLike, ...],
        base: BaseMotion | None,
        form: CallForm,
        make: Callable[..., Any] | None,
    ) -> Any:
        """The result of a method, for calls that have this form."""
        motion = self._evaluator.environment(name, base)
        key = (name, *form.options.values())
        kept = self._makers.get(key, lambda: make) if make else None
        form = replace(form, make=kept, made_of=len(arrays) + len(motion) if kept else 0)
        found = self._found(name, options, arrays, base, form)
        if found is None:
            return None
        if kept is None:
            return self._evaluator.made(name, found)
        return kept(found, *(np.asarray(x, float) for x in arrays), *motion)

    def _found(
        self,
        name: str,
        options: dict[str, Any],
        arrays: tuple[ArrayLike, ...],
        base: BaseMotion | None,
        form: CallForm | None,
    ) -> Any:
        """What a function gives; ``None`` where it is no numbers."""
        if self._model.setup.rheonomic:
            return None
        given = tuple(np.asarray(x, float) for x in arrays)
        found = self._evaluator.results(name, given, base=base, form=form, **options)
        whole = all(map(all_finite, found if isinstance(found, tuple) else (found,)))
        return found if whole else None
