"""Reader of SDF links: mass and inertia."""

from __future__ import annotations

from robodyn.description import Inertia, Link
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, line_of
from robodyn.urdf.sdf.common.values import number_of, read_sdf_pose, truth_of

__all__ = ["read_link"]

_MOMENTS = {"ixx": 1.0, "ixy": 0.0, "ixz": 0.0, "iyy": 1.0, "iyz": 0.0, "izz": 1.0}


def read_link(reader: Reader, element: Element, name: str, unread: list[str]) -> Link:
    """Read a ``<link>``; what a simulator may move it by is added to ``unread``."""
    if element.find("gravity") is not None and not truth_of(reader, element, "gravity"):
        unread.append(f"<gravity> false of link {name!r} (line {line_of(element)})")
    for tag in ("enable_wind", "kinematic"):
        if truth_of(reader, element, tag):
            unread.append(f"<{tag}> of link {name!r} (line {line_of(element)})")
    decay = reader.only(element, "velocity_decay")
    if decay is not None and any(
        number_of(reader, decay, tag, 0.0) for tag in ("linear", "angular")
    ):
        unread.append(f"<velocity_decay> of link {name!r} (line {line_of(element)})")
    inertial = reader.only(element, "inertial")
    if inertial is None:
        reader.warn(element, "has no <inertial>: SDF gives it 1 kg, and 1 kg m^2 about each axis")
        return Link(name, Inertia(1.0, ixx=1.0, iyy=1.0, izz=1.0), line=line_of(element))
    return Link(name, _read_inertia(reader, inertial, name, unread), line=line_of(element))


def _read_inertia(reader: Reader, element: Element, name: str, unread: list[str]) -> Inertia | None:
    if reader.flag(element, "auto"):
        reader.problem(
            element,
            '<inertial auto="true"> is not read: write <mass> and <inertia> out',
            leniently="read as if they were not left out",
        )
    if element.find("fluid_added_mass") is not None:
        unread.append(f"<fluid_added_mass> of link {name!r} (line {line_of(element)})")
    place = read_sdf_pose(reader, element)
    if place.relative_to:
        reader.problem(
            element,
            f"<pose relative_to={place.relative_to!r}>: the pose of <inertial> is that in its link",
            leniently="read as the pose in the link",
        )
    inertia = reader.only(element, "inertia")
    missing = ["mass"] if element.find("mass") is None else []
    if inertia is None:
        missing.append("inertia")
    else:
        missing += [tag for tag in ("ixx", "iyy", "izz") if inertia.find(tag) is None]
    if missing and not reader.flag(element, "auto"):
        reader.warn(
            element, f"has no {', '.join(f'<{tag}>' for tag in missing)}: SDF takes 1 for each"
        )
    return Inertia(
        number_of(reader, element, "mass", 1.0),
        place.pose,
        *(
            default if inertia is None else number_of(reader, inertia, tag, default)
            for tag, default in _MOMENTS.items()
        ),
    )
