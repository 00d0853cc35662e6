"""The operations of a step with dual arrays: values and their derivatives.

They call the compiled functions of the robot and the derivatives of these, for all states of a
batch, and apply the chain rule in tangent space::

    q' = integrate(q, u)       dq' = T(q') (I_q dq + I_u du)

where T maps rates of coordinates to speeds. Driven joints are set to their paths, so their
derivatives are zero. The Newton steps that close loops, ``M dq = K^T x, K dq = -gap``, are
differentiated one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.codegen import Function, making
from robodyn.simulation.integrators.method import Coordinates, coordinates
from robodyn.simulation.loads.loads import Loads
from robodyn.simulation.loads.step_functions import StepFunctions
from robodyn.simulation.loads.tables import LoadsAt
from robodyn.simulation.sensitivity.acceleration_derivatives import AccelerationDerivatives
from robodyn.simulation.sensitivity.dual_array import DualArray
from robodyn.simulation.step.operations.numeric import while_any_open
from robodyn.simulation.step.operations.step import Correct, close_loops
from robodyn.tolerances import LOOP_DRIFT

#: Corrections of position and velocity, and gaps.
Corrections = tuple[DualArray, DualArray, FloatArray]


class DualOperations:
    """Operations with `DualArray`.

    loads: Without wrenches that are functions of the state.
    functions: The functions of the loads.
    parameters: Differentiate with respect to parameters, too.
    """

    def __init__(
        self,
        loads: Loads,
        functions: StepFunctions,
        dynamics: AccelerationDerivatives,
        parameters: bool,
    ) -> None:
        self._loads, self._functions = loads, functions
        self._dynamics, self._parameters = dynamics, parameters

    def at(self, t: FloatArray) -> LoadsAt:
        """The loads at times of shape (..., 1) [s]."""
        if not self._loads.have_paths:
            return self._loads.at(t[..., 0])
        instants, back = np.unique(t, return_inverse=True)
        return self._loads.at(instants)[back.reshape(t.shape[:-1])]

    def drive(self, t: FloatArray, q: DualArray, v: DualArray) -> LoadsAt:
        """Set driven joints to their paths, and return the loads at these instants."""
        at = self.at(t)
        if not self._loads.driven:
            return at
        where, speeds = self._loads.driven.places
        x, dx, _ = at.driven
        v.value[..., speeds], v.derivative[..., speeds, :] = dx, 0.0
        if self._rates is None:
            q.value[..., where], q.derivative[..., where, :] = x, 0.0
        elif len(where):
            raw = self._rates(q.value) @ q.derivative
            q.value[..., where], raw[..., where, :] = x, 0.0
            q.derivative[...] = _along_speeds(self._rates(q.value), raw)
        return at

    def accelerations(
        self, t: FloatArray, q: DualArray, v: DualArray, tau: FloatArray, driving: LoadsAt
    ) -> DualArray:
        """Accelerations of all speeds."""
        return self._dynamics.accelerations(driving, q, v, tau)

    # -- loops --------------------------------------------------------------------------------

    def close(self, t: FloatArray, q: DualArray, v: DualArray) -> tuple[DualArray, DualArray]:
        """The state with its loops closed."""
        if self._functions.corrections is None:
            return q, v
        return close_loops(self, t, q, v)

    def corrections(self, t: FloatArray, q: DualArray, v: DualArray) -> Corrections:
        """One step of Newton's method, with its derivatives."""
        at = self.at(t)
        around = at.inputs(self._closing[0], 2)
        (dq, dv, gap), by_q, by_v = (f(q.value, v.value, *around) for f in self._closing)
        found = []
        for k, x in enumerate((dq, dv)):
            derivative = by_q[k] @ q.derivative + by_v[k] @ v.derivative
            if self._parameters:
                nv = self._loads.robot.nv
                derivative[..., 3 * nv :] -= self._dynamics.of_inertia(at, q.value, x)
            found.append(DualArray(x, derivative))
        return found[0], found[1], gap

    def where_open(self, gap: FloatArray, moved: DualArray, q: DualArray) -> DualArray:
        """``moved`` where loops are open, ``q`` elsewhere."""
        is_open = gap > LOOP_DRIFT
        return DualArray(
            np.where(is_open[..., None], moved.value, q.value),
            np.where(is_open[..., None, None], moved.derivative, q.derivative),
        )

    def while_open(self, correct: Correct, q: Any, found: Any) -> tuple[Any, Any]:
        """Correct until the loops of all states of the batch are closed."""
        return while_any_open(correct, q, found)

    @cached_property
    def _closing(self) -> tuple[Function, Function, Function]:
        """Corrections that close loops, and their derivatives with respect to q and v."""
        corrections = self._functions.corrections
        assert corrections is not None
        return corrections, derivative(corrections, "q"), derivative(corrections, "v")

    # -- coordinates --------------------------------------------------------------------------

    @cached_property
    def _rates(self) -> Function | None:
        """Derivative of rates of coordinates with respect to speeds; ``None`` if they add."""
        integrate = self._functions.integrate
        return None if integrate is None else rates(integrate)

    @cached_property
    def coordinates(self) -> Coordinates:
        """How positions move by twists."""
        integrate, rate, by_speeds = self._functions.integrate, self._functions.rate, self._rates
        if integrate is None or rate is None or by_speeds is None:
            return coordinates()
        of_q, of_step = (derivative(integrate, name) for name in ("q", "dv"))
        of_u, of_v = (derivative(rate, name) for name in ("u", "v"))

        def move(q: Any, u: Any) -> Any:
            value = integrate(q.value, u.value)
            raw = of_q(q.value, u.value) @ q.derivative + of_step(q.value, u.value) @ u.derivative
            return DualArray(value, _along_speeds(by_speeds(value), raw))

        def speed(u: Any, v: Any) -> Any:
            derivative = (
                of_u(u.value, v.value) @ u.derivative + of_v(u.value, v.value) @ v.derivative
            )
            return DualArray(rate(u.value, v.value), derivative)

        return coordinates(move, speed)


def _along_speeds(rates: FloatArray, raw: FloatArray) -> FloatArray:
    """Changes of coordinates in tangent space, shape (..., nv, m).

    rates (..., nq, nv): Derivative of rates of coordinates with respect to speeds.
    raw (..., nq, m)
    """
    turned = np.swapaxes(rates, -1, -2)
    return np.asarray(np.linalg.solve(turned @ rates, turned @ raw))


_made: WeakKeyDictionary[Function, dict[str, Function]] = WeakKeyDictionary()


def derivative(function: Function, name: str) -> Function:
    """The derivative of a function with respect to an input; see `Function.jacobian`."""
    return _kept(function, name, lambda: function.jacobian(name))


def rates(integrate: Function) -> Function:
    """Derivative of the rates of coordinates with respect to speeds, from ``integrate``."""
    return _kept(integrate, "rates", lambda: Function(integrate.program.rates["q"]))


def _kept(function: Function, name: str, make: Callable[[], Function]) -> Function:
    with making():
        known = _made.setdefault(function, {})
        if name not in known:
            known[name] = make()
        return known[name]
