"""Rotors from an SRDF, as Pinocchio's files have them.

``<rotor_params><joint name="..." mass="rotor inertia [kg m^2]" gear_ratio="..."/></rotor_params>``:
the attribute that holds the inertia is called ``mass`` there.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from robodyn.description import Actuator
from robodyn.errors import UnknownNameError
from robodyn.files import as_path
from robodyn.urdf.reader import Reader
from robodyn.urdf.report import announce
from robodyn.urdf.xml import decode, local_name, parse_xml, read_bytes

__all__ = ["read_rotor_params"]


def read_rotor_params(
    path: str | Path, joints: Iterable[str], *, strict: bool = True
) -> dict[str, Actuator]:
    """Motors of an SRDF file.

    Parameters
    ----------
    path : path
    joints : iterable of str
        Joints of the robot.
    strict : bool
        ``False``: leave out joints that do not exist, with a warning each.

    Returns
    -------
    actuators : dict of joint name to Actuator

    Raises
    ------
    UrdfError
        If the file is not XML, or names a joint that does not exist.
    """
    known, path = tuple(joints), as_path("srdf", path)
    file = str(path)
    reader = Reader(file)
    found: dict[str, Actuator] = {}
    for group in parse_xml(decode(read_bytes(path), file), file).iter():
        if local_name(group) != "rotor_params":
            continue
        for element in group:
            if local_name(element) != "joint":
                continue
            name = reader.name(element)
            if name is not None and name not in known and not strict:
                reader.warn(element, str(UnknownNameError("joint", name, known)))
            elif name is not None and name not in known:
                reader.problem(element, UnknownNameError("joint", name, known))
            elif name is not None:
                found[name] = Actuator(
                    reader.number(element, "gear_ratio", 1.0),
                    reader.number(element, "mass", 0.0),
                )
    if reader.problems:
        raise reader.problems[0]
    for warning in reader.warnings:
        announce([warning])
    return found
