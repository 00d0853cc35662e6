"""Bodies that slide along an axis, whose motions are known by hand."""

import robodyn as rd
from robodyn.description import Inertia, Joint, Limits, Link, Mechanism

X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def slides(*masses, joint="x", link="b", axis=X, limits=(-9.0, 9.0), stacked=False, **options):
    """A robot of bodies on slides from the ground, or each on the one before (``stacked``).

    ``joint`` and ``link``: names, with ``{}`` for the number of one of several. ``limits``: lower,
    upper, speed and effort. Options are fields of the joints, or of `rd.load`.
    """
    more = {x: options.pop(x) for x in ("damping", "friction", "stiffness", "rest") if x in options}
    links, joints = [Link("ground")], []
    for k, mass in enumerate(masses):
        under = links[-1].name if stacked else "ground"
        ends = under, link.format(k)
        joints.append(
            Joint(joint.format(k), "prismatic", *ends, axis=axis, limits=Limits(*limits), **more)
        )
        links.append(Link(ends[1], Inertia(mass, ixx=1.0, iyy=1.0, izz=1.0)))
    return rd.load(Mechanism("sliders", tuple(links), tuple(joints)), **options)


def hopper():
    """A body of 2 kg that slides up and down on a cart without mass."""
    body = Link("body", Inertia(2.0, ixx=1.0, iyy=1.0, izz=1.0))
    joints = (
        Joint("x", "prismatic", "ground", "cart", axis=X, limits=Limits(-9.0, 9.0)),
        Joint("z", "prismatic", "cart", "body", axis=Z, limits=Limits(-9.0, 9.0)),
    )
    return rd.load(Mechanism("hopper", (Link("ground"), Link("cart"), body), joints))
