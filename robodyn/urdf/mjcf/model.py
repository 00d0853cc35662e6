"""What a compiled model says: names of its parts, and what acts along its joints and tendons."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Vector


class Names:
    """Names of links (bodies, sites, frames between joints) and of joints (loops too).

    bodies, joints, sites, equalities, actuators, tendons: By their numbers in the model; sites
        without a name are called ``""``.
    """

    def __init__(self, mujoco: Any, model: Any) -> None:
        kinds = mujoco.mjtObj

        def given(kind: Any, count: int) -> list[str]:
            return [mujoco.mj_id2name(model, int(kind), k) or "" for k in range(count)]

        self._links: set[str] = set()
        self._joints: set[str] = set()
        self.bodies = _unique_names(self._links, given(kinds.mjOBJ_BODY, model.nbody), "body")
        self.joints = _unique_names(self._joints, given(kinds.mjOBJ_JOINT, model.njnt), "joint")
        self.equalities = _unique_names(
            self._joints, given(kinds.mjOBJ_EQUALITY, model.neq), "equality"
        )
        sites = given(kinds.mjOBJ_SITE, model.nsite)
        self.sites = [name and self.link(name, f"{name}_site") for name in sites]
        self.actuators = _unique_names(
            set(), given(kinds.mjOBJ_ACTUATOR, len(model.actuator_trntype)), "actuator"
        )
        self.tendons = _unique_names(set(), given(kinds.mjOBJ_TENDON, model.ntendon), "tendon")

    def link(self, *wishes: str) -> str:
        """A new name of a link: the first wish that is free, or the last one, lengthened."""
        return _unused_name(self._links, *wishes)

    def joint(self, *wishes: str) -> str:
        """A new name of a joint."""
        return _unused_name(self._joints, *wishes)


def _unique_names(taken: set[str], given: Iterable[str], word: str) -> list[str]:
    """Names of all: those that were given go before those that were not."""
    given = list(given)
    taken.update(name for name in given if name)
    seen: set[str] = set()
    found = []
    for k, name in enumerate(given):
        found.append(
            name if name and name not in seen else _unused_name(taken, name or f"{word}_{k}")
        )
        seen.add(found[-1])
    return found


def _unused_name(taken: set[str], *wishes: str) -> str:
    name = next((wish for wish in wishes if wish not in taken), wishes[-1])
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def vector(x: Any) -> Vector:
    """Three numbers of an array."""
    a, b, c = (float(value) for value in x)
    return a, b, c


class CompiledModel:
    """What MuJoCo, the module, has made of a document: its model (`mujoco.MjModel`), with names."""

    def __init__(self, mujoco: Any, model: Any) -> None:
        self.mujoco, self.model, self.names = mujoco, model, Names(mujoco, model)

    def own(self, name: str, k: int) -> float:
        """An element of an array that only newer versions of MuJoCo have, or zero."""
        values = getattr(self.model, name, None)
        return 0.0 if values is None else float(np.ravel(values[k])[0])

    def has(self, name: str, k: int) -> bool:
        """Whether a row of such an array has something else than zeros."""
        values = getattr(self.model, name, None)
        return values is not None and bool(np.any(values[k]))

    def gear_of(self, actuator: int) -> float:
        """What the force of an actuator of one joint is multiplied by."""
        rows = getattr(self.model, "actuator_outadr", None)  # newer ones: forces of several numbers
        return float(self.model.actuator_gear[actuator if rows is None else rows[actuator], 0])

    def first_control_of(self, actuator: int) -> int:
        """Number of the first control of an actuator; newer versions know some with several."""
        rows = getattr(self.model, "actuator_ctrladr", None)
        return actuator if rows is None else int(rows[actuator])

    def switched_off(self, what: str) -> bool:
        """Whether ``<flag what="disable"/>`` stands in ``<option>``; PASSIVE is an older word."""
        bits = self.mujoco.mjtDisableBit.__members__
        older = {"SPRING": "PASSIVE", "DAMPER": "PASSIVE"}.get(what, what)
        bit = bits.get(f"mjDSBL_{what}", bits.get(f"mjDSBL_{older}"))
        return bit is not None and bool(int(self.model.opt.disableflags) & int(bit))

    def is_single(self, joint: int) -> bool:
        """Whether a joint has one freedom."""
        kinds = self.mujoco.mjtJoint
        return int(self.model.jnt_type[joint]) in (kinds.mjJNT_HINGE, kinds.mjJNT_SLIDE)

    def coefficients(self, tendon: int) -> dict[int, float]:
        """Coefficients of a fixed tendon by joint; none of another tendon."""
        model, joint = self.model, self.mujoco.mjtWrap.mjWRAP_JOINT
        first = int(model.tendon_adr[tendon])
        found: dict[int, float] = {}
        for i in range(first, first + int(model.tendon_num[tendon])):
            if int(model.wrap_type[i]) != joint:
                return {}
            j = int(model.wrap_objid[i])
            found[j] = found.get(j, 0.0) + float(model.wrap_prm[i])
        return {j: c for j, c in found.items() if c}

    def two_sites(self, tendon: int) -> tuple[int, int] | None:
        """Sites between which a tendon runs straight; none of another tendon."""
        model, site = self.model, self.mujoco.mjtWrap.mjWRAP_SITE
        first, count = int(model.tendon_adr[tendon]), int(model.tendon_num[tendon])
        path = range(first, first + count)
        if count != 2 or any(int(model.wrap_type[i]) != site for i in path):
            return None
        one, other = (int(model.wrap_objid[i]) for i in path)
        return one, other

    def drives_fixed_tendon(self, actuator: int) -> bool:
        """Whether an actuator drives a fixed tendon."""
        model = self.model
        tendon = int(model.actuator_trntype[actuator]) == self.mujoco.mjtTrn.mjTRN_TENDON
        return tendon and bool(self.coefficients(int(model.actuator_trnid[actuator, 0])))

    def drives_joint(self, actuator: int) -> bool:
        """Whether an actuator drives one joint with one freedom."""
        model, kinds = self.model, self.mujoco.mjtTrn
        joint = int(model.actuator_trntype[actuator]) in (
            kinds.mjTRN_JOINT,
            kinds.mjTRN_JOINTINPARENT,
        )
        return joint and self.is_single(int(model.actuator_trnid[actuator, 0]))


@dataclass(frozen=True)
class Passive:
    """What acts along joints and tendons, with the options that switch it off obeyed.

    damping, friction, armature (nv,): By MuJoCo's speeds.
    stiffness, rest (number of joints,): Springs of joints with one freedom.
    tendon_stiffness, tendon_damping, tendon_friction, tendon_armature: Shape (number of tendons,).
    """

    damping: FloatArray
    friction: FloatArray
    armature: FloatArray
    stiffness: FloatArray
    rest: FloatArray = field(repr=False)
    tendon_stiffness: FloatArray
    tendon_damping: FloatArray
    tendon_friction: FloatArray
    tendon_armature: FloatArray

    @classmethod
    def of(cls, compiled: CompiledModel) -> Passive:
        """Read from a model; actuators add the damping and armature that they have of their own."""
        model = compiled.model
        damping, armature = np.array(model.dof_damping), np.array(model.dof_armature)
        none = np.zeros(model.ntendon)
        tendon_damping = np.array(model.tendon_damping)
        tendon_armature = np.array(getattr(model, "tendon_armature", none))
        for k in range(len(model.actuator_trntype)):
            at, gear = int(model.actuator_trnid[k, 0]), compiled.gear_of(k)
            ours = gear**2 * compiled.own("actuator_damping", k)
            added = gear**2 * compiled.own("actuator_armature", k)
            if compiled.drives_joint(k):
                damping[model.jnt_dofadr[at]] += ours
                armature[model.jnt_dofadr[at]] += added
            elif compiled.drives_fixed_tendon(k):
                tendon_damping[at] += ours
                tendon_armature[at] += added
        spring, damper, friction = (
            not compiled.switched_off(what) for what in ("SPRING", "DAMPER", "FRICTIONLOSS")
        )
        return cls(
            damping * damper,
            np.array(model.dof_frictionloss) * friction,
            armature,
            np.array(model.jnt_stiffness) * spring,
            np.array([model.qpos_spring[at] for at in model.jnt_qposadr]),
            np.array(model.tendon_stiffness) * spring,
            tendon_damping * damper,
            np.array(model.tendon_frictionloss) * friction,
            tendon_armature,
        )
