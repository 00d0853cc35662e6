"""From the name of a quantity and its options to its compiled function."""

from robodyn.evaluator.evaluator import PLAIN, Evaluator, Wrenches
from robodyn.evaluator.shared_functions import SharedPrograms

__all__ = ["PLAIN", "Evaluator", "SharedPrograms", "Wrenches"]
