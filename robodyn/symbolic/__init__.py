"""Expressions over numbers and symbols, and the graph that they are written into."""

import robodyn.symbolic.symbol_arrays  # noqa: F401  (functions of numpy of symbols)
