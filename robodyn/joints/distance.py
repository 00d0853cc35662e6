"""Distance: two points keep theirs, as the ends of a massless rod do. It only closes loops."""

from __future__ import annotations

from robodyn.joints.common.cut import Cut, CutGeometry, RelativeMotion
from robodyn.joints.common.kind import JointKind, Parameter
from robodyn.symbolic.constraint_row import Row


def _rows(m: RelativeMotion, cut: CutGeometry) -> list[Row]:
    """``(p . p - d^2) / 2 d``: the slope is the component of the velocity along the line."""
    d = cut.constants["distance"]
    inverse = 1.0 / d
    return [
        Row(
            (m.X.p.dot(m.X.p) - d * d) * (0.5 * inverse),
            {k: m.X.p.dot(v) * inverse for k, (v, _) in m.columns.items()},
            (m.v.dot(m.v) + m.X.p.dot(m.dv)) * inverse,
        )
    ]


KIND = JointKind(
    "distance",
    nq=0,
    nv=5,
    parameters=(
        Parameter("distance", "metres", positive="points that coincide are a spherical loop"),
    ),
    cut=Cut(rows=_rows),
)
