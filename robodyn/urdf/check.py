"""What is wrong with a description, beyond its syntax: names, mimics, the graph, inertias."""

from __future__ import annotations

import numpy as np

from robodyn import topology
from robodyn.description import JOINT_KINDS, Joint, Mechanism
from robodyn.errors import InertiaError, RobodynError, UnknownNameError, UrdfError

__all__ = ["INERTIA_TOLERANCE", "check"]

#: Part of the trace by which an inertia may miss what a body can have: files are rounded.
INERTIA_TOLERANCE = 1e-6


def check(mechanism: Mechanism, *, graph: bool = True) -> list[RobodynError]:
    """Problems of a mechanism that make it unusable.

    Parameters
    ----------
    mechanism : Mechanism
    graph : bool
        Judge the graph; pointless where links or joints could not be read.
    """
    found: list[RobodynError] = [*_bad_inertias(mechanism), *_bad_mimics(mechanism)]
    if graph:
        found += topology.graph_problems(mechanism)
    return found


def _bad_inertias(mechanism: Mechanism) -> list[RobodynError]:
    found: list[RobodynError] = []
    for link in mechanism.links:
        if link.inertia is not None:
            reason = why_impossible(link.inertia.mass, link.inertia.matrix)
            if reason:
                found.append(InertiaError(reason, **mechanism.where(link)))
    return found


def why_impossible(mass: float, inertia: np.ndarray) -> str | None:
    """Why no rigid body has this mass [kg] and central inertia, shape (3, 3) [kg m^2], or ``None``.

    A body has a mass density, so that half the trace of its inertia minus each principal moment is
    the integral of a square, and not negative.
    """
    if not np.isfinite(mass) or not np.isfinite(inertia).all():
        return f"mass {mass:g} and inertia must be finite numbers"
    if mass < 0.0:
        return f"mass {mass:g} kg is negative"
    moments = np.linalg.eigvalsh(inertia)
    scale = INERTIA_TOLERANCE * max(np.abs(moments).sum(), 1e-12)
    shown = ", ".join(f"{moment:.4g}" for moment in moments)
    if moments[0] < -scale:
        return f"principal moments of inertia {shown} kg m^2: none can be negative"
    if 0.5 * moments.sum() - moments[-1] < -scale:
        return (
            f"principal moments of inertia {shown} kg m^2: the largest exceeds the sum of the others, "
            "which no distribution of mass has; check units, signs and the order of the axes"
        )
    if mass == 0.0 and moments[-1] > 0.0:
        return f"principal moments of inertia {shown} kg m^2 without mass"
    return None


def _bad_mimics(mechanism: Mechanism) -> list[RobodynError]:
    found: list[RobodynError] = []
    joints = {joint.name: joint for joint in mechanism.joints}
    for joint in mechanism.joints:
        if joint.mimic is None:
            continue
        reason = _why_no_mimic(joint, joints)
        if reason:
            found.append(UrdfError(reason, **mechanism.where(joint)))
    return found


def _why_no_mimic(joint: Joint, joints: dict[str, Joint]) -> str | None:
    if JOINT_KINDS[joint.kind][1] != 1:
        return f"a {joint.kind} joint has no single coordinate that could mimic another"
    seen = {joint.name}
    while joint.mimic is not None:
        master = joints.get(joint.mimic.joint)
        if master is None:
            return f"mimics: {UnknownNameError('joint', joint.mimic.joint, joints)}"
        if JOINT_KINDS[master.kind][1] != 1:
            return f"mimics {master.name!r}, a {master.kind} joint without a single coordinate"
        if master.name in seen:
            return f"mimics itself by way of {master.name!r}"
        seen.add(master.name)
        joint = master
    return None
