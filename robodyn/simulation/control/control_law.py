"""What a controller does at each of its looks, as functions: for C that runs beside a robot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from robodyn.arguments import checked_arguments
from robodyn.codegen import Function
from robodyn.errors import SettingsError
from robodyn.robot import Robot
from robodyn.simulation.control.callbacks import check_callable
from robodyn.simulation.control.closed_loop import numbered, untraced
from robodyn.simulation.control.compiled_law import Law, law_of
from robodyn.simulation.control.memory_law import MemoryLaw, fixed_step_law
from robodyn.simulation.control.stateful import chain
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.inline import inline
from robodyn.symbolic.scalar import edge_of

__all__ = ["ControlLaw", "control_law"]


@dataclass(frozen=True, eq=False)
class ControlLaw:
    """A controller as functions of what it sees and remembers.

    Attributes
    ----------
    first : Function
        ``(t, q, v)`` -> ``tau`` (nv,) [N m, N], and ``memory`` if there is one: at the first look.
        References that only Python knows are further inputs.
    following : Function
        ``(t, q, v, acted, memory)`` -> ``tau``, ``memory``: at all others. ``acted`` (nv,) are the
        forces that acted since the last look. The same as ``first`` where there is no memory.
    memory : mapping of str to slice
        Where in ``memory`` stands what simulations record in ``run.memory``.
    step : float or None [s]
        From look to look.
    """

    first: Function
    following: Function
    memory: Mapping[str, slice]
    step: float | None


@checked_arguments
def control_law(robot: Robot, controller: Any, *, step: float | None = None) -> ControlLaw:
    """What a controller does when it looks, as functions: machine code, batches, C and CUDA.

    What a controller with a memory remembers is an array that goes from one look to the next.

    Parameters
    ----------
    robot : Robot
    controller : callable
        One of `robodyn.controllers` or another one with ``symbolic = True``, which does nothing
        with time and state but arithmetic.
    step : float, optional [s]
        Time from look to look. Controllers with a memory need it.

    Returns
    -------
    law : ControlLaw

    Raises
    ------
    SettingsError
        If the controller is a plain function or has no straight-line code for this robot; if it has
        a memory and there is no step; if it is sampled at other times than looks.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import Filtered, JointPD, SineReference
    >>> robot = rd.load("arm7")
    >>> wave = SineReference(robot.neutral(), 0.1 * np.ones(7), np.ones(7))
    >>> smooth = Filtered(JointPD(robot, wave, stiffness=100.0, damping=10.0), cutoff=50.0)
    >>> law = rd.control_law(robot, smooth, step=1e-3)
    >>> q, v = robot.neutral(), np.zeros(7)
    >>> tau, memory = law.first(0.0, q, v)
    >>> tau, memory = law.following(1e-3, q, v, tau, memory)
    >>> bool((memory[law.memory["filtered"]] == tau).all())
    True
    >>> "void control(" in law.following.c_source()
    True
    """
    check_callable("controller", controller)
    if step is not None and not (isinstance(step, int | float | np.number) and 0 < step < math.inf):
        raise SettingsError(f"step is {step!r} s, expected a positive number")
    fresh = getattr(controller, "fresh", None)
    begun = controller if fresh is None else fresh()
    if not any(True for _ in chain(begun)):
        return _without_memory(robot, controller, step)
    if step is None:
        raise SettingsError(
            f"{type(controller).__name__} has a memory: give step=, the time from look to look [s]"
        )
    law = fixed_step_law(robot, begun, float(step))
    if law is None:
        raise untraced(robot, controller, memory=False)
    return ControlLaw(
        _ordered(law.first, "control_first", ("t", "q", "v")),
        _ordered(law.following, "control", ("t", "q", "v", "acted", "memory")),
        _places(law),
        float(step),
    )


def _without_memory(robot: Robot, controller: Any, step: float | None) -> ControlLaw:
    law = controller if isinstance(controller, Law) else law_of(robot, controller)
    if law is None:
        raise untraced(robot, controller, memory=False)
    function = _ordered(law.program, "control", ("t", "q", "v"))
    return ControlLaw(function, function, MappingProxyType({}), step)


def _ordered(program: Program, name: str, first: tuple[str, ...]) -> Function:
    """The function of a program with these inputs first; of its own, those that it lacks are zero.

    Its memory, if it has one, is one of these or is not used.
    """
    own = {port.name: port for port in program.inputs}
    rest = [x for x in program.inputs if x.name not in (*first, "acted", "memory")]
    ports: list[Port] = [own[key] for key in first] + rest
    graph = Graph()
    numbers: dict[str, Any] = {key: [0.0] * own[key].size for key in own}
    numbers.update(numbered(graph, ports))
    results = inline(program, [x for port in program.inputs for x in numbers[port.name]])
    outputs = tuple(port for port in program.outputs if port.size)
    edges = tuple(edge_of(graph, x) for x in results)
    return Function(Program(name, tuple(ports), outputs, graph, edges, program.rates))


def _places(law: MemoryLaw) -> Mapping[str, slice]:
    """Where what is recorded stands, under the names that simulations give it."""
    found, at, used = dict[str, slice](), 0, set[str]()
    for _, name, shape in law.layout.places:
        if at >= law.recorded:
            break
        key, k = name, 1
        while key in used:
            k += 1
            key = f"{name} {k}"
        used.add(key)
        count = int(np.prod(shape))
        found[key] = slice(at, at + count)
        at += count
    return MappingProxyType(found)
