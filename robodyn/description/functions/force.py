"""Forces given by their user as functions of positions, speeds and time.

A function is called once with symbols. What it returns is a part of the equations of the robot
from then on, as springs and friction are. Where an energy is given instead, the force is the slope
of it, made by the symbolic layer: ``F_k = - sum over i of dU/dx_i dx_i/dw_k`` with the rate
``dx/dw_k`` of the position ``x`` along the k-th speed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.array_types import Array, FloatArray
from robodyn.arrays import mismatch
from robodyn.codegen.calls.trace_graph import TraceGraph
from robodyn.description.functions.user_law import numbers_of, program_of
from robodyn.description.pose import frame_argument
from robodyn.errors import ShapeError, UnknownNameError
from robodyn.force_elements.common.link_element import WORLD
from robodyn.force_elements.force_law import ForceLaw
from robodyn.joints import joint_kind
from robodyn.joints.common.quaternion import turned, velocity_along
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.evaluate import evaluate, inline
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import Number, inputs
from robodyn.symbolic.symbol_arrays import symbol_array
from robodyn.symbolic.vector import EX, EY, EZ, Mat3, Vec3
from robodyn.tolerances import FORCE_OF_POTENTIAL


class Force:
    """A force that a function gives, which belongs to the robot as a spring does.

    It is one of three kinds, by where it acts:

    - ``joint="name"``: ``law(q, v, t)``, of the coordinates, shape (nq,), and speeds, shape (nv,),
      of that joint alone, gives the generalised force along its freedoms, shape (nv,) [N m, N].
    - ``on=``, a frame: ``law(X_WF, twist, t)``, of the pose of a frame F, shape (4, 4), and its
      twist in its own axes, shape (6,) [m/s, rad/s], gives the wrench on it, in its axes,
      shape (6,) [N, N m].
    - ``between=``, two frames: ``law(x, w, t)``, of the translation and the rotation
      vector of B in A, shape (6,) [m, rad], and their rate, shape (6,), gives the wrench on B, in
      the axes of A, about the origin of B, shape (6,); its reaction acts on A. Either link may be
      ``"world"``. The frames are less than half a turn apart.

    The function is called once, with arrays of symbols: arithmetic, functions of numpy such as
    ``np.tanh`` and ``np.arctan2``, and ``np.where``, ``np.maximum`` and the like are understood (or
    `robodyn.where`, ...), ``if`` and ``max`` are not. One that uses ``t`` makes the robot depend on
    time.

    Parameters
    ----------
    law : callable or None
        None: the force is the negative slope of ``potential``.
    joint : str, optional
        ``"floating_base"`` is that of a floating base.
    on : frame, optional
        ``(link, X)`` with its pose in a link, shape (4, 4), ``(link, p)`` with an offset (3,) [m],
        or the name of a link.
    between : (frame, frame), optional
    potential : callable, optional
        The energy [J] as a function of the first argument of ``law`` alone. Energies and audits
        count it. Where nothing moves, the force has to be its negative slope.
    name : str, optional
        For messages. Default: where it acts.

    Raises
    ------
    ShapeError
        If it is not clear where it acts, or there is neither a law nor an energy.

    Examples
    --------
    >>> import robodyn as rd
    >>> drag = rd.Force(lambda q, v, t: -0.2 * v, joint="elbow")
    >>> robot = rd.load("double_pendulum", forces=[drag])
    >>> robot.passive_forces([0.0, 0.0], [0.0, 3.0]).round(9).tolist()
    [0.0, -0.6]
    """

    law: Callable[..., Any] | None
    potential: Callable[..., Any] | None
    joint: str
    places: tuple[tuple[str, FloatArray], ...]
    name: str

    @checked_arguments
    def __init__(
        self,
        law: Callable[..., Any] | None,
        *,
        joint: str | None = None,
        on: str | tuple[str, ArrayLike] | None = None,
        between: tuple[Any, Any] | None = None,
        potential: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        if sum(x is not None for x in (joint, on, between)) != 1:
            raise ShapeError(
                "a force acts along a joint, on a frame or between two: give one of joint=, on= "
                "and between=",
                name="joint",
            )
        if law is None and potential is None:
            raise ShapeError("law is None: then potential= has to be given", name="law")
        self.law, self.potential, self.joint = law, potential, joint or ""
        what, given = ("on", (on,)) if on is not None else ("between", between or ())
        if between is not None and len(between) != 2:
            raise mismatch("between", between, "((link, X_A), (link, X_B))")
        self.places = tuple(frame_argument(what, place, what) for place in given)
        links = [link for link, _ in self.places]
        if links and set(links) == {WORLD}:
            raise ShapeError(f"{what} is the world alone, which no force moves", name=what)
        self.name = name or joint or " - ".join(links)

    def __repr__(self) -> str:
        return f"force {self.name!r}"

    def traced(self, joints: Mapping[str, Size], links: Sequence[str]) -> ForceLaw:
        """As programs, for joints of given kind, nq and nv by name, and links.

        Raises
        ------
        UnknownNameError
            If there is no such joint or link.
        ShapeError
            If the functions do not give what they should.
        """
        known = [name for name, (_, nq, _) in joints.items() if nq]
        if not self.places and self.joint not in known:
            raise UnknownNameError("joint with coordinates", self.joint, known, repr(self))
        for link, _ in self.places:
            if link != WORLD and link not in links:
                raise UnknownNameError("link", link, [*links, WORLD], repr(self))
        size = joints[self.joint] if self.joint else ("", 12 if len(self.places) == 1 else 6, 6)
        energy = None if self.potential is None else self._traced_energy(size)
        slope = None if energy is None else self._slope(energy, size)
        law = self._traced_law(size) if self.law is not None else slope
        assert law is not None
        found = ForceLaw(self.name, self.joint, self.places, law, energy)
        check_law(found, slope if self.law is not None else None, size)
        return found

    def _traced_law(self, size: Size) -> Program:
        _, n, m = size
        graph = TraceGraph()
        x, w, (t,) = inputs(graph, 0, n), inputs(graph, n, m), inputs(graph, n + m, 1)
        given = (self._position(x), symbol_array(w), t)
        found = self._called("law", self.law, given, graph)
        if len(found) != m:
            expected = f"({m},)"
            raise ShapeError(
                f"the law of {self} returns {len(found)} numbers, expected shape {expected}: "
                + ("one a freedom of the joint" if self.joint else "force [N] and moment [N m]"),
                name="law",
                given=len(found),
                expected=(m,),
            )
        return _program("force", graph, (n, m, 1), found)

    def _traced_energy(self, size: Size) -> Program:
        graph = TraceGraph()
        x = inputs(graph, 0, size[1])
        found = self._called("potential", self.potential, (self._position(x),), graph)
        if len(found) != 1:
            raise ShapeError(
                f"the potential of {self} returns {len(found)} numbers, expected one [J]",
                name="potential",
                given=len(found),
            )
        return _program("energy", graph, (size[1],), found)

    def _position(self, x: Sequence[Number]) -> Array:
        """The first argument of the functions."""
        if len(self.places) != 1:
            return symbol_array(x)
        return symbol_array([*x, 0.0, 0.0, 0.0, 1.0]).reshape(4, 4)

    def _called(
        self, what: str, function: Any, arguments: tuple[Any, ...], graph: Graph
    ) -> list[Number]:
        """The results of a function of symbols, as a list of numbers of their graph."""
        names = {"law": ("q, v, t", "X, twist, t", "x, w, t"), "potential": ("q", "X", "x")}
        given = names[what][len(self.places)]
        return numbers_of(f"the {what} of {self}", function, arguments, given, graph, what)

    def _slope(self, energy: Program, size: Size) -> Program:
        """The negative slope of an energy along the speeds."""
        _, n, m = size
        graph = Graph()
        x = inputs(graph, 0, n)
        slopes = inline(jacobian(energy, "x"), x)
        forces: list[Number] = []
        for rates in self._rates(x, size):
            total: Number = 0.0
            for slope, rate in zip(slopes, rates, strict=True):
                total = total - slope * rate
            forces.append(total)
        return _program("force", graph, (n, m, 1), forces)

    def _rates(self, x: Sequence[Number], size: Size) -> list[Sequence[Number]]:
        """Rate of the position for each unit speed, or each part of a twist that does the work."""
        kind, _, m = size
        if self.joint:
            units = np.eye(m).tolist()
            return [joint_kind(kind).coordinates.rates(x, unit) for unit in units]
        axes = (EX, EY, EZ)
        if len(self.places) == 2:
            quat = turned([0.0, 0.0, 0.0, 1.0], Vec3(*x[3:]))
            still = [0.0, 0.0, 0.0]
            moved: list[Sequence[Number]] = [[*e, *still] for e in axes]
            return [*moved, *([*still, *velocity_along(e, quat)] for e in axes)]
        R = Mat3(*x[0:3], *x[4:7], *x[8:11])
        moving = [[y for p in R * e for y in (0.0, 0.0, 0.0, p)] for e in axes]
        turning = [[y for row in (R @ Mat3.skew(e)).rows() for y in (*row, 0.0)] for e in axes]
        return [*moving, *turning]


def _program(name: str, graph: Graph, sizes: Sequence[int], results: Sequence[Number]) -> Program:
    """Results of a graph as a program of position, speeds and time."""
    names = ("x", "w", "t")[: len(sizes)]
    ports = tuple(Port(x, (size,), "") for x, size in zip(names, sizes, strict=True))
    return program_of(name, graph, ports, results)


#: ``(kind, nq, nv)`` of a joint.
Size = tuple[str, int, int]

#: Number of states at which a law is checked.
TRIALS = 16


def check_law(law: ForceLaw, slope: Program | None, size: Size) -> None:
    """Refuse a law that is not finite, not smooth at rest, or not the gradient of its energy.

    slope: The force that its energy has, if both were given.
    size: Of its joint; no kind of one that acts on frames.
    """
    force = f"force {law.name!r}"
    x, w, t = _trials(law, size)
    with np.errstate(all="ignore"):
        good = np.isfinite(_values(law.law, x, w, t)).all(axis=1)
        if not good.any():
            raise ShapeError(f"{force} is not a finite number anywhere", name="law")
        x, t, still = x[good], t[good], 0.0 * w[good]
        rest = _values(law.law, x, still, t)
        slopes = _values(jacobian(law.law, "w"), x, still, t)
        if not (np.isfinite(rest).all() and np.isfinite(slopes).all()):
            raise ShapeError(
                f"{force} is not smooth at rest: where nothing moves, it or its slope along speeds "
                "is no number. Of the size of a speed take sqrt(w * w + s**2) with a small speed s",
                name="law",
            )
        if slope is None:
            return
        wanted = _values(slope, x, still, t)
    error = np.nan_to_num(np.abs(rest - wanted), nan=np.inf).max(axis=1)
    k = int(np.argmax(error / (1.0 + np.abs(rest).max(axis=1))))
    if not error[k] <= FORCE_OF_POTENTIAL * (1.0 + np.abs(rest[k]).max()):
        raise ShapeError(
            f"{force} is not the slope of its potential: in a posture where nothing moves it is "
            f"{rest[k].round(6).tolist()}, and the slope gives {wanted[k].round(6).tolist()}. With "
            "law=None the force is the slope",
            name="potential",
        )


def _trials(law: ForceLaw, size: Size) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Positions, speeds and times at which a law is checked."""
    kind, n, m = size
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.0, 1.0, (TRIALS, n))
    if law.joint and joint_kind(kind).coordinates.quaternion:
        x[:, -4:] /= np.linalg.norm(x[:, -4:], axis=1, keepdims=True)
    elif len(law.places) == 1:
        R = np.linalg.qr(rng.normal(size=(TRIALS, 3, 3)))[0]
        R = R * np.linalg.det(R)[:, None, None]
        x = np.concatenate([R, x[:, :3, None]], axis=2).reshape(TRIALS, 12)
    return x, rng.normal(size=(TRIALS, m)), rng.uniform(size=(TRIALS, 1))


def _values(program: Program, *arrays: FloatArray) -> FloatArray:
    """First result of a program at states, shape (n, m)."""
    given = dict(zip(("x", "w", "t"), arrays, strict=False))
    found = evaluate(program, *(given[port.name] for port in program.inputs))[0]
    return np.asarray(found, float).reshape(len(arrays[0]), -1)
