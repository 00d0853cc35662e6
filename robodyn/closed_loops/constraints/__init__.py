"""Constraint rows of closed loops, and states that satisfy them."""
