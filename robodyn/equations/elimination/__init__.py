"""Dynamics of closed linkages in straight-line code, by elimination of speeds and multipliers."""
