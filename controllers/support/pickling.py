"""Pickling of controllers: by the arguments that they were made of."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


def reduce_by_fields(controller: Any) -> tuple[type, tuple[Any, ...]]:
    """The class of a controller and what it was called with, for ``__reduce__``.

    Private attributes hold functions within functions, which cannot be pickled; the constructor
    makes them again.
    """
    given = (getattr(controller, field.name) for field in fields(controller) if field.init)
    return type(controller), tuple(given)
