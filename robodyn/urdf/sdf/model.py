"""A model of SDF as it is read: its links, joints and frames, and the models in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from robodyn.description import Link, Loop
from robodyn.description.exact_turns import exact_pose
from robodyn.urdf.common.xml import Element
from robodyn.urdf.sdf.frames import MODEL, Frames
from robodyn.urdf.sdf.joint import SdfJoint, merged_joint
from robodyn.urdf.sdf.loops import add_joint_frame, exactly_placed
from robodyn.urdf.sdf.values import SdfPose

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
    """A ``<model>``.

    exact: The same, where rounded turns are exact.
    weightless: Links on which gravity does not act.
    gears: Gearboxes, and whether their axes are in the model's frame.
    closures: Constraints of Drake.
    points: Its ``<frame>`` elements, by name.
    """

    name: str
    element: Element
    frames: Frames = field(default_factory=Frames)
    exact: Frames = field(default_factory=Frames)
    links: dict[str, Link] = field(default_factory=dict)
    weightless: list[str] = field(default_factory=list)
    joints: list[SdfJoint] = field(default_factory=list)
    gears: list[tuple[Element, bool]] = field(default_factory=list)
    closures: list[Loop] = field(default_factory=list)
    points: list[tuple[str, Element]] = field(default_factory=list)
    models: dict[str, SdfModel] = field(default_factory=dict)

    def add_frame(self, name: str, place: SdfPose, default: str, attached_to: str | None) -> None:
        """Add a frame that stands in ``default`` where its place does not say another."""
        base = place.relative_to or default
        self.frames.add(name, place.pose.matrix, base, attached_to)
        self.exact.add(name, exact_pose(place.pose).matrix, base, attached_to)

    def add_joint(self, joint: SdfJoint) -> None:
        """Add a joint and its frame."""
        add_joint_frame(self.frames, joint)
        add_joint_frame(self.exact, exactly_placed(joint))
        self.joints.append(joint)

    def add_model(self, model: SdfModel, place: SdfPose) -> None:
        """Add a model within."""
        base = place.relative_to or MODEL
        self.frames.add_model(model.name, place.pose.matrix, base, model.frames)
        self.exact.add_model(model.name, exact_pose(place.pose).matrix, base, model.exact)
        self.models[model.name] = model

    def merge(self, model: SdfModel, place: SdfPose) -> None:
        """Take over what another model has; its own frame gets a name of its own."""
        own, base = f"_merged__{model.name}__model__", place.relative_to or MODEL
        self.frames.merge(own, place.pose.matrix, base, model.frames)
        self.exact.merge(own, exact_pose(place.pose).matrix, base, model.exact)
        self.links |= model.links
        self.weightless += model.weightless
        self.joints += [merged_joint(joint, own) for joint in model.joints]
        self.gears += model.gears
        self.closures += model.closures
        self.points += model.points
        self.models |= model.models

    def start_at(self, canonical: str, placement: str) -> None:
        """Say which link the model's frame moves with, and which frame stands at its pose."""
        for frames in (self.frames, self.exact):
            frames.canonical, frames.placement = canonical, placement

    def all_links(self) -> Iterator[str]:
        """Names of its links and of those of models within."""
        yield from self.links
        for name, inner in self.models.items():
            yield from (f"{name}::{link}" for link in inner.all_links())

    @property
    def moves(self) -> bool:
        """Whether something in it moves relative to something else."""
        inner = any(model.moves for model in self.models.values())
        return inner or any(joint.kind.nv for joint in self.joints)
