"""Wrenches that are functions of time alone: they are asked once at an instant, beforehand."""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import numbers
from robodyn.errors import ShapeError

__all__ = ["WrenchesOfTime", "wrenches_of_time"]

#: Names by which a function can read its arguments without an instruction that says so.
HIDDEN = frozenset({"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe"})


@dataclass(frozen=True, eq=False)
class WrenchesOfTime:
    """Wrenches of which the function does not read the state.

    Attributes
    ----------
    function : callable
        (t, q, v) -> wrenches by link.
    links : tuple of str
        On which they act at one instant or another.
    """

    function: Callable[..., Any]
    links: tuple[str, ...]

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> Any:
        """What the function returns."""
        return self.function(t, q, v)

    def at(self, t: FloatArray) -> dict[str, FloatArray]:
        """Wrenches at instants, shape (n,) [s]: arrays of shape (n, 6) [N, N m].

        Raises
        ------
        ShapeError
            For what is no wrench, and for links on which none acts at instants between steps.
        """
        known: dict[float, list[FloatArray]] = {}
        for x in t.tolist():
            if x not in known:
                known[x] = self._row(x)
        rows = np.array([known[x] for x in t.tolist()]).reshape(len(t), len(self.links), 6)
        return {link: np.ascontiguousarray(rows[:, k]) for k, link in enumerate(self.links)}

    def _row(self, t: float) -> list[FloatArray]:
        given = _asked(self.function, t)
        for link in given:
            if link not in self.links:
                raise ShapeError(
                    f"a wrench acts on {link!r} at t = {t:.6g} s, and on other links between steps:"
                    " return zeros for it elsewhere",
                    name="wrenches",
                )
        return [given.get(link, _NONE) for link in self.links]


_NONE = np.zeros(6)


def wrenches_of_time(function: Any, times: FloatArray) -> WrenchesOfTime | None:
    """Wrenches whose function reads the time alone; None if that is not known, or it fails.

    Parameters
    ----------
    function : callable
    times : ndarray, shape (n,) [s]
        Between steps.
    """
    if not _reads_first_alone(function):
        return None
    links: dict[str, None] = {}
    try:
        for t in times.tolist():
            links |= dict.fromkeys(_asked(function, t))
    except Exception:  # of the user's function: motions that ask for it step by step say when
        return None
    return WrenchesOfTime(function, tuple(links))


def _asked(function: Callable[..., Any], t: float) -> Mapping[str, FloatArray]:
    """Copies of the wrenches at an instant."""
    given = function(t, None, None)
    if not isinstance(given, Mapping):
        raise _unfit("wrenches", t, type(given).__name__, "a mapping of link name to six numbers")
    found = {link: np.array(numbers(f"wrench:{link}", x), float) for link, x in given.items()}
    for link, x in found.items():
        if x.shape != (6,):
            raise _unfit(f"wrench:{link}", t, f"an array of shape {x.shape}", "shape (6,)")
    return found


def _unfit(name: str, t: float, given: str, expected: str) -> ShapeError:
    return ShapeError(
        f"{name} at t = {t:.6g} s: {given}, expected {expected} [N, N m]", name="wrenches"
    )


def _reads_first_alone(function: Any) -> bool:
    """Whether a function of three arguments never reads the last two, whatever it is called with.

    Of what is no Python function, or a method of one, that is not known.
    """
    first = 1 if isinstance(function, types.MethodType) else 0
    function = getattr(function, "__func__", function)
    if not isinstance(function, types.FunctionType):
        return False
    code = function.__code__
    if code.co_argcount != first + 3 or not HIDDEN.isdisjoint(code.co_names):
        return False
    unread = {*code.co_varnames[first + 1 : first + 3]}
    if not unread.isdisjoint(code.co_cellvars):
        return False
    return all(unread.isdisjoint(_locals(x)) for x in dis.get_instructions(code))


def _locals(instruction: dis.Instruction) -> tuple[Any, ...]:
    """Names of the local variables that an instruction reads or changes."""
    if "FAST" not in instruction.opname:
        return ()
    names = instruction.argval
    return names if isinstance(names, tuple) else (names,)
