"""Shapes of links, from the ``<visual>`` or ``<collision>`` elements of the file.

robodyn does not interpret them when it loads a robot, so a fault in one is no error here either:
the visual is left out, and a note says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import numpy as np
from numpy.typing import NDArray

from robodyn.description import Mechanism, Pose
from robodyn.errors import RobodynError
from robodyn.urdf.common.packages import PackageDirs, Packages
from robodyn.urdf.common.xml import Element, parse_xml


def find_file(name: str, file: Path | None, packages: Packages) -> Path:
    """Path of a file that a URDF names.

    It may be a path from the folder of the URDF ``file``, ``file://...`` or ``package://...``;
    nothing is fetched from elsewhere. Raises `ValueError` if there is no such file or package.
    """
    scheme = name.partition("://")[0] if "://" in name else ""
    if scheme in ("package", "model"):
        package, _, rest = name.partition("://")[2].partition("/")
        around = [file] if file else []
        packages.folder(package, around)  # says where it was looked for
        candidates = [root / rest for root in packages.folders(package, around)]
    elif scheme == "file":
        candidates = [Path(url2pathname(urlsplit(name).path))]
    elif scheme:
        raise ValueError(f"{name} is not on this machine; nothing is fetched")
    else:
        candidates = [(file.parent if file else Path()) / name]
    for path in candidates:
        if name and path.is_file():
            return path
    raise ValueError(f"mesh {name!r} not found")


Color = tuple[float, float, float, float]

#: Colour of visuals without one in the file.
GREY: Color = (0.68, 0.71, 0.75, 1.0)

#: Attributes of each primitive, and how many numbers each holds.
PRIMITIVES = {
    "box": (("size", 3),),
    "cylinder": (("radius", 1), ("length", 1)),
    "capsule": (("radius", 1), ("length", 1)),
    "sphere": (("radius", 1),),
}


@dataclass(frozen=True, eq=False)
class Shape:
    """One shape of a link.

    kind {"box", "cylinder", "capsule", "sphere", "mesh"}
    size [m]: Edges; radius and length (along z); radius; for a mesh the scale of each axis [1].
    X_LS (4, 4) [1, m]: Pose in the link frame.
    color: Red, green, blue, opacity, 0 to 1.
    file: Of a mesh.
    """

    kind: str
    size: tuple[float, ...]
    X_LS: NDArray[np.float64]
    color: Color | None = None
    file: Path | None = None


@dataclass(frozen=True, eq=False)
class Geometry:
    """Shapes of the links, and notes on visuals that could not be shown."""

    shapes: dict[str, tuple[Shape, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def link_geometry(
    mechanism: Mechanism, package_dirs: PackageDirs = None, element: str = "visual"
) -> Geometry:
    """Shapes of all links.

    package_dirs, optional: For ``package://``; those of ROS and those around the file are searched
        as well.
    element {"visual", "collision"}
    """
    file = Path(mechanism.file).resolve() if mechanism.file else None
    packages = Packages(package_dirs)
    colors = _named_colors(mechanism)
    shapes: dict[str, tuple[Shape, ...]] = {}
    notes = []
    for link in mechanism.links:
        visuals = []
        for text in link.extras:
            try:
                drawn = parse_xml(text)
                if drawn.tag == element:
                    visuals.append(_shape(drawn, colors, file, packages))
            except (RobodynError, ValueError) as error:
                notes.append(f"link {link.name!r}: {error}")
        shapes[link.name] = tuple(visuals)
    return Geometry(shapes, tuple(notes))


def _named_colors(mechanism: Mechanism) -> dict[str, Color]:
    """Colours by material name, from the whole file."""
    colors: dict[str, Color] = {}
    for text in (*mechanism.extras, *(text for link in mechanism.links for text in link.extras)):
        if "<material" not in text:
            continue
        try:
            root = parse_xml(text)
        except RobodynError:
            continue
        for material in root.iter("material"):
            color = _own_color(material)
            if color is not None:
                colors.setdefault(material.get("name", ""), color)
    return colors


def _own_color(material: Element) -> Color | None:
    element = material.find("color")
    try:
        values = [float(word) for word in element.get("rgba", "").split()]  # type: ignore[union-attr]
    except (AttributeError, ValueError):
        return None
    if len(values) != 4 or not np.isfinite(values).all():
        return None
    r, g, b, a = (min(max(value, 0.0), 1.0) for value in values)
    return r, g, b, a


def _shape(
    visual: Element,
    colors: Mapping[str, Color],
    file: Path | None,
    packages: Packages,
) -> Shape:
    """Shape of a ``<visual>``. Raises ``ValueError`` if it is faulty."""
    X = _pose(visual.find("origin"))
    material = visual.find("material")
    color = None
    if material is not None:
        color = _own_color(material) or colors.get(material.get("name", ""))
    geometry = visual.find("geometry")
    if geometry is None or not len(geometry):
        raise ValueError("a visual without geometry")
    element = next(child for child in geometry if isinstance(child.tag, str))
    if element.tag == "mesh":
        scale = _numbers(element, "scale", 3) if element.get("scale") else (1.0, 1.0, 1.0)
        mesh = find_file(element.get("filename", ""), file, packages)
        return Shape("mesh", scale, X, color, mesh)
    if element.tag not in PRIMITIVES:
        raise ValueError(f"<{element.tag}> is not shown")
    size = tuple(
        number
        for name, count in PRIMITIVES[element.tag]
        for number in _numbers(element, name, count)
    )
    if not min(size) > 0.0:
        raise ValueError(f"<{element.tag}> of size {size}")
    return Shape(element.tag, size, X, color)


def _pose(origin: Element | None) -> NDArray[np.float64]:
    if origin is None:
        return np.eye(4)
    parts = {
        name: _numbers(origin, name, 3) if origin.get(name) else (0.0, 0.0, 0.0)
        for name in ("xyz", "rpy")
    }
    return Pose(parts["xyz"], parts["rpy"]).matrix  # type: ignore[arg-type]  # three numbers each


def _numbers(element: Element, name: str, count: int) -> tuple[float, ...]:
    text = element.get(name, "")
    values = tuple(float(word) for word in text.split())
    if len(values) != count or not np.isfinite(values).all():
        raise ValueError(f"<{element.tag} {name}={text!r}>: expected {count} finite numbers")
    return values
