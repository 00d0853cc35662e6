"""The mechanism that the equations walk: bodies, their frames and inertias, and their state."""
