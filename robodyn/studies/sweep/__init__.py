"""A study over many sets of values: which rows there are, who computes them, what they gave."""

from robodyn.studies.sweep.run import sweep
from robodyn.studies.sweep.table import SweepTable

__all__ = ["SweepTable", "sweep"]
