"""Joints that follow others as equality constraints of joints and of fixed tendons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robodyn.description import Coupling, Mechanism
from robodyn.description.couplings import branches
from robodyn.description.curve import Linear, Polynomial
from robodyn.joints import helical
from robodyn.urdf.mjcf.writing.document import Document, add
from robodyn.urdf.mjcf.writing.motions import Motion

#: Degree of the polynomials by which joints of MuJoCo follow others.
DEGREE = 4


class Relations:
    """Relations between the motions of a document."""

    def __init__(self, document: Document, motions: Mapping[str, Motion]) -> None:
        self._document, self._motions = document, motions

    def add_all(self, mechanism: Mechanism) -> None:
        """Add mimics, followers, couplings, and the advances of screws."""
        for motion in self._motions.values():
            if motion.follows:
                pitch = motion.joint.constants[helical.PITCH.name]
                self._follow(motion.name, motion.joint.name, (0.0, pitch))
        for joint in mechanism.joints:
            if joint.mimic is not None:
                law = joint.mimic.offset, joint.mimic.multiplier
                self._follow(joint.name, joint.mimic.joint, law)
        for follower in mechanism.followers:
            curve, (name,) = follower.curve, follower.dependent
            if isinstance(curve, Polynomial):
                self._follow(name, follower.independent[0], curve.coefficients)
            elif isinstance(curve, Linear):
                factors = (-factor for factor in curve.coefficients)
                terms = dict(zip(follower.independent, factors, strict=True))
                self._hold(follower.name, {name: 1.0} | terms, curve.offset)
        for coupling in mechanism.couplings:
            self._couple(mechanism, coupling)

    def _follow(self, name: str, other: str, law: Sequence[float]) -> None:
        """``q - ref = polynomial(q' - ref')``."""
        ref, start = self._motions[name].position, self._motions[other].position
        shifted = np.polynomial.Polynomial(law)(np.polynomial.Polynomial([start, 1.0])) - ref
        coefficients = np.zeros(DEGREE + 1)
        coefficients[: len(shifted.coef)] = shifted.coef
        values = {"joint1": name, "joint2": other, "polycoef": coefficients}
        self._document.add("equality/joint", name=f"{name}_law", **values)

    def _couple(self, mechanism: Mechanism, coupling: Coupling) -> None:
        over, under = branches(mechanism, coupling)
        terms = dict.fromkeys(over, 1.0) | dict.fromkeys(under, -coupling.ratio)
        self._hold(coupling.name, terms, coupling.offset)

    def _hold(self, name: str, terms: Mapping[str, float], total: float) -> None:
        """``sum of c q = total``, as a fixed tendon whose length is held."""
        tendon = add_sum(self._document, name, terms)
        drawn = sum(c * self._motions[joint].position for joint, c in terms.items())
        values = {"tendon1": tendon, "polycoef": (total - drawn, 0, 0, 0, 0)}
        self._document.add("equality/tendon", name=f"{name}_held", **values)


def add_sum(document: Document, name: str, terms: Mapping[str, float], **values: object) -> str:
    """Add a fixed tendon, a sum of positions of joints, and return its name."""
    tendon = document.add("tendon/fixed", name=name, **values)
    for joint, factor in terms.items():
        add(tendon, "joint", joint=joint, coef=float(factor))
    return str(tendon.get("name"))
