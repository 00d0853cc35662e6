"""Rows of the catalogue of quantities, and how a program is traced from one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, replace
from enum import Enum
from typing import Any, TypeAlias

from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.equations.quantities.common.setup import Setup
from robodyn.equations.quantities.common.tracer import Trace, Tracer, Values
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.scalar import Number, Scalar, edge_of

Options = Mapping[str, Any]

#: A size: a number, a key of `SIZES`, or a function of the tracer.
Size: TypeAlias = int | str | Callable[[Tracer], int]

#: Sizes by name.
SIZES: dict[str, Callable[[Tracer], int]] = {
    "nq": lambda t: t.setup.model.nq,
    "nv": lambda t: t.setup.model.nv,
    "controlled": lambda t: len(t.options["controlled"]),
    "free": lambda t: t.setup.model.nv - len(t.options["controlled"]),
    "rows": lambda t: len(t.options.get("rows", t.setup.row_names)),
    "frames": lambda t: len(t.frame_names),
    "parameters": lambda t: 10 * len(t.setup.model.bodies),
}


def size_of(size: Size, t: Tracer) -> int:
    """The value of a size in a program."""
    if isinstance(size, int):
        return size
    return SIZES[size](t) if isinstance(size, str) else size(t)


@dataclass(frozen=True)
class Input:
    """An input array of a quantity.

    size: Of one state: a number, a key of `SIZES`, or a function of the tracer; ``"number"`` for
        one number without an axis.
    by_joint: Parameter of the method that gives its numbers by joint, if one does.
    when: Whether it enters, for the options that are given. Default: always.
    """

    name: str
    size: Size
    unit: str
    by_joint: str = ""
    when: Callable[[Options], bool] = lambda options: True


Q = Input("q", "nq", "rad, m")
V = Input("v", "nv", "rad/s, m/s")
A = Input("a", "nv", "rad/s^2, m/s^2")
TAU = Input("tau", "nv", "N m, N")
A_CONTROLLED = Input("a_controlled", "controlled", "rad/s^2, m/s^2", by_joint="controlled")
TAU_FREE = Input("tau_free", "free", "N m, N", by_joint="tau")


@dataclass(frozen=True)
class Output:
    """An output array of a quantity.

    shape: Of one state; sizes as of `Input`.
    when: Whether it is handed out, for the options that are given. Default: always.
    """

    name: str
    shape: tuple[Size, ...]
    unit: str
    when: Callable[[Options], bool] = lambda options: True


@dataclass(frozen=True)
class Alternative:
    """Another algorithm for the same quantity; the one with fewer operations is taken.

    trace: As of `Quantity`.
    preferred: Whether it is known to have fewer operations, for a model and the speeds that are
        controlled, so that no other need be traced.
    chained: It is not for mechanisms whose bodies are coupled across more than one joint, nor for
        those with speeds that may move no mass.
    """

    trace: Trace
    preferred: Callable[[MechanismModel, frozenset[int]], bool]
    chained: bool = False


class OnLoops(Enum):
    """The meaning of the spanning tree's equations for a linkage with closed loops."""

    STATE = "state"
    TREE_FORCES = "tree forces"
    MULTIPLIERS = "multipliers"
    REFUSED = "refused"


#: A function of positions, speeds and accelerations of the joints of the tree, such as a pose or an
#: energy: whatever constraints exert, it is the same.
STATE = OnLoops.STATE
#: A term of ``M a + h = tau + K^T lam``: inertia or forces of the spanning tree, which leave out
#: what constraints exert. Along motions that keep loops closed it does the work that it does in the
#: tree.
TREE_FORCES = OnLoops.TREE_FORCES
#: What constraints exert counts: their multipliers are a further input.
MULTIPLIERS = OnLoops.MULTIPLIERS
#: It makes no sense with closed loops, or nobody has said how: to ask for it is an error.
REFUSED = OnLoops.REFUSED


@dataclass(frozen=True)
class Constrained:
    """The equations of a quantity for closed linkages, over constraint rows that are chosen.

    trace: As of `Quantity`.
    options: Choices beside those of the tree; ``"rows"``, the independent rows, and ``"postures"``,
        at which orders of elimination are tried, always are.
    outputs: Arrays beside those of the tree.
    """

    trace: Trace
    options: tuple[str, ...]
    outputs: tuple[Output, ...] = ()


@dataclass(frozen=True)
class Quantity:
    """One row of the catalogue: all data of a quantity.

    outputs_by: Outputs before those, for the options that are given. Default: none.
    trace: Writes down the equations: from a `Tracer` to the numbers of each output by name.
    closed: What is computed for linkages whose loops are closed by constraints: the value of the
        spanning tree, which `STATE`, `TREE_FORCES` and `MULTIPLIERS` justify; nothing (`REFUSED`);
        or equations over constraint rows.
    exerted: Of a quantity that takes `MULTIPLIERS`: whether it does for the options that are given.
        Default: always.
    solved, optional: Of a quantity that takes `MULTIPLIERS`: equations that find them first, over
        constraint rows that are chosen.
    base: The motion of a moving base enters.
    options: Choices that shape the code, such as ``"frame"``.
    parametric: Inertial parameters may be an input, by the option ``parameters=True``.
    solves: It solves for the accelerations of the free speeds, so that these must move mass.
    alternatives: Other algorithms for it.
    timeless: It is about coordinates alone, also of mechanisms that depend on time.
    guarded: Results are not numbers where the equations do not hold: the method has others.
    result, optional: Of a `Setup` and options what puts together that which the method of the robot
        returns, from the tuple that the function gives, where the method returns something else.
    """

    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    trace: Trace
    closed: OnLoops | Constrained
    _: KW_ONLY
    outputs_by: Callable[[Options], tuple[Output, ...]] = lambda options: ()
    exerted: Callable[[Options], bool] = lambda options: True
    solved: Constrained | None = None
    base: bool = False
    options: tuple[str, ...] = ()
    parametric: bool = False
    solves: bool = False
    alternatives: tuple[Alternative, ...] = ()
    timeless: bool = False
    guarded: bool = False
    result: Callable[[Setup, Options], Callable[..., Any]] | None = None

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the inputs that are always needed, in order."""
        return tuple(x.name for x in self.inputs if x.when({}))

    @property
    def arrays(self) -> tuple[str, ...]:
        """Names of the inputs that the method takes as arrays."""
        return tuple(x.name for x in self.inputs if not x.by_joint and x.when({}))

    @property
    def by_joint(self) -> tuple[str, ...]:
        """Parameters of the method that give numbers by joint."""
        return tuple(x.by_joint for x in self.inputs if x.by_joint)

    def over_rows(self) -> Quantity:
        """The quantity for closed linkages, if it has equations over constraint rows."""
        form = self.solved or self.closed
        assert isinstance(form, Constrained)
        return replace(
            self,
            closed=form,
            outputs=(*self.outputs, *form.outputs),
            trace=form.trace,
            options=(*self.options, "rows", "postures", *form.options),
            alternatives=(),
        )


def traced(
    name: str,
    quantity: Quantity,
    algorithm: Trace,
    setup: Setup,
    options: Options,
) -> Program:
    """Program of a quantity by one of its algorithms."""
    t = Tracer(setup, options)
    for port in _inputs(t, quantity):
        t.add(port)
    results = algorithm(t)
    outputs, edges = [], []
    for output in (*quantity.outputs_by(options), *quantity.outputs):
        if output.when(options):
            shape = tuple(size_of(x, t) for x in output.shape)
            port = Port(output.name, shape, output.unit)
            numbers = [edge_of(t.graph, x) for x in flat(results[output.name])]
            if len(numbers) != port.size:
                raise ValueError(
                    f"the equations of {name} give {len(numbers)} numbers for {output.name!r}, "
                    f"its row in the catalogue says {output.shape} = {shape}"
                )
            outputs.append(port)
            edges += numbers
    return Program(name, tuple(t.ports), tuple(outputs), t.graph, tuple(edges), setup.rates)


def _inputs(t: Tracer, quantity: Quantity) -> Iterator[Port]:
    """Arrays of the quantity; what moves, closes, weighs, loads the mechanism; time; numbers."""
    for given in quantity.inputs:
        if given.when(t.options):
            shape = () if given.size == "number" else (size_of(given.size, t),)
            yield Port(given.name, shape, given.unit)
    if t.options.get("posture"):
        yield Port("posture", (t.setup.model.nq,), "rad, m")
    if t.setup.moving and quantity.base:
        yield Port("base_pose", (4, 4), "1, m")
        yield Port("base_twist", (6,), "m/s, rad/s")
        yield Port("base_acceleration", (6,), "m/s^2, rad/s^2")
    if t.setup.closed and quantity.closed is MULTIPLIERS and quantity.exerted(t.options):
        yield Port("multipliers", (len(t.setup.row_names),), "N, N m")
    if t.options.get("stabilization"):
        yield Port("stabilization", (2,), "1/s")
    if t.options.get("parameters"):
        yield Port("parameters", (10 * len(t.setup.model.bodies),), "kg, kg m, kg m^2")
    for name in t.chosen["symbols"].values if "symbols" in t.chosen else ():
        yield Port(name, (), "SI")
    for link in t.options.get("wrenches", ()):
        yield Port(f"wrench:{link}", (6,), "N, N m")
    if t.options.get("friction_modes"):
        yield Port("sliding", (3, len(t.given.resisting)), "N m, N, 1, s^2/rad^2, s^2/m^2")
        if not t.setup.closed:
            yield Port("moves", (t.setup.model.nv,), "1")
    if t.setup.rheonomic and not quantity.timeless:
        yield Port("t", (), "s")
    if "numbers" in t.chosen:
        yield Port("numbers", (len(t.chosen["numbers"]),), "SI", common=True)


def flat(values: Values) -> Iterator[Number]:
    """The numbers of an array, row by row."""
    if isinstance(values, (int, float, Scalar)):
        yield values
    else:
        for x in values:
            yield from flat(x)
