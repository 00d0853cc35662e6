"""Operational-space control: a frame follows a reference, with a posture in its null space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import Robot
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray

from ..support.gains import checked_call, gain, reduce_by_fields
from ..support.plant import Base
from ..support.task_space import COMPONENTS, Reference, Shift, Task


@dataclass(frozen=True, eq=False)
class OperationalSpace:
    """Torques that give a frame ``x_ref'' + damping e' + stiffness e`` [Khatib 1987].

    The error ``e`` of each component then obeys ``e'' + damping e' + stiffness e = 0`` if the model
    is right; of rotations, ``e`` is ``2 sin(angle / 2)`` along the axis that leads to the
    reference, and the equation holds for small rotations. In the null space of the frame's
    Jacobian, the motors follow the same law toward the posture.

    Of closed linkages and floating bases, motors alone act; the motion of all other joints that
    follows is part of the inertia and the Jacobian of the frame.

    Attributes
    ----------
    robot : Robot
        The model, which may differ from the robot that is driven.
    frame : str
        Name of a link.
    reference : callable
        Time [s] -> position (nq,), velocity (nv,), acceleration (nv,) of joints, as of `TaskPath`:
        the pose of the frame in these joint positions is the reference.
    stiffness : float or array_like, shape (m,) [1/s^2]
    damping : float or array_like, shape (m,), optional [1/s]
        Default: critical, ``2 sqrt(stiffness)``.
    components : sequence of m int
        Which of linear x, y, z (0, 1, 2) and angular x, y, z (3, 4, 5) count, in world axes.
    posture : array_like, shape (nq,), optional [rad, m]
        Default: the joints of the reference.
    posture_stiffness, posture_damping : float or array_like, shape (nv,) [1/s^2], [1/s]
        By default critical, too.
    base : BaseMotion or callable, optional
        Of a robot with a moving base: time [s] -> `BaseMotion`, or one motion for all times.
    least : float [m/rad, 1]
        Where ``(sum of 1 / s^2)^(-1/2)`` over singular values ``s`` of the frame's Jacobian is
        below it, accelerations of the frame are damped, with a `SingularWarning`.

    Raises
    ------
    ShapeError
        For gains of another shape, negative or not finite; for a moving base without ``base``, and
        for ``base`` without a moving base.
    SettingsError
        If the motors can never move the frame in all components.
    ActuationError
        Without motors, and with more of them than motions.

    Warns
    -----
    SingularWarning
        When called where accelerations are damped.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import OperationalSpace, PointToPoint
    >>> arm, q = rd.load("puma560"), [0.0, -0.5, 0.8, 0.0, 0.6, 0.0]
    >>> control = OperationalSpace(arm, "flange", PointToPoint(q, q, 1.0))
    >>> a = arm.forward_dynamics(q, [0.0] * 6, control(0.0, q, [0.0] * 6))
    >>> bool(abs(a).max() < 1e-9)     # at its reference it stands still
    True
    """

    symbolic: ClassVar[bool] = True
    gain_arrays: ClassVar[Mapping[str, str]] = {"stiffness": "_k", "damping": "_d"}

    robot: Robot
    frame: str
    reference: Reference
    stiffness: ArrayLike = 100.0
    damping: ArrayLike | None = None
    components: Sequence[int] = COMPONENTS
    posture: ArrayLike | None = None
    posture_stiffness: ArrayLike = 25.0
    posture_damping: ArrayLike | None = None
    base: Base | None = None
    least: float = 0.02
    _task: Task = field(init=False, repr=False)
    _k: FloatArray = field(init=False, repr=False)
    _d: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        task = Task(self)
        k = gain("stiffness", self.stiffness, task.size)
        d = 2.0 * np.sqrt(k) if self.damping is None else self.damping
        object.__setattr__(self, "components", tuple(task.rows))
        object.__setattr__(self, "_task", task)
        object.__setattr__(self, "_k", k)
        object.__setattr__(self, "_d", gain("damping", d, task.size))

    __reduce__ = reduce_by_fields

    @checked_call
    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Torques, shape (..., nv) [N m, N], at time ``t`` [s]."""
        return self.shifted(t, q, v, None)

    def shifted(self, t: float, q: FloatArray, v: FloatArray, shift: Shift | None) -> FloatArray:
        """Torques, shape (..., nv) [N m, N], that bring the frame beside the reference.

        Parameters
        ----------
        t : float [s]
        q, v : ndarray, shape (..., nq), (..., nv)
        shift : three ndarray, shape (m,), optional
            By which the reference is moved in world axes [m, rad], its velocity, acceleration.
        """
        state = self._task.at(t, q, v, shift)
        wanted = state.wanted + self._d * state.rate + self._k * state.error
        return self._task.torques(state, wanted)

    @checked_call
    def damped(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """By how much accelerations of the frame are damped, shape (...): 0, not at all, to 1."""
        return self._task.damping(self._task.at(t, q, v))
