"""Controllers with a memory, which each motion holds for them.

A simulation asks its controller once a step and holds the answer, so that a controller with a
memory is a digital one: what it remembers goes from one look to the next, whatever integrator moves
the robot in between. Such a controller holds no memory itself. It has a method

    answer(look, memory) -> forces, memory

a function of what it sees and of what it remembered (``None`` at the first look), a tuple
``remembers`` with the names of what is to be recorded, and ``fresh()``, which gives a
`StatefulController` of it to each motion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import named
from robodyn.errors import SettingsError, ShapeError
from robodyn.simulation.control.state_log import Log, Memory
from robodyn.simulation.control.tracing import SymbolicTime

__all__ = ["ControllerSample", "StatefulController", "chain", "let_know"]


class ControllerSample(NamedTuple):
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

    def answer(self, look: ControllerSample, memory: Memory | None) -> tuple[ArrayLike, Memory]:
        """Forces, shape (..., nv), and what it remembers from now on."""


class StatefulController:
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
        look = ControllerSample(t, q, v, t - self._looked, impulse)
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


def chain(controller: Any) -> Iterator[StatefulController]:
    """Those with a memory among a controller and what it holds, the outermost first."""
    while controller is not None:
        if isinstance(controller, StatefulController):
            yield controller
        controller = getattr(controller, "controller", None)
