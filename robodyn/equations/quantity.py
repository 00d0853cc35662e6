"""What there is to say about a quantity, and how a program is traced from that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.equations.quantities.inverse_kinematics import goal_size
from robodyn.equations.quantities.regressors import motor_parameters
from robodyn.equations.quantities.tracer import Results, Setup, Tracer, Values
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.scalar import Number, Scalar, edge_of

__all__ = ["INPUTS", "Output", "Quantity", "Rival", "traced"]

Options = Mapping[str, Any]

#: Sizes of arrays by name.
SIZES: dict[str, Callable[[Tracer], int]] = {
    "nq": lambda t: t.setup.model.nq,
    "nv": lambda t: t.setup.model.nv,
    "controlled": lambda t: len(t.options["controlled"]),
    "free": lambda t: t.setup.model.nv - len(t.options["controlled"]),
    "rows": lambda t: len(t.options.get("rows", t.setup.row_names)),
    "frames": lambda t: len(t.frame_names),
    "goals": goal_size,
    "2": lambda t: 2,
    "joints": lambda t: len(t.options["joints"]),
    "joints, base": lambda t: len(t.options["joints"]) + 1,
    "parameters": lambda t: 10 * len(t.setup.model.bodies),
    "dynamic parameters": lambda t: 10 * len(t.setup.model.bodies) + len(motor_parameters(t.setup)),
    "contacts": lambda t: len(t.contacts),
    "cut joints": lambda t: len(t.setup.closures),
    "cut freedoms": lambda t: sum(c.kind.nv for c in t.setup.closures if c.kind.in_tree),
    "following": lambda t: sum(len(motion.v) for motion in t.state.dependent.values()),
}

#: Inputs by name: their size, a key of `SIZES`, and unit.
INPUTS: dict[str, tuple[str, str]] = {
    "q": ("nq", "rad, m"),
    "v": ("nv", "rad/s, m/s"),
    "a": ("nv", "rad/s^2, m/s^2"),
    "tau": ("nv", "N m, N"),
    "dv": ("nv", "rad, m"),
    "u": ("nv", "rad, m"),
    "q0": ("nq", "rad, m"),
    "q1": ("nq", "rad, m"),
    "goals": ("goals", "1, m"),
    "damping": ("2", "1"),
    "a_controlled": ("controlled", "rad/s^2, m/s^2"),
    "tau_free": ("free", "N m, N"),
}


@dataclass(frozen=True)
class Output:
    """An array that a quantity is, or one of several.

    Attributes
    ----------
    name : str
    shape : tuple of int or str
        Of one state: numbers, or keys of `SIZES`.
    unit : str
    when : callable
        Whether it is handed out, for the options that are given. Default: always.
    """

    name: str
    shape: tuple[int | str, ...]
    unit: str
    when: Callable[[Options], bool] = lambda options: True


@dataclass(frozen=True)
class Rival:
    """Another algorithm for the same quantity; the one with fewer operations is taken.

    Attributes
    ----------
    trace : callable
        As of `Quantity`.
    certain : callable
        Whether it is known to have fewer operations, for a model and the speeds that are
        controlled, so that no other need be traced.
    chained : bool
        It is not for mechanisms whose bodies are coupled across more than one joint, nor for those
        with speeds that may move no mass.
    """

    trace: Callable[[Tracer], Results]
    certain: Callable[[MechanismModel, frozenset[int]], bool]
    chained: bool = False


@dataclass(frozen=True)
class Quantity:
    """One row of the catalogue: all that there is to say about a quantity.

    Attributes
    ----------
    inputs : tuple of str
        Keys of `INPUTS`.
    outputs : tuple of Output
    trace : callable
        Writes down the equations: from a `Tracer` to the numbers of each output by name.
    base : bool
        The motion of a moving base enters.
    options : tuple of str
        Choices that shape the code, such as ``"frame"``.
    parametric : bool
        Inertial parameters may be an input, by the option ``parameters=True``.
    solves : bool
        It solves for the accelerations of the free speeds, so that these must move mass.
    multipliers : bool
        Multipliers of the constraints of a closed linkage are an input.
    rivals : tuple of Rival
        Other algorithms for it.
    closed : Quantity or None
        Its form for closed linkages, where the rows of the constraints to use are chosen.
    timeless : bool
        It is about coordinates alone, also of mechanisms that depend on time.
    """

    inputs: tuple[str, ...]
    outputs: tuple[Output, ...]
    trace: Callable[[Tracer], Results]
    base: bool = False
    options: tuple[str, ...] = ()
    parametric: bool = False
    solves: bool = False
    multipliers: bool = False
    rivals: tuple[Rival, ...] = ()
    closed: Quantity | None = None
    timeless: bool = False


def traced(
    name: str,
    quantity: Quantity,
    algorithm: Callable[[Tracer], Results],
    setup: Setup,
    options: Options,
) -> Program:
    """Program of a quantity by one of its algorithms."""
    t = Tracer(setup, options)
    for port in _inputs(t, quantity):
        t.add(port)
    results = algorithm(t)
    outputs, edges = [], []
    for output in quantity.outputs:
        if output.when(options):
            shape = tuple(x if isinstance(x, int) else SIZES[x](t) for x in output.shape)
            port = Port(output.name, shape, output.unit)
            numbers = [edge_of(t.graph, x) for x in _flat(results[output.name])]
            if len(numbers) != port.size:
                raise ValueError(
                    f"the equations of {name} give {len(numbers)} numbers for {output.name!r}, "
                    f"its row in the catalogue says {output.shape} = {shape}"
                )
            outputs.append(port)
            edges += numbers
    return Program(name, tuple(t.ports), tuple(outputs), t.graph, tuple(edges), setup.rates)


def _inputs(t: Tracer, quantity: Quantity) -> Iterator[Port]:
    """Arrays of the quantity; what moves, closes, weighs and loads the mechanism; then the time."""
    for name in quantity.inputs:
        size, unit = INPUTS[name]
        yield Port(name, (SIZES[size](t),), unit)
    if t.options.get("posture"):
        yield Port("posture", (t.setup.model.nq,), "rad, m")
    if t.setup.moving and quantity.base:
        yield Port("base_pose", (4, 4), "1, m")
        yield Port("base_twist", (6,), "m/s, rad/s")
        yield Port("base_acceleration", (6,), "m/s^2, rad/s^2")
    if t.setup.closed and quantity.multipliers:
        yield Port("multipliers", (len(t.setup.row_names),), "N, N m")
    if t.options.get("stabilization"):
        yield Port("stabilization", (2,), "1/s")
    if t.options.get("parameters"):
        yield Port("parameters", (10 * len(t.setup.model.bodies),), "kg, kg m, kg m^2")
    for link in t.options.get("wrenches", ()):
        yield Port(f"wrench:{link}", (6,), "N, N m")
    if t.setup.rheonomic and not quantity.timeless:
        yield Port("t", (), "s")


def _flat(values: Values) -> Iterator[Number]:
    if isinstance(values, (int, float, Scalar)):
        yield values
    else:
        for x in values:
            yield from _flat(x)
