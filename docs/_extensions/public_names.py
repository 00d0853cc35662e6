"""Warn of public names that are missing in the reference; ``make docs`` fails for each.

Public names are those in ``__all__`` of the packages for users, and the attributes of
`robodyn.Robot`.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

PACKAGES = (
    "robodyn",
    "robodyn.controllers",
    "robodyn.ros",
    "robodyn.simulation",
    "robodyn.simulation.events",
    "robodyn.studies.compare",
    "robodyn.studies.sweep",
    "robodyn.urdf",
    "robodyn.view",
)


def missing_names(documented: set[str]) -> list[str]:
    """Public names of objects that are not documented under any of their names."""
    known = {id(_thing(name)) for name in documented}
    public = [
        (f"{package}.{name}", getattr(importlib.import_module(package), name))
        for package in PACKAGES
        for name in importlib.import_module(package).__all__
    ]
    robot = importlib.import_module("robodyn").Robot
    members = {f"robodyn.Robot.{name}" for name in dir(robot) if not name.startswith("_")}
    return sorted(
        {
            name
            for name, thing in public
            if not (name in documented or id(thing) in known or inspect.ismodule(thing))
        }
        | (members - documented)
    )


def _thing(name: str) -> Any:
    """The object of a dotted name, or the name itself if it cannot be imported."""
    module, _, last = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), last)
    except (ImportError, AttributeError, ValueError):
        return name


def _check(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        documented = {entry[0] for entry in app.env.domains["py"].get_objects()}
        for name in missing_names(documented):
            logger.warning("%s is public and not in docs/reference/api.md", name)


def setup(app: Sphinx) -> dict[str, Any]:
    """Let Sphinx look at the end of a build."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
