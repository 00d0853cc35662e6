"""Jumps of speeds under impulses: hits of one point or of several, and joints that latch [W 6]."""
