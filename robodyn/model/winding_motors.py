"""Torques and speeds of motors that are commanded by voltage, from their currents and joints."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import Array
from robodyn.errors import ActuationError
from robodyn.model.model import Model


def winding_torques(model: Model, torques: Array, v: Array) -> Array:
    """Torques of all motors at their shafts, shape (..., n), with those that currents make.

    torques: With the voltage in the place of a motor that is commanded by it.
    """
    found = torques.copy()
    for x in model.setup.windings:
        place = model.gearing.places[x.winding]
        found[..., place] = x.constant * v[..., model.joints[x.winding].v]
    return found


def winding_speeds(model: Model, speeds: Array, v: Array) -> Array:
    """Speeds of all motors, shape (..., n), with those of the shafts behind windings.

    Raises ActuationError: Where the joint of such a motor follows others.
    """
    found = np.asarray(speeds).copy()
    for x in model.setup.windings:
        at = model.joints[x.motor].v
        if at.start == at.stop:
            raise ActuationError(
                f"the motor of {x.motor!r} is commanded by voltage, and its joint follows others: "
                "the speed of its shaft is not known here; take coordinates='tree'",
                direction=x.motor,
            )
        found[..., model.gearing.places[x.winding]] = x.ratio * v[..., at]
    return found


def refuse_voltages(model: Model, what: str) -> None:
    """Check that motors take torques as commands.

    what: Who commands torques, for the error.
    Raises ActuationError: If one is commanded by voltage.
    """
    windings = [x.winding for x in model.setup.windings]
    if windings:
        raise ActuationError(
            f"motors of {model.mechanism.name!r} are commanded by voltage ({', '.join(windings)}), "
            f"and {what} torques: load the robot with command='torque', as a drive that controls "
            "its current takes it, or take an LQR, which commands voltages",
            direction=windings[0],
        )
