"""A robot at a state, as sensors look at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from robodyn.description.sensor import DescribedSensor, Frame
from robodyn.equations.mechanism.bodies import BASE, MechanismModel
from robodyn.equations.mechanism.frames import placement
from robodyn.equations.mechanism.state import State
from robodyn.equations.tree import frame_motion as fm, newton_euler
from robodyn.force_elements.common.link_element import WORLD
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, RigidInertia, Twist, Wrench
from robodyn.symbolic.vector import Rotation, Vec3
from robodyn.tolerances import FRAME_ROUNDING

#: Origin and axes of the world.
_ORIGIN = Placement()


@dataclass(frozen=True, eq=False)
class MeasuredState:
    """A mechanism at a state.

    a: Accelerations.
    link: From the name of a link to the body that carries it, and the link frame on it.
    wrench: From the name of a joint to the wrench in it, with the body and the frame on it in which
        the wrench is given.
    """

    state: State
    a: Sequence[Number]
    link: Callable[[str], tuple[int, Placement]]
    wrench: Callable[[str], tuple[Wrench, int, Placement]]

    @property
    def model(self) -> MechanismModel:
        """The mechanism."""
        return self.state.model

    # -- frames -----------------------------------------------------------------------------------

    def of_sensor(self, sensor: DescribedSensor) -> fm.FrameMotion:
        """Motion of the frame of a sensor, seen from the frame that it refers to."""
        assert sensor.at is not None
        return self.motion(sensor.at, sensor.relative_to)

    def motion(self, frame: Frame, reference: Frame | None = None) -> fm.FrameMotion:
        """Motion of one frame, seen from another, or from the world."""
        return self.motion_on(*self._place(frame), reference)

    def motion_on(
        self, body: int | None, X: Placement, reference: Frame | None = None
    ) -> fm.FrameMotion:
        """Motion of a frame on a body, or of the world; as `motion`."""
        other, X_ref = (None, _ORIGIN) if reference is None else self._reference(reference)
        if body is not None and other is not None:
            return fm.relative(self.state, self.a, (body, X), (other, X_ref))
        F = self._absolute(body, X)
        if reference is None:
            return F
        return fm.seen_from(F, self._absolute(other, X_ref))

    def along_axes(self, sensor: DescribedSensor, frame: fm.FrameMotion, v: Vec3) -> Vec3:
        """A vector, given in the frame of a sensor, along the axes that the sensor asks for."""
        if sensor.axes is None:  # those of the frame that it refers to
            return frame.X.R * v
        assert sensor.at is not None
        return self.motion(sensor.at, sensor.axes).X.R * v

    def _place(self, frame: Frame) -> tuple[int | None, Placement]:
        """Body, and frame on it; no body of the world."""
        name, X = frame
        if name == WORLD and WORLD not in self.model.frames:
            return None, placement(X, FRAME_ROUNDING)
        body, X_BL = self.link(name)
        return body, X_BL @ placement(X, FRAME_ROUNDING)

    def _reference(self, frame: Frame) -> tuple[int | None, Placement]:
        """What motion is seen from: the world, though a link may be called so."""
        if frame[0] == WORLD:
            return None, placement(frame[1], FRAME_ROUNDING)
        return self._place(frame)

    def _absolute(self, body: int | None, X: Placement) -> fm.FrameMotion:
        if body is None:
            return fm.FrameMotion(X, Twist(), Twist(), {}, {})
        return fm.absolute(self.state, self.a, body, X)

    # -- bodies -----------------------------------------------------------------------------------

    def chosen(self, sensor: DescribedSensor) -> frozenset[int]:
        """The bodies of a sensor, the base too where it moves or is named."""
        if not sensor.bodies:
            return frozenset(self._carriers)
        named = {self._carriers[self.link(name)[0]] for name in sensor.bodies}
        return frozenset(i for i, carrier in self._carriers.items() if carrier in named)

    def inertias(self, chosen: frozenset[int]) -> Iterator[tuple[int, RigidInertia]]:
        """Those of chosen bodies; none of what is fixed to a base that stands still."""
        inertia = self.state.base.inertia
        if inertia is not None and BASE in chosen:
            yield BASE, inertia
        for body in self.model:
            moves = inertia is not None or self._carriers[body.index] != BASE
            if body.index in chosen and moves:
                yield body.index, body.inertia

    @cached_property
    def _carriers(self) -> Mapping[int, int]:
        """What each body is fixed to, or itself: a joint whose wrench is read parts two bodies."""
        carriers = {BASE: BASE}
        for body in self.model:
            is_fixed = not body.description.nv and body.description.map is None
            carriers[body.index] = carriers[body.parent] if is_fixed else body.index
        return carriers

    def mass_and_moment(self, chosen: frozenset[int]) -> tuple[Number, Vec3]:
        """Mass of chosen bodies, and the integral of ``p dm`` in the world."""
        mass: Number = 0.0
        moment = Vec3(0.0, 0.0, 0.0)
        for i, inertia in self.inertias(chosen):
            X = self.poses[i]
            mass, moment = mass + inertia.m, moment + (X.R * inertia.h + X.p * inertia.m)
        return mass, moment

    @cached_property
    def poses(self) -> Mapping[int, Placement]:
        """``X_WB`` of the base and of every body."""
        return newton_euler.placements(self.state)

    @cached_property
    def twists(self) -> Mapping[int, Twist]:
        """Twist of the base and of every body, in its own axes."""
        return newton_euler.twists(self.state)

    @property
    def gravity(self) -> Vec3:
        """In the world [m/s^2]."""
        return self.state.base.g_W

    def rotation(self, frame: Frame) -> Rotation:
        """``R_WF`` of a frame."""
        return self.motion(frame).X.R
