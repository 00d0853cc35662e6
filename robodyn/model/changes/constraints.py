"""Constraints that their user gives, added to a description."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TypeAlias

from robodyn.description import Mechanism
from robodyn.equations.loops.constraint import Constraint
from robodyn.equations.loops.frame_constraint import FrameConstraint
from robodyn.equations.loops.rolling import Rolling
from robodyn.errors import ShapeError
from robodyn.model.changes.joint_sizes import joint_sizes

__all__ = ["AnyConstraint", "with_constraints"]

#: What ``constraints=`` takes.
AnyConstraint: TypeAlias = Constraint | FrameConstraint | Rolling


def with_constraints(
    mechanism: Mechanism, constraints: Iterable[AnyConstraint], *, floating: bool
) -> Mechanism:
    """A description with more constraints.

    Raises
    ------
    UnknownNameError
        For joints and links that do not exist.
    ShapeError
        For a name that is taken.
    """
    kinds = joint_sizes(mechanism, floating=floating)
    links = [link.name for link in mechanism.links]
    taken = {*kinds, *(loop.name for loop in mechanism.loops)}
    taken |= {coupling.name for coupling in mechanism.couplings}
    taken |= {given.name for given in mechanism.constraints}
    traced = []
    for constraint in constraints:
        if not isinstance(constraint, AnyConstraint):
            raise ShapeError(
                f"one of constraints is {type(constraint).__name__}, expected a "
                "robodyn.Constraint, robodyn.FrameConstraint or robodyn.Rolling",
                name="constraints",
                given=type(constraint).__name__,
            )
        if constraint.name in taken:
            raise ShapeError(
                f"the name of constraint {constraint.name!r} is taken by a joint, a loop or "
                "another constraint",
                name="constraints",
            )
        taken.add(constraint.name)
        traced.append(constraint.traced(kinds, links))
    return dataclasses.replace(mechanism, constraints=(*mechanism.constraints, *traced))
