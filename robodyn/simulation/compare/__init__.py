"""Several controllers on one task, from many starts: who does what, what it takes, what it did."""

from robodyn.simulation.compare.comparison import Comparison
from robodyn.simulation.compare.run import compare

__all__ = ["Comparison", "compare"]
