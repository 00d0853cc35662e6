"""Tasks: targets of motions, for frames, the centre of mass, the momentum or the posture."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.arrays import numbers, refuse_not_finite, shown, wrong_shape
from robodyn.errors import SettingsError, ShapeError
from robodyn.literals import TaskQuantity
from robodyn.tolerances import ROTATION_ORTHOGONALITY

#: Kind of a frame's target, by its shape, and how many components its error has.
_OF_FRAMES = {(4, 4): ("pose", 6), (3,): ("point", 3), (3, 3): ("rotation", 3)}


@dataclass(frozen=True, eq=False)
class Task:
    """A target for `Robot.velocity_for`, `acceleration_for` and `inverse_kinematics`.

    Its error is the target less what is there; of a pose or rotation, the rotation vector to it.

    Attributes
    ----------
    target : array_like
        Of a frame: its pose, shape (4, 4), position, shape (3,) [m], or rotation matrix, shape
        (3, 3). Of ``"center_of_mass"``: its position, shape (3,) [m], in the world. Of
        ``"momentum"``: linear and angular about the centre of mass, shape (6,) [N s, N m s], in
        world axes. Of ``"posture"``: shape (nq,) [rad, m], or a mapping of joint names to
        positions, of joints with one coordinate. An array of floats is kept as it is: numbers that
        are written into it are the target from then on.
    frame : str or (str, str), optional
        The frame that has the target; with a second one, the target is given in this instead of
        the world.
    quantity : {"center_of_mass", "posture", "momentum"}, optional
        What has the target instead of a frame.
    components : iterable of int, optional
        Components of the error that count, of x, y, z and the rotation about x, y, z, in the axes
        of the world or of the second frame; of a posture, indices of speeds. Default: all.
    weight : float or array_like, one a component
        By which squares of errors are multiplied, each in its own unit.
    gain : float
        Share of the error that is taken away within a step.

    Raises
    ------
    ShapeError, SettingsError

    Examples
    --------
    >>> import robodyn as rd
    >>> hand = rd.Task([0.5, 0.0, -1.0], frame="tip", components=(0, 2))
    >>> rest = rd.Task({"elbow": 0.3}, quantity="posture", weight=1e-3)
    """

    target: ArrayLike | Mapping[str, float]
    frame: str | tuple[str, str] | None = None
    quantity: TaskQuantity | None = None
    components: Iterable[int] | None = None
    weight: ArrayLike = 1.0
    gain: float = 1.0

    def __post_init__(self) -> None:
        check_fields(self)
        if (self.frame is None) == (self.quantity is None):
            raise SettingsError(
                f"frame is {self.frame!r} and quantity {self.quantity!r}: a task has one of them"
            )
        if not isinstance(self.target, Mapping):
            object.__setattr__(self, "target", numbers("target", self.target))
            refuse_not_finite("target", np.asarray(self.target), 1)
            self._check_rotation(np.asarray(self.target))
        elif self.quantity != "posture":
            raise ShapeError(
                "target is a mapping, which only a posture takes, as {joint: position}",
                name="target",
            )
        if self.components is not None:
            object.__setattr__(self, "components", tuple(self.components))
            if not self.components:
                raise ShapeError("components is empty, expected one number at least")
        if isinstance(self.frame, tuple) and len(set(self.frame)) < len(self.frame):
            raise SettingsError(f"frame is {self.frame!r}: a frame does not move in itself")
        if not 0.0 < self.gain <= 1.0:
            raise SettingsError(f"gain is {self.gain!r}, expected a number above 0, at most 1")
        weights = numbers("weight", self.weight)
        if not (np.isfinite(weights).all() and (weights > 0.0).all()):
            raise SettingsError(
                f"weight is {shown(weights)}, expected numbers above 0: for tasks that go before "
                "others, give a list of lists of tasks"
            )

    @staticmethod
    def _check_rotation(X: FloatArray) -> None:
        """Check that a matrix is a rotation, or the pose of a frame."""
        if X.shape not in ((3, 3), (4, 4)):
            return
        R = X[:3, :3]
        off = np.abs(R @ R.T - np.eye(3)).max()
        if len(X) == 4:
            off = max(off, np.abs(X[3] - [0.0, 0.0, 0.0, 1.0]).max())
        if not (off <= ROTATION_ORTHOGONALITY and np.linalg.det(R) > 0.0):
            raise ShapeError(
                f"target is no {'pose' if len(X) == 4 else 'rotation'} of a frame: its axes are "
                "not perpendicular unit vectors that turn right-handed",
                name="target",
            )

    @cached_property
    def kind(self) -> str:
        """What has the target: a pose, point or rotation of a frame, or the quantity."""
        return self.quantity or self._of_frame[0]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Of the target; of a posture by joint, none."""
        return () if isinstance(self.target, Mapping) else np.asarray(self.target).shape

    @property
    def _of_frame(self) -> tuple[str, int]:
        shape = self.shape
        if shape not in _OF_FRAMES:
            raise wrong_shape(
                "target",
                shape,
                f"a pose (4, 4), a point (3,) or a rotation (3, 3) of frame {self.frame!r}",
            )
        return _OF_FRAMES[shape]

    @cached_property
    def key(self) -> Hashable:
        """What shapes its equations: all but the numbers of the target."""
        target = self.target
        shape = tuple(target) if isinstance(target, Mapping) else self.shape
        weight = np.asarray(self.weight, float)
        return (
            *(self.kind, self.frame, self.components, self.gain),
            *(shape, weight.shape, weight.tobytes()),
        )

    def chosen(self, nq: int, nv: int) -> tuple[int, ...]:
        """Components that count, of a robot with so many coordinates and speeds."""
        sizes = {"center_of_mass": (3, 3), "momentum": (6, 6), "posture": (nq, nv)}
        if self.quantity is None:
            most = self._of_frame[1]
        else:
            size, most = sizes[self.quantity]
            if self.shape != (size,):
                raise wrong_shape(
                    "target", self.shape, f"({size},): {self.quantity.replace('_', ' ')}"
                )
        chosen = tuple(range(most) if self.components is None else self.components)
        if not all(0 <= n < most for n in chosen) or len(set(chosen)) < len(chosen):
            raise ShapeError(
                f"components is {chosen}, expected different numbers from 0 to {most - 1}",
                name="components",
            )
        return chosen

    def weights(self, count: int) -> FloatArray:
        """Weights of the components, shape (count,)."""
        weights = numbers("weight", self.weight)
        if weights.shape not in ((), (count,)):
            raise wrong_shape("weight", weights.shape, f"one number, or {count}: one a component")
        return np.array(np.broadcast_to(weights, (count,)), float)


#: Tasks, or levels of tasks in the order of their priority.
Tasks: TypeAlias = Task | Iterable[Task | Iterable[Task]]
