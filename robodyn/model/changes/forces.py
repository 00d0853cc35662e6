"""A description with forces of its user: laws that are functions, and gravity of planets."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from robodyn.arrays import expect
from robodyn.description import Mechanism
from robodyn.description.functions.force import Force
from robodyn.errors import UnknownNameError
from robodyn.force_elements.force_law import ForceLaw
from robodyn.force_elements.inverse_square import InverseSquareGravity
from robodyn.model.changes.joint_sizes import joint_sizes

__all__ = ["with_forces"]


def with_forces(
    mechanism: Mechanism,
    forces: Iterable[Force | ForceLaw | InverseSquareGravity],
    *,
    floating: bool,
) -> Mechanism:
    """A description with these forces, and no others.

    Parameters
    ----------
    mechanism : Mechanism
    forces : iterable of Force, ForceLaw or InverseSquareGravity
        Those of a robot, `Robot.forces`, are taken as they are.
    floating : bool
        The base floats.
    """
    sizes: dict[str, Any] = joint_sizes(mechanism, floating=floating)
    links = [link.name for link in mechanism.links]
    traced: list[ForceLaw | InverseSquareGravity] = []
    for force in forces:
        if not isinstance(force, ForceLaw | InverseSquareGravity):
            expect("one of forces", force, Force, "forces")
            force = force.traced(sizes, links)
        elif force.joint not in ("", *sizes):
            raise UnknownNameError("joint", force.joint, sizes, f"force {force.name!r}")
        elif unknown := [link for link in force.links if link not in links]:
            raise UnknownNameError("link", unknown[0], links, f"force {force.name!r}")
        traced.append(force)
    return dataclasses.replace(mechanism, forces=tuple(traced))
