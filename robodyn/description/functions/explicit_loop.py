"""Joints that users give as functions of others: cams, and loops with a known solution."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from robodyn.arguments import checked_arguments
from robodyn.description.curve import Curve, Polynomial, Table
from robodyn.description.functions.explicit_loop_check import (
    Range,
    check_smooth,
    refuse_time,
    traced,
)
from robodyn.description.traced_explicit_loop import TracedExplicitLoop
from robodyn.errors import ShapeError
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.fourier_series import FourierSeries
from robodyn.symbolic.graph import Program
from robodyn.symbolic.guarded import if_not_negative
from robodyn.symbolic.inline import inline
from robodyn.symbolic.scalar import Number, Scalar, by_precision
from robodyn.symbolic.small_systems import Column, solver_of
from robodyn.symbolic.spline import Spline
from robodyn.tolerances import NEWTON_STEP

#: Largest number of joints that follow by one loop, as its equations are solved by minors.
MOST = 4


class Follower:
    """A joint whose position is a function of those of others: a cam, or a nonlinear mimic.

    It has no coordinate, and needs no constraint: its speed and its acceleration follow from the
    derivatives of the law, and what acts on it acts on the joints that it follows. All these joints
    have one coordinate each; they may follow others in turn.

    Parameters
    ----------
    joint : str
        The joint that follows.
    law : callable
        ``q1, q2, ... -> position`` [rad, m] of the positions of the others: arithmetic,
        `robodyn.sin`, `robodyn.cos`, `robodyn.sqrt` (and numpy's), a `robodyn.Spline`, a
        `robodyn.FourierSeries` or a `numpy.polynomial.Polynomial`; no branches. It is called
        once, with symbols.
    of : names of joints
        Those that it follows, in the order in which the law takes them.

    Raises
    ------
    ShapeError
        Where no joint, or one joint twice, is named.

    Examples
    --------
    >>> import robodyn as rd
    >>> cam = rd.Follower("elbow", lambda q: 0.1 * rd.sin(q), of=["shoulder"])
    >>> robot = rd.load("double_pendulum", couplings=[cam])
    >>> robot.nv, float(robot.joint_positions([0.5])["elbow"].round(6))     # 0.1 sin 0.5
    (1, 0.047943)
    """

    name: str
    joint: str
    law: Callable[..., Any]
    independent: tuple[str, ...]
    dependent: tuple[str, ...]

    @checked_arguments
    def __init__(self, joint: str, law: Callable[..., Any], of: Iterable[str]) -> None:
        self.name = self.joint = joint
        self.law = law
        self.independent = _names("of", of, repr(self))
        self.dependent = _names("joint", joint, repr(self), self.independent)

    def __repr__(self) -> str:
        return f"follower {self.name!r}"

    def traced(self, ranges: Sequence[Range]) -> TracedExplicitLoop:
        """As programs, for joints that are followed in these ranges.

        Raises
        ------
        ShapeError
            If the law is none.
        """
        refuse_time(repr(self), self.law, len(self.independent))
        solution = traced(repr(self), self.law, len(self.independent), 1)
        found = TracedExplicitLoop.of(
            self.name,
            self.independent,
            self.dependent,
            lambda u: inline(solution, u),
            curve=_curve(self.law),
        )
        check_smooth(repr(self), found, ranges)
        return found


class ExplicitLoop:
    """Joints v that follow joints u because ``h(u, v) = 0``, with ``v = f(u)`` as its solution.

    As joints of linkages in minimal coordinates, those of v have no coordinates. Their speeds and
    accelerations come from h, by derivatives that nobody has to write: ``dv = B du`` with
    ``B = -h_v^-1 h_u``, and ``ddv = B ddu + b'``. All these joints have one coordinate each.

    Parameters
    ----------
    name : str
    h : callable
        ``u, v -> [...]``: of the positions of both, two lists, as many expressions as there are
        joints v, which are zero; see `Follower` for what is understood.
    u, v : names of joints
        Those that are followed, and those that follow: four at most.
    solution : callable
        ``u -> [...]``: the positions of the joints v. It is tried at some positions whether it
        solves h. With ``iterations`` it is where Newton's method starts: in the neighbourhood of
        the wanted one of all solutions.
    iterations : int
        Number of Newton's steps: each doubles the number of digits. Where that is not enough, the
        loop counts as open.

    Raises
    ------
    ShapeError

    Examples
    --------
    >>> import robodyn as rd
    >>> loop = rd.ExplicitLoop(
    ...     "slope", lambda u, v: v[0] - 2 * u[0], u=["shoulder"], v=["elbow"],
    ...     solution=lambda u: [2 * u[0]],
    ... )
    >>> robot = rd.load("double_pendulum", couplings=[loop])
    >>> robot.nv, robot.joint_names
    (1, ('shoulder',))
    """

    name: str
    h: Callable[..., Any]
    solution: Callable[..., Any]
    independent: tuple[str, ...]
    dependent: tuple[str, ...]

    @checked_arguments
    def __init__(
        self,
        name: str,
        h: Callable[..., Any],
        u: Iterable[str],
        v: Iterable[str],
        solution: Callable[..., Any],
        iterations: int = 0,
    ) -> None:
        self.name, self.h, self.solution = name, h, solution
        self.independent = _names("u", u, repr(self))
        self.dependent = _names("v", v, repr(self), self.independent)
        if iterations < 0:
            raise ShapeError(f"iterations is {iterations}, expected 0 or more", name="iterations")
        self.iterations = iterations
        if len(self.dependent) > MOST:
            raise ShapeError(
                f"{self} has {len(self.dependent)} joints that follow, expected {MOST} at most: "
                "write several loops, one after the other",
                name="v",
            )

    def __repr__(self) -> str:
        return f"explicit loop {self.name!r}"

    def traced(self, ranges: Sequence[Range]) -> TracedExplicitLoop:
        """As programs, for joints that are followed in these ranges.

        Raises
        ------
        ShapeError
            If a function is of the wrong size, or what is said to be the solution is none.
        """
        p, m = len(self.independent), len(self.dependent)
        refuse_time(repr(self), self.h, 2)
        refuse_time(repr(self), self.solution, 1)
        gap = traced(f"h of {self}", lambda *q: self.h(list(q[:p]), list(q[p:])), p + m, m)
        start = traced(f"solution of {self}", lambda *q: self.solution(list(q)), p, m)
        try:
            found = TracedExplicitLoop.of(
                self.name,
                self.independent,
                self.dependent,
                lambda u: _newton(gap, u, inline(start, u), self.iterations),
                lambda q: inline(gap, q),
            )
        except ZeroDivisionError:
            raise ShapeError(
                f"h of {self} does not determine {', '.join(self.dependent)}: its slopes along "
                "them are dependent everywhere",
                name="h",
            ) from None
        check_smooth(repr(self), found, ranges)
        return found


def _newton(gap: Program, u: Sequence[Number], v: list[Number], count: int) -> list[Number]:
    """A solution of ``h(u, v) = 0`` near v; NaN where the last step was not small."""
    slopes, p = jacobian(gap, "q"), len(u)
    step: tuple[Number, ...] = ()
    for _ in range(count):
        q = [*u, *v]
        rows, n = inline(slopes, q), len(q)
        columns = [Column(tuple(rows[k::n])) for k in range(n)]
        step = solver_of(columns[p:])(Column(tuple(inline(gap, q))))
        v = [x + dx for x, dx in zip(v, step, strict=True)]
    size: Number = 0.0
    for dx in step:
        size = size + dx * dx
    if not isinstance(size, Scalar):
        return v
    test = by_precision(size.graph, *(x**2 for x in NEWTON_STEP)) - size
    return [if_not_negative([x], test)[0] for x in v]


def _names(what: str, given: Iterable[str], of: str, others: Sequence[str] = ()) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    if not names or len({*names, *others}) < len(names) + len(others):
        raise ShapeError(
            f"{what}= of {of} is {names}, expected some joints, each once"
            + (f", and none of {', '.join(others)}" if others else ""),
            name=what,
            given=names,
        )
    return names


def _curve(law: Any) -> Curve | None:
    """A law that files have a notation for."""
    if isinstance(law, Spline):
        return Table(law.x, law.y, law.monotone)
    if isinstance(law, FourierSeries):
        return Table(law.x, law.y, period=law.period, harmonics=law.harmonics)
    if isinstance(law, np.polynomial.Polynomial):
        return Polynomial(tuple(map(float, law.convert().coef)))
    return None
