"""Sensors of a robot as sensors of MJCF, which show the same numbers, at sites."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from robodyn.description.pose import inverse_pose
from robodyn.description.sensor import DescribedSensor, Frame
from robodyn.force_elements.common.link_element import WORLD
from robodyn.topology.spanning_tree import SpanningTree
from robodyn.urdf.common.drawn import DrawnRobot
from robodyn.urdf.mjcf.writing.bodies import WrittenBodies
from robodyn.urdf.mjcf.writing.document import Document, add

#: Axes of the world, which MuJoCo takes where nothing else is given.
GROUND = np.eye(4)


def sensor_links(sensors: Iterable[DescribedSensor], tree: SpanningTree) -> set[str]:
    """Links that have to be bodies, as sensors sit on them, or measure what holds them."""
    links = {link for sensor in sensors for link, _ in sensor.frames}
    joints = {joint for sensor in sensors if sensor.kind == "wrench" for joint in sensor.joints}
    return (links | {child for name, child in _children(tree) if name in joints}) - {WORLD}


def add_sensors(
    document: Document, bodies: WrittenBodies, robot: DrawnRobot, tree: SpanningTree
) -> list[str]:
    """Add all sensors; the names of those that MuJoCo does not have."""
    writer = _Sensors(document, bodies, robot, dict(_children(tree)))
    return [sensor.name for sensor in robot.mechanism.sensors if not writer.add(sensor)]


def _children(tree: SpanningTree) -> Iterator[tuple[str, str]]:
    """Joints whose child hangs on their parent in the tree, and that child."""
    links = {body: name for name, (body, _) in tree.links.items()}
    for body, joint in enumerate(tree.joints):
        if not joint.reversed:
            yield joint.joint.name, links[body]


class _Sensors:
    """Sensors of a document."""

    def __init__(
        self,
        document: Document,
        bodies: WrittenBodies,
        robot: DrawnRobot,
        children: dict[str, str],
    ) -> None:
        self._document, self._bodies, self._children = document, bodies, children
        self._poses, mechanism = robot.poses, robot.mechanism
        springs = [x for x in mechanism.movers if x.stiffness]
        self._has_springs = bool(springs or mechanism.link_elements)  # which MuJoCo's energy holds

    def add(self, sensor: DescribedSensor) -> bool:
        """Add a sensor; ``False``: MuJoCo has none that shows this."""
        writer: Callable[[DescribedSensor], bool] | None = getattr(self, f"_{sensor.kind}", None)
        return writer is not None and writer(sensor)

    def _position(self, sensor: DescribedSensor) -> bool:
        return self._seen("framepos", sensor)

    def _velocity(self, sensor: DescribedSensor) -> bool:
        return self._seen("framelinvel", sensor, along_its_axes="velocimeter")

    def _angular_velocity(self, sensor: DescribedSensor) -> bool:
        return self._seen("frameangvel", sensor, along_its_axes="gyro")

    def _angular_acceleration(self, sensor: DescribedSensor) -> bool:
        return not _is_seen_from_elsewhere(sensor) and self._seen("frameangacc", sensor)

    def _acceleration(self, sensor: DescribedSensor) -> bool:
        if _is_seen_from_elsewhere(sensor) or not self._seen("framelinacc", sensor):
            return False
        self._document.lost.append(
            f"sensor {sensor.name!r} shows the acceleration less gravity in MuJoCo"
        )
        return True

    def _orientation(self, sensor: DescribedSensor) -> bool:
        for letter in "xyz":
            self._seen(f"frame{letter}axis", sensor, letter)
        self._document.lost.append(
            f"sensor {sensor.name!r} is written as the axes {sensor.name}_x, {sensor.name}_y and "
            f"{sensor.name}_z, the columns of its matrix"
        )
        return True

    def _imu(self, sensor: DescribedSensor) -> bool:
        site = self._site(sensor.name, sensor.at)
        for tag in ("accelerometer", "gyro"):
            self._document.add(f"sensor/{tag}", name=f"{sensor.name}_{tag}", site=site)
        return True

    def _wrench(self, sensor: DescribedSensor) -> bool:
        child = self._children.get(sensor.joints[0])
        if child is None:
            return False
        link, X = sensor.at or (child, GROUND)
        if not self._bodies.fixed_together(link, child):
            return False
        X = X if link == child else inverse_pose(self._poses[child]) @ self._poses[link] @ X
        site = self._site(sensor.name, (child, X))
        for tag in ("force", "torque"):
            self._document.add(f"sensor/{tag}", name=f"{sensor.name}_{tag}", site=site)
        return True

    def _distance(self, sensor: DescribedSensor) -> bool:
        return self._between("tendonpos", sensor)

    def _distance_rate(self, sensor: DescribedSensor) -> bool:
        return self._between("tendonvel", sensor)

    def _center_of_mass(self, sensor: DescribedSensor) -> bool:
        body = self._bodies.carrying(sensor.bodies)
        if body is not None:
            self._document.add("sensor/subtreecom", name=sensor.name, body=body)
        return body is not None

    def _kinetic_energy(self, sensor: DescribedSensor) -> bool:
        if not sensor.bodies:
            self._document.add("sensor/e_kinetic", name=sensor.name)
        return not sensor.bodies

    def _potential_energy(self, sensor: DescribedSensor) -> bool:
        written = not (sensor.bodies or self._has_springs or self._bodies.still_mass)
        if written:
            self._document.add("sensor/e_potential", name=sensor.name)
        return written

    def _seen(
        self, tag: str, sensor: DescribedSensor, suffix: str = "", along_its_axes: str = ""
    ) -> bool:
        """Add a sensor of a frame, seen from another one."""
        assert sensor.at is not None
        reference = sensor.relative_to or (WORLD, GROUND)
        name = f"{sensor.name}_{suffix}" if suffix else sensor.name
        if sensor.axes is not None and not _same(sensor.axes, reference):
            if not (along_its_axes and _same(sensor.axes, sensor.at)) or not _is_ground(reference):
                return False
            site = self._site(name, sensor.at)
            self._document.add(f"sensor/{along_its_axes}", name=name, site=site)
            return True
        values = {"objtype": "site", "objname": self._site(name, sensor.at)}
        if not _is_ground(reference):
            values |= {"reftype": "site", "refname": self._site(f"{name}_from", reference)}
        self._document.add(f"sensor/{tag}", name=name, **values)
        return True

    def _between(self, tag: str, sensor: DescribedSensor) -> bool:
        """Add a tendon without effect between two frames, whose length is a distance."""
        assert sensor.at is not None and sensor.relative_to is not None
        tendon = self._document.add("tendon/spatial", name=sensor.name)
        for name, frame in ((sensor.name, sensor.at), (f"{sensor.name}_from", sensor.relative_to)):
            add(tendon, "site", site=self._site(name, frame))
        self._document.add(f"sensor/{tag}", name=sensor.name, tendon=tendon.get("name"))
        return True

    def _site(self, name: str, frame: Any) -> str:
        link, X = frame
        return self._document.add_site(self._bodies.of(link), name, np.asarray(X))


def _is_seen_from_elsewhere(sensor: DescribedSensor) -> bool:
    return sensor.relative_to is not None and not _is_ground(sensor.relative_to)


def _is_ground(frame: Frame) -> bool:
    return _same(frame, (WORLD, GROUND))


def _same(one: Frame, other: Frame) -> bool:
    return one[0] == other[0] and bool(np.array_equal(one[1], other[1]))
