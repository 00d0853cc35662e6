"""Rings of hinges that move though counting says that they cannot, at poses without symmetry.

Each is given by its hinge axes (point, direction) at zero position, where all frames are parallel.
"""

import numpy as np
from support.random_mechanisms import random_inertia

from robodyn.description import Joint, Link, Loop, Mechanism, Pose

X, Y, Z = np.eye(3)


def turned(axes, seed=0):
    """The same axes at an arbitrary pose."""
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    p = rng.normal(size=3)
    return [(Q @ np.asarray(point, float) + p, Q @ np.asarray(axis, float)) for point, axis in axes]


def parallel(points):
    """Planar linkages in space."""
    return [((x, y, 0.3 * k), Z) for k, (x, y) in enumerate(points)]


def spherical(directions):
    """Hinges through one point, at different distances from it."""
    axes = [np.asarray(u, float) / np.linalg.norm(u) for u in directions]
    return [((0.4 + 0.3 * k) * u, u) for k, u in enumerate(axes)]


def sarrus():
    """Three parallel hinges, and three parallel ones across."""
    one = [((0.0, y, z), X) for y, z in ((0.0, 0.0), (0.3, 0.6), (0.0, 1.2))]
    other = [((x, 0.1, z), Y) for x, z in ((1.0, 1.2), (1.4, 0.5), (0.9, 0.0))]
    return one + other


def bennett(a=0.7, alpha=1.1, beta=0.6, theta=1.0):
    """Opposite links are alike, and lengths go with the sines of twists [Bennett 1903]."""
    b = a * np.sin(beta) / np.sin(alpha)
    other = 2.0 * np.arctan(
        np.sin(0.5 * (beta + alpha)) / np.sin(0.5 * (beta - alpha)) / np.tan(0.5 * theta)
    )
    angles = theta, other, 2.0 * np.pi - theta, 2.0 * np.pi - other
    return chain(angles, (a, b, a, b), (alpha, beta, alpha, beta))


def chain(angles, lengths, twists):
    """Axes of a chain by Denavit and Hartenberg, without offsets."""
    H, axes = np.eye(4), []
    for theta, a, alpha in zip(angles, lengths, twists, strict=True):
        axes.append((H[:3, 3].copy(), H[:3, 2].copy()))
        c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
        H = H @ np.array(
            [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, 0], [0, 0, 0, 1]]
        )
    np.testing.assert_allclose(H, np.eye(4), atol=1e-12)
    return axes


def line_symmetric(seed):
    """Three hinges at random, and the same turned by half a turn about a line [Bricard 1897]."""
    rng = np.random.default_rng(seed)
    half = [(p, u / np.linalg.norm(u)) for p, u in rng.normal(size=(3, 2, 3))]
    turn = np.diag([-1.0, -1.0, 1.0])
    return half + [(turn @ p, turn @ u) for p, u in half]


def plane_symmetric(seed):
    """Two hinges at random, the same in a mirror, and one in the mirror on either side."""
    rng = np.random.default_rng(seed)
    one, two = ((p, u / np.linalg.norm(u)) for p, u in rng.normal(size=(2, 2, 3)))
    mirror = np.diag([-1.0, 1.0, 1.0])
    ends = [np.array([0.0, *x]) for x in rng.normal(size=(4, 2))]
    first, last = ((p, u / np.linalg.norm(u)) for p, u in (ends[:2], ends[2:]))
    # a mirror turns the sense of a rotation round
    image = [(mirror @ p, -(mirror @ u)) for p, u in (two, one)]
    return [first, one, two, last, *image]


#: Axes, and degrees of freedom.
RINGS = {
    "parallelogram": (parallel([(0, 0), (0.2, 0.8), (1.2, 0.8), (1, 0)]), 1),
    "five_bar": (parallel([(0, 0), (-0.3, 0.6), (0.4, 1.2), (1.2, 0.7), (1, 0)]), 2),
    "spherical_four_bar": (spherical([(1, 0, 0.1), (1, 0.5, 0), (0.2, 1, 0.6), (0, 0.3, 1)]), 1),
    "spherical_five_bar": (
        spherical([(1, 0, 0.1), (1, 0.6, -0.2), (0.4, 1, 0.3), (0.1, 0.8, 1), (0, 0, 1)]), 2,
    ),
    "sarrus": (sarrus(), 1),
    "bennett": (bennett(), 1),
    "line_symmetric": (line_symmetric(1), 1),
    "plane_symmetric": (plane_symmetric(1), 1),
}  # fmt: skip


def ring(name, cut=-1, seed=0):
    """One of them, cut at a hinge; motors are on the first hinges after the cut."""
    axes, dof = RINGS[name]
    axes = turned(axes, seed)
    first = (cut + 1) % len(axes)
    return closed(name, [axes[first:] + axes[:first]], dof, seed)


def two_rings(name):
    """Two of them with one degree of freedom each; the second hangs on a link of the first."""
    axes, dof = RINGS[name]
    return closed(name, [turned(axes, 1), turned(axes, 2)], dof, 0)


def closed(name, all_axes, dof, seed):
    """A mechanism of rings, and the names of the joints with motors."""
    rng = np.random.default_rng(seed)
    links, joints, loops, motors = [Link("ground", random_inertia(rng))], [], [], []
    ground, origin = "ground", np.zeros(3)
    for n, axes in enumerate(all_axes):
        parent, at = ground, origin
        for k, (p, u) in enumerate(axes[:-1]):
            joint, link = f"hinge{n}_{k}", f"link{n}_{k}"
            place = Pose(vector(p - at))
            joints.append(Joint(joint, "continuous", parent, link, place, vector(u)))
            links.append(Link(link, random_inertia(rng)))
            parent, at = link, p
        p, u = axes[-1]
        ends = Pose(vector(p - at)), Pose(vector(p - origin))
        loops.append(Loop(f"pin{n}", "revolute", parent, ground, *ends, vector(u)))
        motors += [f"hinge{n}_{k}" for k in range(dof)]
        ground, origin = f"link{n}_1", axes[1][0]
    return Mechanism(name, tuple(links), tuple(joints), tuple(loops)), motors


def vector(x):
    return tuple(float(c) for c in x)
