"""Sensors: what they read of a state, as equations; one file a kind in `kinds`."""
