"""References as functions that are called, so that what they say is an input of a controller."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from robodyn.motion.functions import Reference
from robodyn.simulation.control.controller import INNER

#: Name of the attribute of a controller that is its reference.
REFERENCE = "reference"


@dataclass(frozen=True, eq=False)
class CalledReference:
    """A reference whose equations are no part of those of a controller."""

    reference: Reference

    def __call__(self, t: float) -> Any:
        """What the reference says at a time [s]."""
        return self.reference(t)


def calling_references(controller: Any, known: dict[int, Any] | None = None) -> Any:
    """A controller whose references, and those of controllers in it, are called.

    known: Called references by the identity of what they call: the same for several controllers.
    """
    known = {} if known is None else known
    if not dataclasses.is_dataclass(controller):
        return controller
    names = {x.name for x in dataclasses.fields(controller) if x.init}
    changed: dict[str, Any] = {}
    if INNER in names:
        inner = getattr(controller, INNER)
        bare = calling_references(inner, known)
        changed = {INNER: bare} if bare is not inner else {}
    reference: Any = getattr(controller, REFERENCE, None) if REFERENCE in names else None
    if getattr(reference, "symbolic", False):
        changed[REFERENCE] = known.setdefault(id(reference), CalledReference(reference))
    return dataclasses.replace(controller, **changed) if changed else controller  # type: ignore[type-var]
