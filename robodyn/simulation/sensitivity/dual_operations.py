"""The operations of a step with dual arrays: values and their derivatives.

They call the compiled functions of the robot and the derivatives of these, for all states of a
batch, and apply the chain rule in tangent space::

    q' = integrate(q, u)       dq' = T(q') (I_q dq + I_u du)

where T maps rates of coordinates to speeds. Driven joints are set to their paths, so their
derivatives are zero. The Newton steps that close loops, ``M dq = K^T x, K dq = -gap``, are
differentiated one by one.

The motion of the base, paths of driven joints and wrenches are functions of time. Accelerations,
and forces of driven joints, depend on the rest::

    a, tau_d = HD(q, v, a_d, tau_f)
    da, dtau_d = HD_q dq + HD_v dv + HD_tau (dtau_f + dg_f) - (0, dg_d)
    dg = J^T (w_q dq + w_v dv) - Y dp

of driven joints d and free ones f, with the regressor Y, and the Jacobians J of links on which
wrenches act that are functions w of the state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.codegen import Function, making
from robodyn.codegen.constants_as_inputs import function_of
from robodyn.errors import SettingsError
from robodyn.literals import ParameterSet
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.simulation.control.tracing import Trace
from robodyn.simulation.integrators.method import FLAT, Coordinates
from robodyn.simulation.loads.loads import Loads, LoadsAt, StepFunctions
from robodyn.simulation.loads.prescribed_loads import wrenches_by_link
from robodyn.simulation.step.operations.numeric import while_any_open
from robodyn.simulation.step.operations.step import Correct, close_loops
from robodyn.symbolic.graph import Port
from robodyn.tolerances import LOOP_DRIFT


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


@dataclass(frozen=True, eq=False)
class DualArray:
    """An array and its derivatives with respect to m variables: a dual number.

    It has the two operations that integrators need: sums, and products with numbers.

    value (..., n)
    derivative (..., k, m): Derivatives of coordinates are in tangent space: ``k`` is the number of
        speeds.
    """

    #: numpy leaves products with arrays to this class.
    __array_ufunc__: ClassVar[None] = None

    value: FloatArray
    derivative: FloatArray

    def __add__(self, other: DualArray) -> DualArray:
        return DualArray(self.value + other.value, self.derivative + other.derivative)

    def __rmul__(self, factor: Any) -> DualArray:
        """The product with a number, or with one number for each state, shape (..., 1)."""
        of_derivative = np.asarray(factor)[..., None] if np.ndim(factor) else factor
        return DualArray(factor * self.value, of_derivative * self.derivative)


#: Corrections of position and velocity, and gaps.
Corrections = tuple[DualArray, DualArray, FloatArray]


class DualOperations:
    """Operations with `DualArray`.

    loads: Without wrenches that are functions of the state.
    functions: The functions of the loads.
    law, optional: Wrenches that are functions of the state.
    parameters {"inertial", "dynamic"}: Differentiate with respect to these parameters, too.
    """

    def __init__(
        self,
        loads: Loads,
        functions: StepFunctions,
        law: WrenchLaw | None,
        parameters: bool | ParameterSet,
    ) -> None:
        self._loads, self._functions, self._law = loads, functions, law
        self._parameters, self._robot = parameters, loads.robot
        self._driven, self._free = list(loads.driven.speeds), loads.driven.free.tolist()
        wrenches = loads.external.wrenches
        assert not callable(wrenches)
        links = tuple(wrenches) if law is None else law.links
        options: dict[str, Any] = {"wrenches": links} if links else {}
        name = "forward_dynamics_derivatives"
        if self._driven:
            name, options["controlled"] = "hybrid_dynamics_derivatives", loads.driven.speeds
        self._dynamics = self._robot.function(name, **options)

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

    # -- accelerations ------------------------------------------------------------------------

    def accelerations(
        self, t: FloatArray, q: DualArray, v: DualArray, tau: FloatArray, driving: LoadsAt
    ) -> DualArray:
        """Accelerations of all speeds; ``tau`` (..., nv): forces of joints that are not driven."""
        found = self._found(driving, q.value, v.value, tau)
        push = self._pushed(driving, q, v, found["a"])
        return DualArray(found["a"], self._chained("a", found, q, v, push))

    def driving_forces(self, at: LoadsAt, q: DualArray, v: DualArray, tau: FloatArray) -> DualArray:
        """Generalised forces of the driven speeds, in their order; joints are on their paths."""
        found = self._found(at, q.value, v.value, tau)
        push = self._pushed(at, q, v, found["a"])
        derivative = self._chained("tau", found, q, v, push) - push
        return DualArray(found["tau"][..., self._driven], derivative[..., self._driven, :])

    def _found(self, at: LoadsAt, q: FloatArray, v: FloatArray, tau: FloatArray) -> dict[str, Any]:
        """Outputs of the derivatives of dynamics; ``free``: of a with respect to free forces."""
        function, given, forces = self._dynamics, list[Array]([tau]), "tau"
        if self._driven:
            given, forces = [at.driven[2], tau[..., self._free]], "tau_free"
        if self._law is not None:
            acting = self._law.at(_time(at), q, v)
            at = replace(at, constant={f"wrench:{link}": x for link, x in acting.items()})
        parts = function(q, v, *given, *at.inputs(function, 2 + len(given)))
        found = dict(zip((port.name for port in function.outputs), parts, strict=True))
        for name in ("a", "tau") if self._driven else ("a",):
            found[f"d {name} / d free"] = found[f"d {name} / d {forces}"]
        return found

    def _chained(
        self, name: str, found: dict[str, Any], q: DualArray, v: DualArray, push: FloatArray
    ) -> FloatArray:
        """Derivatives of an output with respect to the state and all generalised forces."""
        by_q, by_v, by_tau = (found[f"d {name} / d {x}"] for x in ("q", "v", "free"))
        derivative = by_q @ q.derivative + by_v @ v.derivative + by_tau @ push[..., self._free, :]
        derivative[..., [2 * self._robot.nv + k for k in self._free]] += by_tau
        return np.asarray(derivative)

    def _pushed(self, at: LoadsAt, q: DualArray, v: DualArray, a: FloatArray) -> FloatArray:
        """Derivatives of generalised forces through wrenches and parameters, (..., nv, m)."""
        push = np.zeros_like(q.derivative)
        if self._parameters:
            push[..., 3 * self._robot.nv :] = -self._regressed(at, q.value, v.value, a)
        if self._law is not None:
            by_q, by_v = (self._law.slopes(x, _time(at), q.value, v.value) for x in ("q", "v"))
            for link in self._law.links:
                jacobian = self._robot.function("frame_jacobian", frame=link)
                J = jacobian(q.value, *at.inputs(jacobian, 1))
                change = by_q[link] @ q.derivative + by_v[link] @ v.derivative
                push += np.swapaxes(J, -1, -2) @ change
        return push

    def _regressed(self, at: LoadsAt, *motion: FloatArray) -> FloatArray:
        """The regressor of the parameters at positions, speeds and accelerations."""
        name = "dynamic_regressor" if self._parameters == "dynamic" else "regressor"
        regressor = self._robot.function(name)
        return np.asarray(regressor(*motion, *at.inputs(regressor, 3)))

    # -- loops --------------------------------------------------------------------------------

    def close(self, t: FloatArray, q: DualArray, v: DualArray) -> tuple[DualArray, DualArray]:
        """The state with its loops closed."""
        return (q, v) if self._functions.corrections is None else close_loops(self, t, q, v)

    def corrections(self, t: FloatArray, q: DualArray, v: DualArray) -> Corrections:
        """One step of Newton's method, with its derivatives."""
        f, at = self._functions.corrections, self.at(t)
        assert f is not None
        given = q.value, v.value, *at.inputs(f, 2)
        (dq, dv, gap), by_q, by_v = (g(*given) for g in (f, derivative(f, "q"), derivative(f, "v")))
        found = []
        for k, x in enumerate((dq, dv)):
            change = by_q[k] @ q.derivative + by_v[k] @ v.derivative
            if self._parameters:
                change[..., 3 * self._robot.nv :] -= self._of_inertia(at, q.value, x)
            found.append(DualArray(x, change))
        return found[0], found[1], gap

    def _of_inertia(self, at: LoadsAt, q: FloatArray, x: FloatArray) -> FloatArray:
        """Derivative of accelerations at rest with respect to parameters, ``G dM x``.

        ``G`` is the derivative of accelerations with respect to the forces of joints that are not
        driven, and ``dM x`` that of the forces for accelerations x.
        """
        rest = np.zeros_like(x)
        forces = self._regressed(at, q, rest, x) - self._regressed(at, q, rest, rest)
        by_tau = self._found(at, q, rest, rest)["d a / d free"]
        return np.asarray(by_tau @ forces[..., self._free, :])

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

    # -- coordinates --------------------------------------------------------------------------

    @cached_property
    def _rates(self) -> Function | None:
        """Derivative of rates of coordinates with respect to speeds; ``None`` if they add."""
        f = self._functions.integrate
        return f and _kept(f, "rates", lambda: Function(f.program.rates["q"]))

    @cached_property
    def coordinates(self) -> Coordinates:
        """How positions move by twists."""
        integrate, rate, by_speeds = self._functions.integrate, self._functions.rate, self._rates
        if integrate is None or rate is None or by_speeds is None:
            return FLAT
        of_q, of_step = (derivative(integrate, name) for name in ("q", "dv"))
        of_u, of_v = (derivative(rate, name) for name in ("u", "v"))

        def move(q: Any, u: Any) -> Any:
            value = integrate(q.value, u.value)
            raw = of_q(q.value, u.value) @ q.derivative + of_step(q.value, u.value) @ u.derivative
            return DualArray(value, _along_speeds(by_speeds(value), raw))

        def speed(u: Any, v: Any) -> Any:
            at = u.value, v.value
            return DualArray(rate(*at), of_u(*at) @ u.derivative + of_v(*at) @ v.derivative)

        return Coordinates(move, speed)


def _time(at: LoadsAt) -> FloatArray:
    """The instants, shape (..., 1) [s]."""
    return at.varying["t"][..., None]


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


def _kept(function: Function, name: str, make: Callable[[], Function]) -> Function:
    with making():
        known = _made.setdefault(function, {})
        if name not in known:
            known[name] = make()
        return known[name]
