"""Linkages, structures and misfits as sets of axes in space, closed where they are drawn.

A shape is a graph: links, and joints with their place and axis in the world where it is drawn. It
says nothing of trees, cuts, frames and files. Its mobility is known by construction, by counting in
the plane, on the sphere or in space, or from the literature (Bennett, Sarrus, Bricard).
"""

import dataclasses
from dataclasses import dataclass

import numpy as np
from support.overconstrained_linkages import bennett, line_symmetric, plane_symmetric

X, Y, Z = np.eye(3)


@dataclass(frozen=True, eq=False)
class Pin:
    """A joint between two links where they are drawn; ``axis2`` is that of a universal joint."""

    name: str
    kind: str
    links: tuple[str, str]
    point: np.ndarray
    axis: np.ndarray
    axis2: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Shape:
    """A graph of links and joints, and its mobility.

    Attributes
    ----------
    name : str
    pins : tuple of Pin
        The first link of the first one is the ground.
    dof : int
    loose : tuple of str
        Kinds with which a hinge may close a loop instead: the others hold it in the plane or on the
        sphere, so that it moves as with the hinge.
    """

    name: str
    pins: tuple[Pin, ...]
    dof: int
    loose: tuple[str, ...] = ()

    @property
    def links(self):
        """Names, the ground first."""
        return tuple(dict.fromkeys(link for pin in self.pins for link in pin.links))

    @property
    def loops(self):
        return len(self.pins) - len(self.links) + 1


#: Of planar and spherical linkages.
LOOSE = ("spherical", "universal", "cylindrical")


def moved(shape, R, p):
    """The same shape elsewhere."""
    pins = [
        dataclasses.replace(
            pin,
            point=R @ pin.point + p,
            axis=R @ pin.axis,
            axis2=None if pin.axis2 is None else R @ pin.axis2,
        )
        for pin in shape.pins
    ]
    return dataclasses.replace(shape, pins=tuple(pins))


def on_an_arm(shape, rng):
    """The shape on a link that a hinge holds to the ground, so that it moves as a whole, too."""
    hip = Pin("hip", "revolute", ("ground", "hip_link"), rng.normal(size=3) * 0.3, _unit(rng))
    pins = [
        dataclasses.replace(pin, links=tuple("hip_link" if n == "ground" else n for n in pin.links))
        for pin in shape.pins
    ]
    return Shape(f"{shape.name} on an arm", (hip, *pins), shape.dof + 1, shape.loose)


def beside(shape, other):
    """Both shapes on the same ground."""
    away = moved(other, np.eye(3), np.array([0.1, -0.2, 0.3]))
    pins = [
        dataclasses.replace(
            pin,
            name=f"other_{pin.name}",
            links=tuple(n if n == "ground" else f"other_{n}" for n in pin.links),
        )
        for pin in away.pins
    ]
    name = f"{shape.name} beside {other.name}"
    loose = tuple(kind for kind in shape.loose if kind in other.loose)
    return Shape(name, (*shape.pins, *pins), shape.dof + other.dof, loose)


def _unit(rng):
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


# ---- in the plane


def _planar(name, pins, dof, rng, kinds=None):
    """From rows (name, one link, other link, x, y), at any heights along the axes."""
    kinds = kinds or {}
    made = []
    for pin, one, other, x, y in pins:
        kind, axis = kinds.get(pin, ("revolute", Z))
        height = float(rng.uniform(-0.1, 0.1)) if rng.random() < 0.5 else 0.0
        made.append(Pin(pin, kind, (one, other), np.array([x, y, height]), np.array(axis)))
    return Shape(name, tuple(made), dof, LOOSE)


def _near(rng, *points):
    """Points of a drawing, each moved a little so that nothing is special about it."""
    return [np.array(p) + rng.uniform(-0.05, 0.05, 2) for p in points]


def four_bar(rng):
    A, B, C, D = _near(rng, (0, 0), (0.05, 0.2), (0.43, 0.3), (0.4, 0))
    rows = [
        ("a", "ground", "crank", *A), ("b", "crank", "coupler", *B),
        ("c", "coupler", "rocker", *C), ("d", "ground", "rocker", *D),
    ]  # fmt: skip
    return _planar("four_bar", rows, 1, rng)


def parallelogram(rng):
    """Two or three cranks that are alike; with three the counting in the plane says stiff."""
    (A, B), r, m = (
        _near(rng, (0, 0), (0.4, 0.02)),
        rng.uniform(0.1, 0.3, 2),
        int(rng.integers(2, 4)),
    )
    feet = [A, B, 0.4 * A + 0.6 * B + rng.uniform(0.05, 0.1) * Y[:2]][:m]
    rows = []
    for k, foot in enumerate(feet):
        rows += [(f"a{k}", "ground", f"crank{k}", *foot)]
        rows += [(f"b{k}", f"crank{k}", "coupler", *(foot + r))]
    return _planar(f"parallelogram of {m} cranks", rows, 1, rng)


def five_bar(rng):
    P = _near(rng, (0, 0), (-0.1, 0.25), (0.2, 0.45), (0.45, 0.3), (0.4, 0))
    names = ["ground", "one", "two", "three", "four", "ground"]
    rows = [(f"p{k}", names[k], names[k + 1], *P[k]) for k in range(5)]
    return _planar("five_bar", rows, 2, rng)


def chain_of(rng, loops, name):
    """A crank, and pairs of links that are each hung on two links that are there."""
    tips = {"ground": np.zeros(2), "l0": np.array([0.05, 0.25])}
    rows, last = [("p0", "ground", "l0", 0.0, 0.0)], "l0"
    for k in range(loops):
        base = np.array([0.35 * (k + 1), 0.0])
        a, b = f"l{2 * k + 1}", f"l{2 * k + 2}"
        start, foot, knee = _near(rng, tips[last], base, tuple(base + np.array((0.02, 0.3))))
        rows += [(f"p{3 * k + 1}", last, a, *start), (f"p{3 * k + 2}", a, b, *knee)]
        rows += [(f"p{3 * k + 3}", "ground", b, *foot)]
        tips[b], last = foot + np.array((0.08, 0.22)), b
    return _planar(name, rows, 1, rng)


def six_bar(rng):
    return chain_of(rng, 2, "six_bar")


def long_chain(rng):
    loops = int(rng.integers(3, 11))
    return chain_of(rng, loops, f"chain of {loops} loops")


def scissors(rng):
    """Crossed bars on one another; the lowest one slides on the ground."""
    n, w, h = int(rng.integers(1, 5)), float(rng.uniform(0.3, 0.5)), float(rng.uniform(0.15, 0.3))
    rows = [("foot_a", "ground", "a0", 0.0, 0.0), ("rail", "ground", "shoe", w, 0.0)]
    rows += [("foot_b", "shoe", "b0", w, 0.0)]
    for k in range(n):
        rows += [(f"cross{k}", f"a{k}", f"b{k}", 0.5 * w, (k + 0.5) * h)]
        if k:
            rows += [(f"right{k}", f"a{k - 1}", f"b{k}", w, k * h)]
            rows += [(f"left{k}", f"b{k - 1}", f"a{k}", 0.0, k * h)]
    return _planar(f"scissors of {n}", rows, 1, rng, {"rail": ("prismatic", X)})


def crank_slider(rng):
    A, B, C = _near(rng, (0, 0), (0.08, 0.15), (0.5, 0.05))
    angle = rng.uniform(-0.4, 0.4)
    rows = [
        ("a", "ground", "crank", *A), ("b", "crank", "rod", *B),
        ("c", "rod", "piston", *C), ("guide", "ground", "piston", *C),
    ]  # fmt: skip
    along = (np.cos(angle), np.sin(angle), 0.0)
    return _planar("crank_slider", rows, 1, rng, {"guide": ("prismatic", along)})


def cylinder(rng):
    """A boom that a cylinder lifts: three hinges and a slide."""
    A, B, C = _near(rng, (0, 0), (0.3, 0.2), (0.25, -0.15))
    along = (B - C) / np.linalg.norm(B - C)
    M = 0.5 * (B + C)
    rows = [
        ("a", "ground", "boom", *A), ("b", "boom", "piston", *B),
        ("slide", "barrel", "piston", *M), ("c", "ground", "barrel", *C),
    ]  # fmt: skip
    return _planar("cylinder", rows, 1, rng, {"slide": ("prismatic", (*along, 0.0))})


def three_legs(rng):
    """The planar 3-RRR: a platform on three legs of two bars."""
    rows = []
    for k in range(3):
        turn = 2 * np.pi * k / 3 + rng.uniform(-0.1, 0.1)
        u = np.array([np.cos(turn), np.sin(turn)])
        side = np.array([-u[1], u[0]])
        A, B, C = _near(rng, 0.5 * u, 0.35 * u + 0.2 * side, 0.12 * u)
        rows += [(f"a{k}", "ground", f"upper{k}", *A), (f"b{k}", f"upper{k}", f"lower{k}", *B)]
        rows += [(f"c{k}", f"lower{k}", "platform", *C)]
    return _planar("planar 3-RRR", rows, 3, rng)


# ---- on the sphere, and rings of the literature


def _spherical(name, rows, dof, rng):
    """From rows (name, one link, other link, direction), at any distance from the centre."""
    pins = []
    for pin, one, other, u in rows:
        u = np.array(u, float) / np.linalg.norm(u)
        pins.append(Pin(pin, "revolute", (one, other), rng.uniform(0.1, 0.3) * u, u))
    return Shape(name, tuple(pins), dof, LOOSE)


def _tipped(rng, u):
    return np.array(u, float) + rng.uniform(-0.15, 0.15, 3)


def spherical_four_bar(rng):
    U = [_tipped(rng, u) for u in ((1, 0, 0.1), (1, 0.8, 0), (0.2, 1, 0.6), (0, 0.2, 1))]
    names = ["ground", "one", "two", "three", "ground"]
    rows = [(f"s{k}", names[k], names[k + 1], U[k]) for k in range(4)]
    return _spherical("spherical four_bar", rows, 1, rng)


def spherical_five_bar(rng):
    U = ((1, 0, 0.1), (1, 0.7, -0.2), (0.4, 1, 0.3), (0.1, 0.8, 1), (0, 0, 1))
    names = ["ground", "one", "two", "three", "four", "ground"]
    rows = [(f"s{k}", names[k], names[k + 1], _tipped(rng, U[k])) for k in range(5)]
    return _spherical("spherical five_bar", rows, 2, rng)


def wrist(rng):
    """The spherical 3-RRR: nine hinges through one point."""
    rows = []
    for k in range(3):
        turn = 2 * np.pi * k / 3 + rng.uniform(-0.1, 0.1)

        def at(yaw, tilt, turn=turn):
            yaw, tilt = yaw + turn, tilt + rng.uniform(-0.05, 0.05)
            return np.array([np.cos(yaw) * np.sin(tilt), np.sin(yaw) * np.sin(tilt), np.cos(tilt)])

        rows += [
            (f"m{k}", "ground", f"p{k}", at(0.0, 0.75)),
            (f"e{k}", f"p{k}", f"d{k}", at(0.9, 1.25)),
        ]
        rows += [(f"h{k}", f"d{k}", "head", at(1.9, 0.8))]
    return _spherical("spherical wrist", rows, 3, rng)


def _ring(name, axes, scale=1.0):
    n = len(axes)
    names = ["ground", *(f"l{k}" for k in range(1, n)), "ground"]
    pins = [
        Pin(f"r{k}", "revolute", (names[k], names[k + 1]), scale * np.array(p), np.array(u))
        for k, (p, u) in enumerate(axes)
    ]
    return Shape(name, tuple(pins), 1)


def bennett_ring(rng):
    a, alpha, beta = rng.uniform(0.3, 0.5), rng.uniform(0.9, 1.2), rng.uniform(0.5, 0.7)
    return _ring("bennett", bennett(a, alpha, beta, rng.uniform(0.8, 1.3)))


def sarrus(rng):
    (a, b), (c, d) = rng.uniform(0.2, 0.35, 2), rng.uniform(0.1, 0.25, 2)
    one = [((0.0, y, z), X) for y, z in ((0.0, 0.0), (a, 0.25 + 0.1 * c), (0.0, 0.5))]
    other = [((x, 0.05, z), Y) for x, z in ((0.4, 0.5), (0.4 + b, 0.2 + d), (0.4, 0.0))]
    return _ring("sarrus", one + other)


def bricard(rng):
    make = (line_symmetric, plane_symmetric)[int(rng.integers(2))]
    return _ring(f"bricard, {make.__name__}", make(int(rng.integers(1000))), 0.25)


# ---- in space, without redundant constraints


def rssr(rng):
    """Crank and rocker across, with a rod between them that does not spin."""
    A, B, C, D = (np.array(p) + rng.uniform(-0.05, 0.05, 3) for p in (
        (0, 0, 0), (0.05, 0.2, 0.05), (0.4, 0.25, 0.25), (0.45, 0.0, 0.2)))  # fmt: skip
    u = np.cross(_unit(rng), C - B)
    u /= np.linalg.norm(u)
    second = np.cross(C - B, u)
    pins = (
        Pin("a", "revolute", ("ground", "crank"), A, Z + 0.2 * _unit(rng)),
        Pin("b", "universal", ("crank", "rod"), B, u, second),
        Pin("c", "spherical", ("rod", "rocker"), C, Z),
        Pin("d", "revolute", ("ground", "rocker"), D, X + 0.2 * _unit(rng)),
    )
    return Shape("RUSR", _of_length_one(pins), 1)


def _of_length_one(pins):
    return tuple(
        dataclasses.replace(
            pin,
            axis=pin.axis / np.linalg.norm(pin.axis),
            axis2=None if pin.axis2 is None else pin.axis2 / np.linalg.norm(pin.axis2),
        )
        for pin in pins
    )


def _across(u, rng):
    v = np.cross(u, _unit(rng))
    return v / np.linalg.norm(v)


def delta(rng):
    """Three arms, six rods with a universal joint above and a ball below."""
    pins = []
    for k in range(3):
        turn = 2 * np.pi * k / 3 + rng.uniform(-0.05, 0.05)
        u, side = (
            np.array([np.cos(turn), np.sin(turn), 0]),
            np.array([-np.sin(turn), np.cos(turn), 0]),
        )
        elbow, foot = 0.35 * u - 0.1 * Z + rng.uniform(-0.02, 0.02, 3), 0.06 * u - 0.5 * Z
        pins += [Pin(f"arm{k}", "revolute", ("ground", f"upper{k}"), 0.15 * u, side)]
        for j, s in enumerate((-0.04, 0.04)):
            top, end = elbow + s * side, foot + s * side
            first = _across(end - top, rng)
            pins += [Pin(f"u{k}{j}", "universal", (f"upper{k}", f"rod{k}{j}"), top, first,
                         np.cross(end - top, first))]  # fmt: skip
            pins += [Pin(f"s{k}{j}", "spherical", (f"rod{k}{j}", "plate"), end, Z)]
    return Shape("delta", _of_length_one(pins), 3)


def stewart(rng):
    """Six cylinders with a universal joint below and a ball above."""
    pins = []
    for k in range(6):
        below, above = (
            2 * np.pi * (k // 2) / 3,
            2 * np.pi * ((k + 1) // 2) / 3 + np.pi / 3 - 2 * np.pi / 3,
        )
        below, above = below + (0.2 if k % 2 else -0.2), above + (-0.2 if k % 2 else 0.2)
        foot = np.array([0.4 * np.cos(below), 0.4 * np.sin(below), 0]) + rng.uniform(-0.02, 0.02, 3)
        head = np.array([0.25 * np.cos(above), 0.25 * np.sin(above), 0.5])
        head += rng.uniform(-0.02, 0.02, 3)
        along, first = head - foot, _across(head - foot, rng)
        pins += [
            Pin(
                f"u{k}", "universal", ("ground", f"barrel{k}"), foot, first, np.cross(along, first)
            ),
            Pin(f"leg{k}", "prismatic", (f"barrel{k}", f"piston{k}"), foot + 0.5 * along, along),
            Pin(f"s{k}", "spherical", (f"piston{k}", "plate"), head, Z),
        ]
    return Shape("stewart", _of_length_one(pins), 6)


# ---- what must stay stiff


def triangle(rng):
    A, B, C = _near(rng, (0, 0), (0.4, 0.05), (0.15, 0.3))
    rows = [("a", "ground", "one", *A), ("b", "ground", "two", *B), ("c", "one", "two", *C)]
    return _planar("triangle", rows, 0, rng)


def truss(rng):
    """Bars that make triangles on the ground, each next one on the last two points."""
    P = _near(rng, (0, 0), (0.4, 0.0), (0.2, 0.3), (0.6, 0.32), (0.4, 0.6))
    rows = [("a", "ground", "one", *P[0]), ("b", "ground", "two", *P[1])]
    rows += [("c", "one", "two", *P[2]), ("d", "two", "three", *P[1] * 0.4 + P[2] * 0.6)]
    rows += [("e", "ground", "four", *P[3]), ("f", "three", "four", *P[4])]
    return _planar("truss", rows, 0, rng)


def braced(rng):
    """A four-bar with one rod across, or two, of which one is redundant."""
    A, B, C, D = _near(rng, (0, 0), (0.05, 0.25), (0.43, 0.3), (0.4, 0))
    E, F, G = 0.1 * A + 0.9 * B, 0.2 * C + 0.8 * D, 0.7 * A + 0.3 * D
    rows = [
        ("a", "ground", "crank", *A), ("b", "crank", "coupler", *B),
        ("c", "coupler", "rocker", *C), ("d", "ground", "rocker", *D),
        ("e", "crank", "brace", *E), ("f", "brace", "rocker", *F),
    ]  # fmt: skip
    rods = int(rng.integers(1, 3))
    if rods == 2:
        rows += [("g", "ground", "rod", *G), ("h", "rod", "coupler", *(0.5 * (B + C) + [0, 0.05]))]
    return _planar(f"four_bar with {rods} braces", rows, 0, rng)


#: Names of shapes that move -> how to make one from a random generator.
LINKAGES = {
    make.__name__: make
    for make in (
        four_bar, parallelogram, five_bar, six_bar, long_chain, scissors, crank_slider, cylinder,
        three_legs, spherical_four_bar, spherical_five_bar, wrist, bennett_ring, sarrus, bricard,
        rssr, delta, stewart,
    )
}  # fmt: skip

STRUCTURES = {make.__name__: make for make in (triangle, truss, braced)}
