"""Closed linkages over independent coordinates, in closed form or numerically."""
