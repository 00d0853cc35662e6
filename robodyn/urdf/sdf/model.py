"""A model of SDF as it is read: its links, joints and frames, with those of the models in it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from robodyn.description import Link, Loop
from robodyn.urdf.common.xml import Element
from robodyn.urdf.sdf.frames import MODEL, SEPARATOR, Frames, SdfPose, both
from robodyn.urdf.sdf.joint import WORLD, SdfJoint
from robodyn.urdf.sdf.loops import SdfGear

#: Up to this version axes are in the frame of the model.
AXES_IN_MODEL = (1, 4)


@dataclass(frozen=True)
class Source:
    """What a model is read from.

    version: Of SDF, such as (1, 7).
    chain: Files that include it, from the first, and itself.
    """

    file: str | None
    version: tuple[int, ...]
    chain: tuple[str, ...] = ()

    @property
    def axes_in_model(self) -> bool:
        """Whether axes are expressed in the model's frame where nothing else is said."""
        return self.version <= AXES_IN_MODEL


@dataclass
class SdfModel:
    """A ``<model>``; what is in models within has scoped names, ``inner::name``.

    weightless: Links on which gravity does not act.
    closures: Constraints of Drake.
    points: Its ``<frame>`` elements, by name.
    models: Names of the models within.
    """

    name: str
    element: Element
    frames: Frames = field(default_factory=Frames)
    links: dict[str, Link] = field(default_factory=dict)
    weightless: list[str] = field(default_factory=list)
    joints: dict[str, SdfJoint] = field(default_factory=dict)
    gears: list[SdfGear] = field(default_factory=list)
    closures: list[Loop] = field(default_factory=list)
    points: list[tuple[str, Element]] = field(default_factory=list)
    models: list[str] = field(default_factory=list)

    def add_link(self, link: Link, place: SdfPose) -> None:
        """Add a link; the first one moves the model's frame, where nothing else is said."""
        self.frames.canonical = self.frames.canonical or link.name
        self.frames.add(link.name, both(place.pose), place.relative_to or MODEL)
        self.links[link.name] = link

    def add_joint(self, joint: SdfJoint) -> None:
        """Add a joint and its frame."""
        joint.add_frame(self.frames)
        self.joints[joint.name] = joint

    def include(self, model: SdfModel, place: SdfPose, *, merge: bool) -> None:
        """Take over what another model has, by scoped names, or merged, by its own ones."""
        own = f"_merged__{model.name}__model__" if merge else model.name
        scope = "" if merge else f"{model.name}{SEPARATOR}"

        def renamed(name: str) -> str:
            return own if name == MODEL else scope + name

        def known(name: str) -> str:
            return name if name == WORLD else renamed(name)

        base = place.relative_to or MODEL
        self.frames.include(own, both(place.pose), base, model.frames, renamed)
        links = [dataclasses.replace(x, name=scope + name) for name, x in model.links.items()]
        if merge and links:
            self.frames.canonical = self.frames.canonical or links[0].name
        self.links |= {link.name: link for link in links}
        self.weightless += [scope + name for name in model.weightless]
        joints = [x.renamed(scope, known) for x in model.joints.values()]
        self.joints |= {joint.name: joint for joint in joints}
        self.gears += [gear.renamed(scope, known) for gear in model.gears]
        for x in model.closures:
            one, other = known(x.predecessor), known(x.successor)
            self.closures.append(
                dataclasses.replace(x, name=scope + x.name, predecessor=one, successor=other)
            )
        self.points += [(scope + name, element) for name, element in model.points]
        self.models += [own, *(scope + name for name in model.models)]

    @property
    def moves(self) -> bool:
        """Whether something in it moves relative to something else."""
        return any(joint.kind.nv for joint in self.joints.values())
