"""Forces and inertias that belong to the joints of a compiled model, whatever drives them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray

__all__ = ["Passive"]


@dataclass(frozen=True)
class Passive:
    """What acts along the freedoms of joints, with the options that switch it off obeyed.

    Attributes
    ----------
    damping, friction, armature : ndarray, shape (nv,)
        By MuJoCo's speeds.
    stiffness, rest : ndarray, shape (number of joints,)
        Springs of joints with one freedom.
    """

    damping: FloatArray
    friction: FloatArray
    armature: FloatArray
    stiffness: FloatArray
    rest: FloatArray = field(repr=False)

    @classmethod
    def of(cls, mujoco: Any, model: Any) -> Passive:
        """Read from a model; actuators add the damping and armature that they have of their own."""
        damping, armature = np.array(model.dof_damping), np.array(model.dof_armature)
        for k in range(len(model.actuator_trntype)):
            if drives_joint(mujoco, model, k):
                dof, gear = model.jnt_dofadr[int(model.actuator_trnid[k, 0])], gear_of(model, k)
                damping[dof] += gear**2 * own(model, "actuator_damping", k)
                armature[dof] += gear**2 * own(model, "actuator_armature", k)
        return cls(
            damping * (not switched_off(mujoco, model, "DAMPER")),
            np.array(model.dof_frictionloss) * (not switched_off(mujoco, model, "FRICTIONLOSS")),
            armature,
            np.array(model.jnt_stiffness) * (not switched_off(mujoco, model, "SPRING")),
            np.array([model.qpos_spring[at] for at in model.jnt_qposadr]),
        )


def own(model: Any, name: str, k: int) -> float:
    """An element of an array that only newer versions of MuJoCo have, or zero."""
    values = getattr(model, name, None)
    return 0.0 if values is None else float(np.ravel(values[k])[0])


def gear_of(model: Any, actuator: int) -> float:
    """What the force of an actuator of one joint is multiplied by."""
    rows = getattr(model, "actuator_outadr", None)  # newer versions have forces of several numbers
    return float(model.actuator_gear[actuator if rows is None else rows[actuator], 0])


def switched_off(mujoco: Any, model: Any, what: str) -> bool:
    """Whether ``<flag what="disable"/>`` stands in ``<option>``; PASSIVE is an older word."""
    bits = mujoco.mjtDisableBit.__members__
    older = {"SPRING": "PASSIVE", "DAMPER": "PASSIVE"}.get(what, what)
    bit = bits.get(f"mjDSBL_{what}", bits.get(f"mjDSBL_{older}"))
    return bit is not None and bool(int(model.opt.disableflags) & int(bit))


def drives_joint(mujoco: Any, model: Any, actuator: int) -> bool:
    """Whether an actuator drives one joint with one freedom."""
    kinds, joints = mujoco.mjtTrn, mujoco.mjtJoint
    if int(model.actuator_trntype[actuator]) not in (kinds.mjTRN_JOINT, kinds.mjTRN_JOINTINPARENT):
        return False
    joint = int(model.actuator_trnid[actuator, 0])
    return int(model.jnt_type[joint]) in (joints.mjJNT_HINGE, joints.mjJNT_SLIDE)
