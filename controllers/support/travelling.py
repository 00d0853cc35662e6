"""How controllers travel to other processes: as what they were made of."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

__all__ = ["made_of"]


def made_of(controller: Any) -> tuple[type, tuple[Any, ...]]:
    """The class of a controller and what it was called with, for ``__reduce__``.

    What a controller found out when it was made are functions within functions, which cannot be
    pickled. It finds it out again.
    """
    given = (getattr(controller, field.name) for field in fields(controller) if field.init)
    return type(controller), tuple(given)
