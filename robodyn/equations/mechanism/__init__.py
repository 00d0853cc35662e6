"""The mechanism of the equations: bodies, their frames and inertias, and their state."""
