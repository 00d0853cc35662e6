"""Triangle meshes of shapes, by trimesh."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.errors import optional
from robodyn.joints.common.kind import JointKind
from robodyn.shapes.geometry import Shape


def triangles(shape: Shape) -> Any:
    """A ``trimesh.Trimesh`` of a shape, in the axes of the shape.

    Raises `ValueError` if a mesh file cannot be read.
    """
    trimesh = _trimesh()
    size = shape.size
    if shape.kind == "box":
        return trimesh.creation.box(size)
    if shape.kind == "cylinder":
        return trimesh.creation.cylinder(size[0], size[1], sections=48)
    if shape.kind == "capsule":
        return trimesh.creation.capsule(size[1], size[0])
    if shape.kind == "sphere":
        return trimesh.creation.icosphere(3, size[0])
    assert shape.file is not None
    try:
        mesh = trimesh.load(str(shape.file), force="mesh")
    except Exception as error:  # readers of formats raise many types of errors
        raise ValueError(f"mesh {shape.file.name!r} cannot be read: {error}") from error
    if not isinstance(mesh, trimesh.Trimesh) or not len(mesh.faces):
        raise ValueError(f"mesh {shape.file.name!r} has no triangles")
    mesh.apply_scale(np.array(size))
    return mesh


def joint_axis(kind: JointKind, axis: tuple[float, float, float] | None, size: float) -> Any:
    """A ``trimesh.Trimesh`` in joint axes: a pin, a block that slides along it, or a ball."""
    trimesh = _trimesh()
    if axis is None:
        return trimesh.creation.icosphere(2, size)
    along = trimesh.geometry.align_vectors([0.0, 0.0, 1.0], axis)
    if kind.is_slider:
        mesh = trimesh.creation.box((1.2 * size, 1.2 * size, 9.0 * size))
    else:
        mesh = trimesh.creation.cylinder(0.7 * size, 9.0 * size, sections=24)
    mesh.apply_transform(along)
    return mesh


def _trimesh() -> Any:
    return optional("trimesh", "view", "making triangles of shapes")
