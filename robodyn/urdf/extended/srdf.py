"""Rotor inertias and gear ratios from an SRDF, in the notation of Pinocchio's files.

``<rotor_params><joint name="..." mass="rotor inertia [kg m^2]" gear_ratio="..."/></rotor_params>``:
the attribute that holds the inertia is called ``mass`` there.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from robodyn.description import Actuator
from robodyn.errors import UnknownNameError
from robodyn.files import as_path
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.report import raise_or_warn
from robodyn.urdf.common.schema import Rule
from robodyn.urdf.common.spelling import check_spelling
from robodyn.urdf.common.xml import Element, decode, local_name, parse_xml, read_bytes

_JOINT = Rule(frozenset(("name", "mass", "gear_ratio")))
_ROTORS = Rule(frozenset(), {"joint": _JOINT})
#: Of the other elements of an SRDF nothing is read.
_ROOT = Rule(frozenset(("name",)), {"rotor_params": _ROTORS}, unknown="misspelt")


def read_rotor_params(
    path: str | Path, joints: Iterable[str], *, strict: bool = True
) -> dict[str, Actuator]:
    """Motors of an SRDF file.

    Raises `UrdfError` if the file is not XML or misspells what is read, if it names a joint that
    does not exist, or gives one joint two rotors.

    joints: Joints of the robot.
    strict: ``False``: leave out joints that do not exist, with one warning.
    """
    known, path = tuple(joints), as_path("srdf", path)
    file = str(path)
    reader = Reader(file, strict=strict)
    root = parse_xml(decode(read_bytes(path), file), file)
    check_spelling(reader, root, _ROOT)
    groups = [group for group in root.iter() if local_name(group) == "rotor_params"]
    if not groups and not reader.problems:
        reader.warn(root, "has no <rotor_params>, and nothing else is read of an SRDF")
    found: dict[str, Actuator] = {}
    for element in (element for group in groups for element in group):
        if local_name(element) == "joint":
            _read_rotor(reader, element, known, found)
    raise_or_warn(reader.problems, reader.warnings, strict=strict)
    return found


def _read_rotor(
    reader: Reader,
    element: Element,
    known: tuple[str, ...],
    found: dict[str, Actuator],
) -> None:
    """Add the motor of one ``<joint>`` to those found."""
    name = reader.name(element)
    if name is None:
        return
    if name not in known:
        reader.left_out(element, UnknownNameError("joint", name, known))
        return
    motor = Actuator(
        reader.number(element, "gear_ratio", 1.0), reader.not_negative(element, "mass")
    )
    if found.setdefault(name, motor) != motor:
        reader.problem(element, f"a second rotor for joint {name!r}; keep one")
