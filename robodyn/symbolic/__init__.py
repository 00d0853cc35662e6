"""Expressions over numbers and symbols, and the graph that they are written into."""

from robodyn.symbolic import symbol_arrays  # noqa: F401  (functions of numpy of symbols)
