"""Tendons of a compiled model in space: those between two points are springs, others nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.force_elements.common.link_element import DescribedElement
from robodyn.force_elements.point_spring import PointSpring
from robodyn.urdf.mjcf.body_forces import vector
from robodyn.urdf.mjcf.names import Names
from robodyn.urdf.mjcf.passive import coefficients, own, switched_off

__all__ = ["Tendons"]


class Tendons:
    """What tendons become that are not fixed ones, and what of all has no counterpart.

    Attributes
    ----------
    springs : tuple of PointSpring
    limited : list of str
        Tendons with limits of length, which are left out.
    refused : dict of str to str
        Tendons whose forces have no counterpart, and why.
    """

    def __init__(self, mujoco: Any, model: Any, names: Names) -> None:
        springs: list[DescribedElement] = []
        self.limited: list[str] = []
        self.refused: dict[str, str] = {}
        elastic = not switched_off(mujoco, model, "SPRING")
        damped = not switched_off(mujoco, model, "DAMPER")
        for k, name in enumerate(names.tendons):
            stiffness = float(model.tendon_stiffness[k]) * elastic
            damping = float(model.tendon_damping[k]) * damped
            fixed = bool(coefficients(mujoco, model, k))
            other = () if fixed else ("frictionloss", "armature")
            more = [
                what
                for what in (*other, "stiffnesspoly", "dampingpoly")
                if np.any(getattr(model, f"tendon_{what}", np.zeros(k + 1))[k])
            ]
            more += ["springyield"] if own(model, "tendon_springyield", k) else []
            if model.tendon_limited[k]:
                self.limited.append(name)
            if not (stiffness or damping or more):
                continue
            low, high = (float(x) for x in model.tendon_lengthspring[k])
            sites = self._two_sites(mujoco, model, k)
            if more:
                self.refused[name] = f"a tendon with {', '.join(more)} has no counterpart"
            elif sites is None and not fixed:
                self.refused[name] = (
                    "a tendon in space with stiffness or damping has a counterpart only where it "
                    "runs straight from one site to another"
                )
            elif stiffness and low != high:
                self.refused[name] = "a spring that is slack over a range has no counterpart"
            elif sites is not None:
                one, two = sites
                springs.append(
                    PointSpring(
                        names.bodies[model.site_bodyid[one]],
                        vector(model.site_pos[one]),
                        names.bodies[model.site_bodyid[two]],
                        vector(model.site_pos[two]),
                        stiffness,
                        low if stiffness else 0.0,
                        damping,
                        name,
                    )
                )
        self.springs = tuple(springs)

    def _two_sites(self, mujoco: Any, model: Any, k: int) -> tuple[int, int] | None:
        first, count = int(model.tendon_adr[k]), int(model.tendon_num[k])
        path = range(first, first + count)
        if count != 2 or any(int(model.wrap_type[i]) != mujoco.mjtWrap.mjWRAP_SITE for i in path):
            return None
        one, other = (int(model.wrap_objid[i]) for i in path)
        return one, other
