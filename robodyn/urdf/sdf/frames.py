"""Frames of an SDF model by name, each given in another one, and their poses in the model.

Names in a model within a model are written ``inner::frame``. A model's own frame is called
``__model__``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from robodyn.errors import TopologyError, UnknownNameError

#: The name of the frame of the model that the name is written in.
MODEL = "__model__"
SEPARATOR = "::"

Matrix = NDArray[np.float64]


def inverse(X: Matrix) -> Matrix:
    """Pose of the other frame in this one, shape (4, 4) [1, m], exact for turns by quarters."""
    Y = np.eye(4)
    Y[:3, :3] = X[:3, :3].T
    Y[:3, 3] = -X[:3, :3].T @ X[:3, 3]
    return Y


@dataclass(frozen=True)
class _Frame:
    """A frame: its pose in another one, and the frame or link that it moves with."""

    X: Matrix
    relative_to: str
    attached_to: str | None


@dataclass
class Frames:
    """Frames of one model.

    canonical: The link, or model within, that the model's frame moves with; empty if there is none.
    placement: The frame that stands where the model's pose says.
    """

    canonical: str = ""
    placement: str = MODEL
    _frames: dict[str, _Frame] = field(default_factory=dict)
    _models: dict[str, Frames] = field(default_factory=dict)
    _links: dict[str, str] = field(default_factory=dict)
    _poses: dict[str, Matrix] = field(default_factory=lambda: {MODEL: np.eye(4)})

    def add(
        self, name: str, X: Matrix, relative_to: str = MODEL, attached_to: str | None = None
    ) -> None:
        """Add a frame, or a link if it is attached to nothing.

        X [1, m]: Pose in the frame ``relative_to``.
        """
        self._frames[name] = _Frame(X, relative_to, attached_to)

    def add_model(self, name: str, X: Matrix, relative_to: str, inner: Frames) -> None:
        """Add a nested model: ``X`` is the pose of its placement frame."""
        self._models[name] = inner
        self._frames[name] = _Frame(X, relative_to, None)

    def merge(self, name: str, X: Matrix, relative_to: str, inner: Frames) -> None:
        """Add the frames of another model; its own frame is called ``name``.

        ``X`` is the pose of its placement frame.
        """
        X = X @ inverse(inner.pose(inner.placement))
        self._frames[name] = _Frame(X, relative_to, inner.canonical or None)
        for key, frame in inner._frames.items():
            base = name if frame.relative_to == MODEL else frame.relative_to
            carrier = name if frame.attached_to == MODEL else frame.attached_to
            self._frames[key] = _Frame(frame.X, base, carrier)
        self._models |= inner._models

    def __contains__(self, name: str) -> bool:
        return name in self._frames

    def pose(self, name: str) -> Matrix:
        """Pose of a frame in the model's frame, shape (4, 4) [1, m].

        Raises UnknownNameError: It, or a frame that it is given in, is not there.
        Raises TopologyError: Frames are given in each other in a circle.
        """
        chain: dict[str, None] = {}  # from the frame to one whose pose is known
        while name not in self._poses:
            _refuse_circle(name, chain, "given relative to one another")
            chain[name] = None
            outer, rest = self._split(name)
            name = outer if rest else self._found(outer).relative_to
        for inner in reversed(chain):
            self._poses[inner] = self._poses[name] @ self._step(inner)
            name = inner
        return self._poses[name]

    def pose_in(self, name: str, base: str) -> Matrix:
        """Pose of a frame in another one, shape (4, 4) [1, m]: as written where it is given so."""
        if name == base:
            return np.eye(4)
        frame = self._frames.get(name)
        if frame is not None and frame.relative_to == base and name not in self._models:
            return frame.X
        X: Matrix = inverse(self.pose(base)) @ self.pose(name)
        return X

    def _step(self, name: str) -> Matrix:
        """Pose of a frame in the one that it is given in, or of one within in its model."""
        outer, rest = self._split(name)
        frame, inner = self._found(outer), self._models.get(outer)
        if rest and inner is None:
            raise UnknownNameError("model", outer, self._models)
        if inner is None:
            return frame.X
        if rest:
            return inner.pose(rest)
        placed: Matrix = frame.X @ inverse(inner.pose(inner.placement))
        return placed

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
            outer, rest = self._split(name)
            if name == MODEL:
                if not self.canonical:
                    raise TopologyError("the model has no link that its frame could move with")
                name = self.canonical
            elif outer in self._models:
                inner = self._models[outer].link(rest or MODEL)
                self._links[name] = f"{outer}{SEPARATOR}{inner}"
            elif rest:
                raise UnknownNameError("model", outer, self._models)
            else:
                attached_to = self._found(outer).attached_to
                if attached_to is None:
                    self._links[name] = name
                name = attached_to or name
        self._links.update(dict.fromkeys(chain, self._links[name]))
        return self._links[name]

    def _split(self, name: str) -> tuple[str, str]:
        """The frame or model of this model, and what of the model is meant."""
        if name in self._frames:  # the name itself may have colons, up to SDF 1.7
            return name, ""
        outer, _, rest = name.partition(SEPARATOR)
        return outer, rest

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
