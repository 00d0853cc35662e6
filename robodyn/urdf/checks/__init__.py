"""Checks of a robot description: errors, and legal values that are probably mistakes."""
