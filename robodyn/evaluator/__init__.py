"""From the name of a quantity and its options to its result."""

from robodyn.evaluator.evaluator import (
    Evaluator as Evaluator,
    Fallback as Fallback,
    Programs as Programs,
    Request as Request,
    TreePrograms as TreePrograms,
    Wrenches as Wrenches,
)
from robodyn.evaluator.shared_functions import SharedPrograms as SharedPrograms
