"""Numbers beside the tips of arrows, chosen and placed so that they do not cover one another."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Protocol

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.view.drawing.camera import Camera

__all__ = ["Labelled", "Labels", "placed"]

#: Width of a character, height of a line and margin around a text [px].
CHARACTER, LINE, MARGIN = 7.2, 17.0, 3.0

#: Anchors of labels in order of preference, and the upper left corner of the label from the tip, as
#: fractions of its width and height.
ANCHORS = {
    "bottom-center": (-0.5, -1.0),
    "center-left": (0.0, -0.5),
    "center-right": (-1.0, -0.5),
    "top-center": (-0.5, 0.0),
    "bottom-left": (0.0, -1.0),
    "top-left": (0.0, 0.0),
    "bottom-right": (-1.0, -1.0),
    "top-right": (-1.0, 0.0),
}


class Labelled(Protocol):
    """An arrow that has a number."""

    @property
    def key(self) -> tuple[str, str]:
        """Kind and joint, which identify the arrow."""

    @property
    def text(self) -> str:
        """Text of the label."""

    @property
    def tip(self) -> FloatArray:
        """Tip of the arrow, shape (3,) [m]."""


def placed(items: Iterable[Labelled], camera: Camera) -> dict[tuple[str, str], str]:
    """Anchors of the labels to write, by key.

    Each label has the first position, of those around its tip, at which it covers none of the
    labels before it. If there is no such position, it is left out.

    Parameters
    ----------
    items : iterable of Labelled
        The most important ones first.
    camera : Camera
    """
    items = list(items)
    anchors: dict[tuple[str, str], str] = {}
    boxes = np.empty((0, 4))
    tips = camera.pixels(np.array([item.tip for item in items]).reshape(-1, 3))
    for item, tip in zip(items, tips, strict=True):
        if not (np.isfinite(tip).all() and (tip >= 0.0).all() and (tip <= camera.size).all()):
            continue
        extent = np.array([CHARACTER * len(item.text) + 2 * MARGIN, LINE + 2 * MARGIN])
        for anchor, offset in ANCHORS.items():
            low = tip + np.array(offset) * extent
            box = np.concatenate([low, low + extent])
            apart = (boxes[:, :2] >= box[2:]).any(axis=1) | (boxes[:, 2:] <= box[:2]).any(axis=1)
            if apart.all():
                anchors[item.key] = anchor
                boxes = np.vstack([boxes, box])
                break
    return anchors


class Labels:
    """Nodes of a scene for numbers.

    Parameters
    ----------
    scene : viser.SceneApi
    node : str
        Name of the node that contains the numbers.
    """

    def __init__(self, scene: Any, node: str) -> None:
        self._scene, self._node = scene, node
        self._shown: dict[tuple[str, str], Any] = {}
        self._camera: Camera | None = None

    def write(self, items: Collection[Labelled], camera: Camera) -> None:
        """Write these numbers, and remove those that were written before.

        While the camera does not move, numbers that were written before come first, so that they
        do not flicker while the robot moves.
        """
        before: Collection[tuple[str, str]] = self._shown if camera is self._camera else ()
        ordered = sorted(items, key=lambda item: item.key not in before)
        self._camera = camera
        anchors = placed(ordered, camera)
        for key in self._shown.keys() - anchors.keys():
            self._shown.pop(key).remove()
        for item in ordered:
            if item.key in anchors:
                self._write(item, anchors[item.key])

    def _write(self, item: Labelled, anchor: str) -> None:
        handle = self._shown.get(item.key)
        if handle is None:
            node = f"{self._node}/{'_'.join(item.key).replace('/', '_')}"
            self._shown[item.key] = self._scene.add_label(
                node, item.text, position=item.tip, anchor=anchor
            )
        else:
            handle.text, handle.position, handle.anchor = item.text, item.tip, anchor
