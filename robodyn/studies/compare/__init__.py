"""Comparison of several controllers on one task, from many starts."""

from robodyn.studies.compare.comparison import Comparison
from robodyn.studies.compare.run import compare

__all__ = ["Comparison", "compare"]
