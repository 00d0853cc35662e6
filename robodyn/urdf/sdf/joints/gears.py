"""The gearbox of SDF: it couples the angles of two hinges on one body."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from robodyn.description import Coupling, Joint
from robodyn.errors import RobodynError, TopologyError
from robodyn.joints import joint_kind
from robodyn.tolerances import GEARBOX_PARALLEL
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, line_of
from robodyn.urdf.sdf.common.frames import Frames
from robodyn.urdf.sdf.common.values import number_of, text_of
from robodyn.urdf.sdf.joints.axes import Axis, read_axes
from robodyn.urdf.sdf.joints.scopes import scoped, scoped_axis

__all__ = ["read_gear"]


def read_gear(
    reader: Reader,
    element: Element,
    joints: Iterable[Joint],
    frames: Frames,
    *,
    axes_in_model: bool = False,
    scope: str = "",
) -> Coupling | None:
    """Read a ``<joint type="gearbox">``; ``None`` and a problem if it cannot be read.

    With ``theta_1`` and ``theta_2`` the angles of parent and child about ``<axis>`` and
    ``<axis2>``, seen from the reference body, ``theta_2 = -gearbox_ratio * theta_1``.

    Parameters
    ----------
    reader : Reader
    element : Element
    joints : iterable of Joint
        Those of the tree; the child of each has a frame of its name.
    frames : Frames
        Of the links, at zero; the gearbox's own is that of its child.
    axes_in_model : bool
        Axes are expressed in the model's frame where nothing else is said (SDF up to 1.4).
    scope : str
        What stands before the names of a model within, ``"inner::"``.
    """
    name = reader.name(element)
    ends = [text_of(reader, element, tag) for tag in ("parent", "child", "gearbox_reference_body")]
    if name is None or None in ends or "" in ends:
        reader.problem(element, "needs <parent>, <child> and <gearbox_reference_body>", lost=True)
        return None
    ratio = number_of(reader, element, "gearbox_ratio", 1.0)
    axes = [
        scoped_axis(axis, scope) for axis in read_axes(reader, element, 2, in_model=axes_in_model)
    ]
    try:
        parent, child, reference = (frames.link(scoped(str(end), scope)) for end in ends)
        above = {joint.child: joint for joint in joints}
        sides = [
            _sign(frames, _hinge(above, link, reference), axis, child)
            for link, axis in zip((parent, child), axes, strict=True)
        ]
    except RobodynError as error:
        reader.problem(element, error, lost=True)
        return None
    return Coupling(
        scope + name, parent, child, -ratio * sides[0] * sides[1], 0.0, line_of(element)
    )


def _hinge(above: dict[str, Joint], link: str, reference: str) -> Joint:
    """The single moving joint between a link and the reference body."""
    moving, end = [], link
    for _ in range(len(above) + 1):
        if end == reference or end not in above:
            break
        if above[end].nv:
            moving.append(above[end])
        end = above[end].parent
    if end != reference or len(moving) != 1 or not joint_kind(moving[0].kind).is_pin:
        raise TopologyError(
            f"a gearbox couples two links that each turn about one hinge on its reference body: "
            f"between {link!r} and {reference!r} there is no such hinge alone"
        )
    return moving[0]


def _sign(frames: Frames, hinge: Joint, axis: Axis, child: str) -> float:
    """1 if the hinge turns about the axis of the gearbox, -1 if about the opposite one."""
    expressed_in = axis.expressed_in or child
    R = frames.pose_in(hinge.child, expressed_in)[:3, :3]
    cosine = float(np.dot(R @ np.array(hinge.axis), axis.direction))
    if abs(cosine) < 1.0 - GEARBOX_PARALLEL:
        raise TopologyError(
            f"the axes of a gearbox are those of its hinges: that of {hinge.name!r} is another"
        )
    return 1.0 if cosine > 0.0 else -1.0
