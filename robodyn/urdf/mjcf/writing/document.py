"""An MJCF document that is being written: its sections and sites, and what it cannot say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from lxml import etree

from robodyn.array_types import FloatArray
from robodyn.joints.common.relative import quaternion_of
from robodyn.urdf.common.markup import text_of

#: Settings that the numbers of the file depend on, written whatever their defaults are.
COMPILER = {
    "angle": "radian",
    "autolimits": "false",
    "balanceinertia": "false",
    "boundinertia": "0",
    "boundmass": "0",
    "discardvisual": "false",
    "eulerseq": "xyz",
    "fusestatic": "false",
    "inertiafromgeom": "false",
    "settotalmass": "-1",
}
OPTION = {"timestep": "0.001", "integrator": "implicitfast", "density": "0", "viscosity": "0"}

#: As stiff as steps of a millisecond allow.
EQUALITY = {"solref": "0.002 1", "solimp": "0.99 0.999 0.001 0.5 2"}


class Document:
    """An MJCF document: ``root`` and ``world`` are elements, ``lost`` has a line for each loss."""

    def __init__(self, name: str, gravity: Sequence[float]) -> None:
        self.lost: list[str] = []
        self.root = etree.Element("mujoco", model=name)
        self._taken: dict[str, set[str]] = {}
        self._sections: dict[str, Any] = {}
        self.add("compiler", **COMPILER)
        self.add("option", **OPTION, gravity=tuple(gravity))
        etree.SubElement(etree.SubElement(self.root, "default"), "equality", EQUALITY)
        self.world = self._section("worldbody")

    def _section(self, name: str) -> Any:
        if name not in self._sections:
            self._sections[name] = etree.SubElement(self.root, name)
        return self._sections[name]

    def add(self, path: str, **values: object) -> Any:
        """Add an element to a section, as ``"equality/weld"``, or to the root.

        Its name is made unique in the section.
        """
        section, _, tag = path.rpartition("/")
        if section:
            values["name"] = self.unique(section, str(values["name"]))
        return add(self._section(section) if section else self.root, tag, **values)

    def reserve(self, what: str, names: Iterable[str]) -> None:
        """Keep names for what has them already."""
        self._taken.setdefault(what, set()).update(names)

    def unique(self, what: str, name: str) -> str:
        """A name that no other of the same kind has."""
        taken = self._taken.setdefault(what, set())
        while name in taken:
            name += "_"
        taken.add(name)
        return name

    def add_site(self, body: Any, name: str, X: FloatArray) -> str:
        """Add a site to a body, and return its name, which is made unique."""
        name = self.unique("site", name)
        add(body, "site", name=name, **placed(X))
        return name

    @property
    def text(self) -> str:
        """The document."""
        etree.indent(self.root)
        return etree.tostring(self.root, encoding="unicode") + "\n"


def add(parent: Any, tag: str, **values: object) -> Any:
    """Add an element; numbers have all their digits, and arrays are written with blanks."""
    return etree.SubElement(parent, tag, {key: text_of(value) for key, value in values.items()})


def placed(X: FloatArray) -> Mapping[str, object]:
    """Attributes of a pose."""
    return {"pos": X[:3, 3], "quat": quaternion(X)}


def quaternion(X: FloatArray) -> FloatArray:
    """Orientation of a pose, with w first."""
    return np.roll(quaternion_of(X), 1)
