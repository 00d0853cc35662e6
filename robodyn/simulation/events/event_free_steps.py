"""Steps that certainly have no event, as samples at their ends show.

Machine code does many steps at once. A witness function that only computes is evaluated over all of
their samples together, one that may do anything else sample by sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.simulation.events.crossing import sign
from robodyn.simulation.events.witness_function import StepSamples, WitnessState
from robodyn.tolerances import WITNESS_OF_SAMPLES, WITNESS_SIGN, WITNESS_ZERO


def steps_without_event(
    watched: Sequence[WitnessState], samples: StepSamples, acting: Callable[[int], None] | None
) -> tuple[int, KeyboardInterrupt | None]:
    """Number of the first steps of a block that certainly have no event.

    watched: State of each witness function at the start of the first step, which is updated to the
        end of the last step that is counted. Each function has a sign.
    acting, optional: Called with the number of a step before functions that may depend on its
        forces. ``None`` if forces are the same in all steps.
    Returns count
    Returns interrupt: Ctrl-C during the call of a function: to be raised after the steps before it
        are recorded.
    """
    checks = dict.fromkeys(x.function.sure_steps for x in watched if x.function.sure_steps)
    count = min((check(samples) for check in checks), default=len(samples.t) - 1)
    functions = [x for x in watched if not x.function.sure_steps]
    if not (count and functions):
        return count, None
    t, q, v = (x[: count + 1] for x in samples[:3])
    together, each, interrupt = [], [], None
    for state in functions:
        values = None
        if state.function.values is not None and not state.one_by_one and len(t) > 2:
            values = state.function.values(t[1:], q[1:], v[1:])
            state.one_by_one = values is None
        if values is None:
            each.append(state)
        else:
            together.append((state, values))
            count = min(count, _same_side(values, state.side or 0))
    for j in range(count if each else 0):
        if acting is not None:
            acting(j)
        start = None if acting is None else (float(t[j]), q[j], v[j])
        try:
            if not _step_without_event(each, float(t[j + 1]), q[j + 1], v[j + 1], start):
                count = j
                break
        except KeyboardInterrupt as error:
            interrupt, count = error, j
            break
    if count and together and not _confirmed(together, count, t, q, v):
        return 0, interrupt
    return count, interrupt


def starts_off_zero(watched: Sequence[WitnessState], samples: StepSamples) -> bool:
    """Whether all functions start at a distance from zero that is not rounding."""
    t, q, v = float(samples.t[1]), samples.q[1], samples.v[1]
    for state in watched:
        try:
            change = state.function.value(t, q, v) - state.value
        except Exception:  # of the user's function: it shows again in the first step
            return False
        if abs(state.value) <= WITNESS_ZERO * abs(change):
            return False
    return True


def _step_without_event(
    watched: Sequence[WitnessState],
    t: float,
    q: FloatArray,
    v: FloatArray,
    start: tuple[float, FloatArray, FloatArray] | None,
) -> bool:
    """Whether there is no event in a step from where time has come to, to a state.

    t, q, v [s]: The end of the step.
    start, optional: The same at its start, if functions may have changed there.
    """
    new = []
    for state in watched:
        side, before = state.side, state.value
        try:
            if start is not None and state.function.of_state:
                before = state.function.value(*start)
            value = state.function.value(t, q, v)
        except Exception:  # it shows again where the step is done with numbers
            return False
        if side is None or sign(value) != side or sign(before) != side:
            return False
        state.stepped(side, value - before)
        new.append(value)
    for state, value in zip(watched, new, strict=True):
        state.value = value
    return True


def _confirmed(
    together: Sequence[tuple[WitnessState, FloatArray]],
    count: int,
    t: FloatArray,
    q: FloatArray,
    v: FloatArray,
) -> bool:
    """Note the values at the end of some steps, computed once more for that sample alone.

    A function whose value for one sample differs from that for many is called for each sample from
    now on.
    """
    ends = []
    for state, values in together:
        numbers = []
        try:
            for k in range(max(count - 1, 1), count + 1):
                numbers.append(state.function.value(float(t[k]), q[k], v[k]))
        except Exception:  # of the user's function, at instants that may never come
            state.one_by_one = True
            return False
        at_once = values[count - len(numbers) : count].tolist()
        wrong = max(abs(x - y) for x, y in zip(at_once, numbers, strict=True))
        if wrong and wrong > WITNESS_OF_SAMPLES * np.abs(values[:count]).max():
            state.one_by_one = True
            return False
        ends.append((state, state.value if count == 1 else numbers[0], numbers[-1]))
    for state, before, value in ends:
        state.stepped(state.side or 0, value - before)
        state.value = value
    return True


def _same_side(values: FloatArray, side: int) -> int:
    """Number of the first values that have a sign without doubt."""
    low, high = float(values.min()), float(values.max())
    if min(side * low, side * high) > WITNESS_SIGN * max(-low, high):  # false for NaN
        return len(values)
    largest = np.abs(values).max(initial=0.0)
    if not np.isfinite(largest):
        values = np.where(np.isfinite(values), values, 0.0)  # zero has no sign
        largest = np.abs(values).max(initial=0.0)
    sure = side * values > WITNESS_SIGN * largest
    return int(sure.argmin())
