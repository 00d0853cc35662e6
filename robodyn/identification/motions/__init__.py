"""Motions that excite a robot so that its parameters can be identified."""
