"""Trajectories, which simulations return, and what is computed from them."""
