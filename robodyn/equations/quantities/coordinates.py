"""Steps, differences and rates of coordinates that do not simply add."""

from __future__ import annotations

from robodyn.equations.mechanism import coordinate_steps
from robodyn.equations.quantities.common.quantity import STATE, Input, Output, Q, Quantity, V
from robodyn.equations.quantities.common.tracer import Results, Trace, Tracer


def integrate(t: Tracer) -> Results:
    """Coordinates after a step."""
    return {"q": coordinate_steps.integrate(t.model, t.numbers["q"], t.numbers["dv"])}


def coordinate_rates(t: Tracer) -> Results:
    """Rates of all coordinates."""
    return {"dq": coordinate_steps.rates(t.model, t.numbers["q"], t.v)}


def difference(t: Tracer) -> Results:
    """The step from one position to another."""
    return {"dv": coordinate_steps.difference(t.model, t.numbers["q0"], t.numbers["q1"])}


def tangent_rate(t: Tracer) -> Results:
    """Rate of the step since some position, at given speeds."""
    return {"rate": coordinate_steps.tangent_rate(t.model, t.numbers["u"], t.v)}


def _row(first: Input, second: Input, found: Output, trace: Trace) -> Quantity:
    return Quantity((first, second), (found,), trace, STATE, timeless=True)


STEP = "rad, m"
Q0, Q1 = Input("q0", "nq", STEP), Input("q1", "nq", STEP)
RATE = "rad/s, m/s"

#: Quantities by name.
ROWS = {
    "integrate": _row(Q, Input("dv", "nv", STEP), Output("q", ("nq",), STEP), integrate),
    "coordinate_rates": _row(Q, V, Output("dq", ("nq",), RATE), coordinate_rates),
    "difference": _row(Q0, Q1, Output("dv", ("nv",), STEP), difference),
    "tangent_rate": _row(Input("u", "nv", STEP), V, Output("rate", ("nv",), RATE), tangent_rate),
}
