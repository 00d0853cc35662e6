"""Parameter sweeps: a grid of values, workers that compute its rows, and a table of results."""

from robodyn.studies.sweep.run import sweep
from robodyn.studies.sweep.table import SweepTable

__all__ = ["SweepTable", "sweep"]
