"""Names of what a compiled model has, also where its author gave none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["Names"]


class Names:
    """Names of links (bodies, sites, frames between joints) and of joints (loops too).

    Parameters
    ----------
    mujoco : module
    model : mujoco.MjModel

    Attributes
    ----------
    bodies, joints, sites, equalities, actuators, tendons : list of str
        By their numbers in the model; sites without a name are called ``""``.
    """

    def __init__(self, mujoco: Any, model: Any) -> None:
        kinds = mujoco.mjtObj

        def given(kind: Any, count: int) -> list[str]:
            return [mujoco.mj_id2name(model, int(kind), k) or "" for k in range(count)]

        self._links: set[str] = set()
        self._joints: set[str] = set()
        self.bodies = _all(self._links, given(kinds.mjOBJ_BODY, model.nbody), "body")
        self.joints = _all(self._joints, given(kinds.mjOBJ_JOINT, model.njnt), "joint")
        self.equalities = _all(self._joints, given(kinds.mjOBJ_EQUALITY, model.neq), "equality")
        sites = given(kinds.mjOBJ_SITE, model.nsite)
        self.sites = [name and self.link(name, f"{name}_site") for name in sites]
        self.actuators = _all(
            set(), given(kinds.mjOBJ_ACTUATOR, len(model.actuator_trntype)), "actuator"
        )
        self.tendons = _all(set(), given(kinds.mjOBJ_TENDON, model.ntendon), "tendon")

    def link(self, *wishes: str) -> str:
        """A new name of a link: the first wish that is free, or the last one, lengthened."""
        return _new(self._links, *wishes)

    def joint(self, *wishes: str) -> str:
        """A new name of a joint."""
        return _new(self._joints, *wishes)


def _all(taken: set[str], given: Iterable[str], word: str) -> list[str]:
    """Names of all: those that were given go before those that were not."""
    given = list(given)
    taken.update(name for name in given if name)
    seen: set[str] = set()
    found = []
    for k, name in enumerate(given):
        found.append(name if name and name not in seen else _new(taken, name or f"{word}_{k}"))
        seen.add(found[-1])
    return found


def _new(taken: set[str], *wishes: str) -> str:
    name = next((wish for wish in wishes if wish not in taken), wishes[-1])
    while name in taken:
        name += "_"
    taken.add(name)
    return name
