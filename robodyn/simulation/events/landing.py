"""Points of links that land on a rigid plane, stand on it while it pushes, and leave it.

While points stand, the robot has a constraint for each of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.equations.loops.frame_constraint import FrameConstraint
from robodyn.errors import SettingsError, UnknownNameError
from robodyn.force_elements.ground import Ground
from robodyn.impacts.complementarity import complementary
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.simulation.events.event import Change, Event, State
from robodyn.simulation.events.impulses import responses
from robodyn.simulation.events.witness import OfSamples
from robodyn.tolerances import IMMOBILE_POINT, LANDED_DEPTH


@dataclass(frozen=True, eq=False)
class ContactPoint:
    """A point of a link that may stand on a plane.

    position (3,) [m]: In link axes.
    axes (3, 3): Rows: the normal of the plane, and two directions along it, in world axes.
    height [m]: Of the plane along the normal.
    """

    name: str
    link: str
    position: FloatArray
    axes: FloatArray
    height: float

    @property
    def normal(self) -> FloatArray:
        """Out of the ground."""
        return np.asarray(self.axes[0])

    @property
    def plane(self) -> FloatArray:
        """Frame in the world whose plane z = 0 is the ground, with the axes 1 and 2 as x and y."""
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = self.axes[[1, 2, 0]].T, self.height * self.normal
        return X

    def gap(self, robot: Robot, q: FloatArray) -> Any:
        """Height above the plane at positions of shape (..., nq) [m]."""
        X = robot.frame_pose(q, self.link)
        return (X[..., :3, :3] @ self.position + X[..., :3, 3]) @ self.normal - self.height

    def jacobian(self, robot: Robot, q: FloatArray) -> FloatArray:
        """Jacobian of the point's velocity along the axes, shape (3, nv)."""
        J, R = robot.frame_jacobian(q, self.link, axes="world"), robot.frame_pose(q, self.link)
        arm = R[:3, :3] @ self.position
        return np.asarray(self.axes @ (J[:3] + np.cross(J[3:], arm[:, None], axis=0)))

    def normal_acceleration(
        self, robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray
    ) -> float:
        """Acceleration along the normal [m/s^2]."""
        A = robot.frame_acceleration(q, v, a, self.link, axes="world", classical=True)
        w = robot.frame_twist(q, v, self.link, axes="world")[3:]
        arm = robot.frame_pose(q, self.link)[:3, :3] @ self.position
        turned = np.cross(A[3:], arm) + np.cross(w, np.cross(w, arm))
        return float(self.normal @ (A[:3] + turned))

    def sliding_axes(self, robot: Robot) -> tuple[int, ...]:
        """Axes along the plane, 1 and 2, in which the point can move at all."""
        rng = np.random.default_rng(0)
        some = [np.abs(self.jacobian(robot, robot.random(rng))) for _ in range(2)]
        fastest = np.max(some, axis=(0, 2))
        return tuple(k for k in (1, 2) if fastest[k] > IMMOBILE_POINT)


def contact_points(robot: Robot, ground: Ground) -> list[ContactPoint]:
    """The points of a robot that may touch a ground."""
    n = np.array(ground.normal)
    level = np.eye(3)[np.abs(n).argmin()]
    level = level - (level @ n) * n
    level /= np.linalg.norm(level)
    axes = np.array([n, np.cross(level, n), level])
    found = []
    for name, link, point in ground.contacts:
        if link not in robot.link_names:
            raise UnknownNameError("link", link, robot.link_names, f"contact {name!r}")
        found.append(ContactPoint(name, link, np.array(point), axes, ground.height))
    return found


#: Beginning of the names of constraints of points that stand.
STANDS, STICKS = "{} stands on the ground", "{} sticks to the ground"


@checked_arguments
def landings(
    robot: Robot,
    ground: Ground,
    *,
    restitution: float = 0.0,
    rest_speed: float = 0.01,
    sticks: bool = True,
) -> tuple[Event, ...]:
    """Events by which points of links land on a rigid plane, stand there, and leave it.

    A point that lands rebounds, or stays: then the plane holds it as long as it pushes, and lets it
    go when it would have to pull. Which of several points stay together is decided by their
    impulses along the normal, none of which pulls: those that a landing lifts stand no longer.
    Points that stand while another one rebounds are held in that instant. All that acts counts,
    be it wrenches, driven joints or torques.

    Parameters
    ----------
    robot : Robot
        The one that is simulated, with no point on the ground at the start, in tree coordinates.
        It has neither a moving base nor anything that depends on time.
    ground : Ground
        Its ``points``, ``normal`` and ``height``; the law of force is that of a compliant ground.
    restitution : float
        Speed of parting over that of meeting, along the normal and without friction.
    rest_speed : float [m/s]
        What meets the plane slower does not rebound.
    sticks : bool
        What stands does not slide, whatever that takes; ``False``: it slides without friction.

    Returns
    -------
    events : tuple of Event
        For ``events=`` of `robodyn.simulate`: two for each point, ``"... lands"`` and ``"...
        leaves"``.

    Raises
    ------
    SettingsError, UnknownNameError

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.simulation.events import landings
    >>> ground = rd.Ground({"tip": ("lower", (0, 0, -1))}, height=-1.8)
    >>> robot = rd.load("double_pendulum")
    >>> len(landings(robot, ground)) > 0
    True
    """
    if not (0.0 <= restitution <= 1.0 and rest_speed > 0.0):
        raise SettingsError(
            f"restitution is {restitution} and rest_speed {rest_speed} m/s, expected 0 to 1, and a "
            "positive number"
        )
    if robot.base == "moving" or robot.depends_on_time:
        raise SettingsError(
            f"{robot.name!r} has a moving base or depends on time: its points land on a compliant "
            "ground only, load(..., ground=)"
        )
    if robot.dependent_joints:
        raise SettingsError(
            f"the loops of {robot.name!r} are solved in closed form, which leaves no room for "
            "points that stand: simulate robot.tree_form, and make its landings"
        )
    plane = _Plane(robot, contact_points(robot, ground), restitution, rest_speed, bool(sticks))
    return tuple(event for point in plane.points for event in plane.events(point))


class _Plane:
    """The points that stand on a plane, and the robot with their constraints."""

    def __init__(
        self,
        robot: Robot,
        points: Sequence[ContactPoint],
        restitution: float,
        slow: float,
        sticks: bool,
    ) -> None:
        self.points, self._robot = tuple(points), robot
        self._restitution, self._slow, self._sticks = restitution, slow, sticks
        self._standing: dict[tuple[ContactPoint, ...], Robot] = {(): robot}

    def events(self, point: ContactPoint) -> tuple[Event, Event]:
        """Of one point."""

        def above(state: State) -> Any:
            if point in self._on(state.robot):
                return np.ones(state.q.shape[:-1])
            return point.gap(self._robot, state.q) + LANDED_DEPTH

        def pushes(state: State) -> float:
            """Acceleration of the point into the plane if it were not held."""
            on = self._on(state.robot)
            if point not in on:
                return 1.0
            a = state.accelerations(self._robot_on(x for x in on if x is not point))
            return -point.normal_acceleration(self._robot, state.q, state.v, a)

        def land(state: State) -> Change:
            return self._landed(point, state)

        def leave(state: State) -> Change:
            on = [x for x in self._on(state.robot) if x is not point]
            return Change(robot=self._robot_on(on), dissipated=0.0)

        def pushes_in_samples(state: State) -> FloatArray | None:
            return None if point in self._on(state.robot) else np.ones(len(state.q))

        lands, leaves = OfSamples(above, above), OfSamples(pushes, pushes_in_samples)
        return (
            Event(lands, land, -1, f"{point.name} lands"),
            Event(leaves, leave, -1, f"{point.name} leaves", already=True),
        )

    def _landed(self, point: ContactPoint, state: State) -> Change:
        """The change by a landing: rebound, or stand with the points that it does not lift."""
        q, v = state.q, state.v
        if state.robot.model.settings != self._robot.model.settings:
            raise SettingsError(
                f"{state.robot.name!r} lands with another base, ground or stops than the robot "
                "that its landings were made for: give both to robot.with_(), and that to landings"
            )
        on = self._on(state.robot)
        speed = float(point.jacobian(self._robot, q)[0] @ v)
        if speed >= 0.0:
            return Change()
        if self._restitution and -speed > self._slow:
            options: dict[str, Any] = {"restitution": self._restitution}
            options["controlled"] = state.driven
            hit = state.robot.impact(q, v, point.link, point.position, point.normal, **options)
            return Change(v=hit.v, must_separate=True)
        together = (*on, point)
        rows = np.array([x.jacobian(self._robot, q)[0] for x in together])
        jumps = responses(self._robot, q, rows, state.driven_speeds)
        push = complementary(jumps @ rows.T, rows @ v)
        stay = [x for x, p in zip(together, push, strict=True) if p > 0.0]
        return Change(robot=self._robot_on(stay))  # with what stops those that stay

    def _on(self, robot: Robot) -> tuple[ContactPoint, ...]:
        """The points that stand while a robot moves."""
        held = {x.name for x in robot.mechanism.constraints}
        return tuple(point for point in self.points if STANDS.format(point.name) in held)

    def _robot_on(self, points: Iterable[ContactPoint]) -> Robot:
        """What moves while some points stand."""
        standing = set(points)
        on = tuple(point for point in self.points if point in standing)
        if on not in self._standing:
            robot = self._robot
            held = [c.traced({}, robot.link_names) for x in on for c in self._constraints(x)]
            held = [*robot.mechanism.constraints, *held]
            mechanism = dataclasses.replace(robot.mechanism, constraints=tuple(held))
            self._standing[on] = Robot(mechanism, robot.model.settings)
        return self._standing[on]

    def _constraints(self, point: ContactPoint) -> list[FrameConstraint]:
        """The point stays in the plane; and where it is, if it sticks and can slide."""
        between = (("world", point.plane), (point.link, point.position))
        found = [FrameConstraint(STANDS.format(point.name), "point_on_plane", between)]
        if self._sticks and (slides := point.sliding_axes(self._robot)):

            def slip(X: Any, twist: Any) -> Any:
                return (X[:3, :3] @ twist[:3])[[k - 1 for k in slides]]

            found.append(FrameConstraint(STICKS.format(point.name), slip, between))
        return found
