"""Dry friction whose joints stick and slide as modes."""
