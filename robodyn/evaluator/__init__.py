"""From the name of a quantity and its options to its result."""

from robodyn.evaluator.evaluator import (
    Evaluator,
    Fallback,
    Programs,
    Request,
    TreePrograms,
    Wrenches,
)
from robodyn.evaluator.shared_functions import SharedPrograms

__all__ = [
    "Evaluator",
    "Fallback",
    "Programs",
    "Request",
    "SharedPrograms",
    "TreePrograms",
    "Wrenches",
]
