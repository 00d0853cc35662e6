"""Readings of the sensors of a robot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import all_finite, by_name
from robodyn.description.sensor import DescribedSensor
from robodyn.errors import ShapeError, SingularError
from robodyn.evaluator import Evaluator, Wrenches
from robodyn.model.model import Model
from robodyn.model.speed_selection import ByJoint, assign_roles
from robodyn.model.states import listed, rows_of
from robodyn.motion.base_motion import BaseMotion
from robodyn.parts.symbolic_calls import of_symbols

#: Names of inputs in messages.
_WORDS = {"v": "speeds v", "a": "accelerations a"}


class SensorReadings:
    """Readings of a robot in tree coordinates."""

    def __init__(self, model: Model, evaluator: Evaluator) -> None:
        self._model, self._evaluator = model, evaluator

    def at(
        self, q: ArrayLike, v: ArrayLike | None, a: ArrayLike | None, tau: ByJoint | None,
        sensors: Iterable[str] | None, *, wrenches: Wrenches | None, base: BaseMotion | None,
    ) -> dict[str, Array]:  # fmt: skip
        """Readings in a state, or in many."""
        read = self._evaluator.options.sensors(sensors)
        wrenches = by_name("wrenches", wrenches or {})
        if a is not None and tau is not None:
            raise ShapeError(
                "a and tau are both given: accelerations follow from forces, or are known",
                name="tau",
            )
        names, multipliers = tuple(x.name for x in read), None
        if tau is not None and v is not None and any(x.reads == "a" for x in read):
            roles = assign_roles(self._model, None, tau, ())
            _, a, *lam = self._evaluator.results(
                "hybrid_joint_wrenches", roles.beside(q, v), base=base, wrenches=wrenches,
                joints=(), controlled=(),
            )  # fmt: skip
            exerted = self._evaluator.options.exerted("measure", {"sensors": names})
            multipliers = lam[0] if lam and exerted else None
        readings: dict[str, Array] = self._evaluator.answer(
            "measure", _inputs(read, q, v, a), base=base, wrenches=wrenches,
            multipliers=multipliers, make=partial(_by_name, names), sensors=names,
        )  # fmt: skip
        _refuse_undefined(read, readings)
        return readings

    def over_symbols(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Readings as symbols, for arguments that are symbols.

        Raises ShapeError: If something is missing, or cannot be given beside symbols.
        """
        given = {name: x for name, x in given.items() if x is not None}
        read = self._evaluator.options.sensors(given.pop("sensors", None))
        wrenches, base = given.pop("wrenches", {}), given.pop("base", None)
        if "tau" in given:
            raise ShapeError("tau is given beside symbols: give accelerations a", name="tau")
        names = tuple(x.name for x in read)
        state = dict(zip("qva", _inputs(read, *map(given.get, "qva")), strict=False))
        found = of_symbols(self._evaluator, "measure", state, wrenches, base, sensors=names)
        return _by_name(names, found)


def _by_name(names: tuple[str, ...], found: Any) -> dict[str, Array]:
    """Outputs of the function of some sensors, by their names."""
    return dict(zip(names, found if isinstance(found, tuple) else (found,), strict=True))


def _inputs(
    read: tuple[DescribedSensor, ...],
    q: ArrayLike | None,
    v: ArrayLike | None,
    a: ArrayLike | None,
) -> tuple[Any, ...]:
    """The arrays that sensors need.

    Raises ShapeError: If one is not given.
    """
    arrays: list[Any] = [q]
    for name, given, letters in (("v", v, "va"), ("a", a, "a")):
        needing = [x.name for x in read if x.reads in letters]
        if needing and given is None:
            beside = " or forces tau" if name == "a" else ""
            raise ShapeError(
                f"sensor {needing[0]!r} needs {_WORDS[name]}{beside}: give them, or say by "
                "sensors= which sensors are to be read",
                name=name,
            )
        if needing:
            arrays.append(given)
    return tuple(arrays)


def _refuse_undefined(read: tuple[DescribedSensor, ...], shown: Mapping[str, Array]) -> None:
    """Refuse readings that are not finite, such as the rate of a distance of zero."""
    for sensor in read:
        values = shown[sensor.name]
        if not all_finite(values):
            rows = rows_of(~np.isfinite(values).all(axis=-1))
            where = f" in states {listed(rows)} of the batch" if rows else " in this state"
            raise SingularError(
                f"sensor {sensor.name!r} ({sensor.kind}) shows no number{where}: points whose "
                "distance changes coincide there, axes are parallel, a function divides by zero, "
                "or numbers are too large",
                rows=rows,
            )
