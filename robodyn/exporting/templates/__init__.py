"""Texts of generated files, which stand in this folder."""

from __future__ import annotations

from importlib.resources import files
from string import Template


def template(name: str, /, **values: object) -> str:
    """The text of a file of the folder, with values in the places of ``$names``."""
    text = files(__name__).joinpath(name).read_text("utf-8")
    return Template(text).substitute(values)
