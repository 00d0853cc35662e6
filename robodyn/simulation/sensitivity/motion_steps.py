"""The steps of a motion, from sample to sample, with their derivatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import expect
from robodyn.errors import SettingsError, ShapeError
from robodyn.literals import IntegratorName, ParameterSet
from robodyn.robot import Robot
from robodyn.simulation.loads.driven_joints import PathOfTime, driven_joints
from robodyn.simulation.loads.loads import loads_on
from robodyn.simulation.loads.prescribed_loads import PrescribedLoads
from robodyn.simulation.sensitivity.step_jacobian import StepJacobian
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.tolerances import STEP_JOIN


def robot_of_steps(run: Trajectory) -> Robot:
    """The robot of a motion without events, whose samples are the ends of steps.

    Raises ShapeError, SettingsError: If there are events, or if the trajectory does not know its
        robot.
    """
    expect("run", run, Trajectory)
    if run.robot is None:
        raise SettingsError("the trajectory does not know its robot: it was read from a file")
    if run.t.ndim != 1 or not len(run.t):
        raise ShapeError("the trajectory has no samples along time", name="run", given=run.t.shape)
    if len(run.events) > 0:
        raise SettingsError(
            "derivatives of a motion are not known where events happened within it: "
            f"{run.events[0].name!r} at {run.events[0].time:.6g} s"
        )
    return run.robot


def jacobian_of_steps(
    robot: Robot,
    run: Trajectory,
    integrator: IntegratorName,
    controlled: Mapping[str, PathOfTime] | None = None,
    locked: Iterable[str] = (),
    parameters: bool | ParameterSet = False,
) -> StepJacobian:
    """Derivatives of the steps of a motion under its loads.

    controlled, locked: Those of the motion.
    parameters {"inertial", "dynamic"}
    Raises SettingsError: If other joints than these were driven, if loads are known at samples
        only, and as `StepJacobian`.
    """
    driven = driven_joints(robot, controlled, locked, run.t)
    if driven.speeds != tuple(run.driven):
        names = np.array(run.joint_names)
        was, now = (", ".join(names[list(x)]) or "none" for x in (run.driven, driven.speeds))
        raise SettingsError(
            f"driven along paths or locked in the motion: {was}; given here: {now}. Give "
            "controlled= and locked= of the motion, of which it keeps no paths"
        )
    around = run.surroundings
    if not isinstance(around, PrescribedLoads) and (around.base is not None or around.wrenches):
        raise SettingsError(
            "the motion of the base and wrenches are known at samples only, and not in between: "
            "take the trajectory that robodyn.simulate returned"
        )
    wrenches = around.wrenches
    base = around.base if isinstance(around, PrescribedLoads) else None
    loads = loads_on(robot, driven, base, wrenches)
    return StepJacobian(loads, integrator, parameters=parameters)


def steps_along(
    robot: Robot,
    run: Trajectory,
    jacobian: StepJacobian,
    start: int,
    stop: int,
    integrator: IntegratorName,
) -> FloatArray:
    """Derivatives of some steps, shape (n, ..., 2 nv, 3 nv + parameters).

    Raises SettingsError: If a step does not end at the next sample.
    """
    here, ahead = slice(start, stop), slice(start + 1, stop + 1)
    ones = (1,) * (run.q.ndim - 1)
    t, h = (x.reshape(-1, *ones) for x in (run.t[here], run.t[ahead] - run.t[here]))
    q, v = jacobian(t, run.q[here], run.v[here], run.tau[here], h)
    moved = robot.difference(run.q[ahead], q.value)
    for off, size in ((moved, run.v[here] * h), (v.value - run.v[ahead], run.v[ahead])):
        wrong = np.abs(off) > STEP_JOIN * (1.0 + np.abs(size))
        if wrong.any():
            k = start + int(np.argwhere(wrong)[0][0])
            raise SettingsError(
                f"a step by {integrator!r} from sample {k} at {run.t[k]:.6g} s ends "
                f"{np.abs(off[wrong][0]):.3g} away from the next sample: give the integrator of "
                "the motion, and simulate it with every=1"
            )
    return np.concatenate([q.derivative, v.derivative], axis=-2)
