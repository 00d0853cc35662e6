"""Kinds of constraints between two frames that are no kinds of joints in files.

The point of a kind is the origin of frame B; line, plane and axis are z of frame A, and the plane
``z = 0`` of A; the axis in B is z of B.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from robodyn.joints import distance, helical
from robodyn.joints.common.cut import Cut, aligned, along, parallel, position, product_row
from robodyn.joints.common.gap import axis_gap, rotation_gap
from robodyn.joints.common.kind import JointKind
from robodyn.symbolic.vector import EX, EY, EZ


def _kind(name: str, freedoms: int, cut: Cut) -> tuple[str, JointKind]:
    return name, JointKind(name, nq=0, nv=freedoms, in_files=False, cut=cut)


def _screw() -> Cut:
    cut = helical.KIND.cut
    assert cut is not None
    return Cut(rows=cut.rows, gap=cut.gap)


#: Name -> kind.
FRAME_KINDS: Mapping[str, JointKind] = MappingProxyType(
    dict(
        (
            _kind("point_on_line", 4, Cut(rows=lambda m, _: [along(m, EX), along(m, EY)])),
            _kind("point_on_plane", 5, Cut(rows=lambda m, _: [along(m, EZ)])),
            ("distance", distance.KIND),
            _kind("parallel", 4, Cut(rows=lambda m, _: parallel(m), gap=lambda m, _: axis_gap(m))),
            _kind("perpendicular", 5, Cut(rows=lambda m, _: [product_row(m, EZ, EZ)])),
            _kind("translation", 3, Cut(rows=lambda m, _: position(m), vector=True)),
            _kind(
                "rotation", 3, Cut(rows=lambda m, _: aligned(m), gap=lambda m, _: rotation_gap(m))
            ),
            _kind("screw", 1, _screw()),
        )
    )
)

#: The kind of constraints given as a function.
FUNCTION = JointKind("function", nq=0, nv=0, in_files=False)
