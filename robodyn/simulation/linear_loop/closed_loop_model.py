"""The linear model of a robot under its controller."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import named, of_one_state
from robodyn.errors import SettingsError, UnknownNameError
from robodyn.linearization.linear_models import without_unread
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot
from robodyn.simulation.control.controller import check_controller, without_sampling
from robodyn.simulation.linear_loop.called_references import calling_references
from robodyn.simulation.linear_loop.controller_slopes import ControllerSlopes, continuous
from robodyn.simulation.linear_loop.loops import Loop, Sum, continuous_loop, sampled_loop, stacked
from robodyn.simulation.linear_loop.plant import Plant
from robodyn.state_space import StateSpace
from robodyn.tolerances import SAMPLE_TIME_ROUNDING

#: From sample to sample of a controller that comes to rest, without a period [s].
DEFAULT_STEP = 1e-3

#: What a reference says: positions along the speeds, speeds and accelerations.
REFERENCE = ("q_ref", "v_ref", "a_ref")


@checked_arguments
def closed_loop_model(
    robot: Robot,
    controller: Any,
    q: ArrayLike,
    v: ArrayLike | None = None,
    *,
    dt: float | None = None,
    delay: float = 0.0,
    inputs: Iterable[str] | None = None,
    outputs: Iterable[str] | None = None,
    base: BaseMotion | None = None,
    t: float = 0.0,
) -> StateSpace:
    """The linear model of small deviations of a robot and its controller from a state.

    The state of the model is that of `Robot.linearize`, then forces on their way and the state of
    the controller with its estimators, where that acts on forces. A controller in a digital wrapper
    (`robodyn.controllers.Sampled`), or with ``dt``, makes a discrete model, whose forces are held
    exactly from sample to sample, whatever part of a period the delay is. Otherwise the model is
    continuous. Quantised sensors count as exact, and noise and lost samples as none.

    Parameters
    ----------
    robot : Robot
    controller : callable
        As for `simulate`, at rest at this state: a controller with a memory has seen it often.
    q, v : array_like, shape (nq,), (nv,) [rad, m; rad/s, m/s]
        The state; by default at rest.
    dt : float, optional [s]
        Period of the samples of the controller. Default: that of its digital wrapper.
    delay : float [s]
        From a sample until its forces act, added to that of a digital wrapper. In a continuous
        model it is a Padé approximation of fifth order.
    inputs : names, optional
        Motors: a torque added to the one that the controller asks for, where loops are broken for
        margins. Other joints, and links: a force or a wrench from outside in axes of the world at
        the link's origin. ``"q_ref:joint"``, ``"v_ref:joint"``, ``"a_ref:joint"``: what the
        reference of a symbolic controller says; ``"q_ref"`` for all joints. Default: the motors.
    outputs : names, optional
        As of `Robot.linearize`, and ``"tau:joint"``: the force that the controller asks for.
        Default: the states of the robot, and forces at motors.
    base
        As in `inverse_dynamics`.
    t : float [s]
        Time at which references and the controller are asked.

    Returns
    -------
    model : StateSpace

    Raises
    ------
    SettingsError
        If the controller has several periods, or another one than ``dt``; if it has no continuous
        model, as it counts samples.
    UnknownNameError, ShapeError, SingularError, InconsistentStateError
        As of `Robot.linearize`.

    Notes
    -----
    Derivatives of controllers that are symbolic are exact. Others are differentiated by differences
    of fourth order: errors are about 1e-7 of the largest derivative.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import LQR, Sampled
    >>> robot = rd.load("double_pendulum", actuators={"elbow": rd.Actuator()})
    >>> up = np.array([np.pi, 0.0])
    >>> law = LQR(robot, up)
    >>> rd.closed_loop_model(robot, law, up).stability
    'stable'
    >>> late = rd.closed_loop_model(robot, Sampled(law, 0.02, delay=0.03), up)
    >>> late.dt, late.stability
    (0.02, 'stable')
    """
    check_controller(controller)
    q = of_one_state("q", q, robot.nq)
    v = np.zeros(robot.nv) if v is None else of_one_state("v", v, robot.nv)
    law, period, late = without_sampling(controller)
    step, late = _timing(dt, period, delay + late)
    given = None if inputs is None else named("inputs", inputs, "names")
    if any(x.partition(":")[0] in REFERENCE for x in given or ()):
        law = calling_references(law)
    near = LinearLoop(robot, law, q, v, float(t), step, base)
    given = tuple(near.plant.motors) if given is None else given
    shown = None if outputs is None else named("outputs", outputs, "names")
    return near.model(step, late, given, shown)


class LinearLoop:
    """A robot under a controller near a state, for any period and delay.

    controller: Without digital wrappers.
    q, v (nq,), (nv,)
    t [s]
    step [s]: From sample to sample of the controller as it comes to rest; ``None``: any.
    lasting: Models are asked for often, so that derivatives are worth their code.
    """

    def __init__(
        self,
        robot: Robot,
        controller: Any,
        q: FloatArray,
        v: FloatArray,
        t: float,
        step: float | None = None,
        base: BaseMotion | None = None,
        *,
        lasting: bool = True,
    ) -> None:
        self._own, self._state = ControllerSlopes(robot, controller, t, lasting), (q, v)
        self._rest = self._own.at_rest(q, v, step or DEFAULT_STEP)
        self.plant = Plant(robot.at(t), q, v, self._rest[0], base)

    def model(
        self,
        step: float | None,
        delay: float = 0.0,
        inputs: tuple[str, ...] = (),
        outputs: Sequence[str] | None = (),
    ) -> StateSpace:
        """The linear model; without a step in continuous time."""
        own, plant = self._own, self.plant
        names, forces = _inputs(plant, own, inputs)
        if step is None:
            law = continuous(own, plant.robot.nv, self._state, self._rest)
            loop = continuous_loop(plant, law, forces, delay)
        else:
            slopes = own.slopes(step, *self._state, *self._rest)
            loop = sampled_loop(plant, slopes, own.names, forces, step, delay)
        return _model(plant, loop, names, step, outputs)


def _timing(dt: float | None, period: float | None, delay: float) -> tuple[float | None, float]:
    """The period of a model, and the delay."""
    if dt is not None and not 0.0 < dt < math.inf:
        raise SettingsError(f"dt is {dt!r}, expected a positive number of seconds")
    if not 0.0 <= delay < math.inf:
        raise SettingsError(f"delay is {delay!r}, expected a number >= 0")
    if dt is None or period is None:
        return dt or period, delay
    if abs(dt - period) > SAMPLE_TIME_ROUNDING * period:
        raise SettingsError(
            f"dt is {dt:.6g} s, and the controller has a period of {period:.6g} s: leave out dt="
        )
    return period, delay


def _inputs(
    plant: Plant, own: ControllerSlopes, given: tuple[str, ...]
) -> tuple[tuple[str, ...], dict[str, Sum]]:
    """The inputs of a model.

    Returns names
    Returns forces: What they add: to forces that the controller asks for, ``"motors"``, and to
        others, ``"outside"``, over all speeds, and to the signals of the controller.
    """
    columns = list[tuple[str, str, FloatArray]]()
    for name in given:
        if name.partition(":")[0] in REFERENCE:
            columns += _of_reference(plant, own, name)
        else:
            units, of_motors = plant.named(name)
            kind = "motors" if of_motors else "outside"
            columns += [(label, kind, unit) for label, unit in units.items()]
    sizes = {"motors": plant.robot.nv, "outside": plant.robot.nv, **own.signals}
    parts = {kind: np.zeros((size, len(columns))) for kind, size in sizes.items()}
    for k, (_, kind, column) in enumerate(columns):
        parts[kind][:, k] = column
    names = tuple(label for label, *_ in columns)
    return names, {kind: Sum({"inputs": x}) for kind, x in parts.items()}


def _of_reference(
    plant: Plant, own: ControllerSlopes, name: str
) -> list[tuple[str, str, FloatArray]]:
    """Columns of a reference: names, the signal, and what a unit of each is in it.

    Raises SettingsError: If the controller asks for none.
    """
    kind, _, joint = name.partition(":")
    robot, nv, signals = plant.robot, plant.robot.nv, own.signals
    size = robot.nq + 2 * nv
    of_references = [x for x in signals if x.startswith("reference") and signals[x] == size]
    if len(of_references) != 1:
        raise SettingsError(
            f"{name!r} is an input of a controller with one reference of positions, speeds and "
            f"accelerations, and this one asks for {len(of_references)}"
        )
    (signal,) = of_references
    wanted = own.value(signal)[: robot.nq]
    slopes = np.zeros((nv, size))
    if kind == "q_ref":
        rates = robot.function("integrate").jacobian("dv")(wanted, np.zeros(nv))
        slopes[:, : robot.nq] = np.asarray(rates).T
    else:
        first = robot.nq + nv * (kind == "a_ref")
        slopes[:, first : first + nv] = np.eye(nv)
    columns = dict(zip(plant.labels, slopes, strict=True))
    if joint and joint not in columns:
        raise UnknownNameError("joint", joint, plant.labels, repr(robot.name))
    return [(f"{kind}:{x}", signal, columns[x]) for x in ([joint] if joint else columns)]


def _model(
    plant: Plant,
    loop: Loop,
    inputs: tuple[str, ...],
    dt: float | None,
    outputs: Sequence[str] | None,
) -> StateSpace:
    """The model of a loop with names."""
    sizes = {name: len(labels) for name, (_, labels) in loop.rates.items()}
    shown = _outputs(plant, loop, outputs)
    rates = [(x, len(labels)) for x, labels in loop.rates.values()]
    rows = [(x, len(labels)) for x, labels in shown]
    A, B = (stacked(rates, on) for on in (sizes, {"inputs": len(inputs)}))
    C, D = (stacked(rows, on) for on in (sizes, {"inputs": len(inputs)}))
    model = StateSpace(
        A,
        B,
        C,
        D,
        dt=dt,
        states=tuple(x for _, labels in loop.rates.values() for x in labels),
        inputs=inputs,
        outputs=tuple(x for _, labels in shown for x in labels),
        acceleration=plant.model.acceleration,
    )
    return without_unread(model, plant.charges, asked=outputs is not None)


def _outputs(
    plant: Plant, loop: Loop, names: Sequence[str] | None
) -> list[tuple[Sum, tuple[str, ...]]]:
    """Outputs with their names."""
    states = plant.model.states
    robot, speeds = Sum.of("robot", len(states)), np.eye(plant.robot.nv)
    of_motors = np.linalg.pinv(np.array([*plant.motors.values()]).reshape(-1, len(speeds)).T)
    of_forces = {f"tau:{x}": row for x, row in zip(plant.labels, speeds, strict=True)}
    of_forces |= {f"tau:{x}": row for x, row in zip(plant.motors, of_motors, strict=True)}
    if names is None:
        asked = tuple(f"tau:{x}" for x in plant.motors)
        return [(robot, states), *((loop.asked.times(of_forces[x][None]), (x,)) for x in asked)]
    found = list[tuple[Sum, tuple[str, ...]]]()
    for name in names:
        if name.startswith("tau:"):
            if name not in of_forces:
                where = repr(plant.robot.name)
                raise UnknownNameError("force", name, of_forces, where)
            found.append((loop.asked.times(of_forces[name][None]), (name,)))
        else:
            model = plant.outputs([name])
            found.append((robot.times(model.C) + loop.acting.times(model.D), model.outputs))
    return found
