"""Steps, differences and rates of coordinates that do not simply add."""

from __future__ import annotations

from robodyn.equations.mechanism import coordinate_steps
from robodyn.equations.quantities.common.quantity import STATE, Input, Output, Q, Quantity, V
from robodyn.equations.quantities.common.tracer import Results, Tracer


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


#: Quantities by name.
ROWS = {
    "integrate": Quantity(
        (Q, Input("dv", "nv", "rad, m")),
        (Output("q", ("nq",), "rad, m"),),
        integrate,
        STATE,
        timeless=True,
    ),
    "coordinate_rates": Quantity(
        (Q, V), (Output("dq", ("nq",), "rad/s, m/s"),), coordinate_rates, STATE, timeless=True
    ),
    "difference": Quantity(
        (Input("q0", "nq", "rad, m"), Input("q1", "nq", "rad, m")),
        (Output("dv", ("nv",), "rad, m"),),
        difference,
        STATE,
        timeless=True,
    ),
    "tangent_rate": Quantity(
        (Input("u", "nv", "rad, m"), V),
        (Output("rate", ("nv",), "rad/s, m/s"),),
        tangent_rate,
        STATE,
        timeless=True,
    ),
}
