"""Joints that follow others, and joints that are held at a position."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping

from robodyn.description import Joint, Mimic, Pose
from robodyn.description.curve import Linear, Polynomial
from robodyn.description.explicit_loop import TracedExplicitLoop
from robodyn.joints import fixed, joint_kind
from robodyn.joints.common.described import described_pose
from robodyn.tolerances import SAME_POSITION

__all__ = ["RelatedJoints"]


class RelatedJoints:
    """Joints to which relations are added, one after the other."""

    def __init__(self, joints: Iterable[Joint]) -> None:
        self._joints = {joint.name: joint for joint in joints}
        self._held: dict[str, float] = {}
        self._laws: dict[str, tuple[tuple[str, ...], Polynomial | Linear]] = {}

    @property
    def followers(self) -> tuple[TracedExplicitLoop, ...]:
        """Joints that follow others by polynomials, or several others."""
        return tuple(TracedExplicitLoop.of_curve(name, *of) for name, of in self._laws.items())

    @property
    def held(self) -> dict[str, float]:
        """Where joints are held."""
        return dict(self._held)

    @property
    def joints(self) -> tuple[Joint, ...]:
        """All joints, in the order in which they were given."""
        return tuple(self._joints.values())

    def relate(self, one: str, other: str, ratio: float, offset: float) -> str | None:
        """Demand ``q = ratio q' + offset`` of two joints; why it cannot be, or ``None``."""
        if one in self._held:
            return self.hold(other, (self._held[one] - offset) / ratio)
        if other in self._held:
            return self.hold(one, ratio * self._held[other] + offset)
        if self._follow(one, other, ratio, offset):
            return None
        if self._follow(other, one, 1.0 / ratio, -offset / ratio):
            return None
        return f"joints {one!r} and {other!r} follow others already, or each other in a circle"

    def follow(self, one: str, other: str, curve: Polynomial) -> str | None:
        """Demand ``q = curve(q')`` of two joints; why it cannot be, or ``None``."""
        if other in self._held:
            return self.hold(one, float(curve(self._held[other])))
        if one in self._held:
            return f"joint {other!r} leads joint {one!r}, which is held, by a polynomial"
        if self._follows(one) or self._leads_to(other, one):
            return f"joint {one!r} follows others already, or leads joint {other!r}"
        self._laws[one] = (other,), curve
        return None

    def sum(self, factors: Mapping[str, float], total: float) -> str | None:
        """Demand ``sum of c q = total`` of joints; why it cannot be, or ``None``."""
        total -= sum(c * self._held[name] for name, c in factors.items() if name in self._held)
        factors = {name: c for name, c in factors.items() if name not in self._held and c}
        names = [*factors]
        if len(names) < 2:
            one = next(iter(names), None)
            if one is not None:
                return self.hold(one, total / factors[one])
            return None if abs(total) <= SAME_POSITION else "the joints are held elsewhere"
        if len(names) == 2:
            first, second = factors.values()
            return self.relate(*names, -second / first, total / first)
        for name in names:
            others = [x for x in names if x != name]
            if not self._follows(name) and not any(self._leads_to(x, name) for x in others):
                c = factors[name]
                law = Linear(tuple(-factors[x] / c for x in others), total / c)
                self._laws[name] = tuple(others), law
                return None
        return f"joints {', '.join(map(repr, names))} follow others already, or one another"

    def hold(self, name: str, position: float) -> str | None:
        """Make a joint a fixed one, and all that are related to it; why it cannot be, or `None`."""
        if name in self._held:
            there = math.isclose(self._held[name], position, abs_tol=SAME_POSITION)
            return None if there else f"joint {name!r} is held at two positions"
        if name in self._laws:
            masters, law = self._laws[name]
            how = "as a sum" if isinstance(law, Linear) else "by a polynomial"
            return f"joint {name!r} follows {', '.join(map(repr, masters))} {how}, and is held"
        joint = self._joints[name]
        self._held[name] = position
        X = joint.origin.matrix @ described_pose(joint_kind(joint.kind), joint, (position,))
        self._joints[name] = Joint(
            name, fixed.KIND.name, joint.parent, joint.child, Pose.from_matrix(X)
        )
        reasons = []
        if joint.mimic is not None:
            at = (position - joint.mimic.offset) / joint.mimic.multiplier
            reasons.append(self.hold(joint.mimic.joint, at))
        for follower in self.joints:
            if follower.mimic is not None and follower.mimic.joint == name:
                at = follower.mimic.multiplier * position + follower.mimic.offset
                reasons.append(self.hold(follower.name, at))
        for follows, (masters, law) in [*self._laws.items()]:
            if name in masters:
                del self._laws[follows]
                if isinstance(law, Linear):
                    own = dict(zip(masters, law.coefficients, strict=True))
                    reasons.append(self.sum({follows: 1.0} | _negative(own), law.offset))
                else:
                    reasons.append(self.hold(follows, float(law(position))))
        return next((reason for reason in reasons if reason), None)

    def _follow(self, name: str, master: str, ratio: float, offset: float) -> bool:
        """Let a joint follow another, if it follows none and the other does not follow it."""
        joint = self._joints[name]
        if self._follows(name) or self._leads_to(master, name):
            return False
        self._joints[name] = dataclasses.replace(joint, mimic=Mimic(master, ratio, offset))
        return True

    def _follows(self, name: str) -> bool:
        return self._joints[name].mimic is not None or name in self._laws

    def _leads_to(self, name: str, target: str) -> bool:
        """Whether a joint follows the target by way of others, or is the target."""
        if name == target or not self._follows(name):
            return name == target
        mimic = self._joints[name].mimic
        masters = (mimic.joint,) if mimic is not None else self._laws[name][0]
        return any(self._leads_to(master, target) for master in masters)


def _negative(factors: Mapping[str, float]) -> dict[str, float]:
    return {name: -c for name, c in factors.items()}
