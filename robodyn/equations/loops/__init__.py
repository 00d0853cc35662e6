"""Constraints of closed loops, and dynamics under them."""
