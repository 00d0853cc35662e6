"""A sensor as a description has it: what it reads, and where."""

from __future__ import annotations

from robodyn.array_types import FloatArray
from robodyn.force_elements.common.link_element import WORLD
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.graph import Program

#: A link, or the world, and the pose of a frame in it, shape (4, 4).
Frame = tuple[str, FloatArray]


@dataclass(frozen=True, eq=False)
class DescribedSensor:
    """A sensor that its user gave, `robodyn.Sensor`, with everything checked that needs no robot.

    kind: A key of `robodyn.equations.sensors.kinds.KINDS`.
    columns, units: Of the numbers that it gives.
    reads {"q", "v", "a"}: What it needs of a state: positions, speeds as well, or accelerations as
        well.
    at: Where it sits.
    relative_to: The frame that it is seen from.
    axes: Along which vectors are given. None: those that the kind says.
    joints: Of which it reads the wrench, or the coordinates.
    bodies: Links, each standing for its body with all that is fixed to it; empty for all that
        moves.
    law: Of a sensor that is a function.
    """

    name: str
    kind: str
    columns: tuple[str, ...]
    units: tuple[str, ...]
    reads: str
    at: Frame | None = None
    relative_to: Frame | None = None
    axes: Frame | None = None
    joints: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()
    law: Program | None = None

    def __repr__(self) -> str:
        return f"<Sensor {self.name!r}: {self.kind}, {len(self.columns)} numbers>"

    @property
    def frames(self) -> tuple[Frame, ...]:
        """All frames that it knows."""
        return tuple(x for x in (self.at, self.relative_to, self.axes) if x is not None)

    @property
    def links(self) -> tuple[str, ...]:
        """All links that it knows, without the world."""
        links = (*(link for link, _ in self.frames), *self.bodies)
        return tuple(dict.fromkeys(link for link in links if link != WORLD))
