"""Machine code that compares the energy of motions with the work done on them, sample by sample."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.codegen.llvm.builder.addresses import address_of
from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.load_program import LoadedFunction
from robodyn.codegen.llvm.builder.rows import Buffer
from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.llvm.target.once import once

__all__ = ["Allowance", "EnergyBalance"]

#: Numbers of each motion: maxima and minima of kinetic and potential energy, the largest energy,
#: the sum of absolute values of work, the largest imbalance, the first energy, the work since then,
#: and the power of passive forces at the latest sample.
KNOWN = (
    "most_kinetic", "least_kinetic", "most_potential", "least_potential", "largest", "done",
    "missing", "first", "work", "power",
)  # fmt: skip

_ADDRESSES = ("t", "v", "tau", "at_rest", "power", "kinetic", "potential", "known")
_COUNTS = ("begin", "end", "motions", "nv", "several")
_ALLOWED = ("part", "rounding")

_BALANCE = ctypes.CFUNCTYPE(
    ctypes.c_int64,
    *[ctypes.c_void_p] * len(_ADDRESSES),
    *[ctypes.c_int64] * len(_COUNTS),
    *[ctypes.c_double] * len(_ALLOWED),
)


@dataclass(frozen=True)
class Allowance:
    """The largest imbalance of energy that is not reported.

    Attributes
    ----------
    part, rounding : float
        As a fraction of the energy exchanged, and of the energy itself.
    at_rest : float or ndarray, shape (motions,) [J]
    """

    part: float
    rounding: float
    at_rest: float | FloatArray


class EnergyBalance:
    """Compares the energy of motions with the work of their forces, which are held in steps.

    Parameters
    ----------
    t : ndarray, shape (n,) [s]
    v, tau : ndarray, shape (n, motions, nv)
    several : bool
        Samples are several steps apart, so that the work between them is not known.
    allowance : Allowance
    """

    def __init__(
        self, t: FloatArray, v: FloatArray, tau: FloatArray, several: bool, allowance: Allowance
    ) -> None:
        acting = (v, tau) if tau.any() else (np.zeros(0), np.zeros(0))
        at_rest = np.full(v.shape[1], allowance.at_rest)
        self._arrays = tuple(np.ascontiguousarray(x, float) for x in (t, *acting, at_rest))
        self._known = np.empty((len(KNOWN), v.shape[1]))
        self._sizes, self._several = v.shape[1:], several
        self._allowed = allowance.part, allowance.rounding

    def explained(
        self, begin: int, kinetic: FloatArray, potential: FloatArray, power: FloatArray
    ) -> bool:
        """Whether work explains the energy of all motions up to the last of these samples.

        ``False`` if there are NaNs.

        Parameters
        ----------
        begin : int
            The first of the samples, which is the one after those of the call before.
        kinetic, potential : ndarray, shape (m, motions) [J]
        power : ndarray, shape (m, motions) [W]
            Of passive forces.
        """
        of_samples = (np.ascontiguousarray(x, float) for x in (power, kinetic, potential))
        given = (*self._arrays, *of_samples, self._known)
        addresses = map(address_of, given)
        counts = begin, begin + len(kinetic), *self._sizes, self._several
        return not _program().run(*addresses, *counts, *self._allowed)


@once
def _program() -> LoadedFunction:
    return LoadedFunction(_text(), "balance", "looking at energies", _BALANCE)


def _text() -> str:
    """IR of a function that tells how many motions have energy that is not explained."""
    pointers, counts = (", ".join(f"{x} %{n}" for n in names) for x, names in _GROUPS)
    code = Code(f"@balance({pointers}, {counts}, double %part, double %rounding)", "i64")
    begin, end, motions, nv, several = (code.argument(name, "i64") for name in _COUNTS)
    t, v, tau, at_rest, *of_samples = (Buffer(code, f"%{x}") for x in _ADDRESSES)
    power, kinetic, potential, known = of_samples
    acting = code.put("icmp ne ptr %tau, null", "i1")
    of = {name: known.part(motions * k) for k, name in enumerate(KNOWN)}
    for i in code.each(end, start=begin):
        step = 0.5 * (t.get(i) - t.get(code.choose(i.equals(0), i, i - 1)))
        for r in code.each(motions):
            row = (i - begin) * motions + r
            values = kinetic.get(row), potential.get(row)
            energy = values[0] + values[1]
            gives = power.get(row)
            with code.either(i.equals(0)) as (first, later):
                with first:
                    _begin(code, of, r, values, energy)
                with later:
                    before, at = of["power"].get(r), ((i - 1) * motions + r) * nv
                    _step(code, of, r, values, energy)
                    work = code.variable(step * (before + gives))
                    with code.when(acting):
                        for j in code.each(nv):
                            speeds = v.get(at + j) + v.get(at + motions * nv + j)
                            work.value = work.value + step * (speeds * tau.get(at + j))
                    _do(code, of, r, energy, work.value)
            of["power"].put(r, gives)
    code.give(_unexplained(code, {**of, "at_rest": at_rest}, motions, several))
    return code.ir()


_GROUPS = ("ptr", _ADDRESSES), ("i64", _COUNTS)


def _begin(
    code: Code,
    of: dict[str, Buffer],
    r: Number,
    values: tuple[Number, Number],
    energy: Number,
) -> None:
    """Write what is known of the first sample."""
    for value, name in zip(values, ("kinetic", "potential"), strict=True):
        of[f"most_{name}"].put(r, value)
        of[f"least_{name}"].put(r, value)
    of["first"].put(r, energy)
    of["largest"].put(r, code.size(energy))
    of["done"].put(r, 0.0 * energy)
    for name in ("missing", "work"):
        of[name].put(r, 0.0)


def _step(
    code: Code,
    of: dict[str, Buffer],
    r: Number,
    values: tuple[Number, Number],
    energy: Number,
) -> None:
    """Write what the energies of another sample change."""
    found = {"largest": code.size(energy)}
    for value, name in zip(values, ("kinetic", "potential"), strict=True):
        found[f"most_{name}"] = value
        least = of[f"least_{name}"].get(r)
        of[f"least_{name}"].put(r, code.choose(value < least, value, least))
    for name, value in found.items():
        most = of[name].get(r)
        of[name].put(r, code.choose(value > most, value, most))


def _do(code: Code, of: dict[str, Buffer], r: Number, energy: Number, work: Number) -> None:
    """Write what the work of a step changes; what is not a number stays so in ``done``."""
    of["done"].put(r, of["done"].get(r) + (code.size(work) + 0.0 * energy))
    total = of["work"].get(r) + work
    of["work"].put(r, total)
    missing, most = code.size(energy - of["first"].get(r) - total), of["missing"].get(r)
    of["missing"].put(r, code.choose(missing > most, missing, most))


def _unexplained(code: Code, of: dict[str, Buffer], motions: Number, several: Number) -> Number:
    """Write what counts the motions whose energy is not explained."""
    part, rounding = (code.argument(name, "double") for name in _ALLOWED)
    count = code.variable(0)
    for r in code.each(motions):
        x = {name: buffer.get(r) for name, buffer in of.items()}
        ranges = [x[f"most_{name}"] - x[f"least_{name}"] for name in ("kinetic", "potential")]
        stored = code.choose(ranges[0] > ranges[1], *ranges)
        exchanged = code.choose(stored > x["done"], stored, x["done"])
        allowed = part * exchanged + rounding * x["largest"] + x["at_rest"]
        known = (x["missing"] <= allowed) & (x["done"] <= x["done"])
        known = known & (several.equals(0) | (x["done"] <= 0.1 * part * stored))
        with code.when(~known):
            count.value = count.value + 1
    return count.value
