"""Closures of the equations, from cut joints and couplings of a description."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Coupling, Joint, Loop
from robodyn.equations.loops.closure_rows import Closure, Coupled
from robodyn.equations.loops.frame_constraint import TracedFrameConstraint
from robodyn.equations.loops.frame_functions import FRAME_KINDS, FUNCTION
from robodyn.equations.mechanism.bodies import BASE, MechanismModel
from robodyn.equations.mechanism.frames import placement, with_parallel_axis
from robodyn.errors import TopologyError
from robodyn.joints import joint_kind
from robodyn.joints.common.cut import CutGeometry
from robodyn.joints.common.described import align_z
from robodyn.symbolic.vector import EZ, Vec3


def closure(model: MechanismModel, cut: Joint | Loop, snap: float) -> Closure:
    """Closure of a cut joint or a loop.

    Raises TopologyError: If the joint can only be part of the tree.
    """
    kind = joint_kind(cut.kind)
    if isinstance(cut, Joint):
        ends = (cut.parent, cut.origin.matrix), (cut.child, np.eye(4))
    else:
        ends = (
            (cut.predecessor, cut.X_predecessor.matrix),
            (cut.successor, cut.X_successor.matrix),
        )
    what = f"{type(cut).__name__.lower()} {cut.name!r}"
    if kind.cut is None:
        raise TopologyError(
            f"a {kind} joint cannot close a loop: cut another joint of it",
            line=cut.line,
            element=what,
        )
    for parameter in kind.parameters:
        value = cut.constants[parameter.name]
        if parameter.positive and not value > 0.0:
            raise TopologyError(
                f"the {parameter.name} is {value}, expected a positive number: "
                f"{parameter.positive}",
                line=cut.line,
                element=what,
            )
    R_UG = np.eye(4)
    if kind.axes:
        R_UG[:3, :3] = align_z(np.array(cut.axis))
    bodies, poses = [], []
    for link, X_LU in ends:
        body, X_BL = model.frames[link]
        bodies.append(body)
        X_BG = X_BL @ X_LU @ R_UG
        if kind.axes:
            X_BG = with_parallel_axis(X_BG, np.array([0.0, 0.0, 1.0]), _axes_on(model, body), snap)
        poses.append(placement(X_BG, max(snap, 1e-15)))
    axis2 = R_UG[:3, :3].T @ np.array(cut.axis2)
    return Closure(
        cut.name,
        kind,
        bodies[0],
        bodies[1],
        poses[0],
        poses[1],
        CutGeometry(Vec3(*(float(x) for x in axis2)), cut.constants),
        placement(R_UG),
        cut.damping,
        cut.friction,
    )


def frame_closure(model: MechanismModel, given: TracedFrameConstraint, snap: float) -> Closure:
    """Closure of a constraint between frames."""
    bodies, poses = [], []
    for link, X_LU in zip(given.links, given.poses, strict=True):
        body, X_BL = model.frames.get(link, (BASE, np.eye(4)))  # the world is the last
        bodies.append(body)
        poses.append(placement(X_BL @ X_LU, max(snap, 1e-15)))
    return Closure(
        given.name,
        FUNCTION if given.functions else FRAME_KINDS[given.kind],
        bodies[0],
        bodies[1],
        poses[0],
        poses[1],
        CutGeometry(constants=given.constants),
        functions=given.functions,
    )


def _axes_on(model: MechanismModel, body: int) -> list[FloatArray]:
    """Axes of the joints on a body, in its frame."""
    axes: list[Any] = [
        child.joint.X_PJ.R * EZ
        for child in model
        if child.parent == body and child.joint.kind.axial
    ]
    return [np.array([*axis], float) for axis in axes]


def coupled(
    model: MechanismModel, coupling: Coupling, over: list[str], under: list[str]
) -> Coupled:
    """The row of a coupling between the joints on two branches.

    over, under: Joints from the nearest common ancestor to the successor, to the predecessor.
    """
    bodies = {body.description.name: body for body in model}
    weights: list[tuple[int, int, float]] = []
    offset = coupling.offset
    for names, sign in ((over, 1.0), (under, -coupling.ratio)):
        for name in names:
            body = bodies[name]
            if len(body.q) != 1 or len(body.speeds) != 1:
                why = "which has more than one coordinate"
                if body.index in model.following:
                    why = "which is a function of others: take a robodyn.Constraint"
                raise TopologyError(
                    f"couples joint {name!r}, {why}",
                    line=coupling.line,
                    element=f"coupling {coupling.name!r}",
                )
            index, factor, shift = body.q[0]
            weights.append((index, body.speeds[0].index, sign * factor))
            offset -= sign * shift
    return Coupled(coupling.name, tuple(weights), offset)
