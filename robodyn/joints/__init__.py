"""Kinds of joints: one file a kind.

Every file of this folder that has a constant ``KIND`` is a kind of joint; nothing else names it.
"""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from types import MappingProxyType

from robodyn.errors import UnknownNameError
from robodyn.joints.common.kind import JointKind
from robodyn.registry import constants

__all__ = ["KINDS", "joint_kind"]


def _found() -> dict[str, JointKind]:
    """The kinds of this folder, by degrees of freedom, then by name."""
    kinds = constants(__name__, "KIND").values()
    taken: dict[str, JointKind] = {}
    for kind in kinds:
        for word in (kind.name, *kind.words):
            if taken.setdefault(word, kind) is not kind:
                raise ValueError(f"two joint kinds are called {word!r}")
    return {kind.name: kind for kind in sorted(kinds, key=lambda k: (k.nv, k.nq, k.name))}


#: Name -> kind.
KINDS: Mapping[str, JointKind] = MappingProxyType(_found())


def joint_kind(name: str) -> JointKind:
    """The kind of a name."""
    try:
        return KINDS[name]
    except (KeyError, TypeError):
        raise UnknownNameError("joint kind", name, KINDS) from None


# a kind is one object in each process: copies and pickles are its name
copyreg.pickle(JointKind, lambda kind: (joint_kind, (kind.name,)))
