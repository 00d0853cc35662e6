"""Colours of what the viewer draws beside the shapes of links; its legend explains them."""

from __future__ import annotations

__all__ = ["CUT", "FORCE", "JOINT", "LINE", "MOMENT", "STICK", "TORQUE", "Rgb", "in_light"]

#: Red, green, blue, 0 to 255.
Rgb = tuple[int, int, int]

STICK: Rgb = (90, 100, 115)
JOINT: Rgb = (50, 105, 200)
#: A joint that closes a loop.
CUT: Rgb = (225, 90, 30)
#: Between the two frames of a loop that is open.
LINE: Rgb = (215, 30, 90)
FORCE: Rgb = (205, 45, 45)
MOMENT: Rgb = (125, 60, 180)
#: Torque of a motor, or its force where the joint slides.
TORQUE: Rgb = (20, 140, 70)


def in_light(color: Rgb) -> Rgb:
    """A darker colour, which looks like this one in the bright light of the scene."""
    red, green, blue = (round(255.0 * (x / 255.0) ** 1.8 * 0.75) for x in color)
    return red, green, blue
