"""Checks of finished motions: energy, friction, singular postures."""
