"""External wrenches as programs: traced by calling them with symbols, as controllers are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.codegen import Function
from robodyn.codegen.constants_as_inputs import function_of
from robodyn.errors import SettingsError
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.simulation.control.tracing import Trace
from robodyn.simulation.loads.prescribed_loads import wrenches_by_link
from robodyn.symbolic.graph import Port


@dataclass(frozen=True, eq=False)
class WrenchLaw:
    """Wrenches that are functions of time and state.

    links: On which they act.
    function: q, v, the time -> all wrenches one after the other, in axes of their links [N, N m].
    """

    links: tuple[str, ...]
    function: Function

    def at(self, t: FloatArray, q: FloatArray, v: FloatArray) -> dict[str, FloatArray]:
        """Wrenches by link, shape (..., 6), at times of shape (..., 1)."""
        rows = self.function(q, v, t[..., 0])
        return {link: rows[..., 6 * k : 6 * k + 6] for k, link in enumerate(self.links)}

    def slopes(
        self, name: str, t: FloatArray, q: FloatArray, v: FloatArray
    ) -> dict[str, FloatArray]:
        """Their derivatives by ``"q"`` or ``"v"``, shape (..., 6, nv)."""
        rows = self.function.jacobian(name)(q, v, t[..., 0])
        return {link: rows[..., 6 * k : 6 * k + 6, :] for k, link in enumerate(self.links)}


def wrench_law(robot: Robot, wrenches: Callable[..., Any]) -> WrenchLaw:
    """Trace a function of wrenches that is symbolic.

    Raises SettingsError: If it does not have ``symbolic = True``.
    Raises ShapeError: If it returns anything but six symbols or numbers by link.
    """
    if not getattr(wrenches, "symbolic", False):
        raise SettingsError(
            "derivatives are not known where wrenches are a function of the state that does not "
            "say that it is symbolic: set symbolic = True on one that does nothing with t, q and v "
            "but arithmetic, or give wrenches that are held"
        )
    trace = Trace(robot)
    given = wrenches(trace.t, trace.q, trace.v)
    found = wrenches_by_link(given, "for symbols", lambda link, x: np.array(x, object))
    rows = [number for row in found.values() for number in row]
    outputs = (Port("wrenches", (len(rows),), "N, N m"),)
    program = trace.program("wrenches", outputs, rows)
    return WrenchLaw(tuple(found), function_of(program))
