"""Jumps of speeds under impulses: impacts of points, and joints that latch [W 6]."""
