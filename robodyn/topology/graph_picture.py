"""A picture of a system graph: the spanning tree from the base down, and what closes loops."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from robodyn.topology.incidence import children, inboard

#: Pixels: of a character of a label, around it, of a box, from level to level, at the border.
CHARACTER, PADDING, HEIGHT, LEVEL, MARGIN = 7.5, 12.0, 28.0, 96.0, 24.0
#: How far the arc of a cut joint passes beside the straight line, in parts of its length.
BESIDE = 0.28
#: Where the name of a joint of the tree stands: this part of the way down.
DOWN = 0.66

STYLE = """<style>
text { font: 12px sans-serif; text-anchor: middle; dominant-baseline: central; fill: #222 }
rect { fill: #eef3fa; stroke: #345; stroke-width: 1.2 }
.base rect { fill: #ddd }
.joint path { fill: none; stroke: #345; stroke-width: 1.4; marker-end: url(#joint) }
.cut path { fill: none; stroke: #b3261e; stroke-dasharray: 6 4; marker-end: url(#cut) }
.cut text { fill: #b3261e }
.joint .halo, .cut .halo { stroke: #fff; stroke-width: 4 }
</style>"""
#: The tips of arrows.
TIP = (
    '<marker id="{name}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto"><polygon points="0,0 8,4 0,8" fill="{color}"/></marker>'
)

Point = tuple[float, float]


def graph_picture(
    vertices: Sequence[str], arcs: Sequence[str], i_plus: Sequence[int], i_minus: Sequence[int]
) -> str:
    """Text of an SVG file; arguments as the attributes of a system graph."""
    labels = [f"{k} {name}" for k, name in enumerate(vertices)]
    names = [f"{k} {name}" for k, name in enumerate(arcs, 1)]
    widths = [CHARACTER * len(label) + PADDING for label in labels]
    inward, _ = inboard(i_plus, i_minus)
    room = [CHARACTER * len(names[arc - 1]) / DOWN for arc in inward]  # of the arc above a box
    at = _places(i_plus, i_minus, [max(x) for x in zip(widths, [0.0, *room], strict=True)])
    boxes = [*zip(at, widths, strict=True)]
    curves, texts, ends = [], [], list(boxes)
    for k, name in enumerate(names):
        start, end = boxes[i_plus[k]], boxes[i_minus[k]]
        if k < len(vertices) - 1:
            kind, bend = "joint", _beside(start[0], end[0], 0.0)
            (x0, y0), (x1, y1) = sorted((start[0], end[0]), key=lambda place: place[1])
            middle = x0 + DOWN * (x1 - x0), y0 + DOWN * (y1 - y0)
        else:
            kind, side = "cut", BESIDE * (-1.0) ** k  # to either side in turns
            bend = _beside(start[0], end[0], 2.0 * side)
            middle = _beside(start[0], end[0], side)
        ends.append((middle, CHARACTER * len(name)))
        curves.append(_curve(kind, _edge(*start, bend), bend, _edge(*end, bend)))
        texts.append(_text(kind, name, middle))
    drawn = [_box("body" if k else "base", *x, labels[k]) for k, x in enumerate(boxes)]
    return "\n".join((*_head(ends), *curves, *drawn, *texts, "</svg>\n"))


def _head(boxes: Sequence[tuple[Point, float]]) -> tuple[str, ...]:
    """What a file begins with, if boxes of these places and widths are drawn."""
    left = min(x - width / 2 for (x, _), width in boxes) - MARGIN
    wide = max(x + width / 2 for (x, _), width in boxes) + MARGIN - left
    top = min(y for (_, y), _ in boxes) - HEIGHT / 2 - MARGIN
    high = max(y for (_, y), _ in boxes) + HEIGHT / 2 + MARGIN - top
    tips = TIP.format(name="joint", color="#345"), TIP.format(name="cut", color="#b3261e")
    size = f'viewBox="{left:.0f} {top:.0f} {wide:.0f} {high:.0f}" width="{wide:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} height="{high:.0f}">'
    return head, STYLE, "<defs>", *tips, "</defs>"


def _places(i_plus: Sequence[int], i_minus: Sequence[int], room: Sequence[float]) -> list[Point]:
    """Middle of the box of each vertex: leaves side by side, others above what hangs on them."""
    _, before = inboard(i_plus, i_minus)
    first = [k for k, vertex in enumerate(before, 1) if vertex == 0]
    below = [first, *children(i_plus, i_minus)]
    order, level = [0], [0] * len(room)
    for vertex in order:  # grows while it is walked
        for child in below[vertex]:
            level[child] = level[vertex] + 1
            order.append(child)
    span = [0.0] * len(room)
    for vertex in reversed(order):
        span[vertex] = max(room[vertex] + MARGIN, sum(span[child] for child in below[vertex]))
    left, places = [0.0] * len(room), [(0.0, 0.0)] * len(room)
    for vertex in order:
        places[vertex] = left[vertex] + span[vertex] / 2, LEVEL * level[vertex]
        start = left[vertex] + (span[vertex] - sum(span[child] for child in below[vertex])) / 2
        for child in below[vertex]:
            left[child] = start
            start += span[child]
    return places


def _box(kind: str, at: Point, width: float, label: str) -> str:
    x, y = at
    frame = f'x="{x - width / 2:.1f}" y="{y - HEIGHT / 2:.1f}" width="{width:.1f}"'
    text = f'<text x="{x:.1f}" y="{y:.1f}">{escape(label)}</text>'
    return f'<g class="{kind}"><rect {frame} height="{HEIGHT:.0f}" rx="7"/>{text}</g>'


def _curve(kind: str, start: Point, bend: Point, end: Point) -> str:
    """An arrow that is pulled towards a point."""
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (bend, end))
    return f'<g class="{kind}"><path d="M{start[0]:.1f},{start[1]:.1f} Q{points}"/></g>'


def _text(kind: str, label: str, at: Point) -> str:
    text = f'x="{at[0]:.1f}" y="{at[1]:.1f}">{escape(label)}</text>'
    return f'<g class="{kind} label"><text class="halo" {text}<text {text}</g>'


def _beside(start: Point, end: Point, part: float) -> Point:
    """A point beside the middle of a line, by a part of its length."""
    (x0, y0), (x1, y1) = start, end
    return (x0 + x1) / 2 - part * (y1 - y0), (y0 + y1) / 2 + part * (x1 - x0)


def _edge(box: Point, width: float, towards: Point) -> Point:
    """Where the way from the middle of a box towards a point leaves it."""
    (x, y), (px, py) = box, towards
    sides = (width / 2, abs(px - x)), (HEIGHT / 2, abs(py - y))
    part = min((half / away for half, away in sides if away > half), default=0.0)
    return x + part * (px - x), y + part * (py - y)
