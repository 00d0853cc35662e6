"""What depends on time alone, at the instants of all steps: rows of tables for machine code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.codegen import Function
from robodyn.motion.base_motion import BaseMotion
from robodyn.simulation.loads.driven import Driven

__all__ = ["Answers", "Paths", "Table", "instants"]


@dataclass(frozen=True, eq=False)
class Paths:
    """What drives and loads a robot, known beforehand.

    Attributes
    ----------
    driven : Driven
    base : callable or None
        Time [s] -> `BaseMotion`.
    wrenches : mapping of link name to ndarray, shape (6,) or (n, 6)
    gains : (float, float) or None
        That hold loops closed.
    """

    driven: Driven
    base: Callable[[float], BaseMotion] | None
    wrenches: Mapping[str, FloatArray]
    gains: tuple[float, float] | None

    def asked(self, at: FloatArray, moving: bool) -> Answers:
        """What functions of time return at instants; they may raise anything.

        Parameters
        ----------
        at : ndarray, shape (steps + 1, parts) [s]
        moving : bool
            The base moves.
        """
        states = _driven_states(self.driven, at) if self.driven else ()
        return Answers(at, states, _base_motions(self.base, at) if moving else [])

    def inputs(self, f: Function, own: int, given: Answers) -> list[Table]:
        """Tables of the inputs of a function after its first ones, of what was asked for."""
        names = [port.name for port in f.inputs[own:]]
        tables: dict[str, Table] = {}
        if "base_pose" in names:
            tables |= _base_tables(given.base)
        for link, x in self.wrenches.items():
            tables[f"wrench:{link}"] = Table(np.ascontiguousarray(x, float), 0, 6 * (x.ndim > 1))
        if "t" in names:
            tables["t"] = Table(np.ascontiguousarray(given.at), 1)
        if "stabilization" in names:
            tables["stabilization"] = Table(np.array(self.gains, float), 0)
        return [tables[name] for name in names]


@dataclass(frozen=True, eq=False)
class Answers:
    """What functions of time have returned.

    Attributes
    ----------
    at : ndarray, shape (steps + 1, parts) [s]
        When.
    driven : tuple of ndarray
        Positions, velocities and accelerations of joints that follow paths, a row an instant.
    base : list of BaseMotion
        One an instant; none of a base that stands still.
    """

    at: FloatArray
    driven: tuple[FloatArray, ...]
    base: list[BaseMotion]


@dataclass(frozen=True, eq=False)
class Table:
    """Values of an input of a function.

    Attributes
    ----------
    values : ndarray
        Contiguous.
    step : int
        Numbers from one instant to the next; 0 for what is the same at all.
    row : int
        Numbers from one robot to the next; 0 for what is the same for all.
    """

    values: FloatArray
    step: int
    row: int = 0


def instants(times: FloatArray, parts: Sequence[float]) -> FloatArray:
    """All instants at which paths are needed, shape (steps + 1, len(parts)) [s].

    After the last instant there is no step: its parts are of no length.
    """
    h = np.append(np.diff(times), 0.0)
    return np.asarray(times[:, None] + np.array(parts) * h[:, None])


def _driven_states(driven: Driven, at: FloatArray) -> tuple[FloatArray, ...]:
    """Positions, velocities and accelerations of joints that follow paths, a row an instant."""
    if driven.still:
        return tuple(np.tile(x, (at.size, 1)) for x in driven.state(0.0))
    states = [driven.state(float(t)) for t in at.reshape(-1)]
    return tuple(np.ascontiguousarray([x[k] for x in states]) for k in range(3))


def _base_motions(base: Callable[[float], BaseMotion] | None, at: FloatArray) -> list[BaseMotion]:
    if base is None:
        return [BaseMotion.at_rest()] * at.size
    return [base(float(t)) for t in at.reshape(-1)]


def _base_tables(motions: list[BaseMotion]) -> dict[str, Table]:
    """Pose, twist and acceleration of a moving base."""
    return {
        f"base_{name}": Table(np.ascontiguousarray([getattr(m, name) for m in motions], float), n)
        for name, n in (("pose", 16), ("twist", 6), ("acceleration", 6))
    }
