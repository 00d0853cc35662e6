"""Several controllers on one task, from many starts: who does what, what it takes, what it did."""

from robodyn.studies.compare.comparison import Comparison
from robodyn.studies.compare.run import compare

__all__ = ["Comparison", "compare"]
