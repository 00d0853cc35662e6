"""Reading, checking and writing of URDF, and reading of xacro, SDF and MJCF."""

from __future__ import annotations

from robodyn.description.values import bad_values
from robodyn.urdf.common.reading import open_document
from robodyn.urdf.common.report import give_warnings, record
from robodyn.urdf.parse import parse
from robodyn.urdf.source import bundled_robots, findings, load_mechanism, problems
from robodyn.urdf.write import write

__all__ = [
    "bad_values",
    "bundled_robots",
    "findings",
    "give_warnings",
    "load_mechanism",
    "open_document",
    "parse",
    "problems",
    "record",
    "write",
]
