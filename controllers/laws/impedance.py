"""Impedance control: a frame responds to wrenches as a mass on a spring and a damper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from robodyn import Robot, SettingsError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.simulation.control.tracing import SymbolicTime

from ..support.frames import checked_wrench, in_world
from ..support.gains import checked_call, gain, reduce_by_fields
from ..support.plant import Base, refuse_passive
from ..support.task_space import COMPONENTS, Reference, Task


@dataclass(frozen=True, eq=False)
class Impedance:
    """Torques with which a frame obeys ``inertia e'' + damping e' + stiffness e = -wrench``.

    ``e`` is reference minus frame, and ``wrench`` what the surroundings exert on it: at rest the
    frame is ``wrench / stiffness`` away from its reference [Hogan 1985]. Without ``inertia`` the
    frame keeps its own, ``(J M^-1 J^T)^-1``, and no measurement is needed; another inertia takes a
    force sensor.

    Attributes
    ----------
    robot, frame, reference, components, posture, posture_stiffness, posture_damping, base, least
        As of `OperationalSpace`.
    stiffness : float or array_like, shape (m,) [N/m, N m/rad]
    damping : float or array_like, shape (m,) [N s/m, N m s/rad]
    inertia : float or array_like, shape (m,), optional [kg, kg m^2]
    wrench : callable, optional
        With ``inertia``: time [s] -> force and moment, shape (6,) [N, N m], that are exerted on the
        frame, about its origin in its axes, as a sensor in it measures them.

    Raises
    ------
    ShapeError
        For gains of another shape, negative or not finite, and no positive inertia; as
        `OperationalSpace` does.
    SettingsError
        For an inertia without a wrench, and a wrench without an inertia; as `OperationalSpace`.
    ActuationError
        If there are not as many motors as motions.

    Warns
    -----
    SingularWarning
        When called where accelerations are damped; forces are not.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import Impedance, PointToPoint
    >>> arm, q = rd.load("puma560"), [0.0, -0.5, 0.8, 0.0, 0.6, 0.0]
    >>> spring = Impedance(arm, "flange", PointToPoint(q, q, 1.0), stiffness=500.0, damping=50.0)
    >>> tau = spring(0.0, q, [0.0] * 6)     # at its reference the spring is slack
    >>> bool(abs(tau - arm.gravity_forces(q)).max() < 1e-9)
    True
    """

    symbolic: ClassVar[bool] = True
    gain_arrays: ClassVar[Mapping[str, str]] = {"stiffness": "_k", "damping": "_d"}

    robot: Robot
    frame: str
    reference: Reference
    stiffness: ArrayLike
    damping: ArrayLike
    inertia: ArrayLike | None = None
    wrench: Callable[[float], ArrayLike] | None = None
    components: Sequence[int] = COMPONENTS
    posture: ArrayLike | None = None
    posture_stiffness: ArrayLike = 25.0
    posture_damping: ArrayLike | None = None
    base: Base | None = None
    least: float = 0.02
    _task: Task = field(init=False, repr=False)
    _k: FloatArray = field(init=False, repr=False)
    _d: FloatArray = field(init=False, repr=False)
    _m: FloatArray | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        if (self.inertia is None) != (self.wrench is None):
            given, lacks = ("inertia", "wrench") if self.wrench is None else ("wrench", "inertia")
            raise SettingsError(
                f"{given}= is given without {lacks}=: a frame gets another inertia by measuring "
                "what pushes it; give both, or none of them, and it keeps its own"
            )
        why = "a frame gives way by those without a motor, whatever its stiffness"
        refuse_passive(self.robot, why, floats=False)
        task = Task(self)
        object.__setattr__(self, "components", tuple(task.rows))
        object.__setattr__(self, "_task", task)
        object.__setattr__(self, "_k", gain("stiffness", self.stiffness, task.size))
        object.__setattr__(self, "_d", gain("damping", self.damping, task.size))
        m = self.inertia
        if m is not None:
            m = gain("inertia", m, task.size, positive=True)
        object.__setattr__(self, "_m", m)

    __reduce__ = reduce_by_fields

    @checked_call
    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Torques, shape (..., nv) [N m, N], at time ``t`` [s]."""
        task = self._task
        state = task.at(t, q, v)
        spring = self._d * state.rate + self._k * state.error
        if self._m is None or self.wrench is None:
            return task.torques(state, state.wanted, spring)
        measured = in_world(state.turn, self._measured(t))
        wanted = state.wanted + (spring + measured[..., task.rows]) / self._m
        return task.torques(state, wanted, wrench=measured)

    @checked_call
    def damped(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """By how much accelerations of the frame are damped, shape (...): 0, not at all, to 1."""
        return self._task.damping(self._task.at(t, q, v))

    def _measured(self, t: float) -> FloatArray:
        wrench: Any = self.wrench
        if isinstance(t, SymbolicTime) and not getattr(wrench, "symbolic", False):
            return t.sampled("wrench", lambda at: (checked_wrench(wrench(at), at),), (wrench,))[0]
        return checked_wrench(wrench(t), t)
