"""Findings of ``robodyn check`` about masses beside the shapes that are drawn."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.cli.shapes.causes import fault
from robodyn.cli.shapes.solid import Solid, joined, solid
from robodyn.description import Mechanism
from robodyn.errors import UrdfWarning
from robodyn.shapes.geometry import Geometry, Shape, link_geometry
from robodyn.urdf.checks.suspicions import NEGLIGIBLE, doubtful_masses
from robodyn.urdf.common.packages import PackageDirs

#: Elements with shapes; those of the first that a link has are filled with its mass.
ELEMENTS = ("visual", "collision")


def with_shapes(
    warned: Sequence[UrdfWarning],
    mechanism: Mechanism,
    package_dirs: PackageDirs = None,
    *,
    meshes: bool = False,
) -> list[UrdfWarning]:
    """Warnings, and those about masses that do not go with the shapes of links.

    Raises `MissingExtraError` if meshes are to be read without trimesh.

    warned: Found without shapes; what shapes explain better is left out.
    meshes: Read the files of meshes, too. Otherwise links that are drawn by meshes are left out.
    """
    doubts = doubtful_masses(mechanism)
    found = _found(mechanism, doubts, package_dirs, meshes=meshes)
    told = {warning.element for warning in found}
    doubted = {problem for problems in doubts.values() for problem in problems}
    kept = [
        warning
        for warning in warned
        if warning.element not in told or warning.problem not in doubted
    ]
    return kept + found


def _found(
    mechanism: Mechanism,
    doubts: Mapping[str, Sequence[str]],
    package_dirs: PackageDirs,
    *,
    meshes: bool,
) -> list[UrdfWarning]:
    masses = [link.inertia.mass for link in mechanism.links if link.inertia]
    least = NEGLIGIBLE * max(masses, default=0.0)
    judged = [
        link
        for link in mechanism.links
        if link.inertia is not None
        and 0.0 < link.inertia.mass >= least
        and link.inertia.matrix.any()
        and (meshes or not any("<mesh" in text for text in link.extras))
    ]
    part = dataclasses.replace(mechanism, links=tuple(judged))
    drawn = [link_geometry(part, package_dirs, element) for element in ELEMENTS]
    poses = _poses_at_zero(mechanism)
    found = _not_comparable(drawn, mechanism.file) if meshes and judged else []
    opened = tuple(f"<{element}" for element in ELEMENTS)
    for link in judged:
        shapes = [geometry.shapes[link.name] for geometry in drawn]
        named = [x for x in link.extras if x.lstrip().startswith(opened)]
        if link.inertia is None or sum(map(len, shapes)) < len(named):
            continue  # a part of it could not be read
        try:
            filled = _filled_solid(shapes)
        except ValueError as error:
            found.append(UrdfWarning(f"{error}: not compared", **mechanism.where(link)))
            continue
        if filled is None:
            continue
        explained = bool(doubts[link.name])
        reason = fault(link.inertia, poses[link.name], filled, explained=explained)
        if reason:
            found.append(UrdfWarning(reason, **mechanism.where(link)))
    return found


def _not_comparable(drawn: list[Geometry], file: str | None) -> list[UrdfWarning]:
    """What cannot be compared."""
    notes = list(dict.fromkeys(note for geometry in drawn for note in geometry.notes))
    if notes:
        more = f" (and {len(notes) - 1} more)" if len(notes) > 1 else ""
        problem = f"shapes that cannot be read are not compared with masses: {notes[0]}{more}"
        return [UrdfWarning(problem, file=file)]
    if not any(any(geometry.shapes.values()) for geometry in drawn):
        problem = "no link with a mass has a shape in this file with which it could be compared"
        return [UrdfWarning(problem, file=file)]
    return []


def _filled_solid(shapes: list[tuple[Shape, ...]]) -> Solid | None:
    """The body that fills the shapes of the first element; its hull is that of all."""
    kinds = [[solid(shape) for shape in of_element] for of_element in shapes]
    given = [joined(parts) for parts in kinds if parts]
    if not given:
        return None
    points = np.concatenate([one.points for one in given])
    return dataclasses.replace(given[0], points=points)


def _poses_at_zero(mechanism: Mechanism) -> dict[str, FloatArray]:
    """Pose of each link in the base with all joints at zero, shape (4, 4)."""
    above = {joint.child: joint for joint in reversed(mechanism.joints)}
    poses: dict[str, FloatArray] = {}
    for link in mechanism.links:
        X, name, passed = np.eye(4), link.name, {link.name}
        while name in above:
            joint = above[name]
            X, name = joint.origin.matrix @ X, joint.parent
            if name in passed:
                break
            passed.add(name)
        poses[link.name] = X
    return poses
