"""Joints that users give as functions of others: cams, and loops with a known solution."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from robodyn.arguments import checked_arguments
from robodyn.array_types import Array, FloatArray
from robodyn.codegen.calls.trace_graph import TraceGraph
from robodyn.description.functions.user_law import program_of
from robodyn.description.traced_explicit_loop import Curve, Polynomial, Table, TracedExplicitLoop
from robodyn.errors import ShapeError
from robodyn.joints.common.user_function import called, takes_time
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.evaluate import evaluate, inline
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.scalar import Number, Scalar, by_precision, if_not_negative, inputs
from robodyn.symbolic.small_systems import Column, solver_of
from robodyn.symbolic.spline import FourierSeries, Spline
from robodyn.tolerances import EXPLICIT_SOLUTION, NEWTON_STEP

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


#: Lower and upper end of positions at which functions are tried.
Range = tuple[float, float]

#: Number of positions at which functions are checked.
TRIALS = 16


def refuse_time(what: str, function: Any, count: int) -> None:
    """Refuse a function of the time: a parameter ``t`` beyond those of the positions."""
    if not takes_time(function):
        return
    positional = [
        x
        for x in inspect.signature(function).parameters.values()
        if x.default is x.empty and x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)
    ]
    if len(positional) > count:
        raise ShapeError(
            f"the function of {what} takes the time t, and joints follow others by positions "
            "alone: a joint that the clock moves is a robodyn.JointMap, or controlled= in "
            "simulations",
            name="law",
        )


def traced(what: str, function: Callable[..., Any], size: int, count: int) -> Program:
    """A function of so many positions as a program, which returns ``count`` numbers."""
    graph = TraceGraph()
    q = inputs(graph, 0, size)
    result = called(what, function, *q)
    try:
        listed = np.asarray(result, object).ravel()
        numbers = [x if isinstance(x, Scalar) else float(x) for x in listed]
    except (TypeError, ValueError) as error:
        raise ShapeError(
            f"the function of {what} returns {result!r}, expected {count} numbers: {error}",
            name="law",
        ) from None
    if len(numbers) != count:
        raise ShapeError(
            f"the function of {what} returns {len(numbers)} numbers, expected {count}: one a joint "
            "that follows",
            name="law",
            given=len(numbers),
            expected=(count,),
        )
    if any(isinstance(x, Scalar) and x.graph is not graph for x in numbers):
        raise ShapeError(
            f"the function of {what} returns symbols of another function: it may read nothing but "
            "the positions that it gets",
            name="law",
        )
    port = Port("q", (size,), "rad, m")
    return program_of("law", graph, (port,), numbers, "rad, m")


def check_smooth(what: str, loop: TracedExplicitLoop, ranges: Sequence[Range]) -> None:
    """Refuse functions without values or derivatives at rest, and solutions that are none.

    At rest joints that are followed are at zero, or as near to it as their limits let them be.
    """
    lower, upper = np.transpose(ranges)
    tried = np.random.default_rng(0).uniform(lower, upper, (TRIALS, len(ranges)))
    u = np.concatenate([np.clip(0.0, lower, upper)[None], tried])
    q = np.concatenate([u, loop.positions(u)], axis=1)
    good = np.isfinite(q).all(axis=1)
    if not good.any():
        raise ShapeError(f"{what} is not a finite number anywhere", name="law")
    h, K, dK = (_values(x, q) for x in (loop.gap, loop.slopes, loop.bends))
    for name, x in (("value", h), ("slope", K), ("curvature", dK)):
        good &= np.isfinite(x).all(axis=1)
        if not good[0]:
            raise ShapeError(
                f"{what} is not smooth at rest: its {name} is no number where the joints that are "
                f"followed are at {u[0].round(6).tolist()}. Of a size take sqrt(x * x + s**2) with "
                "a small s",
                name="law",
            )
    terms = 1.0 + np.einsum("nij,nj->ni", np.abs(K.reshape(len(q), h.shape[1], -1)), np.abs(q))
    error = np.where(good[:, None], np.abs(h) / terms, 0.0)
    k = int(np.argmax(error.max(axis=1)))
    if not error[k].max() <= EXPLICIT_SOLUTION:
        raise ShapeError(
            f"the solution of {what} does not solve h: at u = {u[k].round(6).tolist()} it gives v "
            f"= {q[k, u.shape[1] :].round(6).tolist()}, and h is {h[k].round(9).tolist()}. With "
            "iterations= it need only be near",
            name="solution",
        )


def _values(program: Program, q: FloatArray) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(evaluate(program, q)[0], float).reshape(len(q), -1)
