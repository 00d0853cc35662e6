"""Drake's ball and distance constraints: in attributes, as URDF has them, or in text, as SDF."""

from __future__ import annotations

import math

from robodyn.description import Loop, Pose
from robodyn.joints import distance, spherical
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, line_of, local_name

_ZERO = (0.0, 0.0, 0.0)


def read_drake_closure(reader: Reader, element: Element, name: str) -> Loop | None:
    """Read a ball or distance constraint; ``name`` is for one that has none."""
    tag = local_name(element).removeprefix("drake:")
    parts = {local_name(child).removeprefix(f"drake:{tag}_"): child for child in element}
    for part, child in parts.items():
        key = "name" if part.startswith("body") else "value"
        if child.get(key) is None and (child.text or "").strip():  # SDF
            child.set(key, (child.text or "").strip())
    ends: list[tuple[str, Pose]] = []
    for body, point in (("body_A", "p_AP"), ("body_B", "p_BQ")):
        if body not in parts:
            reader.problem(element, f"has no <drake:{tag}_{body}>", lost=True)
            return None
        link = reader.name(parts[body])
        if link is None:
            return None
        p = reader.vector(parts[point], "value", _ZERO) if point in parts else _ZERO
        ends.append((link, Pose(p)))
    kind, length = spherical.KIND, 0.0
    if tag == "distance_constraint":
        kind, length = distance.KIND, _length(reader, element, parts)
    (A, X_A), (B, X_B) = ends
    named = element.get("name") or name
    return Loop(named, kind.name, A, B, X_A, X_B, distance=length, line=line_of(element))


def _length(reader: Reader, element: Element, parts: dict[str, Element]) -> float:
    """Length of a rod; a spring is none."""
    if "stiffness" in parts:
        stiffness = reader.number(parts["stiffness"], "value", math.inf, infinite=True)
        if math.isfinite(stiffness):
            reader.problem(
                parts["stiffness"],
                "a distance constraint that gives way is not understood; write it as <spring>",
                lost=True,
            )
    if "distance" not in parts:
        reader.problem(element, "has no <drake:distance_constraint_distance>")
        return 0.0
    return reader.number(parts["distance"], "value")
