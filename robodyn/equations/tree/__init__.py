"""Algorithms for trees of bodies."""
