"""Readings of the sensors of a robot, all in one program."""

from __future__ import annotations

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.quantities.common import closed_dynamics
from robodyn.equations.quantities.common.quantity import (
    MULTIPLIERS,
    A,
    Constrained,
    Input,
    Options,
    Output,
    Q,
    Quantity,
    V,
    flat,
)
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.quantities.dynamics import CHECKED, MOTORS
from robodyn.equations.quantities.wrenches import joint_frame, wrench_in_joint
from robodyn.equations.sensors.kinds import KINDS
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.errors import SingularError
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, Wrench


def measure(t: Tracer) -> Results:
    """The numbers of each sensor."""

    def wrench(joint: str) -> tuple[Wrench, int, Placement]:
        return (wrench_in_joint(t, joint), *joint_frame(t, joint))

    robot = MeasuredState(t.state, t.a, t.link, wrench)
    return {x.name: _shown(robot, x) for x in _sensors(t.options)}


def measure_by_motors(t: Tracer) -> Results:
    """The same of a closed linkage that its motors move, with multipliers of least norm."""
    _, lam = closed_dynamics.motor_forces(t)
    t.numbers["multipliers"] = closed_dynamics.least_multipliers(t, lam)
    found = {name: list(flat(values)) for name, values in measure(t).items()}
    numbers = iter(closed_dynamics.if_motors_can(t, [x for part in found.values() for x in part]))
    return {name: [next(numbers) for _ in part] for name, part in found.items()}


def _shown(robot: MeasuredState, sensor: DescribedSensor) -> list[Number]:
    try:
        return list(KINDS[sensor.kind].measure(robot, sensor))
    except ZeroDivisionError:
        raise SingularError(
            f"sensor {sensor.name!r} ({sensor.kind}) shows no number in any state: its points "
            "coincide, its axes are parallel, its bodies have no mass, or a function divides by "
            "zero"
        ) from None


def _sensors(options: Options) -> tuple[DescribedSensor, ...]:
    return tuple(options.get("sensors", ()))


def _outputs(options: Options) -> tuple[Output, ...]:
    """An array a sensor."""
    return tuple(
        Output(x.name, (len(x.columns),), ", ".join(dict.fromkeys(x.units)))
        for x in _sensors(options)
    )


def _read(given: Input, letters: str) -> Input:
    """An input where a sensor needs it."""
    return Input(
        given.name, given.size, given.unit,
        when=lambda options: any(x.reads in letters for x in _sensors(options)),
    )  # fmt: skip


def reads_wrenches(options: Options) -> bool:
    """Whether what constraints exert counts."""
    return any(x.kind == "wrench" for x in _sensors(options))


#: Quantities by name.
ROWS = {
    "measure": Quantity(
        (Q, _read(V, "va"), _read(A, "a")),
        (),
        measure,
        MULTIPLIERS,
        outputs_by=_outputs,
        exerted=reads_wrenches,
        solved=Constrained(measure_by_motors, (*MOTORS, "possible", *CHECKED)),
        base=True,
        options=("sensors", "wrenches"),
        parametric=True,
    ),
}
