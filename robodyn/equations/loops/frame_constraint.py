"""Constraints between frames of two links, whose forces act on these links, at these frames."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.array_types import Array, FloatArray
from robodyn.arrays import mismatch, number, one_name
from robodyn.description.contact import Contact
from robodyn.description.pose import frame_argument
from robodyn.equations.loops.frame_functions import (
    FRAME_KINDS,
    FUNCTION,
    ConstraintFunctions,
    FrameFunction,
    MovingFrames,
    expressions,
    traced,
)
from robodyn.errors import ShapeError, UnknownNameError
from robodyn.force_elements.common.link_element import WORLD
from robodyn.joints.common.cut import CutGeometry, RelativeMotion
from robodyn.joints.common.user_function import called
from robodyn.joints.joint_map import JointMap
from robodyn.literals import FrameConstraintKind
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement
from robodyn.symbolic.symbol_arrays import symbol_array
from robodyn.symbolic.vector import ZERO3, Vec3

#: A link, or a link and a pose or an offset in it, or a function of time that gives a pose.
Frame = str | tuple[str, ArrayLike | Callable[..., Any]]

#: Numbers that kinds need: names of arguments, and units.
NUMBERS = {"distance": ("distance", "m"), "screw": ("pitch", "m/rad")}


@dataclass(frozen=True, eq=False)
class TracedFrameConstraint:
    """A constraint between frames as a description has it.

    kind: One of `FRAME_KINDS`, or that of functions.
    links: Which carry the frames A and B; ``"world"``: what does not move.
    poses (4, 4) [1, m]: Of A and B in their links; of frames that move there, the link frame.
    constants: Numbers of the kind.
    functions: The rows, where they are not those of a kind.
    contact: What it was made of, if of a contact.
    """

    name: str
    kind: str
    links: tuple[str, str]
    poses: tuple[FloatArray, FloatArray]
    constants: Mapping[str, float] = field(default_factory=dict)
    functions: ConstraintFunctions | None = None
    contact: Contact | None = None

    #: Joints whose coordinates it is about: none.
    joints: tuple[str, ...] = ()

    @property
    def rheonomic(self) -> bool:
        """It depends on time."""
        return self.functions is not None and self.functions.rheonomic

    @property
    def nonholonomic(self) -> bool:
        """Some rows constrain speeds, and not positions."""
        return self.functions is not None and not all(self.functions.holonomic)

    def on_links(self, links: Collection[str]) -> TracedFrameConstraint:
        """The constraint itself, after a check that its links exist."""
        for link in self.links:
            if link not in links and link != WORLD:
                known = [*dict.fromkeys((WORLD, *links))]
                raise UnknownNameError("link", link, known, f"constraint {self.name!r}")
        return self

    def stopped(self) -> TracedFrameConstraint:
        """A copy at a fixed time: it still depends on the time, but has no rate by it."""
        assert self.functions is not None
        return dataclasses.replace(self, functions=self.functions.stopped())


class FrameConstraint:
    """A constraint between two frames; its forces act on the links that carry them.

    Frame A is the first and B the second of ``between``. The point of a kind is the origin of B;
    line, plane and axis are z of A through its origin, and the plane ``z = 0`` of A; the axis in B
    is z of B.

    Parameters
    ----------
    name : str
        Its rows are called ``"name[0]"``, ``"name[1]"``, ... `Robot.joint_wrenches` has the wrench
        on the link of B, about the origin of B in its axes, under the name.
    kind : str or callable
        ``"point_on_line"``, ``"point_on_plane"``, ``"distance"`` between the origins,
        ``"parallel"`` (z axes, the same way) or ``"perpendicular"`` axes, ``"translation"`` (the
        origins coincide), ``"rotation"`` (the axes are parallel, x to x), ``"screw"`` (B turns
        about z of A and advances). Or a function ``X, twist -> rows``, or ``X, twist, t -> rows``:
        of the pose ``X_AB``, an array (4, 4), the twist (6,) of B seen from A, in the axes of B,
        and the time [s], all of them symbols. Rows that do not depend on the twist are constraints
        of positions, the others of speeds, linear in the twist.
    between : (frame, frame)
        Each ``(link, X)`` with its pose in a link, shape (4, 4) [1, m], or a function of the time
        ``t`` [s] that gives one; ``(link, p)`` with an offset (3,) [m]; or the name of a link.
        ``"world"`` is what does not move.
    distance : float or callable, optional [m]
        Of the kind ``"distance"``: a positive number, or a function of the time ``t``.
    pitch : float or callable, optional [m/rad]
        Of the kind ``"screw"``: the way along the axis for an angle about it, or a function of the
        time ``t``.

    Raises
    ------
    UnknownNameError
        For another kind.
    ShapeError
        Where frames are none, or a number is missing or no good.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> tip = np.eye(4)
    >>> tip[2, 3] = -1.0
    >>> line = np.eye(4)
    >>> line[2, 3] = -1.5
    >>> robot = rd.load("double_pendulum", near=[0.5, 1.0], constraints=[
    ...     rd.FrameConstraint("table", "point_on_plane", (("world", line), ("lower", tip)))
    ... ])
    >>> robot.dof     # of two joints, whose tip slides on a plane at -1.5 m
    1
    """

    @checked_arguments
    def __init__(
        self,
        name: str,
        kind: FrameConstraintKind | Callable[..., Any],
        between: tuple[Frame, Frame],
        *,
        distance: float | Callable[..., Any] | None = None,
        pitch: float | Callable[..., Any] | None = None,
    ) -> None:
        if not (isinstance(name, str) and name):
            raise mismatch("the name of a constraint", name, "text", "name")
        self.name = name
        given = {"distance": distance, "pitch": pitch}
        numbers = self._numbers(kind, given)
        function = None
        if not isinstance(kind, str):
            function = self._called(kind)
        elif any(map(callable, (*numbers.values(), *(X for _, X in _frames(name, between))))):
            function = _residuals(name, kind, numbers)
        self._traced = traced_between(
            name, kind if isinstance(kind, str) else FUNCTION.name, between, numbers, function
        )

    def traced(
        self, joints: Mapping[str, tuple[str, int, int]], links: Collection[str]
    ) -> TracedFrameConstraint:
        """As a description with these links has it; it reads no joints."""
        return self._traced.on_links(links)

    def __repr__(self) -> str:
        return f"constraint {self.name!r}"

    def _numbers(self, kind: Any, given: Mapping[str, Any]) -> dict[str, Any]:
        """Numbers of the kind, checked; each may be a function of time."""
        wanted, unit = NUMBERS.get(kind, ("", "")) if isinstance(kind, str) else ("", "")
        for name, value in given.items():
            if (value is None) == (name == wanted):
                raise ShapeError(
                    f"{self!r} of kind {kind!r} takes "
                    + (f"{name}= [{unit}]" if name == wanted else f"no {name}="),
                    name=name,
                )
        if not wanted or callable(given[wanted]):
            return {wanted: given[wanted]} if wanted else {}
        value = number(wanted, given[wanted], unit)
        if not math.isfinite(value) or (wanted == "distance" and not value > 0.0):
            raise ShapeError(
                f"the {wanted} of {self!r} is {value}, expected a "
                + ("positive number: points that coincide are of kind 'translation'"
                   if wanted == "distance" else "finite number"),
                name=wanted,
                given=value,
            )  # fmt: skip
        return {wanted: value}

    def _called(self, function: Callable[..., Any]) -> FrameFunction:
        """The function of a user with pose and twist as arrays."""

        def rows(X: Placement, v: Vec3, w: Vec3, t: Number) -> list[Number]:
            rows = zip(X.R.matrix.rows(), X.p, strict=True)
            numbers = [x for row, p in rows for x in (*row, p)]
            pose = symbol_array([*numbers, 0.0, 0.0, 0.0, 1.0]).reshape(4, 4)
            twist = symbol_array([*X.R.inverse_times(v), *X.R.inverse_times(w)])
            time = {"t": t} if _takes_three(function) else {}

            def by_position(*arrays: Array, **time: Number) -> Any:
                return function(*arrays, *time.values())

            return expressions(self.name, called(repr(self), by_position, pose, twist, **time))

        return rows


def _takes_three(function: Callable[..., Any]) -> bool:
    """Whether a function of pose and twist depends on the time, too."""
    try:
        inspect.signature(function).bind(None, None, None)
    except (TypeError, ValueError):
        return False
    return True


def _residuals(name: str, kind: str, numbers: Mapping[str, Any]) -> FrameFunction:
    """Residuals of a kind, of which a number is a function of time, or a frame moves."""
    cut = FRAME_KINDS[kind].cut
    assert cut is not None
    measure = cut.gap or cut.rows

    def rows(X: Placement, v: Vec3, w: Vec3, t: Number) -> list[Number]:
        at = {key: called(f"constraint {name!r}", x, t=t) if callable(x) else x
              for key, x in numbers.items()}  # fmt: skip
        still = RelativeMotion(X, ZERO3, ZERO3, ZERO3, ZERO3, {})
        return [row.residual for row in measure(still, CutGeometry(constants=at))]

    return rows


def traced_between(
    name: str,
    kind: str,
    between: Sequence[Frame],
    constants: Mapping[str, float],
    function: FrameFunction | None,
) -> TracedFrameConstraint:
    """A constraint between two frames, of a kind or of a function."""
    (first, A), (second, B) = _frames(name, between)
    links = (first, second)
    if links[0] == links[1]:
        raise ShapeError(
            f"both frames of constraint {name!r} are on link {links[0]!r}, expected two links",
            name="between",
        )
    functions = None
    if function is not None:
        functions = traced(name, function, MovingFrames(_moving(A), _moving(B)))
        constants = {}
    poses = (_standing(A), _standing(B))
    return TracedFrameConstraint(name, kind, links, poses, constants, functions)


def _moving(X: Any) -> JointMap | None:
    return JointMap(0, lambda q, t: X(t)) if callable(X) else None


def _standing(X: Any) -> FloatArray:
    return np.eye(4) if callable(X) else X


def _frames(name: str, between: Any) -> list[tuple[str, Any]]:
    """Links, and poses (4, 4) in them or functions of time that give one, checked."""
    if not (isinstance(between, tuple | list) and len(between) == 2):
        raise ShapeError(
            f"constraint {name!r} is between {between!r}, expected two frames, each a link, (link, "
            "offset (3,)) or (link, pose (4, 4))",
            name="between",
        )
    return [_frame(name, given) for given in between]


def _frame(name: str, given: Any) -> tuple[str, Any]:
    if isinstance(given, tuple | list) and len(given) == 2 and callable(given[1]):
        return one_name("link", given[0]), given[1]
    return frame_argument(f"a frame of constraint {name!r}", given, "between")
