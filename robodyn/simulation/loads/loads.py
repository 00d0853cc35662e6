"""All that acts on a robot in a motion besides the forces of its controller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from robodyn.array_types import FloatArray
from robodyn.closed_loops.constraints.constraint_rows import gains
from robodyn.codegen import Function
from robodyn.errors import ActuationError, ShapeError, SingularError
from robodyn.motion.base_motion import BaseMotion, BasePath, not_moving_error
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.simulation.cache.robot_cache import RobotCache
from robodyn.simulation.friction.stick_slip import StickSlip
from robodyn.simulation.loads.driven_joints import Driven
from robodyn.simulation.loads.prescribed_loads import PrescribedLoads, WrenchesOfTime


@dataclass(frozen=True, eq=False)
class LoadsAt:
    """Motion of driven joints, and loads, at some instants.

    driven (n, k) each: Positions, velocities and accelerations of the driven joints, as of
        `Driven.states`.
    varying (n, ...): Inputs of functions that change with time, by name: the time and the motion of
        the base.
    constant (...) or (robots, ...): Constant inputs: wrenches, and gains of the stabilisation.
    """

    driven: tuple[FloatArray, ...]
    varying: Mapping[str, FloatArray]
    constant: Mapping[str, FloatArray]

    def __getitem__(self, index: Any) -> LoadsAt:
        """The loads at some of the instants, by an index of any shape."""
        varying = {name: x[index] for name, x in self.varying.items()}
        return LoadsAt(tuple(x[index] for x in self.driven), varying, self.constant)

    def inputs(self, f: Function, after: int) -> list[FloatArray]:
        """Inputs of a function after its first ones, at all instants."""
        given = {**self.constant, **self.varying}
        return [given[port.name] for port in f.inputs[after:]]

    def tables(self, f: Function, after: int, dtype: DTypeLike = float) -> list[Table]:
        """These inputs as tables for machine code, and the rows of numbers that it may take.

        ``dtype``: the precision of the numbers.
        """
        found, numbers = [], f.rows_of_numbers
        given = [*self.inputs(f, after), *([] if numbers is None else [numbers])]
        for port, x in zip(f.code_inputs[after:], given, strict=True):
            if port.name in self.varying:
                found.append(Table(np.ascontiguousarray(x, dtype), port.size))
            else:
                found.append(Table(np.ascontiguousarray(x, dtype), 0, port.size * (x.ndim > 1)))
        return found


@dataclass(frozen=True, eq=False)
class Table:
    """Values of an input of a function.

    values: Contiguous.
    step: Stride from one instant to the next; 0 for constants.
    row: Stride from one robot to the next; 0 for values that are the same for all.
    """

    values: FloatArray
    step: int
    row: int = 0


def instants(times: FloatArray, parts: Sequence[float]) -> FloatArray:
    """All instants at which loads are needed, shape (steps + 1, len(parts)) [s].

    No step follows the last instant, which is repeated.
    """
    h = np.append(np.diff(times), 0.0)
    return np.asarray(times[:, None] + np.array(parts) * h[:, None])


@dataclass(frozen=True, eq=False)
class StepFunctions:
    """The functions that a step calls.

    dynamics: Forward dynamics; hybrid dynamics where joints are driven.
    integrate, rate: Of coordinates; ``None`` if coordinates add.
    corrections: A step of Newton's method that closes loops; ``None`` without loops.
    """

    dynamics: Function
    integrate: Function | None
    rate: Function | None
    corrections: Function | None

    @cached_property
    def before_loads(self) -> int:
        """Number of inputs of ``dynamics`` before those of loads."""
        return 4 if any(port.name == "tau_free" for port in self.dynamics.inputs) else 3


def functions_that_move(
    robot: Robot,
    driven: Sequence[int],
    links: Iterable[str] = (),
    stabilised: bool = False,
    parameters: bool = False,
    friction_modes: bool = False,
) -> StepFunctions:
    """The functions of a robot that a step calls.

    driven: Speeds that follow paths or are zero, ascending.
    links: Links on which wrenches act.
    stabilised: Loops are held closed by gains, and not closed after every step.
    parameters: Inertial parameters are an input, also of corrections, which are least by inertia.
    friction_modes: Joints stick and slide as modes, which are an input.
    Raises ActuationError, SingularError: Where the rank of loops changes, so that there is no
        straight-line code.
    """
    inertias: dict[str, Any] = {"parameters": True} if parameters else {}
    options = {"wrenches": tuple(links), **inertias} if links else {**inertias}
    if stabilised and robot.nc:
        options["stabilization"] = True
    if friction_modes:
        options["friction_modes"] = True
    if driven:
        dynamics = robot.function("hybrid_dynamics", controlled=driven, **options)
    else:
        dynamics = robot.function("forward_dynamics", **options)
    closing = None
    if robot.nc:
        closing = robot.function("loop_corrections", controlled=driven, **inertias)
    if robot.joints.coordinates_add:
        return StepFunctions(dynamics, None, None, closing)
    integrate, rate = robot.function("integrate"), robot.function("tangent_rate")
    return StepFunctions(dynamics, integrate, rate, closing)


_functions: RobotCache[StepFunctions | None] = RobotCache("functions of a step")

#: Names of the inputs of functions for the motion of the base.
BASE = {"base_pose": "pose", "base_twist": "twist", "base_acceleration": "acceleration"}


@dataclass(frozen=True, eq=False)
class Loads:
    """All that acts on a robot in a motion besides the forces of its controller; see `loads_on`.

    It determines which functions of the robot a step calls, and their arguments besides the state
    and forces: `options` for methods of the robot, `at` for functions at many instants.

    driven: Joints that follow paths or stand still.
    external: The motion of the base and external wrenches.
    gains [1/s]: Of the stabilisation that holds loops closed; None: they are closed after every
        step.
    friction: The mode of dry friction whose joints stick and slide; None: it is smooth.
    """

    robot: Robot
    driven: Driven
    external: PrescribedLoads
    gains: tuple[float, float] | None = None
    friction: StickSlip | None = None

    @cached_property
    def none(self) -> bool:
        """Whether accelerations depend on the state and forces alone."""
        return self.none_outside and self.friction is None

    @cached_property
    def none_outside(self) -> bool:
        """Whether there are neither wrenches, nor anything that depends on time."""
        return not (self.external.wrenches or self.robot.base == "moving") and (
            self.external.base is None and not self.robot.depends_on_time
        )

    @property
    def depend_on_state(self) -> bool:
        """Whether wrenches are Python functions of the state."""
        wrenches = self.external.wrenches
        return callable(wrenches) and not isinstance(wrenches, WrenchesOfTime)

    @property
    def have_paths(self) -> bool:
        """Whether joints follow paths or stand still, or the base can move."""
        return bool(self.driven) or self.robot.base == "moving"

    @cached_property
    def functions(self) -> StepFunctions | None:
        """The functions that a step calls; ``None`` where there is no straight-line code."""
        wrenches = self.external.wrenches
        if isinstance(wrenches, WrenchesOfTime):
            return self.functions_with(wrenches.links)
        return self.functions_with(() if callable(wrenches) else tuple(wrenches))

    def functions_with(self, links: tuple[str, ...]) -> StepFunctions | None:
        """The same where wrenches act on some links."""
        modes = self.friction is not None
        given = self.driven.speeds, links, self.gains is not None, False, modes

        def made() -> StepFunctions | None:
            try:
                return functions_that_move(self.robot, *given)
            except (ActuationError, SingularError):  # the rank of the loops changes
                return None

        return _functions.get(self.robot, given, made)

    @cached_property
    def wrenches_alone(self) -> bool:
        """Whether functions of the robot have no inputs of loads but wrenches."""
        return self.gains is None and not (
            self.robot.base == "moving" or self.robot.depends_on_time
        )

    def for_motion(self, k: int) -> Loads:
        """The same on one of many motions, and on the robot that moves there."""
        external, robot = self.external.for_motion(k), self.robot.of_rows(k)
        if external is self.external and robot is self.robot:
            return self
        return replace(self, external=external, robot=robot)

    # -- at an instant, for methods of the robot ----------------------------------------------

    def options(self, t: float, q: FloatArray, v: FloatArray) -> dict[str, Any]:
        """Keyword arguments of methods of the robot at ``t`` [s]."""
        if self.none:
            return {}
        base = self.external.base
        wrenches = self.wrenches(t, q, v)
        return {"base": base(t) if base else None, "wrenches": wrenches}

    def wrenches(self, t: float, q: FloatArray, v: FloatArray) -> Mapping[str, Any]:
        """External wrenches by link in a state, shape (..., 6) [N, N m]."""
        wrenches = self.external.wrenches
        if not callable(wrenches):
            return wrenches
        given = wrenches(t, q.copy(), v.copy())
        if not isinstance(given, Mapping):
            raise ShapeError(
                f"wrenches returned {type(given).__name__} at t = {t:.6g} s, expected a mapping of "
                "link name to six numbers [N, N m]",
                name="wrenches",
                given=given,
            )
        return given

    # -- at many instants, for functions of the robot -----------------------------------------

    def at(self, t: FloatArray) -> LoadsAt:
        """Loads at instants, without wrenches that are functions of the state.

        Functions of time are called for each instant, and may raise any exception.

        t (n,), or any one if there are no paths [s]
        """
        driven = self.driven.states(t) if self.driven else ()
        varying = {"t": t}
        if self.robot.base == "moving":
            base = self.external.base
            motions = [BaseMotion.at_rest() if base is None else base(float(x)) for x in t]
            for name, part in BASE.items():
                rows = [getattr(motion, part) for motion in motions]
                varying[name] = np.ascontiguousarray(rows, float)
        if isinstance(self.external.wrenches, WrenchesOfTime):
            acting = self.external.wrenches.at(t)
            varying |= {f"wrench:{link}": x for link, x in acting.items()}
        return LoadsAt(driven, varying, self._constants)

    @cached_property
    def _constants(self) -> dict[str, FloatArray]:
        """Inputs of functions that do not change with time, by name."""
        found, wrenches = {}, self.external.wrenches
        if not callable(wrenches):
            found = {f"wrench:{link}": x for link, x in wrenches.items()}
        if self.gains is not None:
            found["stabilization"] = np.array(self.gains, float)
        if self.friction is not None:  # the arrays themselves, which change with the mode
            sliding, *moves = self.friction.inputs
            found |= {"sliding": sliding.reshape(-1), **({"moves": moves[0]} if moves else {})}
        return found


def loads_on(
    robot: Robot,
    driven: Driven | None = None,
    base: BasePath | None = None,
    wrenches: Mapping[str, FloatArray] | Callable[..., Any] | None = None,
    stabilization: tuple[float, float] | None = None,
    friction: StickSlip | None = None,
) -> Loads:
    """What acts on a robot, of what the arguments of a simulation have become.

    driven, optional: From `driven_joints`.
    base, optional: From `base_path`, of a robot with a moving base.
    wrenches, optional: From `wrenches_on`.
    stabilization [1/s], optional: Loops are stabilised with these gains [W 5.198], instead of being
        closed after each step.
    friction, optional: Joints stick and slide as modes.
    Raises ShapeError: For a path of a base that is not moving, and for gains that are negative or
        not numbers.
    """
    if base is not None and robot.base != "moving":
        raise not_moving_error(robot.name, robot.base)
    held = None if stabilization is None else gains(stabilization)
    driven = Driven(robot.nv) if driven is None else driven
    external = PrescribedLoads(base, {} if wrenches is None else wrenches)
    return Loads(robot, driven, external, held, friction)
