"""Frames of an SDF model by name, each given in another one, and their poses in the model.

Names in a model within a model are written ``inner::frame``. A model's own frame is called
``__model__``. Poses are there twice, shape (2, 4, 4): as written, and with rounded turns taken for
exact ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.description import Pose
from robodyn.description.exact_turns import exact_pose
from robodyn.errors import TopologyError, UnknownNameError
from robodyn.quick_dataclass import dataclass
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element

#: The name of the frame of the model that the name is written in.
MODEL = "__model__"
SEPARATOR = "::"

Matrix = NDArray[np.float64]


def both(pose: Pose) -> Matrix:
    """A pose as written, and exactly, shape (2, 4, 4) [1, m]."""
    return np.array([pose.matrix, exact_pose(pose).matrix])


def inverse(X: Matrix) -> Matrix:
    """Poses of the other frame in this one, shape (..., 4, 4) [1, m], exact for quarter turns."""
    R = np.swapaxes(X[..., :3, :3], -1, -2)
    Y = np.zeros(X.shape)
    Y[..., :3, :3], Y[..., :3, 3:], Y[..., 3, 3] = R, -R @ X[..., :3, 3:], 1.0
    return Y


@dataclass(frozen=True)
class _Frame:
    """A frame: its pose in another one, and what it moves with.

    attached_to: Another frame or link; None of a link itself; empty of a model without links.
    """

    X: Matrix
    relative_to: str
    attached_to: str | None


@dataclass
class Frames:
    """Frames of one model, and of the models in it.

    canonical: The link, or model within, that the model's frame moves with; empty if there is none.
    placement: The frame that stands where the model's pose says.
    """

    canonical: str = ""
    placement: str = MODEL
    _frames: dict[str, _Frame] = field(default_factory=dict)
    _links: dict[str, str] = field(default_factory=dict)
    _poses: dict[str, Matrix] = field(default_factory=lambda: {MODEL: both(Pose())})

    def add(
        self, name: str, X: ArrayLike, relative_to: str = MODEL, attached_to: str | None = None
    ) -> None:
        """Add a frame, or a link if it is attached to nothing.

        X (2, 4, 4), or (4, 4) of both [1, m]: Pose in the frame ``relative_to``.
        """
        self._frames[name] = _Frame(np.broadcast_to(X, (2, 4, 4)), relative_to, attached_to)

    def include(
        self, own: str, X: Matrix, relative_to: str, inner: Frames, renamed: Callable[[str], str]
    ) -> None:
        """Add the frames of another model; its own frame is called ``own``, others are renamed.

        ``X`` is the pose of its placement frame.
        """
        X = X @ inverse(inner.pose(inner.placement))
        self.add(own, X, relative_to, inner.canonical and renamed(inner.canonical))
        for key, frame in inner._frames.items():
            attached_to = frame.attached_to and renamed(frame.attached_to)
            self.add(renamed(key), frame.X, renamed(frame.relative_to), attached_to)

    def __contains__(self, name: str) -> bool:
        return name in self._frames

    def pose(self, name: str) -> Matrix:
        """Pose of a frame in the model's frame, shape (2, 4, 4) [1, m].

        Raises UnknownNameError: It, or a frame that it is given in, is not there.
        Raises TopologyError: Frames are given in each other in a circle.
        """
        chain: dict[str, None] = {}  # from the frame to one whose pose is known
        while name not in self._poses:
            _refuse_circle(name, chain, "given relative to one another")
            chain[name] = None
            name = self._found(name).relative_to
        for inner in reversed(chain):
            self._poses[inner] = self._poses[name] @ self._frames[inner].X
            name = inner
        return self._poses[name]

    def pose_in(self, name: str, base: str) -> Matrix:
        """Pose of a frame in another one, shape (2, 4, 4) [1, m]: as written if it is given so."""
        if name == base:
            return both(Pose())
        frame = self._frames.get(name)
        if frame is not None and frame.relative_to == base:
            return frame.X
        X: Matrix = inverse(self.pose(base)) @ self.pose(name)
        return X

    def link(self, name: str) -> str:
        """Name of the link that a frame moves with, as ``inner::link`` if it is in a model within.

        Raises UnknownNameError: It, or what it is attached to, is not there.
        Raises TopologyError: Frames are attached to each other in a circle, or the model has no
            link.
        """
        chain: dict[str, None] = {}  # from the frame to the link
        while name not in self._links:
            _refuse_circle(name, chain, "attached to one another")
            chain[name] = None
            attached_to = self.canonical if name == MODEL else self._found(name).attached_to
            if attached_to == "":
                raise TopologyError("the model has no link that its frame could move with")
            if attached_to is None:
                self._links[name] = name
            name = attached_to or name
        self._links.update(dict.fromkeys(chain, self._links[name]))
        return self._links[name]

    def _found(self, name: str) -> _Frame:
        try:
            return self._frames[name]
        except KeyError:
            raise UnknownNameError("frame", name, self._frames) from None


def _refuse_circle(name: str, chain: dict[str, None], how: str) -> None:
    if name in chain:
        names = [*chain, name]
        circle = " -> ".join(names[names.index(name) :])
        raise TopologyError(f"frames are {how} in a circle: {circle}")


#: Largest float of simulators, which they write for "no limit".
_LARGEST = re.compile(r"^([+-]?)1\.79769\d*e\+?308$", re.IGNORECASE)
IDENTITY = Pose()


@dataclass(frozen=True)
class SdfPose:
    """A ``<pose>``.

    It is given in the frame ``relative_to``; where that is empty, in the usual one of its element.
    """

    pose: Pose = IDENTITY
    relative_to: str = ""


def text_of(reader: Reader, element: Element, tag: str) -> str | None:
    """Text of a child, without blanks around it; ``None`` where there is no such child."""
    child = reader.only(element, tag)
    return None if child is None else (child.text or "").strip()


def number_of(reader: Reader, element: Element, tag: str, default: float) -> float:
    """Number in a child."""
    child = reader.only(element, tag)
    if child is None:
        return default
    text = _LARGEST.sub(r"\1inf", (child.text or "").strip())
    return reader.to_number(child, "text", text, infinite=True)


def truth_of(reader: Reader, element: Element, tag: str) -> bool:
    """Yes or no in a child; no where there is none."""
    child = reader.only(element, tag)
    return child is not None and bool(reader.to_flag(child, "text", child.text or ""))


def read_sdf_pose(reader: Reader, element: Element) -> SdfPose:
    """``<pose>`` of an element: in radians, in degrees, or with a quaternion x, y, z, w."""
    pose = reader.only(element, "pose")
    if pose is None:
        return SdfPose()
    relative_to = pose.get("relative_to") or pose.get("frame") or ""
    words = (pose.text or "").split()
    quaternion = _is_quaternion(reader, pose)
    count = 7 if quaternion else 6
    if not words:
        return SdfPose(relative_to=relative_to)
    if len(words) != count:
        reader.problem(pose, f"<pose> has {len(words)} numbers, expected {count}")
        return SdfPose(relative_to=relative_to)
    x, y, z = (reader.to_number(pose, "text", word) for word in words[:3])
    if quaternion:
        rpy = reader.quaternion(pose, "text", words[3:])
    else:
        unit = math.pi / 180.0 if reader.flag(pose, "degrees") else 1.0
        roll, pitch, yaw = (reader.to_number(pose, "text", word) * unit for word in words[3:])
        rpy = (roll, pitch, yaw)
    return SdfPose(Pose((x, y, z), rpy), relative_to)


def _is_quaternion(reader: Reader, pose: Element) -> bool:
    form = pose.get("rotation_format", "euler_rpy")
    if form not in ("euler_rpy", "quat_xyzw"):
        reader.problem(pose, f"rotation_format={form!r} is not known: euler_rpy and quat_xyzw are")
    if form == "quat_xyzw" and reader.flag(pose, "degrees"):
        reader.problem(pose, "degrees goes with euler_rpy: a quaternion has no unit")
    return form == "quat_xyzw"
