"""The graph of a mechanism: bodies are vertices, joints are arcs [W 5.2.1, 5.3.1]."""

from __future__ import annotations

from dataclasses import dataclass

from robodyn.description import Mechanism
from robodyn.description.joint import ends_of
from robodyn.topology.graph_picture import graph_picture
from robodyn.topology.incidence import (
    Integers,
    Labelling,
    incidence_matrix,
    loop_matrix,
    path_matrix,
    regular_labelling,
)
from robodyn.topology.spanning_tree import spanning_tree


@dataclass(frozen=True)
class SystemGraph:
    """Bodies as vertices ``0 .. n``, joints as arcs ``1 .. m``.

    The first n arcs are joints of the spanning tree, arc k the one that leads to vertex k; the
    others are the joints that are cut, and what else closes loops. Arcs point from a joint's parent
    to its child, also where the tree runs the other way.

    vertices: For each body, its first link; links that do not move relative to each other are one
        body. The base comes first.
    arcs: Names of joints and loops.
    i_plus, i_minus: Where each arc starts, and where it ends.
    """

    vertices: tuple[str, ...]
    arcs: tuple[str, ...]
    i_plus: tuple[int, ...]
    i_minus: tuple[int, ...]

    @property
    def incidence(self) -> Integers:
        """Incidence matrix S, shape (n + 1, m): +1 where an arc starts, -1 where it ends."""
        return incidence_matrix(self.i_plus, self.i_minus)

    @property
    def path(self) -> Integers:
        """Path matrix T of the spanning tree, shape (n, n) [W 5.4].

        ``T[a - 1, i - 1]`` is +1 (-1) if arc a is on the path from the base to vertex i and points
        towards (away from) the base, else 0.
        """
        return path_matrix(self.i_plus, self.i_minus)

    @property
    def loops(self) -> Integers:
        """Fundamental loops, shape (m - n, m): around each, arcs count +1 along it and -1 against.

        Row k is the loop that arc ``n + k + 1`` closes; ``incidence @ loops.T`` is zero.
        """
        return loop_matrix(self.i_plus, self.i_minus)

    @property
    def labelling(self) -> Labelling:
        """A regular labelling: numbers that rise along all paths from the base [W p. 89]."""
        return regular_labelling(self.i_plus, self.i_minus)

    def svg(self) -> str:
        """The graph as the text of an SVG file: the tree from the base down, cut joints dashed."""
        return graph_picture(self.vertices, self.arcs, self.i_plus, self.i_minus)


def system_graph(mechanism: Mechanism, *, floating: bool = False) -> SystemGraph:
    """The graph of a mechanism.

    floating: The joint that a floating base has is an arc; vertex 0 is the world.
    """
    tree = spanning_tree(mechanism, floating=floating)
    names: dict[int, str] = {-1: "world"} if floating else {}
    for link, (body, _) in tree.links.items():
        names.setdefault(body, link)
    plus, minus = [], []
    for body, moved in enumerate(tree.joints):
        ends = moved.parent + 1, body + 1
        start, end = reversed(ends) if moved.reversed else ends
        plus.append(start)
        minus.append(end)
    for cut in tree.cuts:
        start, end = (tree.links[link][0] + 1 for link in ends_of(cut))
        plus.append(start)
        minus.append(end)
    return SystemGraph(
        tuple(names[body] for body in range(-1, len(tree.joints))),
        (*(moved.joint.name for moved in tree.joints), *(cut.name for cut in tree.cuts)),
        tuple(plus),
        tuple(minus),
    )
