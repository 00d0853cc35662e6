"""Loops that are solved in closed form."""
