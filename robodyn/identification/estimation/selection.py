"""Selection of the parameters to be identified."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from robodyn.arrays import named
from robodyn.equations.quantities.regressors import RESISTANCES
from robodyn.equations.tree.regressor import PARAMETERS
from robodyn.errors import SettingsError, UnknownNameError
from robodyn.model.changes.parameter_changes import changeable_bodies
from robodyn.robot import Robot

__all__ = ["selected"]


def selected(robot: Robot, names: Iterable[str] | None) -> NDArray[np.intp]:
    """Ascending indices of the selected parameters.

    Parameters
    ----------
    robot : Robot
    names : names, optional
        Of parameters, of bodies (their ten) and of joints (rotor inertia, damping and friction).
        Default: of all bodies with mass, of motors, and the friction of joints that have motors or
        that are described as having some.

    Raises
    ------
    UnknownNameError, SettingsError
    """
    known = robot.dynamic_parameter_names
    if names is None:
        chosen = _usual(robot)
    else:
        chosen = []
        owners = {name.rpartition(".")[0]: None for name in known}
        for name in named("parameters", names):
            of = [name] if name in known else [x for x in known if x.rpartition(".")[0] == name]
            if not of:
                raise UnknownNameError("parameter", name, [*owners, *known], repr(robot.name))
            chosen += of
    if not chosen:
        raise SettingsError(f"no parameters of {robot.name!r} are left to be identified")
    changeable = {*changeable_bodies(robot.model)}
    for name in dict.fromkeys(x.rpartition(".")[0] for x in chosen if _of_body(x)):
        if name not in changeable:
            raise SettingsError(
                f"{name!r} of {robot.name!r} is a free rotor, carries one, or is a link that is "
                "cut in two to close a loop: its parameters cannot be identified"
            )
    return np.array([k for k, name in enumerate(known) if name in {*chosen}], np.intp)


def _of_body(name: str) -> bool:
    return name.rpartition(".")[2] in PARAMETERS


def _usual(robot: Robot) -> list[str]:
    values = dict(
        zip(robot.dynamic_parameter_names, robot.dynamic_parameters.tolist(), strict=True)
    )
    driven, changeable = {*robot.actuated_joints}, {*changeable_bodies(robot.model)}

    def wanted(name: str) -> bool:
        owner, _, what = name.rpartition(".")
        if what in PARAMETERS:
            return values[f"{owner}.m"] > 0.0 and owner in changeable
        return what not in RESISTANCES or owner in driven or values[name] != 0.0

    return [name for name in values if wanted(name)]
