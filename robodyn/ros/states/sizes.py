"""Refuses messages that are too large to be read while a robot moves, by their bytes.

To make objects of a message takes Python seconds for some megabytes. Its bytes (CDR, version 1,
with the four bytes of the encapsulation in front) tell how much there is before it is read.
"""

from __future__ import annotations

import struct

import robodyn as rd

#: Bytes of the largest command, and of the largest trajectory, that are read.
MOST_BYTES, MOST_TRAJECTORY_BYTES = 2**16, 2**22
#: Largest number of joints that a message names.
MOST_NAMES = 1000
#: Largest number of points of a trajectory; reading and planning more would delay the simulation.
MOST_POINTS = 5000


def check_command(data: bytes) -> None:
    """Refuse a Float64MultiArray or a JointState that is too large. Raises `ShapeError`."""
    _check("bytes", len(data), MOST_BYTES, "a message", "send numbers of the robot's joints alone")


def check_trajectory(data: bytes) -> None:
    """Refuse a JointTrajectory of too many bytes, names or points. Raises `ShapeError`."""
    _check("bytes", len(data), MOST_TRAJECTORY_BYTES, "a trajectory", "send parts of it")
    order = "<" if data[1:2] == b"\1" else ">"

    def count(at: int) -> int:
        return int(struct.unpack_from(f"{order}I", data, at)[0])

    def behind_text(at: int) -> int:
        return at + 4 + -(-count(at) // 4) * 4

    try:
        at = behind_text(4 + 8)  # behind the encapsulation and the stamp: the name of the frame
        names, at = count(at), at + 4
        _check("names", names, MOST_NAMES, "the trajectory", "name joints of the robot alone")
        for _ in range(names):
            at = behind_text(at)
        check_count(count(at))
    except struct.error:
        raise rd.ShapeError("a message ends before its last field", name="points") from None


def check_count(points: int) -> None:
    """Refuse a trajectory with too many points, before they are read. Raises `ShapeError`."""
    hint = "send fewer, or parts of it one after the other"
    _check("points", points, MOST_POINTS, "the trajectory", hint)


def _check(what: str, given: int, most: int, whose: str, hint: str) -> None:
    if given > most:
        raise rd.ShapeError(
            f"{whose} has {given} {what}, at most {most} are taken: {hint}",
            name=what,
            given=given,
            expected=most,
        )
