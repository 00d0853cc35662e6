"""Sensors as a user gives them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.array_types import Array
from robodyn.arrays import named
from robodyn.codegen.calls.trace_graph import TraceGraph
from robodyn.description.functions.user_law import numbers_of, program_of
from robodyn.description.pose import frame_argument
from robodyn.description.sensor import DescribedSensor, Frame
from robodyn.equations.sensors.kinds import KINDS
from robodyn.equations.sensors.kinds.common.kind import SensorKind
from robodyn.errors import ShapeError, UnknownNameError
from robodyn.literals import SensorKindName
from robodyn.symbolic import ops
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.scalar import inputs
from robodyn.symbolic.symbol_arrays import symbol_array

#: The kind of those that are functions.
FUNCTION = "function"

#: Names that arrays of the function of all sensors have already.
TAKEN = ("q", "v", "a", "t", "multipliers", "parameters", "numbers")


class Sensor:
    """Something that can be measured of a robot: `Robot.measure` gives what it shows.

    A frame is ``(link, X)`` with its pose in a link, shape (4, 4), ``(link, p)`` with an offset
    (3,) [m], or the name of a link; ``"world"`` is what does not move. Of a robot with a link of
    this name, ``at`` means the link; ``relative_to`` and ``axes`` mean the world all the same, as
    in `Robot.frame_pose`.

    Parameters
    ----------
    kind : str or callable
        Of a point, the origin of the frame ``at``: ``"position"``, ``"velocity"``,
        ``"acceleration"``, seen from the frame ``relative_to``. Of the frame itself:
        ``"orientation"`` (its rotation matrix, row by row), ``"angular_velocity"``,
        ``"angular_acceleration"``. Between both frames: ``"distance"`` and
        ``"distance_rate"`` of their origins; ``"angle"`` and ``"angle_rate"`` between their z axes,
        from zero to half a turn; ``"turn"`` and ``"turn_rate"`` of x about z of the other frame.
        ``"imu"``: specific force and angular velocity along the sensor's own axes, which at rest
        shows 9.81 m/s^2 upwards. ``"wrench"``: force and moment in a joint, of the parent on the
        child. Of bodies: ``"kinetic_energy"``, ``"potential_energy"`` in gravity, ``"momentum"``
        (linear, then angular about the origin of ``at``, or the centre of mass of the bodies) and
        ``"center_of_mass"``.

        Or a function ``law(X, V, A)`` of the pose (4, 4) of the frame ``at``, its twist (6,) and
        the rate of that (6,), in its own axes; with ``joint`` it is ``law(q, v, a)`` of own
        coordinates, speeds and accelerations of these joints, one after the other. It is called
        once, with arrays of symbols, and returns the numbers that the sensor shows.
    at : frame, optional
        Where it sits. Of a wrench: the frame in which it is given; default: that of
        `Robot.joint_wrenches`.
    relative_to : frame, optional
        What it is seen from. Default: the world.
    axes : "own" or frame, optional
        Along which vectors are given: axes of the sensor, or of another frame. Default: axes of
        ``relative_to``.
    joint : str or names of joints, optional
        Of a wrench: the joint, also a fixed or cut one, or ``"base"`` for what the ground supplies.
    bodies : names of links, optional
        Each stands for its body, with all that is fixed to it. Default: all that moves.
    name : str, optional
        Default: the kind, and the link or the joint.
    columns, units : iterable of str, optional
        Of the numbers that a function returns.

    Raises
    ------
    UnknownNameError
        For another kind.
    ShapeError
        Where a frame is none, or something is missing or means nothing to the kind.

    Examples
    --------
    >>> import robodyn as rd
    >>> tip = rd.Sensor("position", at=("lower", [0, 0, -1]), name="tip")
    >>> robot = rd.load("double_pendulum", sensors=[tip, rd.Sensor("imu", at="lower")])
    >>> shown = robot.measure([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    >>> float(shown["tip"][2]), float(shown["imu_lower"][2])
    (-2.0, 9.81)
    """

    kind: str
    name: str
    joints: tuple[str, ...]
    bodies: tuple[str, ...]

    @checked_arguments
    def __init__(
        self,
        kind: SensorKindName | Callable[..., Any],
        at: str | tuple[str, ArrayLike] | None = None,
        *,
        relative_to: str | tuple[str, ArrayLike] | None = None,
        axes: str | tuple[str, ArrayLike] | None = None,
        joint: str | Iterable[str] | None = None,
        bodies: Iterable[str] | None = None,
        name: str | None = None,
        columns: Iterable[str] | None = None,
        units: Iterable[str] | None = None,
    ) -> None:
        self._law = kind if callable(kind) else None
        self.kind = FUNCTION if callable(kind) else str(kind)
        joints = [joint] if isinstance(joint, str) else joint
        self.joints = () if joints is None else named("joint", joints)
        self.bodies = () if bodies is None else named("bodies", bodies)
        self.name = name or self._default_name(at)
        given = {"at": at, "relative_to": relative_to, "axes": axes, "joint": joint,
                 "bodies": bodies}  # fmt: skip
        self._check([x for x, y in given.items() if y is not None])
        self._at, self._relative = self._frame("at", at), self._frame("relative_to", relative_to)
        own = isinstance(axes, str) and axes == "own"
        self._axes = self._at if own else self._frame("axes", axes)
        self._columns = None if columns is None else named("columns", columns)
        self._units = None if units is None else named("units", units)
        if self._law is None and (columns is not None or units is not None):
            raise ShapeError(
                f"{self!r} knows its columns and units: they are for functions alone",
                name="columns" if columns is not None else "units",
            )

    def __repr__(self) -> str:
        return f"sensor {self.name!r}"

    @property
    def _kind(self) -> SensorKind:
        return KINDS[self.kind]

    def _default_name(self, at: Any) -> str:
        link = at if isinstance(at, str) else at[0] if isinstance(at, tuple) and at else ""
        where = "_".join(self.joints or self.bodies) or str(link)
        return f"{self.kind}_{where}" if where else self.kind

    def _check(self, given: Collection[str]) -> None:
        """Refuse what is missing, and what means nothing to the kind."""
        kind = self._kind
        for name in kind.needs:
            if name not in given:
                raise ShapeError(f"{self!r} of kind {self.kind!r} needs {name}=", name=name)
        for name in given:
            if name not in (*kind.needs, *kind.takes):
                understood = ", ".join(f"{x}=" for x in (*kind.needs, *kind.takes))
                raise ShapeError(
                    f"{self!r} of kind {self.kind!r} takes no {name}=, but {understood}", name=name
                )
        if self._law is not None and ("at" in given) == ("joint" in given):
            raise ShapeError(
                f"{self!r} is a function: of a frame, at=, or of joints, joint=", name="at"
            )
        if self.joints and "relative_to" in given:
            raise ShapeError(f"{self!r} reads joints: it takes no relative_to=", name="relative_to")
        if self.kind == "wrench" and len(self.joints) != 1:
            raise ShapeError(f"{self!r} measures one joint, not {len(self.joints)}", name="joint")
        if self.name in TAKEN:
            raise ShapeError(
                f"a sensor cannot be called {self.name!r}, as an array of the function of all "
                "sensors is: choose another name",
                name="name",
            )

    def _frame(self, what: str, given: Any) -> Frame | None:
        """A link, and a pose in it, if one is given."""
        if given is None:
            return None
        return frame_argument(f"{what} of {self!r}", given, what)

    def described(self, joints: Mapping[str, tuple[str, int, int]]) -> DescribedSensor:
        """As a description has it, with joints of given kind, nq and nv by name.

        Raises
        ------
        UnknownNameError
            If there is no joint that a function reads.
        ShapeError
            If a function does not give what it should.
        """
        kind, law, reads = self._kind, None, self._kind.reads
        columns, units = kind.columns, kind.units
        if self._law is not None:
            law = self._traced(joints)
            reads = _read(law)
            columns = self._labels("columns", self._columns, law)
            units = self._labels("units", self._units, law)
        return DescribedSensor(
            self.name, self.kind, columns, units, reads, self._at, self._relative, self._axes,
            self.joints, self.bodies, law,
        )  # fmt: skip

    def _labels(self, what: str, given: tuple[str, ...] | None, law: Program) -> tuple[str, ...]:
        """Columns or units of a function, one a number."""
        (port,) = law.outputs
        if given is None:
            return tuple(str(k) if what == "columns" else "" for k in range(port.size))
        if what == "units" and len(given) == 1:
            return given * port.size
        if len(given) != port.size:
            raise ShapeError(
                f"{what} of {self!r} are {len(given)}, and its function returns "
                f"{port.size} numbers",
                name=what,
                given=len(given),
                expected=(port.size,),
            )
        return given

    def _traced(self, joints: Mapping[str, tuple[str, int, int]]) -> Program:
        """The function as a program."""
        sizes = [12, 6, 6]
        if self.joints:
            for name in self.joints:
                if not joints.get(name, ("", 0, 0))[1]:
                    known = [x for x, (_, nq, _) in joints.items() if nq]
                    raise UnknownNameError("joint with coordinates", name, known, repr(self))
            nq = sum(joints[name][1] for name in self.joints)
            nv = sum(joints[name][2] for name in self.joints)
            sizes = [nq, nv, nv]
        graph = TraceGraph()
        first: Array = symbol_array(inputs(graph, 0, sizes[0]))
        if not self.joints:
            first = symbol_array([*first, 0.0, 0.0, 0.0, 1.0]).reshape(4, 4)
        rest = [symbol_array(inputs(graph, sizes[0] + k * sizes[1], sizes[1])) for k in (0, 1)]
        names = ("q", "v", "a") if self.joints else ("X", "V", "A")
        found = numbers_of(
            f"the function of {self!r}", self._law, (first, *rest), ", ".join(names), graph, "kind"
        )
        if not found:
            raise ShapeError(f"the function of {self!r} returns no numbers", name="kind")
        ports = tuple(Port(x, (n,), "") for x, n in zip(names, sizes, strict=True))
        return program_of("sensor", graph, ports, found)


def _read(law: Program) -> str:
    """The last of the arrays of a function that it depends on: "q", "v" or "a"."""
    graph = law.graph
    read = max((graph.a[node] for node in law.live() if graph.op[node] == ops.INPUT), default=-1)
    first, second, _ = (port.size for port in law.inputs)
    return "q" if read < first else "v" if read < first + second else "a"
