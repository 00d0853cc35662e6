"""Wrenches by joint name, and their motor, passive and bearing parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

import numpy as np

from robodyn.array_types import Array
from robodyn.errors import UndeterminedWrenchError, UnknownNameError


class WrenchMapping(Mapping[str, Array]):
    """Wrenches by joint name, shape (..., 6) [N, N m]; unknown names raise `UnknownNameError`.

    Parameters
    ----------
    names : tuple of str
    values : ndarray, shape (..., n, 6) [N, N m]
    undetermined : mapping of joint name to names of constraints, optional
        Joints that are not in the mapping, since their wrench depends on where the forces of
        these constraints act. Indexing with one raises `UndeterminedWrenchError`.
    """

    values_array: Array
    undetermined: Mapping[str, tuple[str, ...]]

    def __init__(
        self,
        names: tuple[str, ...],
        values: Array,
        undetermined: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    ) -> None:
        self._names, self.values_array, self.undetermined = names, values, undetermined

    def __getitem__(self, name: str) -> Array:
        if name in self.undetermined and name not in self._names:
            raise UndeterminedWrenchError(name, self.undetermined[name])
        if name not in self._names:
            raise UnknownNameError("joint", name, self._names)
        return np.asarray(self.values_array[..., self._names.index(name), :])

    def __repr__(self) -> str:
        of = (
            f" of each of {self.values_array.shape[:-2]} states"
            if self.values_array.ndim > 2
            else ""
        )
        return f"<{type(self).__name__}{of}: {', '.join(self._names)}>"

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class JointWrenches(WrenchMapping):
    """Wrench of each joint's parent link on its child link, by joint name, and ``"base"``.

    Parameters
    ----------
    joints : tuple of str
    values : ndarray, shape (..., n, 6) [N, N m]
    parts : callable
        Computes the motor and passive parts, shape (..., n - 1, 6), at their first use.
    pose : callable
        ``(joint, frame)`` -> pose of the joint's child link in a frame; ``None``: the root.
    undetermined : mapping of joint name to names of constraints, optional
        See `WrenchMapping`.

    Attributes
    ----------
    base : ndarray, shape (..., 6) [N, N m]
        Wrench of the ground, or of the carrier, on the base: the entry ``"base"``, which is this
        also if a joint has that name.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum")
    >>> wrenches = robot.joint_wrenches([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    >>> (wrenches["elbow"].round(9) + 0.0).tolist()     # a bob of 1 kg hangs below
    [0.0, 0.0, 9.81, 0.0, 0.0, 0.0]
    """

    def __init__(
        self,
        joints: tuple[str, ...],
        values: Array,
        parts: Callable[[], tuple[Array, Array]],
        pose: Callable[[str | None, str], Array],
        undetermined: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    ) -> None:
        super().__init__((*joints, "base"), values, undetermined)
        self._make_parts, self._pose = parts, pose

    def having(self, values: Array) -> JointWrenches:
        """The same joints with other wrenches, of which the motors' and passive parts stay."""
        joints, parts = self._names[:-1], self._make_parts
        return JointWrenches(joints, values, parts, self._pose, self.undetermined)

    @property
    def base(self) -> Array:
        """Wrench of the ground, or of the carrier, on the base, shape (..., 6) [N, N m]."""
        return np.asarray(self.values_array[..., -1, :])

    @cached_property
    def _parts(self) -> tuple[Array, Array]:
        return self._make_parts()

    @property
    def motor(self) -> WrenchMapping:
        """Part along the joint's freedoms from the motor, without what its rotor takes."""
        return self._mapping(self._parts[0])

    @property
    def passive(self) -> WrenchMapping:
        """Part along the joint's freedoms from its damping, friction and springs."""
        return self._mapping(self._parts[1])

    @property
    def bearing(self) -> WrenchMapping:
        """Constraint part, which does no work: the wrench without motor and passive parts."""
        motor, passive = self._parts
        return self._mapping(self.values_array[..., :-1, :] - motor - passive)

    def _mapping(self, values: Array) -> WrenchMapping:
        return WrenchMapping(self._names[:-1], values, self.undetermined)

    def child_pose(self, joint: str | None, frame: str) -> Array:
        """Of a joint's child link, or of the root (``None``), in a frame, shape (..., 4, 4)."""
        shape = (*self.values_array.shape[:-2], 4, 4)
        if joint is not None and joint not in self:
            return np.full(shape, np.nan)
        return np.broadcast_to(self._pose(joint, frame), shape)

    def in_frame(self, frame: str) -> WrenchMapping:
        """The same wrenches about the origin of a link, in its axes (``"world"``: of the world).

        Raises
        ------
        UnknownNameError
            If there is no such link.
        """
        joints = (*self._names[:-1], None)
        rows = [
            _moved(self._pose(joint, frame), self.values_array[..., k, :])
            for k, joint in enumerate(joints)
        ]
        return WrenchMapping(self._names, np.stack(rows, axis=-2), self.undetermined)


def joined_wrenches(phases: Sequence[JointWrenches]) -> JointWrenches:
    """Those of a motion from those of its phases, one after the other along the first axis.

    The wrench of a joint is not a number in phases that do not have it.
    """
    joints = tuple(dict.fromkeys(name for phase in phases for name in [*phase][:-1]))

    def parts() -> tuple[Array, Array]:
        motor, passive = ([getattr(x, part) for x in phases] for part in ("motor", "passive"))
        return _joined(motor, joints), _joined(passive, joints)

    def pose(joint: str | None, frame: str) -> Array:
        return np.concatenate([phase.child_pose(joint, frame) for phase in phases])

    undetermined = {name: by for phase in phases for name, by in phase.undetermined.items()}
    return JointWrenches(joints, _joined(phases, (*joints, "base")), parts, pose, undetermined)


def _joined(phases: Sequence[WrenchMapping], names: tuple[str, ...]) -> Array:
    """Wrenches of these names in all phases, shape (n, ..., k, 6)."""
    found = []
    for phase in phases:
        missing = np.full_like(phase.values_array[..., 0, :], np.nan)
        rows = [phase[name] if name in phase else missing for name in names]
        found.append(np.stack(rows, axis=-2))
    return np.concatenate(found)


def _moved(X_FL: Array, wrench: Array) -> Array:
    force = np.einsum("...ij,...j->...i", X_FL[..., :3, :3], wrench[..., :3])
    moment = np.einsum("...ij,...j->...i", X_FL[..., :3, :3], wrench[..., 3:])
    return np.concatenate([force, moment + np.cross(X_FL[..., :3, 3], force)], axis=-1)
