"""Passes over the samples of a motion: extremes, energies beside work, and signs that change.

Numpy would take several times as long: each of its operations is a pass of its own, and reductions
over samples of few columns run in short loops.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.load_program import LoadedFunction
from robodyn.codegen.llvm.builder.rows import Buffer
from robodyn.codegen.llvm.builder.values import Number, Variable
from robodyn.codegen.llvm.programs.addresses import address_of
from robodyn.codegen.llvm.target.once import once

#: Number of rows that are examined together, so that inner loops are long.
TOGETHER = 8
INFINITE = "0x7FF0000000000000", "0xFFF0000000000000"


def extremes_beyond(x: FloatArray, edges: FloatArray) -> tuple[FloatArray, Array] | None:
    """The least and the largest number of each column, shape (2, k); None if none is beyond edges.

    They are infinite where all numbers of a column are NaN. Beside them the first row beyond each
    edge, and the first one with these numbers, shape (2, 2, k), -1 where there is none.

    x (n, k)
    edges (2, k): Both in C order.
    """
    n, k = x.shape
    found, size = np.empty(2 * (TOGETHER + 2) * k), 2 * TOGETHER * k
    at = address_of(found)
    if not _extremes().run(address_of(x), n, k, address_of(edges), at, at + size * found.itemsize):
        return None
    return found[:size].reshape(2, TOGETHER, k)[:, 0], found[size:].view(np.int64).reshape(2, 2, k)


def work_and_energy(
    t: FloatArray,
    speeds: FloatArray,
    forces: FloatArray,
    power: FloatArray,
    kinetic: FloatArray,
    potential: FloatArray,
) -> FloatArray:
    """Work and energy of some motions, shape (4, motions).

    Rows: the sum of absolute values of work in steps; the largest difference between the change of
    energy and the work until then; the larger of the ranges of the two energies; the largest
    absolute value of their sum. The first row is NaN where a number is.

    t (n,) [s]
    speeds, forces (n, motions, nv): Forces are held in steps. Where none act, they may have shape
        (n, motions, 0).
    power, kinetic, potential (n, motions) [W, J]: Power of forces that follow from the state, and
        energies.
    """
    found = np.empty((4, kinetic.shape[1]))
    given = t, power, kinetic, potential, speeds, forces
    arrays = [*[np.ascontiguousarray(x, float) for x in given], found]
    _work_and_energy().run(*[address_of(x) for x in arrays], *speeds.shape)
    return found


def reversals(
    h: FloatArray,
    v: FloatArray,
    a: FloatArray,
    motions: Sequence[int],
    least: float,
    many: int,
    span: int,
) -> Array:
    """Which speeds a step would reverse at ``many`` of ``span`` successive samples, (motions, nv).

    h (n,) [s]: Of the steps from each sample on.
    v, a (n, all motions, nv): Speeds and accelerations.
    motions: Which of them are looked at.
    least: Change of speed in a step that counts.
    """
    n, width, nv = v.shape
    chosen = np.array(motions, np.int64)
    found = np.zeros((len(chosen), nv, 2), np.int64)
    latest = np.full((len(chosen), nv, many - 1), -span)
    arrays = *(np.ascontiguousarray(x, float) for x in (h, v, a)), chosen, found, latest
    sizes = n, len(chosen), nv, width * nv, least, many - 1, span
    _reversals().run(*map(address_of, arrays), *sizes)
    return found[..., 1] > 0


@once
def _reversals() -> LoadedFunction:
    pointers = ", ".join(f"ptr %{name}" for name in ("h", "v", "a", "chosen", "found", "latest"))
    numbers = "i64 %n, i64 %motions, i64 %nv, i64 %stride, double %least, i64 %others, i64 %span"
    code = Code(f"@reversals({pointers}, {numbers})")
    n, motions, nv, stride, others, span = (
        code.argument(name, "i64") for name in ("n", "motions", "nv", "stride", "others", "span")
    )
    least = code.argument("least", "double")
    h, v, a = (Buffer(code, f"%{name}") for name in ("h", "v", "a"))
    for i in code.each(n):
        step = h.get(i)
        for r in code.each(motions):
            row = i * stride + code.load("%chosen", r, "i64") * nv
            for j in code.each(nv):
                change = step * code.size(a.get(row + j))
                reversing = (change >= code.size(v.get(row + j))) & (change > least)
                with code.when(reversing, expected=False):
                    k = r * nv + j
                    count, close = (code.load("%found", 2 * k + m, "i64") for m in range(2))
                    place = k * others + count % others  # of the sample that is ``others`` before
                    near = i - code.load("%latest", place, "i64") < span
                    code.store(i, "%latest", place, "i64")
                    for m, value in enumerate((count + 1, close + near.extended())):
                        code.store(value, "%found", 2 * k + m, "i64")
    return _loaded(code, "reversals", "looking at friction", "ppppppqqqqdqq")


@once
def _extremes() -> LoadedFunction:
    code = Code("@extremes(ptr %x, i64 %n, i64 %k, ptr %edges, ptr %found, ptr %rows)", "i64")
    n, k = code.argument("n", "i64"), code.argument("k", "i64")
    x, edges, found = (Buffer(code, f"%{name}") for name in ("x", "edges", "found"))
    sides = [(found, "<"), (found.part(k * TOGETHER), ">")]
    for (peak, _), start in zip(sides, INFINITE, strict=True):
        for j in code.each(k * TOGETHER):
            peak.put(j, Number(code, start, "double"))

    def look(j: Number, value: Number, peak: Buffer, sign: str) -> None:
        known = peak.get(j)
        peak.put(j, code.choose(code.operation(sign, value, known), value, known))

    groups = n / TOGETHER
    for group in code.each(groups):
        some = x.part(group * TOGETHER * k)
        for j in code.each(k * TOGETHER):
            for side in sides:
                look(j, some.get(j), *side)
    for row in code.each(n, start=groups * TOGETHER):
        for j in code.each(k):
            for side in sides:
                look(j, x.get(row * k + j), *side)
    for group in code.each(TOGETHER, start=1):
        for peak, sign in sides:
            for j in code.each(k):
                look(j, peak.get(group * k + j), peak, sign)
    beyond = code.variable(0)
    for j in code.each(k):
        for (peak, sign), edge in zip(sides, (edges, edges.part(k)), strict=True):
            with code.when(code.operation(sign, peak.get(j), edge.get(j)), expected=False):
                beyond.value = 1
    with code.when(beyond.value > 0, expected=False):
        for j in code.each(4 * k):
            code.store(code.integer(-1), "%rows", j, "i64")
        for i in code.each(n):
            row = n - 1 - i
            for j in code.each(k):
                value = x.get(row * k + j)
                for place, (peak, sign) in zip((j, k + j), sides, strict=True):
                    for at, than in ((place, edges.get(place)), (place + 2 * k, peak.get(j))):
                        as_far = sign if at is place else f"{sign}="
                        with code.when(code.operation(as_far, value, than), expected=False):
                            code.store(row, "%rows", at, "i64")
    code.give(beyond.value)
    return _loaded(code, "extremes", "looking at limits", "pqqppp", ctypes.c_int64)


@once
def _work_and_energy() -> LoadedFunction:
    names = ("t", "power", "kinetic", "potential", "v", "tau", "found")
    pointers = ", ".join(f"ptr %{name}" for name in names)
    code = Code(f"@work({pointers}, i64 %n, i64 %motions, i64 %nv)")
    n, motions, nv = (code.argument(name, "i64") for name in ("n", "motions", "nv"))
    t, power, kinetic, potential, v, tau, found = (Buffer(code, f"%{name}") for name in names)

    def extend(ends: tuple[Variable, Variable], value: Number) -> None:
        low, high = (end.value for end in ends)
        ends[0].value = code.choose(value < low, value, low)
        ends[1].value = code.choose(value > high, value, high)

    for r in code.each(motions):
        stored = [
            (kinetic, *_twice(code, kinetic.get(r))),
            (potential, *_twice(code, potential.get(r))),
        ]
        first = kinetic.get(r) + potential.get(r)
        _, largest = _twice(code, code.size(first))
        done, total, missing = (code.variable(x) for x in (0.0 * first, 0.0, 0.0))
        for i in code.each(n, start=1):
            row = i * motions + r
            half = 0.5 * (t.get(i) - t.get(i - 1))
            work = code.variable(half * (power.get(row - motions) + power.get(row)))
            at = (row - motions) * nv
            for j in code.each(nv):
                speeds = v.get(at + j) + v.get(at + motions * nv + j)
                work.value = work.value + half * (speeds * tau.get(at + j))
            for energies, *ends in stored:
                extend((ends[0], ends[1]), energies.get(row))
            energy = kinetic.get(row) + potential.get(row)
            done.value = done.value + (code.size(work.value) + 0.0 * energy)
            total.value = total.value + work.value
            for most, value in ((largest, energy), (missing, energy - first - total.value)):
                size, known = code.size(value), most.value
                most.value = code.choose(size > known, size, known)
        ranges = [high.value - low.value for _, low, high in stored]
        wider = code.choose(ranges[0] > ranges[1], *ranges)
        for k, value in enumerate((done.value, missing.value, wider, largest.value)):
            found.put(motions * k + r, value)
    return _loaded(code, "work", "looking at energies", "p" * len(names) + "qqq")


def _twice(code: Code, start: Number) -> tuple[Variable, Variable]:
    return code.variable(start), code.variable(start)


def _loaded(code: Code, name: str, what: str, kinds: str, result: Any = None) -> LoadedFunction:
    """A function of pointers, ``p``, integers, ``q``, and real numbers, ``d``."""
    types: dict[str, Any] = {"p": ctypes.c_void_p, "q": ctypes.c_int64, "d": ctypes.c_double}
    kind = ctypes.CFUNCTYPE(result, *(types[x] for x in kinds))
    return LoadedFunction(code.ir(), name, what, kind)
