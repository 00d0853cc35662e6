"""Controllers with a memory, and what they remembered at each instant of a motion.

A simulation asks its controller once a step and holds the answer, so that a controller with a
memory is a digital one: what it remembers goes from one look to the next, whatever integrator moves
the robot in between. Such a controller holds no memory itself. It has a method

    answer(look, memory) -> forces, memory

a function of what it sees and of what it remembered (``None`` at the first look), a tuple
``remembers`` with the names of what is to be recorded, and ``fresh()``, which gives a
`Remembering` of it to each motion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import named
from robodyn.errors import SettingsError, ShapeError
from robodyn.simulation.symbolic_time import SymbolicTime

__all__ = ["Log", "Look", "Memories", "Remembering", "chain", "joined_memories", "let_know"]

#: What a controller remembers, by name.
Memory = Mapping[str, Any]


class Look(NamedTuple):
    """What a controller with a memory sees when it looks at the robot.

    Attributes
    ----------
    t : float [s]
    q, v : ndarray, shape (..., nq), (..., nv)
    h : float [s]
        Since the last look; zero at the first one.
    impulse : ndarray, shape (..., nv) [N m s, N s]
        Integral, since the last look, of the forces that acted: what the controller asked for as
        wrappers around it and limits of the simulation left it.
    """

    t: float
    q: FloatArray
    v: FloatArray
    h: float
    impulse: FloatArray

    def over(self, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """What a function makes of the time since the last look, where that is no arithmetic.

        Parameters
        ----------
        function : callable
            From times, shape (n,) [s], zero at a first look, to numbers, shape (n, ...).

        Returns
        -------
        numbers : ndarray, shape (...)
            Symbols while the controller is traced.
        """
        if isinstance(self.t, SymbolicTime):
            return np.asarray(self.t.over(function))
        return np.asarray(function(np.array([self.h]))[0])


class Answering(Protocol):
    """A controller with a memory that it does not hold itself."""

    @property
    def remembers(self) -> tuple[str, ...]:
        """Names of what is recorded of its memory."""

    def answer(self, look: Look, memory: Memory | None) -> tuple[ArrayLike, Memory]:
        """Forces, shape (..., nv), and what it remembers from now on."""


class Remembering:
    """A controller with the memory of one motion, called with ascending times.

    Parameters
    ----------
    controller : object
        With a method ``answer`` and the names ``remembers``.

    Attributes
    ----------
    controller : object
    log : Log
        What it remembered after each look.
    """

    def __init__(self, controller: Answering) -> None:
        self.controller, self.log = (
            controller,
            Log(named("remembers", controller.remembers, "names")),
        )
        self.begin()

    def begin(self) -> None:
        """Be at the start of a motion."""
        self._memory: Memory | None = None
        self._looked = self._since = 0.0
        self._acting: FloatArray | float = 0.0
        self._impulse: FloatArray | float = 0.0

    def go_on(
        self,
        memory: Memory,
        looked: float,
        impulse: FloatArray | float,
        since: float,
        acting: FloatArray,
    ) -> None:
        """Be in the middle of a motion.

        Parameters
        ----------
        memory : mapping
            What it remembered after the last look.
        looked, since : float [s]
            When that was, and from when on the forces act that act now.
        impulse : ndarray, shape (nv,)
            Of forces between these instants.
        acting : ndarray, shape (nv,)
        """
        self._memory, self._looked, self._since = memory, looked, since
        self._impulse, self._acting = impulse, acting

    @property
    def known(self) -> tuple[Memory, float, FloatArray | float]:
        """What it remembers, when it looked last, and the impulse of forces since then."""
        return self._memory or {}, self._looked, self._impulse

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """What it asks for at time ``t`` [s], shape (..., nv) [N m, N].

        Raises
        ------
        SettingsError
            If it looked at a later time before: it is in the middle of another motion.
        ShapeError
            If it answers anything but forces and what it remembers.
        """
        if isinstance(t, SymbolicTime):
            return t.looked(self, q, v)
        if self._memory is None:
            self._looked = self._since = t
        if t < self._looked:
            raise SettingsError(
                f"{type(self.controller).__name__} is asked for t = {t:.6g} s after it looked at "
                f"t = {self._looked:.6g} s: a motion of its own needs a memory of its own, fresh()"
            )
        impulse = np.zeros(np.shape(v)) + self._impulse + self._acting * (t - self._since)
        look = Look(t, q, v, t - self._looked, impulse)
        given = self.controller.answer(look, self._memory)
        tau, self._memory = _forces_and_memory(type(self.controller).__name__, given, t)
        self.log.note(t, self._memory, np.shape(v)[:-1])
        self._looked, self._impulse, self._since, self._acting = t, 0.0, t, tau
        return tau.copy()

    @property
    def symbolic(self) -> bool:
        """Whether the controller does nothing but arithmetic."""
        return bool(getattr(self.controller, "symbolic", False))

    def acted(self, t: float, tau: FloatArray) -> None:
        """Be told that from ``t`` [s] on other forces act than were asked for."""
        self._impulse = self._impulse + self._acting * (t - self._since)
        self._since, self._acting = t, tau.copy()


class Log:
    """What was remembered after each look.

    Parameters
    ----------
    names : tuple of str
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names, self._count = names, 0
        self._times = np.empty(16)
        self._values: dict[str, FloatArray] = {}

    def note(self, t: float, memory: Memory, batch: tuple[int, ...]) -> None:
        """Add a look.

        Raises
        ------
        ShapeError
            If there is no number, or one of another shape than before.
        """
        k = self._count
        seen = {name: self._remembered(name, t, memory, batch) for name in self.names}
        if not self._values:
            self._values = {name: np.empty((16, *x.shape)) for name, x in seen.items()}
        if k == len(self._times):
            self._make_room()
        self._times[k] = t
        for name, x in self._values.items():
            x[k] = seen[name]
        self._count += 1

    def extend(self, t: FloatArray, values: Mapping[str, FloatArray]) -> None:
        """Add some looks at ``t`` [s], shape (k,): arrays by name, shape (k, ..., m)."""
        k, stop = self._count, self._count + len(t)
        if not self._values:
            shapes = {name: x.shape[1:] for name, x in values.items()}
            self._values = {name: np.empty((len(self._times), *x)) for name, x in shapes.items()}
        while stop > len(self._times):
            self._make_room()
        self._times[k:stop] = t
        for name, x in values.items():
            self._values[name][k:stop] = x
        self._count = stop

    def _make_room(self) -> None:
        self._times = np.concatenate([self._times, self._times])
        self._values = {name: np.concatenate([x, x]) for name, x in self._values.items()}

    def _remembered(
        self, name: str, t: float, memory: Memory, batch: tuple[int, ...]
    ) -> FloatArray:
        """What stands in a memory under a name, shape (..., m); one number may be given alone."""
        try:
            x = np.asarray(memory[name], float)
        except (KeyError, TypeError, ValueError):
            x = np.empty((0,) * (len(batch) + 2))  # of no shape that could be
        x = x[None] if not (x.shape or batch) else x
        before = self._values[name].shape[1:] if self._values else (*batch, *x.shape[-1:])
        if x.shape != before:
            raise ShapeError(
                f"a controller says that it remembers {name!r}, and its memory at t = {t:.6g} s is "
                f"{dict(memory)!r}, expected numbers of shape {before} there",
                name="memory",
                given=memory,
                expected=before,
            )
        return x

    @classmethod
    def known(cls, name: str, t: FloatArray, values: FloatArray) -> Log:
        """What was remembered under a name at some instants."""
        log = cls((name,))
        log._times, log._values, log._count = t, {name: values}, len(t)
        return log

    @property
    def empty(self) -> bool:
        """Whether it never looked."""
        return not self._count

    def shape(self, name: str) -> tuple[int, ...]:
        """Of what is remembered under a name."""
        return self._values[name].shape[1:]

    def write(self, name: str, t: FloatArray, into: FloatArray) -> None:
        """Write what was remembered after the last look until each instant; leave earlier ones."""
        at = np.searchsorted(self._times[: self._count], t, side="right") - 1
        into[at >= 0] = self._values[name][at[at >= 0]]

    def forget(self, t: float) -> None:
        """Keep nothing but what may be asked for from ``t`` [s] on."""
        first = max(int(np.searchsorted(self._times[: self._count], t, side="right")) - 1, 0)
        kept = self._count - first
        self._times[:kept] = self._times[first : self._count].copy()
        for x in self._values.values():
            x[:kept] = x[first : self._count].copy()
        self._count = kept


class Memories:
    """What all controllers of a motion remember, by name.

    Where several of one motion have the same name for it, those that others hold get a number:
    ``"filtered"``, ``"filtered 2"``.
    """

    def __init__(self) -> None:
        self._logs: dict[str, list[tuple[Log, str]]] = {}
        self._known: list[Log] = []

    def watch(self, controller: Any) -> None:
        """Add a controller, with those that it holds; what is known already stays."""
        used = set[str]()
        for found in chain(controller):
            for name in found.log.names:
                key, k = name, 1
                while key in used:
                    k += 1
                    key = f"{name} {k}"
                used.add(key)
                if found.log not in self._known:
                    self._logs.setdefault(key, []).append((found.log, name))
            if found.log not in self._known:
                self._known.append(found.log)

    def add(self, name: str, t: FloatArray, values: FloatArray) -> None:
        """Add what was remembered under a name at some instants."""
        log = Log.known(name, t, values)
        self._known.append(log)
        self._logs.setdefault(name, []).append((log, name))

    def at(self, t: FloatArray, batch: tuple[int, ...]) -> dict[str, FloatArray]:
        """What was remembered at some instants, shape (n, ..., m); NaN where nothing was.

        Parameters
        ----------
        t : ndarray, shape (n,) [s]
        batch : tuple of int
            Leading axes of a state.
        """
        found: dict[str, FloatArray] = {}
        for key, logs in self._logs.items():
            for log, name in logs:
                if log.empty:
                    continue
                shape, own, k = (len(t), *log.shape(name)), key, 1
                while own in found and found[own].shape != shape:  # of another controller, later
                    k += 1
                    own = f"{key} {k}"
                if own not in found:
                    found[own] = np.full(shape, np.nan)
                log.write(name, t, found[own])
        return {key: x.reshape(len(t), *batch, x.shape[-1]) for key, x in found.items()}

    def forget(self, t: float) -> None:
        """Keep nothing but what may be asked for from ``t`` [s] on."""
        for log in self._known:
            log.forget(t)


def _forces_and_memory(kind: str, given: Any, t: float) -> tuple[FloatArray, Memory]:
    """What a controller with a memory answered.

    Raises
    ------
    ShapeError
    """
    try:
        asked, memory = given
        if isinstance(memory, Mapping):
            return np.array(asked, float), memory
    except (TypeError, ValueError):
        pass
    raise ShapeError(
        f"{kind} answered {given!r} at t = {t:.6g} s, expected forces, one a speed, and a mapping "
        "of what it remembers",
        name="answer",
        given=given,
    )


def let_know(controller: Any, t: float, tau: FloatArray) -> FloatArray:
    """Tell controllers with a memory which forces act from ``t`` [s] on; these forces."""
    for found in chain(controller):
        found.acted(t, tau)
    return tau


def joined_memories(
    parts: Sequence[Mapping[str, FloatArray]], lengths: Sequence[int]
) -> dict[str, FloatArray]:
    """Memories of the phases of a motion, one after the other; NaN where there are none."""
    shapes = {name: x.shape[1:] for part in reversed(parts) for name, x in part.items()}
    found = {}
    for name, shape in shapes.items():
        own = [part.get(name) for part in parts]
        rows = [
            x if x is not None and x.shape[1:] == shape else np.full((n, *shape), np.nan)
            for x, n in zip(own, lengths, strict=True)
        ]
        found[name] = np.concatenate(rows)
    return found


def chain(controller: Any) -> Iterator[Remembering]:
    """Those with a memory among a controller and what it holds, the outermost first."""
    while controller is not None:
        if isinstance(controller, Remembering):
            yield controller
        controller = getattr(controller, "controller", None)
