"""From the name of a quantity and its options to its compiled function."""

from robodyn.evaluator.evaluator import PLAIN, Evaluator, Wrenches

__all__ = ["PLAIN", "Evaluator", "Wrenches"]
