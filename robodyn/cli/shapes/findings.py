"""Findings of ``robodyn check`` about masses beside the shapes that are drawn.

The causes looked for are what CAD programs export wrongly: units, points and axes that masses and
inertias refer to.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.cli.shapes.solid import MassProperties, ShapeFit, Solid, fit, joined, solid
from robodyn.description import Inertia, Mechanism
from robodyn.description.pose import inverse_pose
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


#: What no body exceeds, with a margin for shapes that are drawn a little too small: distance of
#: the centre of mass from the shape over its size, mean squares over the largest possible ones,
#: density [kg/m^3] (osmium has 22600).
OUTSIDE, WIDE, DENSE = 0.05, 1.1, 25e3
#: The same where no single mistake explains it, as drawn shapes may leave out parts of a link.
FAR_OUTSIDE, FAR_WIDE, FAR_DENSE = 0.25, 9.0, 100e3
#: Shapes that are longer [m] and that the mass fills with less [kg/m^3] are not in metres.
LONG, THIN = 5.0, 0.1
#: Second moments that differ by less than the first from those of the filled shape are its own;
#: by more than the second, they are not.
SAME, OTHER = 0.02, 0.15
#: What is meant differs by less than this from the filled shape, as links are not filled evenly;
#: by less than the second if only points, axes or signs are in question.
ALIKE, NEARLY = 0.6, 0.35
#: Difference that a further mistake has to explain.
FURTHER = 0.25
#: A centre of mass in millimetres lies so many sizes of the shape outside of it.
FAR_AWAY = 5.0

#: Density below which a shape is drawn too large, or its mass is in another unit [kg/m^3].
LIGHT = 20.0

G, MM, CM, T, LB, IN = 1e-3, 1e-3, 1e-2, 1e3, 0.45359237, 0.0254
#: Units that mass, lengths and inertia may have been written in: what is said of them, and factors.
UNITS = (
    ("", 1.0, 1.0, 1.0),
    ("the mass in grams", G, 1.0, 1.0),
    ("mass and inertia in g and g m^2", G, 1.0, G),
    ("mass and inertia in g and g mm^2", G, 1.0, G * MM**2),
    ("all of it in g, mm and g mm^2", G, MM, G * MM**2),
    ("the centre of mass in millimetres", 1.0, MM, 1.0),
    ("all of it in kg, mm and kg mm^2", 1.0, MM, MM**2),
    ("the inertia in kg mm^2", 1.0, 1.0, MM**2),
    ("the inertia in kg cm^2", 1.0, 1.0, CM**2),
    ("the inertia in g m^2", 1.0, 1.0, G),
    ("the inertia in g cm^2", 1.0, 1.0, G * CM**2),
    ("the inertia in g mm^2", 1.0, 1.0, G * MM**2),
    ("mass and inertia in t and t mm^2", T, 1.0, T * MM**2),
    ("all of it in t, mm and t mm^2", T, MM, T * MM**2),
    ("mass and inertia in lb and lb in^2", LB, 1.0, LB * IN**2),
    ("all of it in lb, in and lb in^2", LB, IN, LB * IN**2),
    ("the mass in tonnes", T, 1.0, 1.0),
)

#: Rotations that change the order of axes, as between programs with y or z upwards.
_QUARTER_TURNS = [
    Q
    for order in list(permutations(range(3)))[1:]
    for signs in product((1.0, -1.0), repeat=3)
    if np.linalg.det(Q := np.diag(signs)[list(order)]) > 0.0
]


@dataclass(frozen=True, eq=False)
class _Cause:
    """A mistake, and the body that was meant."""

    words: tuple[str, ...]
    meant: MassProperties


def fault(
    inertia: Inertia, X_WL: FloatArray, shape: Solid, *, explained: bool = False
) -> str | None:
    """Say what is wrong with the mass, its centre or the inertia of a link, and what was meant.

    Returns ``None`` where nothing is wrong.

    X_WL (4, 4) [1, m]: Pose of the link in the base where all joints are at zero.
    shape: What its shapes enclose.
    explained: Say only that for which there is a cause.
    """
    written = MassProperties.of(inertia)
    found = fit(written, shape)
    if found.density < THIN and found.size > LONG:
        return (
            f"its shapes are {found.size:.3g} m long, so that {inertia.mass:g} kg fill them with "
            f"{found.density:.2g} kg/m^3: are they in millimetres? Meshes then have "
            'scale="0.001 0.001 0.001"'
        )
    reason = _impossible(found, OUTSIDE, WIDE, DENSE)
    cause = _fewest_mistakes(inertia, written, X_WL, shape, found, certain=reason is not None)
    if cause is None and explained:
        return None
    if cause is None:
        reason = _impossible(found, FAR_OUTSIDE, FAR_WIDE, FAR_DENSE)
        return reason and reason + _values_of_solid(inertia, shape, found)
    if reason is None:
        reason = f"the inertia differs by {found.unlike:.0%} from that of its shapes, filled evenly"
    asked = " and ".join(cause.words)
    return f"{reason}: is {asked}? Then it is {_corrected(inertia, written, cause.meant)}"


def _impossible(found: ShapeFit, outside: float, wide: float, dense: float) -> str | None:
    """Why no body that lies within the shapes can be so, or ``None`` if one can."""
    if found.outside > outside * found.size:
        return f"the centre of mass lies {found.outside:.3g} m outside of the shapes of the link"
    if found.wide > wide:
        had, largest = found.radii
        return (
            f"the inertia needs mass at {had:.3g} m from its centre on average, along an axis on "
            f"which the shapes of the link allow {largest:.3g} m"
        )
    if found.density > dense:
        return f"the mass would fill the shapes of the link with {found.density:.2g} kg/m^3"
    return None


def _fewest_mistakes(
    inertia: Inertia,
    written: MassProperties,
    X_WL: FloatArray,
    shape: Solid,
    found: ShapeFit,
    *,
    certain: bool,
) -> _Cause | None:
    """The fewest mistakes that explain the numbers, or ``None``.

    Unless something is impossible, only those that lead to the very inertia of the filled shape.
    """
    best, least = None, np.inf
    for units, *factors in UNITS:
        for words, meant in _frames(inertia, _scaled(written, *factors), X_WL, shape):
            said = tuple(x for x in (units, words) if x)
            if not said or (units and not certain):
                continue
            if factors[1] < 1.0 and found.outside < FAR_AWAY * found.size:
                continue
            after = fit(meant, shape)
            if _impossible(after, OUTSIDE, WIDE, DENSE) or np.trace(meant.spread) <= 0.0:
                continue
            difference = after.unlike + FURTHER * len(said)
            if factors[0] < 1.0 and found.density < DENSE:
                difference += FURTHER  # nothing speaks for another mass
            if after.density < LIGHT:
                difference += FURTHER
            if not certain:
                accepted = after.unlike < SAME and found.unlike > OTHER
            elif np.allclose(meant.spread, written.spread, rtol=1e-9):
                accepted = after.unlike < ALIKE or meant.mass == written.mass
            else:
                accepted = after.unlike < min(ALIKE if units else NEARLY, 0.5 * found.unlike)
                placeholder = _isotropic(inertia) and meant.mass == written.mass
                accepted = accepted and not placeholder
            if accepted and difference < least:
                best, least = _Cause(said, meant), difference
    return best


def _scaled(body: MassProperties, mass: float, length: float, inertia: float) -> MassProperties:
    return MassProperties(body.mass * mass, body.center * length, body.spread * (inertia / mass))


def _frames(
    inertia: Inertia, body: MassProperties, X_WL: FloatArray, shape: Solid
) -> Iterator[tuple[str, MassProperties]]:
    """Points and axes that centre and inertia may refer to, and the body that is then meant."""
    mass, c, S = body.mass, body.center, body.spread
    yield "", body
    shifted = S - np.outer(c, c)
    if np.linalg.norm(c) > 0.0:
        yield "the inertia about the origin of the link", MassProperties(mass, c, shifted)
    else:
        yield "the centre of mass left out", MassProperties(mass, shape.center, S)
    R = inertia.origin.matrix[:3, :3]
    as_written = R.T @ S @ R
    flipped = 2.0 * np.diag(np.diag(as_written)) - as_written
    yield (
        "the sign of the products of inertia the other one",
        MassProperties(mass, c, R @ flipped @ R.T),
    )
    if not np.allclose(R, np.eye(3)):
        yield "the inertia in the axes of the link", MassProperties(mass, c, as_written)
    R_WL = X_WL[:3, :3]
    turned = not np.allclose(R_WL, np.eye(3))
    if turned:
        yield (
            "the inertia in the axes of the base",
            MassProperties(mass, c, R_WL.T @ as_written @ R_WL),
        )
    if turned or np.linalg.norm(X_WL[:3, 3]) > 0.0:
        back = inverse_pose(X_WL)
        there = back[:3, :3] @ c + back[:3, 3]
        yield "the centre of mass in the frame of the base", MassProperties(mass, there, S)
        if turned:
            moved = R_WL.T @ as_written @ R_WL
            yield (
                "centre of mass and inertia in the frame of the base",
                MassProperties(mass, there, moved),
            )
        about = R_WL.T @ (as_written - np.outer(c, c)) @ R_WL
        words = "centre of mass and inertia in the frame of the base, about its origin,"
        yield words, MassProperties(mass, there, about)
    for Q in _QUARTER_TURNS:
        other = MassProperties(mass, c, R @ Q @ as_written @ Q.T @ R.T)
        yield "the inertia in axes that are turned by 90 degrees", other


def _corrected(inertia: Inertia, written: MassProperties, meant: MassProperties) -> str:
    """The numbers that differ, in the notation of URDF."""
    parts = []
    if meant.mass != written.mass:
        parts.append(f'mass value="{meant.mass:.6g}"')
    if not np.array_equal(meant.center, written.center):
        parts.append(f'origin xyz="{_numbers(meant.center)}"')
    R = inertia.origin.matrix[:3, :3]
    J, before = R.T @ meant.inertia @ R, inertia.matrix
    if not np.allclose(J, before, rtol=1e-9, atol=1e-9 * np.abs(before).max()):
        J[np.abs(J) < 1e-9 * np.abs(J).max()] = 0.0
        names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        values = J[np.triu_indices(3)]
        texts = (f'{name}="{x:.6g}"' for name, x in zip(names, values, strict=True))
        parts.append(f"inertia {' '.join(texts)}")
    return ", ".join(parts)


def _values_of_solid(inertia: Inertia, shape: Solid, found: ShapeFit) -> str:
    """What the filled shape has itself."""
    if found.outside > FAR_OUTSIDE * found.size:
        return f'; filled evenly, they have their centre at xyz="{_numbers(shape.center)}"'
    if found.wide > FAR_WIDE:
        J = np.diag(MassProperties(inertia.mass, shape.center, shape.spread).inertia)
        asked = ": is it a placeholder?" if _isotropic(inertia) else ";"
        return (
            f"{asked} filled evenly, they have ixx, iyy, izz = "
            f"{', '.join(f'{x:.3g}' for x in J)} kg m^2 for {inertia.mass:.4g} kg"
        )
    return ""


def _isotropic(inertia: Inertia) -> bool:
    return bool(np.allclose(inertia.matrix, inertia.ixx * np.eye(3)))


def _numbers(values: FloatArray) -> str:
    largest = np.abs(values).max()
    return " ".join(f"{x:.6g}" for x in np.where(np.abs(values) < 1e-9 * largest, 0.0, values))
