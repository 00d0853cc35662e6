"""A motion in which events are looked for within each step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from robodyn.array_types import FloatArray
from robodyn.simulation.breakdown import breaking_down
from robodyn.simulation.callbacks import Controller, Event, event_value, torque
from robodyn.simulation.limits import Limits
from robodyn.simulation.progress import Progress
from robodyn.simulation.record import Record
from robodyn.simulation.stepper import Stepper

__all__ = ["move_until"]


def move_until(
    events: tuple[Event, ...],
    stepper: Stepper,
    controller: Controller | None,
    q: FloatArray,
    v: FloatArray,
    times: FloatArray,
    record: Record,
    report: Progress,
    limits: Limits,
) -> None:
    """Step from instant to instant, and record the state at each, until an event happens."""
    instants, last, ended = times.tolist(), len(times) - 1, False
    t = instants[0]
    for k in range(last + 1):
        if k % 50 == 0:
            report(k / max(last, 1))
        tau = limits.cut(torque(controller, t, q, v))
        with breaking_down(record, t):
            a, forces = stepper.accelerations(t, q, v, tau)
            record.add(t, q, v, a, forces)
        if k == last or ended:
            break
        end = instants[k + 1]
        with breaking_down(record, end):
            q_next, v_next = stepper.step(t, q, v, tau, end - t, a)
            after = partial(_after, stepper, t, q, v, tau, a)
            h, ended = _until(events, t, q, v, end - t, after)
            if ended:
                end, (q_next, v_next) = t + h, after(h)
        t, q, v = end, q_next, v_next


def _after(
    stepper: Stepper,
    t: float,
    q: FloatArray,
    v: FloatArray,
    tau: FloatArray,
    a: FloatArray,
    h: float,
) -> tuple[FloatArray, FloatArray]:
    """The state after a part ``h`` [s] of a step."""
    return stepper.step(t, q, v, tau, h, a)


def _until(
    events: tuple[Event, ...],
    t: float,
    q: FloatArray,
    v: FloatArray,
    h: float,
    after: Callable[[float], tuple[FloatArray, FloatArray]],
) -> tuple[float, bool]:
    """Part of a step of ``h`` [s] after which the first event has happened, and whether one has."""
    before = [event_value(event, t, q, v) for event in events]

    def happened(part: float) -> bool:
        state = after(part)
        # an event that starts at zero happens when it comes back
        return any(
            g != 0.0 and g * event_value(event, t + part, *state) <= 0.0
            for g, event in zip(before, events, strict=True)
        )

    if not happened(h):
        return h, False
    low, high = 0.0, h
    while high - low > 1e-12 * h:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if happened(middle) else (middle, high)
    return high, True
