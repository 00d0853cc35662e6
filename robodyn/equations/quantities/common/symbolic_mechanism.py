"""A mechanism of which lengths, masses, inertias and resistances are symbols.

The frames of the equations stay where they are for the robot's own numbers. So turns stay numbers,
and what a length moves is added to places in these frames.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Inertia, Joint, Pose
from robodyn.description.symbols import Symbols
from robodyn.equations.loops.closure_rows import Closure
from robodyn.equations.mechanism.bodies import BASE, Body, MechanismModel
from robodyn.equations.mechanism.frames import placement, rotation, vector
from robodyn.errors import SettingsError
from robodyn.force_elements import element_numbers
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, RigidInertia
from robodyn.symbolic.symbol import Symbol
from robodyn.symbolic.vector import ZERO3, Sym3, Vec3
from robodyn.tolerances import FRAME_ROUNDING

__all__ = ["SymbolicMechanism"]


class _SymbolicOffset(NamedTuple):
    """Part of the origin of a frame that symbols decide.

    Attributes
    ----------
    known : ndarray, shape (3,) [m]
        For the robot's own numbers.
    symbolic : Vec3 [m]
        As expressions of the symbols.
    """

    known: FloatArray
    symbolic: Vec3

    def moved(self, p: Vec3) -> Vec3:
        """An origin that has the known part in it, with the symbolic one instead."""
        rest = np.array([x for x in p], float) - self.known
        return vector(rest, FRAME_ROUNDING) + self.symbolic


class SymbolicMechanism:
    """A mechanism with symbols in the places of numbers that have names.

    Parameters
    ----------
    model : MechanismModel
    closures : sequence of Closure
        Joints that were cut.
    symbols : Symbols
    numbers : mapping of str to number
        What takes the place of each.
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

    def model(self) -> MechanismModel:
        """Bodies with symbols; each has its own inertia, as nothing is moved to parents."""
        given = self._given
        return replace(
            given,
            bodies=tuple(map(self._body, given)),
            base_inertia=self._inertia(BASE, given.base_inertia),
            lumped_armature=given.armature,
            lumped_rotors=given.rotors,
        )

    def link(self, name: str) -> Placement:
        """Frame of a link on its body."""
        X = placement(self._given.frames[name][1], FRAME_ROUNDING)
        offset = self._offset_of_link(name)
        return X if offset is None else Placement(X.R, offset.moved(X.p))

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
            offset = self._offset(link, origin)
            frames.append(X if offset is None else Placement(X.R, offset.moved(X.p)))
        resisting = (
            {} if joint is None else self._resistance(closure, joint, ("damping", "friction"))
        )
        return replace(closure, X_PF=frames[0], X_SG=frames[1], **resisting)

    def _number(self, x: float) -> Number:
        return x.of(self._numbers) if isinstance(x, Symbol) else x

    def _offset_of_link(self, link: str) -> _SymbolicOffset | None:
        """The symbolic part of the origin of a link's frame on its body; None without symbols."""
        joint, frames = self._parents.get(link), self._given.frames
        if joint is None or frames[joint.parent][0] != frames[link][0]:
            return None
        return self._offset(joint.parent, joint.origin)

    def _offset(self, link: str, origin: Pose) -> _SymbolicOffset | None:
        """The same of a frame at a pose in the frame of a link."""
        before = self._offset_of_link(link)
        if not any(isinstance(x, Symbol) for x in origin.xyz):
            return before
        self._refuse_backward()
        R = self._given.frames[link][1][:3, :3]
        known = R @ np.array([float(x) if isinstance(x, Symbol) else 0.0 for x in origin.xyz])
        x, y, z = (self._number(x) if isinstance(x, Symbol) else 0.0 for x in origin.xyz)
        symbolic = rotation(R, FRAME_ROUNDING) * Vec3(x, y, z)
        if before is None:
            return _SymbolicOffset(known, symbolic)
        return _SymbolicOffset(before.known + known, before.symbolic + symbolic)

    def _body(self, body: Body) -> Body:
        described, geometry = self._joints.get(body.description.name), body.joint
        offset = described and self._offset(described.parent, described.origin)
        if offset:
            p = offset.moved(geometry.X_PJ.p)
            geometry = replace(geometry, X_PJ=Placement(geometry.X_PJ.R, p))
        inertia = self._inertia(body.index, body.inertia)
        joint = self._joint(body.description, described or body.description)
        return replace(body, joint=geometry, inertia=inertia, lumped=inertia, description=joint)

    def _joint(self, joint: Joint, described: Joint) -> Joint:
        """A joint whose resistances are symbols, which nobody checks."""
        found = self._resistance(joint, described, element_numbers(joint))
        if not found:
            return joint
        other = copy.copy(joint)
        for name, number in found.items():
            object.__setattr__(other, name, number)
        return other

    def _resistance(
        self, known: Joint | Closure, described: Joint, names: Sequence[str]
    ) -> dict[str, Any]:
        """Numbers of a joint that are symbols; what its motor adds to them stays."""
        found = {}
        for name in names:
            given = getattr(described, name)
            if isinstance(given, Symbol):
                of_motor = float(getattr(known, name)) - float(given)
                found[name] = self._number(given) + of_motor
        return found

    def _inertia(self, index: int, known: RigidInertia) -> RigidInertia:
        """Inertia of a body, link by link where one of them has a symbol or is moved by one."""
        links = [x for x in self._inertias if self._given.frames[x][0] == index]
        if not any(_has_symbols(self._inertias[x]) or self._offset_of_link(x) for x in links):
            return known
        total = RigidInertia(0.0, ZERO3, Sym3.zero())
        for link in links:
            total = total + self._rigid(self._inertias[link]).in_parent(self.link(link))
        return total

    def _rigid(self, inertia: Inertia) -> RigidInertia:
        """Inertia of a link in its frame."""
        xx, xy, xz, yy, yz, zz = (
            self._number(getattr(inertia, f"i{x}")) for x in ("xx", "xy", "xz", "yy", "yz", "zz")
        )
        half = (xx + yy + zz) * 0.5
        S = Sym3(half - xx, -xy, -xz, half - yy, -yz, half - zz)
        x, y, z = map(self._number, inertia.origin.xyz)
        R = rotation(inertia.origin.matrix[:3, :3], FRAME_ROUNDING)
        central = RigidInertia(self._number(inertia.mass), ZERO3, S)
        return central.in_parent(Placement(R, Vec3(x, y, z)))

    def _refuse_backward(self) -> None:
        """Refuse lengths of mechanisms with joints that are followed backwards.

        Raises
        ------
        SettingsError
        """
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
