"""Linkages as files have them: with a tree, cuts, frames anyhow, and a known exact geometry.

`cases` turns a shape of `support.linkage_shapes` into a description: a tree with any of its joints
cut, link frames turned anyhow, loops closed by hinges, slides, balls, universal or cylindrical
joints, or by a weld through a link. The description is exact to the last digit of a float;
`support.rounded_files` writes it with fewer.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np
from oracles.described import inertia_from, inertia_matrix, pose_from
from oracles.joint_motion import origin
from oracles.known_mobility import KnownMobility
from support.linkage_shapes import LINKAGES, STRUCTURES, beside, moved, on_an_arm
from support.random_mechanisms import random_inertia

from robodyn.description import Joint, Link, Loop, Mechanism

#: How link frames stand: along the world, along their joint, or anyhow.
FRAMES = ("aligned", "quarter turns", "z along joints", "anyhow")

#: What closes the loops: the joints as drawn, balls, universal or cylindrical joints in their
#: place, or welds through links. Slides close where slides are drawn.
CLOSINGS = ("as drawn", "slide", "spherical", "universal", "cylindrical", "weld")

#: Least margin of the exact equations where linkages are judged.
MARGIN = 0.01


@dataclass(frozen=True, eq=False)
class Linkage:
    """A description with its mobility and some closed states.

    Attributes
    ----------
    shape : Shape
    mechanism : Mechanism
        With the numbers of floats. Its loops close at the zero position.
    dof : int
        Without those of a floating base.
    what : str
    size : float [m]
        The longest distance between pins.
    """

    shape: object
    mechanism: Mechanism
    dof: int
    closing: str
    frames: str
    what: str
    size: float

    def exact(self, gravity, base, cut=None, mechanism=None):
        """Its equations, of another description with the same joints if given."""
        whole = self.dof + (6 if base == "floating" else 0)
        return KnownMobility(mechanism or self.mechanism, whole, gravity, base, cut)


def linkage(rng, name, closing="as drawn", frames="anyhow", arm=False, simple_tree=False, other=""):
    """A linkage of a shape, or `None` if its loops cannot be closed in that way.

    Parameters
    ----------
    rng : Generator
    name : str
        Of ``LINKAGES`` or ``STRUCTURES``.
    closing : one of ``CLOSINGS``
    frames : one of ``FRAMES``
    arm : bool
        With one more hinge between it and the ground.
    simple_tree : bool
        Only hinges, slides and balls in the tree, as MJCF has them.
    other : str
        Name of a shape beside it, if any.
    """
    shape = {**LINKAGES, **STRUCTURES}[name](rng)
    shape = beside(shape, LINKAGES[other](rng)) if other else shape
    shape = on_an_arm(shape, rng) if arm else shape
    if frames != "aligned" or rng.random() < 0.5:
        turn = _rotation(rng) if frames != "quarter turns" else _quarters(rng)
        shape = moved(shape, turn, rng.uniform(-0.3, 0.3, 3))
    made = _tree(rng, shape, closing, simple_tree)
    if made is None:
        return None
    tree, cuts = made
    mechanism = _described(rng, shape, tree, cuts, closing, frames)
    points = np.array([pin.point for pin in shape.pins])
    size = float(np.linalg.norm(points[:, None] - points, axis=2).max())
    what = f"{shape.name}, closed by {closing}, frames {frames}, {len(cuts)} loops"
    return Linkage(shape, mechanism, shape.dof, closing, frames, what, size)


# ---- the tree


def _tree(rng, shape, closing, simple_tree):
    """Pins of the tree as (pin, parent, child) from the ground outwards, and those that are cut."""
    pins = list(shape.pins)
    order = [pins[int(k)] for k in rng.permutation(len(pins))]
    if closing == "slide":
        slides = [p for p in pins if p.kind == "prismatic"]
        if not slides:
            return None
        order = [p for p in order if p not in slides] + slides
    else:  # joints of many freedoms close loops, as everybody cuts them
        wanted = {"spherical": 1} if not simple_tree else {"spherical": 1, "universal": -1}
        order.sort(key=lambda p: wanted.get(p.kind, 0))
        if closing in shape.loose:
            order.sort(key=lambda p: p.kind != "prismatic" or shape.loops == len(pins))
    if closing in ("spherical", "universal", "cylindrical") and closing not in shape.loose:
        return None
    group, kept = {link: link for link in shape.links}, []
    for pin in order:
        one, other = (group[n] for n in pin.links)
        if one != other:
            kept.append(pin)
            group = {k: one if v == other else v for k, v in group.items()}
    cuts = [pin for pin in pins if pin not in kept]
    if closing in shape.loose and any(p.kind != "revolute" for p in cuts):
        return None
    tree, reached, waiting = [], {shape.links[0]}, list(kept)
    while waiting:
        pin = next(p for p in waiting if reached & {*p.links})
        parent, child = pin.links if pin.links[0] in reached else pin.links[::-1]
        reached.add(child)
        waiting.remove(pin)
        tree.append((pin, parent, child))
    if simple_tree and any(p.kind == "universal" for p, _, _ in tree):
        return None
    return tree, cuts


# ---- frames and records


def _described(rng, shape, tree, cuts, closing, frames):
    X = {shape.links[0]: _frame(rng, frames, rng.uniform(-0.2, 0.2, 3), None)}
    links, joints, loops = [_link(rng, shape.links[0], X, shape)], [], []
    for pin, parent, child in tree:
        along = pin.axis if pin.kind in ("revolute", "prismatic") else None
        X[child] = _frame(rng, frames, pin.point, along)
        links.append(_link(rng, child, X, shape))
        joints.append(_joint(pin, parent, child, X))
    for pin in cuts:
        kind = closing if closing in shape.loose else pin.kind
        if closing == "weld":
            other = _weld_through(rng, pin, X, links, joints, loops)
            X.update(other)
        else:
            loops.append(_loop(rng, pin, kind, X, frames))
    return Mechanism(
        shape.name.replace(" ", "_").replace(",", ""), tuple(links), tuple(joints), tuple(loops)
    )


def _frame(rng, frames, point, axis):
    """Pose (4, 4) of a link in the world where it is drawn; its origin is at the joint."""
    X = np.eye(4)
    X[:3, 3] = point
    if frames == "quarter turns":
        X[:3, :3] = _quarters(rng)
    elif frames == "z along joints" and axis is not None:
        X[:3, :3] = _with_z(axis, rng.uniform(-np.pi, np.pi))
    elif frames != "aligned":
        X[:3, :3] = _rotation(rng)
    if axis is not None and frames == "anyhow":  # anywhere on the axis
        X[:3, 3] += rng.uniform(-0.05, 0.05) * axis
    return X


def _joint(pin, parent, child, X):
    X_PC = np.linalg.inv(X[parent]) @ X[child]
    R = X[child][:3, :3]
    second = R.T @ pin.axis2 if pin.axis2 is not None else (0.0, 1.0, 0.0)
    axis, axis2 = (tuple(float(c) for c in a) for a in (R.T @ pin.axis, second))
    return Joint(pin.name, pin.kind, parent, child, pose_from(X_PC), axis, axis2)


def _loop(rng, pin, kind, X, frames):
    predecessor, successor = pin.links if rng.random() < 0.5 else pin.links[::-1]
    X_WF = _frame(rng, frames, pin.point, pin.axis if kind != "spherical" else None)
    X_WG, axis = X_WF.copy(), X_WF[:3, :3].T @ pin.axis
    if kind == "spherical":
        X_WG = _frame(rng, frames, pin.point, None)
    elif kind in ("revolute", "cylindrical") and frames == "anyhow":
        X_WG[:3, :3] = about(pin.axis, rng.uniform(-np.pi, np.pi)) @ X_WF[:3, :3]
    if kind == "cylindrical":
        X_WG[:3, 3] += rng.uniform(-0.05, 0.05) * pin.axis
    second = pin.axis2 if pin.axis2 is not None else _across(pin.axis, rng)
    ends = [pose_from(np.linalg.inv(X[n]) @ Y) for n, Y in ((predecessor, X_WF), (successor, X_WG))]
    axes = (tuple(float(c) for c in a) for a in (axis, X_WF[:3, :3].T @ second))
    return Loop(pin.name, kind, predecessor, successor, *ends, *axes)


def _weld_through(rng, pin, X, links, joints, loops):
    """The joint goes into the tree with half a link, which a weld holds to the other half."""
    keeps, halved = pin.links if rng.random() < 0.5 else pin.links[::-1]
    half = f"{halved}_{pin.name}_half"
    frame = _frame(rng, "anyhow", pin.point, None)
    place = {half: frame}
    k = next(i for i, link in enumerate(links) if link.name == halved)
    body = links[k].inertia
    X_H = np.linalg.inv(frame) @ X[halved]
    share = float(rng.uniform(0.3, 0.7))
    com = (X_H @ origin(body.origin))[:3, 3]
    R = X_H[:3, :3] @ origin(body.origin)[:3, :3]
    J = R @ inertia_matrix(body) @ R.T
    links.append(Link(half, inertia_from(share * body.mass, com, share * J)))
    names = [f"i{a}" for a in ("xx", "xy", "xz", "yy", "yz", "zz")]
    rest = {name: (1 - share) * getattr(body, name) for name in names}
    links[k] = Link(halved, dataclasses.replace(body, mass=(1 - share) * body.mass, **rest))
    joints.append(_joint(pin, keeps, half, {**X, **place}))
    X_WF = _frame(rng, "anyhow", pin.point + rng.uniform(-0.1, 0.1, 3), None)
    ends = [pose_from(np.linalg.inv(Y) @ X_WF) for Y in (frame, X[halved])]
    loops.append(Loop(f"{pin.name}_weld", "fixed", half, halved, *ends))
    return place


def _link(rng, name, X, shape):
    """A body around the middle of its pins."""
    points = np.array([pin.point for pin in shape.pins if name in pin.links])
    middle = points.mean(axis=0) + rng.uniform(-0.03, 0.03, 3)
    com = (np.linalg.inv(X[name]) @ [*middle, 1.0])[:3]
    body = random_inertia(rng)
    return Link(name, inertia_from(body.mass, com, 0.02 * inertia_matrix(body)))


# ---- rotations


def _rotation(rng):
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q if np.linalg.det(Q) > 0 else -Q


def _quarters(rng):
    R = np.eye(3)[rng.permutation(3)] * rng.choice([-1.0, 1.0], 3)
    return R if np.linalg.det(R) > 0 else -R


def _with_z(axis, angle):
    x = np.cross((0.3, 0.7, 0.2), axis)
    x /= np.linalg.norm(x)
    R = np.column_stack([x, np.cross(axis, x), axis])
    c, s = np.cos(angle), np.sin(angle)
    return R @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def about(axis, angle):
    """Rotation (3, 3) about a unit vector."""
    x, y, z = axis
    N = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * N + (1.0 - np.cos(angle)) * N @ N


def _across(axis, rng):
    x = np.cross(axis, rng.normal(size=3))
    return x / np.linalg.norm(x)
