"""From what a user asks for to a unit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from robodyn.arrays import named, shown
from robodyn.caller import warn
from robodyn.codegen import Function
from robodyn.equations.tree.composite_body import factorize, inverse, solve
from robodyn.errors import SettingsError, ShapeError, SingularWarning, UnknownNameError
from robodyn.exporting.unit.motion import assembly, check_step, control_of, explicit, step_of
from robodyn.exporting.unit.unit import Control, Procedure, Routine, Step, Unit
from robodyn.literals import IntegratorName, Precision
from robodyn.robot import Robot
from robodyn.simulation.control.closed_loop import (
    closed_loop,
    control_law_of,
    warn_of_late_forces,
)
from robodyn.simulation.loads.actuated_speeds import actuated_speeds
from robodyn.symbolic.evaluate import inline
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import edge_of, if_not_negative, inputs
from robodyn.tolerances import UNCOUPLED_MOTOR

#: What `functions` may be.
EXPECTED = (
    "names of functions, (name, options), Functions, or a mapping from names in the code to these"
)

#: What is no function of a robot, and the options that it takes.
SPECIAL: dict[str, tuple[str, ...]] = {
    "assemble": ("hold",),
    "closed_loop": (),
    "control": (),
    "motor_torques": ("wrenches",),
    "step": (),
}

#: What a controller is needed for.
OF_CONTROLLER = ("closed_loop", "control")


def unit_of(
    robot: Robot,
    functions: Any,
    controller: Any,
    step: float,
    integrator: IntegratorName,
    dtype: Precision,
    name: str | None,
) -> Unit:
    """The unit that is asked for.

    Raises `ShapeError` if ``functions`` is something else than it may be, `SettingsError` if there
    are none, two of the same name, or one that cannot be exported, and `UnknownNameError` if the
    robot has no function of a name.
    """
    if name is not None and not name.strip():
        raise SettingsError(
            f"name is {name!r}, expected a word, of which names in the code are made"
        )
    explicit(integrator)
    _warn_of_flat_postures(robot)
    contents = _Contents(robot, controller, check_step(step), integrator, dtype)
    quantities = list[str | Function]()
    for own, quantity, options in _requests(functions):
        contents.add(own, quantity, options)
        quantities.append(quantity)
    if not contents.asked:
        raise SettingsError(f"functions is empty, expected {EXPECTED}")
    if controller is not None:
        if not any(x in ("control", "step", "closed_loop") for x in quantities):
            raise SettingsError(
                "controller= is given, but no function has it: add 'control', 'step' or "
                "'closed_loop'"
            )
        if any(x in ("control", "step") for x in quantities):
            warn_of_late_forces(controller, step)
    return contents.unit(name or robot.name)


def _warn_of_flat_postures(robot: Robot) -> None:
    """Warn where the motion in minimal coordinates turns back: code cannot warn when it does."""
    turning = [x.name for x in robot.model.flat_postures.loops if not (x.fold and x.fold.smooth)]
    if turning:
        message = SingularWarning(
            f"{robot.name!r} has loops that turn back where they lie flat, as ways to assemble "
            f"them meet there: {', '.join(turning)}. Exported code does not tell when it passes "
            "such a posture; export robot.tree_form for motions that go on smoothly"
        )
        warn(message)


def _requests(functions: Any) -> Iterator[tuple[str, str | Function, dict[str, Any]]]:
    """Name in the code, quantity or function, and options."""
    if isinstance(functions, Mapping):
        pairs: Iterable[tuple[Any, Any]] = functions.items()
    else:
        alone = isinstance(functions, Function) or _with_options(functions)
        given = (functions,) if alone else named("functions", functions, EXPECTED)
        pairs = ((None, x) for x in given)
    for name, x in pairs:
        quantity, options = x if _with_options(x) else (x, {})
        for given, kinds in ((name, str | None), (quantity, str | Function)):
            if not isinstance(given, kinds):
                raise ShapeError(
                    f"functions holds {shown(given)}, expected {EXPECTED}",
                    name="functions",
                    given=given,
                )
        plain = quantity if isinstance(quantity, str) else quantity.name
        yield name or "_".join((plain, *_words(options))), quantity, dict(options)


def _with_options(x: Any) -> bool:
    """Whether something is (name, options)."""
    return isinstance(x, tuple) and len(x) == 2 and isinstance(x[1], Mapping)


def _words(options: Mapping[str, Any]) -> Iterator[str]:
    """What options add to a name: the names of frames, joints and links that they hold."""
    for x in options.values():
        if isinstance(x, str):
            yield x
        elif isinstance(x, Iterable):
            yield from map(str, x)


class _Contents:
    """A unit that is being made."""

    def __init__(
        self, robot: Robot, controller: Any, h: float, integrator: IntegratorName, dtype: Precision
    ) -> None:
        self._robot, self._controller, self._h = robot, controller, h
        self._integrator, self._dtype = integrator, dtype
        self._routines: dict[str, Routine] = {}
        self._functions: dict[int, tuple[Function, Routine]] = {}
        self._assemblies: list[Procedure] = []
        self._step: Step | None = None
        self._control: Control | None = None
        self.asked: set[str] = set()

    def unit(self, name: str) -> Unit:
        """The unit."""
        routines, assemblies = tuple(self._routines.values()), tuple(self._assemblies)
        asked = frozenset(self.asked)
        made = self._robot, routines, assemblies, self._step, self._dtype, asked, name
        return Unit(*made, self._control)

    def add(self, name: str, quantity: str | Function, options: dict[str, Any]) -> None:
        """Add what is asked for."""
        if name in self.asked:
            raise SettingsError(
                f"functions has {name!r} twice; give them names of their own: "
                'functions={"name": (...), ...}'
            )
        self.asked.add(name)
        if isinstance(quantity, Function):
            if options:
                raise SettingsError(f"{name!r} is a Function: it takes no options here")
            self._add_named(name, _summary_of(quantity.name), quantity)
        elif quantity in SPECIAL:
            self._add_special(name, quantity, options)
        else:
            self._add_named(name, _summary_of(quantity), self._robot.function(quantity, **options))

    def _add_special(self, name: str, quantity: str, options: dict[str, Any]) -> None:
        """Add what is no function of a robot alone."""
        allowed, robot = SPECIAL[quantity], self._robot
        unknown = [x for x in options if x not in allowed]
        if unknown:
            raise UnknownNameError("option", unknown[0], allowed, quantity)
        if quantity in OF_CONTROLLER and self._controller is None:
            raise SettingsError(f"{quantity!r} needs a controller: give controller=")
        if quantity in ("control", "step") and name != quantity:
            raise SettingsError(f"{quantity!r} cannot be called {name!r}: it is there once")
        match quantity:
            case "assemble":
                held = options.get("hold", ())
                self._assemblies.append(assembly(robot, name, held, self._part, self._dtype))
            case "closed_loop":
                about = "Accelerations of the robot under its controller."
                self._add_named(name, about, closed_loop(robot, self._controller))
            case "control":
                law = control_law_of(robot, self._controller, self._h, takes_readings=True)
                made = Control(self._h, *control_of(law, self._part))
                self._control = made if made.memory else None
            case "motor_torques":
                function = robot.function("inverse_dynamics", **options)
                self._add_named(name, _summary_of(quantity), _at_shafts(robot, function))
            case "step":
                given = robot, self._controller, self._h, self._integrator
                self._step = step_of(*given, self._part, self._dtype)

    def _add_named(self, name: str, about: str, function: Function) -> Routine:
        """A routine that the user has named."""
        known = self._routines.get(name)
        if known is not None and known.program is not function.program:
            raise SettingsError(
                f"{name!r} is also the name of a function that a step or an assembly calls: give "
                "yours another name"
            )
        made = known or Routine(name, about, function.program)
        self._routines[name] = made
        self._functions[id(function)] = function, made
        return made

    def _part(self, name: str, about: str, function: Function) -> Routine:
        """The routine of a function, under the name that it has already, if there is one."""
        known = self._functions.get(id(function))
        return known[1] if known else self._add_named(name, about, function)


def _summary_of(quantity: str) -> str:
    """What a function computes, in one sentence: that of its method."""
    doc = getattr(getattr(Robot, quantity, None), "__doc__", None)
    return doc.splitlines()[0] if doc else f"{quantity.replace('_', ' ').capitalize()}."


def _at_shafts(robot: Robot, function: Function) -> Function:
    """Torques at the shafts of motors instead of generalised forces."""
    gearing = robot.model.gearing
    gearing.check()
    program, graph = function.program, Graph()
    given = inputs(graph, 0, sum(port.size for port in program.inputs))
    of_joints = np.empty(len(gearing.ratios), object)
    of_joints[:] = _at_motors(robot, program, given)
    torques = [x / float(ratio) for x, ratio in zip(of_joints, gearing.ratios, strict=True)]
    for motors in gearing.coupled:
        for k, torque in zip(motors.speeds.tolist(), motors.torques(of_joints), strict=True):
            torques[k] = torque
    outputs = (Port("torque", (len(torques),), "N m, N"),)
    edges = tuple(edge_of(graph, x) for x in torques)
    return Function(Program("motor_torques", program.inputs, outputs, graph, edges, program.rates))


def _at_motors(robot: Robot, program: Program, given: list[Any]) -> list[Any]:
    """Forces of the joints of motors, of least 2-norm, from the inputs of inverse dynamics.

    Not a number where motors at joints that follow others do not determine the motion.
    """
    tau = inline(program, given)
    if not robot.model.gearing.elsewhere:
        return tau
    places, numbers = {port.name: port for port in program.inputs}, iter(given)
    arrays = {name: [*islice(numbers, port.size)] for name, port in places.items()}
    matrix = robot.function("actuation_matrix").program
    columns = inline(matrix, [x for port in matrix.inputs for x in arrays[port.name]])
    speeds = actuated_speeds(robot)
    B = np.array(columns, object).reshape(robot.nv, -1)[list(speeds)]
    factors = factorize([list(row) for row in B @ B.T], dict.fromkeys(range(len(B)), 1.0))
    f = B.T @ np.array(solve(factors, [tau[k] for k in speeds]), object)
    far = sum((row[k] for k, row in enumerate(inverse(factors))), 0.0) * UNCOUPLED_MOTOR**2
    return if_not_negative([*f], 1.0 - far)
