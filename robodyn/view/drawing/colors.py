"""Colours of joints, gaps and arrows in the viewer, which its legend explains."""

from __future__ import annotations

__all__ = ["CUT", "FORCE", "JOINT", "LINE", "MOMENT", "STICK", "TORQUE", "Rgb", "in_light"]

#: Red, green, blue, 0 to 255.
Rgb = tuple[int, int, int]

STICK: Rgb = (90, 100, 115)
JOINT: Rgb = (50, 105, 200)
#: Colour of joints that close a loop.
CUT: Rgb = (225, 90, 30)
#: Colour of the line between the two frames of an open loop.
LINE: Rgb = (215, 30, 90)
FORCE: Rgb = (205, 45, 45)
MOMENT: Rgb = (125, 60, 180)
#: Colour of torques of motors, or of their forces at prismatic joints.
TORQUE: Rgb = (20, 140, 70)


def in_light(color: Rgb) -> Rgb:
    """A darker colour, which looks like the given one in the bright light of the scene."""
    red, green, blue = (round(255.0 * (x / 255.0) ** 1.8 * 0.75) for x in color)
    return red, green, blue
