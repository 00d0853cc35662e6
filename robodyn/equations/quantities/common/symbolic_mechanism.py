"""A mechanism of which lengths, angles, masses, inertias and resistances are symbols.

The frames of the equations stay where they are for the robot's own numbers; what a symbol moves is
displaced in them. Inertias that depend on no symbol are regrouped as without symbols; what a body
with symbols has stays on it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Inertia, Joint, Loop, Pose
from robodyn.description.symbols import Symbols
from robodyn.equations.loops.closure_rows import Closure
from robodyn.equations.mechanism.bodies import BASE, Body, MechanismModel, with_spinning
from robodyn.equations.mechanism.frames import placement, rotation, vector
from robodyn.equations.mechanism.lumping import moved, parted, rigid
from robodyn.equations.mechanism.rotors import Armature
from robodyn.errors import SettingsError
from robodyn.force_elements import element_numbers
from robodyn.force_elements.common.link_element import LinkElement
from robodyn.joints.common.kind import JointKind
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.scalar import Number, Scalar
from robodyn.symbolic.spatial import Placement, RigidInertia
from robodyn.symbolic.symbol import Symbol
from robodyn.symbolic.vector import ZERO3, Rotation, Sym3, Vec3
from robodyn.tolerances import FRAME_ROUNDING

#: Second moments of bodies of which one element of the inertia is one, and the others zero.
_UNITS = {
    "ixx": Sym3(-0.5, 0.0, 0.0, 0.5, 0.0, 0.5),
    "iyy": Sym3(0.5, 0.0, 0.0, -0.5, 0.0, 0.5),
    "izz": Sym3(0.5, 0.0, 0.0, 0.5, 0.0, -0.5),
    "ixy": Sym3(0.0, -1.0, 0.0, 0.0, 0.0, 0.0),
    "ixz": Sym3(0.0, 0.0, -1.0, 0.0, 0.0, 0.0),
    "iyz": Sym3(0.0, 0.0, 0.0, 0.0, -1.0, 0.0),
}


class SymbolicMechanism:
    """A mechanism with symbols in the places of numbers that have names.

    closures: Joints that were cut.
    numbers: What takes the place of each.
    """

    def __init__(
        self,
        model: MechanismModel,
        closures: Sequence[Closure],
        symbols: Symbols,
        numbers: Mapping[str, Number],
    ) -> None:
        mechanism, cut = symbols.mechanism, {closure.name for closure in closures}
        self._given, self._closures, self._numbers = model, closures, numbers
        self._joints = {joint.name: joint for joint in mechanism.joints}
        self._parents = {x.child: x for x in mechanism.joints if x.name not in cut}
        self._inertias = {link.name: link.inertia for link in mechanism.links if link.inertia}
        self._loops = {loop.name: loop for loop in mechanism.loops}
        self._elements = mechanism.link_elements

    def model(self) -> MechanismModel:
        """Bodies with symbols."""
        self._refuse_turned_rotors()
        given = self._given
        known = replace(
            given,
            bodies=tuple(map(self._body, given)),
            base_inertia=self._inertia(BASE) or given.base_inertia,
            armature=self._armature(),
        )
        if given.regrouping is None:
            return replace(known, lumped_armature=known.armature, lumped_rotors=known.rotors)
        return self._regrouped(known)

    def _regrouped(self, model: MechanismModel) -> MechanismModel:
        """A model whose inertias are counted on parents where they may be."""
        given = self._given
        assert given.regrouping is not None
        known, frames, spinning = [*given.regrouping.own], given.regrouping.frames, {}
        symbolic = [self._inertia(body.index) for body in given]
        no_rotors = {body.parent for body in given} | given.following
        bodies = [*model.bodies]
        for i, own in enumerate(symbolic):
            known[i] = known[i] if own is None else np.zeros((4, 4))
        for i, body in reversed([*enumerate(given)]):
            kind, moves = body.joint.kind, self._displacement_of_joint(body)
            own = symbolic[i]
            if own is None and moves is None:
                known[i], shared, spin = parted(kind, known[i], i not in no_rotors)
                lumped = rigid(known[i])
                if body.parent != BASE:
                    known[body.parent] = known[body.parent] + moved(shared, frames[i])
                if spin is not None and np.any(spin):
                    spinning[i] = spin
            else:
                whole = rigid(known[i]) if own is None else own + rigid(known[i])
                lumped, beyond = _parted(kind, whole)
                if body.parent != BASE:
                    X = placement(frames[i], FRAME_ROUNDING)
                    moved_there = beyond.in_parent(moves.moved(X) if moves else X)
                    before = symbolic[body.parent]
                    symbolic[body.parent] = moved_there if before is None else before + moved_there
            bodies[i] = replace(bodies[i], lumped=lumped)
        return with_spinning(replace(model, bodies=tuple(bodies)), spinning)

    def link(self, name: str) -> Placement:
        """Frame of a link on its body."""
        X = placement(self._given.frames[name][1], FRAME_ROUNDING)
        moves = self._displacement_of_link(name)
        return X if moves is None else moves.moved(X)

    def link_elements(self, elements: Sequence[LinkElement]) -> tuple[LinkElement, ...]:
        """Force elements between links, with symbols."""
        return tuple(map(self._with_numbers, self._elements)) if elements else ()

    def closures(self) -> tuple[Closure, ...]:
        """Joints that were cut, with symbols."""
        return tuple(map(self._closure, self._closures))

    def _closure(self, closure: Closure) -> Closure:
        loop, joint = self._loops.get(closure.name), self._joints.get(closure.name)
        if loop is not None:
            ends = (loop.predecessor, loop.X_predecessor), (loop.successor, loop.X_successor)
        elif joint is not None:
            ends = (joint.parent, joint.origin), (joint.child, Pose())
        else:
            return closure
        frames = []
        for X, (link, origin) in zip((closure.X_PF, closure.X_SG), ends, strict=True):
            moves = self._displacement(link, origin)
            frames.append(X if moves is None else moves.moved(X))
        for name in ("armature", "stiffness", "stop_stiffness"):
            if isinstance(getattr(loop or joint, name, 0.0), Symbol):
                raise SettingsError(
                    f"joint {closure.name!r} is cut to close a loop, as its {name} is zero, which "
                    "has a name: give it another value, with which the joint stays"
                )
        resisting = self._resistance(closure, loop or joint, ("damping", "friction"))
        return replace(closure, X_PF=frames[0], X_SG=frames[1], **resisting)

    def _number(self, x: float) -> Number:
        return x.of(self._numbers) if isinstance(x, Symbol) else x

    def _with_numbers(self, item: Any) -> Any:
        """A part of a description with symbols, which nobody checks."""
        if isinstance(item, tuple):
            return tuple(map(self._with_numbers, item))
        if not is_dataclass(item):
            return self._number(item)
        other = copy.copy(item)
        for field in fields(item):
            object.__setattr__(other, field.name, self._with_numbers(getattr(item, field.name)))
        return other

    def _displacement_of_joint(self, body: Body) -> Displacement | None:
        """Where symbols move the joint of a body on its parent; None without symbols."""
        joint = self._joints.get(body.description.name)
        return None if joint is None else self._displacement(joint.parent, joint.origin)

    def _displacement_of_link(self, link: str) -> Displacement | None:
        """Where symbols move the frame of a link on its body; None without symbols."""
        joint, frames = self._parents.get(link), self._given.frames
        if joint is None or frames[joint.parent][0] != frames[link][0]:
            return None
        return self._displacement(joint.parent, joint.origin)

    def _displacement(self, link: str, origin: Pose) -> Displacement | None:
        """The same of a frame at a pose in the frame of a link."""
        before = self._displacement_of_link(link)
        own = displacement(self._given.frames[link][1], origin, self._number)
        if own is None:
            return before
        self._refuse_backward()
        return own.after(before)

    def _body(self, body: Body) -> Body:
        described, geometry = self._joints.get(body.description.name), body.joint
        moves = self._displacement_of_joint(body)
        if moves:
            geometry = replace(geometry, X_PJ=moves.moved(geometry.X_PJ))
        inertia = self._inertia(body.index) or body.inertia
        joint = self._joint(body.description, described or body.description)
        return replace(body, joint=geometry, inertia=inertia, lumped=inertia, description=joint)

    def _armature(self) -> tuple[Armature, ...]:
        """Inertias of rotors at their joints; what motors add to them stays."""
        inertias: dict[int, Any] = {x.body: x.inertia for x in self._given.armature}
        for body in self._given:
            described = self._joints.get(body.description.name)
            if described is not None and isinstance(described.armature, Symbol):
                of_motor = inertias.get(body.index, 0.0) - float(described.armature)
                inertias[body.index] = self._number(described.armature) + of_motor
        return tuple(Armature(i, inertias[i]) for i in sorted(inertias))

    def _joint(self, joint: Joint, described: Joint) -> Joint:
        """A joint whose resistances are symbols, which nobody checks."""
        found = self._resistance(joint, described, element_numbers(joint))
        if described.limits is not None:
            found["limits"] = self._with_numbers(described.limits)
        if not found:
            return joint
        other = copy.copy(joint)
        for name, number in found.items():
            object.__setattr__(other, name, number)
        return other

    def _resistance(
        self, known: Joint | Closure, described: Joint | Loop | None, names: Sequence[str]
    ) -> dict[str, Any]:
        """Numbers of a joint that are symbols; what its motor adds to them stays."""
        found = {}
        for name in names:
            given = getattr(described, name, 0.0)
            if isinstance(given, Symbol):
                of_motor = float(getattr(known, name)) - float(given)
                found[name] = self._number(given) + of_motor
        return found

    def _inertia(self, index: int) -> RigidInertia | None:
        """Inertia of a body, if one of its links has a symbol or is moved by one; else None."""
        links = [x for x in self._inertias if self._given.frames[x][0] == index]
        if not any(_has_symbols(self._inertias[x]) or self._displacement_of_link(x) for x in links):
            return None
        total = RigidInertia(0.0, ZERO3, Sym3.zero())
        for link in links:
            total = total + self._rigid(self._inertias[link], self.link(link))
        return total

    def _rigid(self, inertia: Inertia, X: Placement) -> RigidInertia:
        """Inertia of a link on its body: what is known is summed up in numbers."""
        axes = X.R @ rotation(inertia.origin.matrix[:3, :3], FRAME_ROUNDING)
        S: list[Number] = [0.0] * 6
        for name, unit in _UNITS.items():
            own = self._number(getattr(inertia, name))
            S = [x + _clean(y) * own for x, y in zip(S, axes.turn(unit), strict=True)]
        p = Vec3(*map(_clean, X.R * Vec3(*map(self._number, inertia.origin.xyz)) + X.p))
        m = self._number(inertia.mass)
        h = p * m
        shift = (h.x * p.x, h.x * p.y, h.x * p.z, h.y * p.y, h.y * p.z, h.z * p.z)
        return RigidInertia(m, h, Sym3(*(x + y for x, y in zip(S, shift, strict=True))))

    def _refuse_turned_rotors(self) -> None:
        """Refuse angles that turn axes of rotors, which their carriers feel."""
        for rotor in self._given.rotors:
            body = self._given.bodies[rotor.body]
            links = [x for x, (i, _) in self._given.frames.items() if i == rotor.carrier]
            moves = [self._displacement_of_joint(body), *map(self._displacement_of_link, links)]
            if any(x is not None and x.turn is not None for x in moves):
                raise SettingsError(
                    f"an angle that turns the rotor of joint {body.description.name!r} is a "
                    "symbol: load the robot with rotor_model='armature', or give the angle no name"
                )

    def _refuse_backward(self) -> None:
        """Refuse lengths of mechanisms with joints that are followed backwards."""
        frames = self._given.frames
        for body in self._given:
            joint = self._joints.get(body.description.name)
            if joint is not None and frames[joint.child][0] != body.index:
                raise SettingsError(
                    f"joint {joint.name!r} is followed from its child to its parent, and lengths "
                    "of the mechanism are symbols: describe it from the base outwards"
                )


def _has_symbols(inertia: Inertia) -> bool:
    numbers = (inertia.mass, inertia.ixx, inertia.ixy, inertia.ixz, inertia.iyy, inertia.iyz)
    return any(isinstance(x, Symbol) for x in (*numbers, inertia.izz, *inertia.origin.xyz))


def _parted(kind: JointKind, inertia: RigidInertia) -> tuple[RigidInertia, RigidInertia]:
    """What a body keeps of its inertia, and what moves with its parent as well."""
    h, S, of_mass = inertia.h, inertia.S, 3 in kind.unmoved
    one = [k in kind.unmoved for k in range(3)]
    first, second = [*h], [*S]
    moves_first = [x and of_mass for x in one]
    moves_second = [one[i] and one[j] for i in range(3) for j in range(i, 3)]

    def part(wanted: bool) -> RigidInertia:
        own = [x if there is wanted else 0.0 for x, there in zip(first, moves_first, strict=True)]
        two = [x if there is wanted else 0.0 for x, there in zip(second, moves_second, strict=True)]
        return RigidInertia(inertia.m if of_mass is wanted else 0.0, Vec3(*own), Sym3(*two))

    return part(False), part(True)


def _clean(x: Number) -> Number:
    """A number, which is zero if it is known and nothing but rounding of a frame."""
    return x if isinstance(x, Scalar) or abs(x) > FRAME_ROUNDING else 0.0


@dataclass(frozen=True, eq=False)
class Displacement:
    """Where symbols move what is beyond a joint, in the axes of the body that carries the joint.

    A point at ``p`` is moved to ``turn back (p - center) + at + symbolic``. So lengths cost a sum
    where no angle is a symbol.

    center, at (3,) [m]
    symbolic [m]
    turn: None: nothing is turned.
    back (3, 3): The inverse of the turn for known numbers.
    """

    center: FloatArray
    at: FloatArray
    symbolic: Vec3
    turn: Rotation | None
    back: FloatArray

    def moved(self, X: Placement) -> Placement:
        """A known frame, moved."""
        p = np.array([*X.p], float)
        if self.turn is None:
            return Placement(X.R, vector(p - self.center + self.at, FRAME_ROUNDING) + self.symbolic)
        R = np.array([[*row] for row in X.R.matrix.rows()], float)
        arm = self.turn * vector(self.back @ (p - self.center), FRAME_ROUNDING)
        place = arm + vector(self.at, FRAME_ROUNDING) + self.symbolic
        return Placement(self.turn @ rotation(self.back @ R, FRAME_ROUNDING), place)

    def after(self, before: Displacement | None) -> Displacement:
        """The displacement of a joint that another one has moved."""
        if before is None:
            return self
        at = self.at - before.center
        if before.turn is None:
            symbolic = before.symbolic + self.symbolic
            return Displacement(self.center, at + before.at, symbolic, self.turn, self.back)
        known = rotation(before.back, FRAME_ROUNDING)
        arm = vector(before.back @ at, FRAME_ROUNDING) + known * self.symbolic
        symbolic = before.turn * arm + before.symbolic
        if self.turn is None:
            return Displacement(self.center, before.at, symbolic, before.turn, before.back)
        turn = before.turn @ known @ self.turn
        return Displacement(self.center, before.at, symbolic, turn, self.back)


def displacement(
    X: FloatArray, origin: Pose, number: Callable[[float], Number]
) -> Displacement | None:
    """How symbols in a pose move the frame there; None without symbols.

    X (4, 4): Frame of the link that the pose is in, on its body.
    number: What takes the place of a number.
    """
    lengths, angles = ([isinstance(x, Symbol) for x in given] for given in (origin.xyz, origin.rpy))
    if not any(lengths) and not any(angles):
        return None
    R = X[:3, :3]
    x, y, z = (number(x) if named else 0.0 for x, named in zip(origin.xyz, lengths, strict=True))
    known = R @ np.where(lengths, origin.xyz, 0.0)
    symbolic = rotation(R, FRAME_ROUNDING) * Vec3(x, y, z)
    if not any(angles):
        return Displacement(known, np.zeros(3), symbolic, None, np.eye(3))
    center, R_O = X[:3, 3] + R @ np.array(origin.xyz, float), origin.matrix[:3, :3]
    roll, pitch, yaw = map(number, origin.rpy)
    own = Rotation.about(2, yaw) @ Rotation.about(1, pitch) @ Rotation.about(0, roll)
    turn = rotation(R, FRAME_ROUNDING) @ own
    return Displacement(center, center - known, symbolic, turn, (R @ R_O).T)
