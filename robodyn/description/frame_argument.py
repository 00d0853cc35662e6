"""Frames in links as users give them."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import mismatch, one_name, shaped, wrong_shape
from robodyn.motion.base_motion import check_rigid


def frame_argument(what: str, given: Any, name: str) -> tuple[str, FloatArray]:
    """A link, or the world, and the pose of a frame in it, shape (4, 4).

    what: Which frame it is, in messages.
    given (3,)) or (str, array_like of shape (4, 4)): A link alone means its own frame; an offset
        [m], one there with the axes of the link.
    name: The argument.
    """
    if isinstance(given, str):
        return given, np.eye(4)
    if not (isinstance(given, tuple | list) and len(given) == 2):
        raise mismatch(what, given, "a link, (link, offset (3,)) or (link, pose (4, 4))", name)
    link, X = one_name(name, given[0]), given[1]
    what = f"{what} in {link!r}"
    pose = np.eye(4)
    if np.ndim(X) == 1:
        pose[:3, 3] = shaped(what, X, 3)
    else:
        X = shaped(what, X, 4, 4)
        if X.ndim != 2:
            raise wrong_shape(what, X.shape, "one pose (4, 4)", name=name)
        pose[:] = X
    check_rigid(pose, what)
    return link, pose
