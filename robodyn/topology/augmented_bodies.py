"""Augmented bodies and barycentric vectors of a tree of hinges [W 5.2.2, 5.2.4]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Mechanism
from robodyn.errors import SettingsError
from robodyn.joints import joint_kind
from robodyn.topology.incidence import path_matrix
from robodyn.topology.spanning_tree import FLOATING_BASE, SpanningTree, spanning_tree

#: Directions and points that a joint leaves as they are, by number: the fourth is its origin.
ORIGIN = 3


@dataclass(frozen=True, eq=False)
class AugmentedBodies:
    """Each body with all mass that hangs on its hinges, as point masses in these.

    Where joints turn about points that are fixed on both bodies, an augmented body is rigid, and
    all its numbers are constants. Arrays are in the axes of the links that `SystemGraph.vertices`
    names, body k at index ``k - 1``. Bodies that hang on the base by different joints belong to
    systems of their own, and the base does not count.

    bodies: As `SystemGraph.vertices` without the base.
    masses (n,) [kg]: Of each augmented body: the whole mass of its system.
    vectors (n, n + 1, 3) [m]: Barycentric vectors ``b_ij``, from the centre of mass of augmented
        body i: to the mass centre of body i itself (j = i), to the hinge that leads to body j, or
        to the base (j = 0).
    inertias (n, 3, 3) [kg m^2]: About these centres of mass, ``K_i*`` [W 5.58].
    """

    bodies: tuple[str, ...]
    masses: FloatArray
    vectors: FloatArray
    inertias: FloatArray

    @property
    def from_inboard_hinge(self) -> FloatArray:
        """Vectors ``d_ij = b_i0 - b_ij``, shape (n, n, 3) [m]; zero where j is not beyond i."""
        return self.vectors[:, :1] - self.vectors[:, 1:]

    @property
    def about_inboard_hinge(self) -> FloatArray:
        """Inertias ``K_i`` about the hinges towards the base, (n, 3, 3) [kg m^2] [W 5.24]."""
        return self.inertias + self.masses[:, None, None] * _squares(self.vectors[:, 0])


def augmented_bodies(mechanism: Mechanism, *, floating: bool = False) -> AugmentedBodies:
    """The augmented bodies of the spanning tree of a mechanism.

    Raises SettingsError: A joint slides, or bodies that hang on the base have no mass: nothing is
        constant then.
    """
    tree = spanning_tree(mechanism, floating=floating)
    _refuse_slides(tree, mechanism.name)
    own = np.array([inertia.mass for inertia in tree.inertias])
    beyond = np.abs(path_matrix(*tree.functions)).astype(bool)  # [k, i]: i is k, or hangs on it
    hanging = beyond @ own
    starts = np.array([joint.parent < 0 for joint in tree.joints], dtype=bool)
    together = (beyond & starts[:, None]).T @ (beyond & starts[:, None])  # of one system
    masses = together @ own
    _refuse_no_mass(tree, masses, mechanism.name)
    names = _first_links(tree)
    vectors, inertias = np.zeros((len(own), len(own) + 1, 3)), np.zeros((len(own), 3, 3))
    for i, inertia in enumerate(tree.inertias):
        center = inertia.h / inertia.mass if inertia.mass > 0.0 else np.zeros(3)
        # What hangs on the inboard hinge hangs on the origin of the body's frame.
        # A floating base joins nothing: its hinge is put into the mass centre of its body.
        hinge = center if floating and starts[i] else np.zeros(3)
        points, moment = np.tile(hinge, (len(own) + 1, 1)), own[i] * center
        points[i + 1] = center
        for child, joint in enumerate(tree.joints):
            if joint.parent == i:
                points[1:][beyond[child]] = joint.X_PJ[:3, 3]
                moment += hanging[child] * joint.X_PJ[:3, 3]
        arms = points - moment / masses[i]
        counted = own * together[i]
        K = inertia.about_center() + np.tensordot(counted, _squares(arms[1:]), 1)
        R = tree.links[names[i]][1][:3, :3]
        vectors[i], inertias[i] = arms @ R, R.T @ K @ R
    return AugmentedBodies(names, masses, vectors, inertias)


def _squares(arms: FloatArray) -> FloatArray:
    """``r^2 E - r r``, the inertia of unit masses at the ends of vectors, shape (..., 3, 3)."""
    lengths: FloatArray = np.sum(arms * arms, axis=-1)[..., None, None]
    return lengths * np.eye(3) - arms[..., :, None] * arms[..., None, :]


def _first_links(tree: SpanningTree) -> tuple[str, ...]:
    """For each body, its first link."""
    first: dict[int, str] = {}
    for link, (body, _) in tree.links.items():
        first.setdefault(body, link)
    return tuple(first[body] for body in range(len(tree.joints)))


def _refuse_slides(tree: SpanningTree, name: str) -> None:
    for joint in tree.joints:
        free = joint.parent < 0 and joint.joint.name == FLOATING_BASE
        if not free and ORIGIN not in joint_kind(joint.joint.kind).unmoved:
            raise SettingsError(
                f"{name}: {joint.joint.name!r} is {joint.joint.kind}, and augmented bodies are "
                "rigid only where all joints turn about points that are fixed on both bodies: "
                "revolute, universal and spherical ones"
            )


def _refuse_no_mass(tree: SpanningTree, masses: FloatArray, name: str) -> None:
    for joint, mass in zip(tree.joints, masses, strict=True):
        if not mass > 0.0:
            raise SettingsError(
                f"{name}: what hangs on the base with {joint.joint.name!r} has no mass, so there "
                "are no augmented bodies"
            )
