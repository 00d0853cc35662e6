"""Closed linkages: assembly, mobility, and dynamics."""
