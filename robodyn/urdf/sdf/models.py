"""Reads the models of an SDF file, their links, and the models in them and included by them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from robodyn.description import Inertia, Link
from robodyn.errors import RobodynError, TopologyError, UrdfError
from robodyn.urdf.common.drake_closures import read_drake_closure
from robodyn.urdf.common.packages import Packages
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.schema import DRAKE_IN_SDF
from robodyn.urdf.common.xml import (
    MAX_BYTES,
    Element,
    decode,
    line_of,
    local_name,
    parse_xml,
    read_bytes,
)
from robodyn.urdf.sdf.files import model_file
from robodyn.urdf.sdf.frames import (
    MODEL,
    SEPARATOR,
    Frames,
    SdfPose,
    both,
    number_of,
    read_sdf_pose,
    text_of,
    truth_of,
)
from robodyn.urdf.sdf.joint import JOINT_TYPES, WORLD, read_joint
from robodyn.urdf.sdf.loops import read_gear
from robodyn.urdf.sdf.model import SdfModel, Source
from robodyn.urdf.sdf.schema import check_model, check_sdf

_MOMENTS = {"ixx": 1.0, "ixy": 0.0, "ixz": 0.0, "iyy": 1.0, "iyz": 0.0, "izz": 1.0}


def read_inertia(reader: Reader, element: Element) -> Inertia:
    """Read an ``<inertial>``."""
    if reader.flag(element, "auto"):
        reader.problem(
            element,
            '<inertial auto="true"> is not read: write <mass> and <inertia> out',
            leniently="read as if they were not left out",
        )
    place = read_sdf_pose(reader, element)
    if place.relative_to:
        reader.problem(
            element,
            f"<pose relative_to={place.relative_to!r}>: the pose of <inertial> is that in its link",
            leniently="read as the pose in the link",
        )
    inertia = reader.only(element, "inertia")
    missing = ["mass"] if element.find("mass") is None else []
    if inertia is None:
        missing.append("inertia")
    else:
        missing += [tag for tag in ("ixx", "iyy", "izz") if inertia.find(tag) is None]
    if missing and not reader.flag(element, "auto"):
        reader.warn(
            element, f"has no {', '.join(f'<{tag}>' for tag in missing)}: SDF takes 1 for each"
        )
    return Inertia(
        number_of(reader, element, "mass", 1.0),
        place.pose,
        *(
            default if inertia is None else number_of(reader, inertia, tag, default)
            for tag, default in _MOMENTS.items()
        ),
    )


#: From this version on, names such as "world" are reserved.
RESERVING = (1, 7)
#: From this version on, names with double colons are those of nested models.
SCOPED = (1, 8)
#: Versions of which the specification is known.
VERSIONS = {f"1.{minor}" for minor in range(3, 13)}
#: Largest number of files that are included, also again, and of bytes in them.
MOST_FILES, MOST_BYTES = 1000, 4 * MAX_BYTES
#: What worlds include that is no robot.
SCENERY = ("model://sun", "model://ground_plane")
#: What a simulator may do with a model, a link or a joint that the equations do not know.
ACTING = ("plugin", "gripper")


class ModelReader:
    """Reads models.

    ``unread`` lists what is not read, though a simulator may move the mechanism by it.

    reader: Of the file that was asked for.
    packages: Folders of models and packages, for ``<include>``.
    """

    def __init__(self, reader: Reader, packages: Packages) -> None:
        self.reader = reader
        self.packages = packages
        self.unread: list[str] = []
        self._files = self._bytes = 0

    def source(self, root: Element, file: str | None, above: tuple[str, ...] = ()) -> Source:
        """Version of an ``<sdf>`` element, in a file that is included by those above."""
        version = (root.get("version") or "").strip()
        if version not in VERSIONS:
            known = "1.3 to 1.12"
            self.reader.problem(
                root,
                f"<sdf> version={version!r} is not known: {known} are"
                if version
                else f"<sdf> has no version: {known} are known",
                leniently="read as version 1.12",
            )
            version = "1.12"
        chain = (*above, str(Path(file).resolve())) if file is not None else above
        return Source(file, tuple(map(int, version.split("."))), chain)

    def models(
        self, elements: Iterable[Element], source: Source
    ) -> Iterator[tuple[SdfModel, Element, Element]]:
        """Models among elements, each with that element and the one that says where it stands."""
        for element in elements:
            if local_name(element) == "model":
                model = self.model(element, source)
                if model is not None:
                    yield model, element, element
            elif local_name(element) == "include":
                included = self._included(element, source)
                if included is not None:
                    yield included[0], element, included[1]

    def model(self, element: Element, source: Source, name: str | None = None) -> SdfModel | None:
        """Read a ``<model>``."""
        reader = self.reader
        found = name or reader.name(element)
        if found is None:
            return None
        model = SdfModel(found, element)
        taken: dict[str, int | None] = {}
        parts = sorted(element, key=lambda child: local_name(child) != "link")
        for child in parts if source.version < RESERVING else element:
            tag = local_name(child)
            if tag in ("link", "joint", "frame"):
                self._read_part(model, child, tag, source, taken)
            elif tag in DRAKE_IN_SDF:
                name = f"{tag.removeprefix('drake:')}_{len(model.closures) + 1}"
                closure = read_drake_closure(reader, child, name)
                model.closures += [closure] if closure is not None else []
            elif tag == "drake:joint":
                reader.left_out(child, "<drake:joint> is not read in SDF", lost=True)
            elif tag in ACTING:
                self.tell_unread(child)
        own = [(x.name, x.element) for x in model.joints.values() if x.child != WORLD]
        own += model.points
        for inner, part, placed in self.models(element, source):
            self._add_model(model, inner, part, read_sdf_pose(reader, placed), taken, source)
        within = next(iter(model.models), "")
        model.frames.canonical = element.get("canonical_link") or model.frames.canonical or within
        model.frames.placement = element.get("placement_frame") or MODEL
        self._check_frames(model.frames, own)
        self._tell_static(reader, element)
        if truth_of(reader, element, "enable_wind"):
            self.unread.append(f"wind on model {found!r}")
        return model

    def _tell_static(self, reader: Reader, element: Element) -> None:
        if truth_of(reader, element, "static"):
            reader.warn(element, "is <static>: its joints are read as if it were not")

    def _check_frames(self, frames: Frames, own: Iterable[tuple[str, Element]]) -> None:
        """Tell at which element a frame is given in one that is not there, or in a circle."""
        for name, element in own:
            try:
                frames.pose(name)
                frames.link(name)
            except RobodynError as error:
                self.reader.problem(element, error, lost=True)
                return

    def _read_part(
        self,
        model: SdfModel,
        element: Element,
        tag: str,
        source: Source,
        taken: dict[str, int | None],
    ) -> None:
        reader = self.reader
        name = reader.name(element)
        if name is not None and tag != "link" and name in taken and source.version < RESERVING:
            name = self._renamed(element, name, tag, taken)
        if name is None or not self._is_free(element, name, taken, source):
            return
        if tag == "link":
            place = read_sdf_pose(reader, element)
            model.add_link(self._read_link(element, name), place)
            if element.find("gravity") is not None and not truth_of(reader, element, "gravity"):
                model.weightless.append(name)
        elif tag == "frame":
            attached_to, place = element.get("attached_to") or MODEL, read_sdf_pose(reader, element)
            base = place.relative_to or attached_to
            model.frames.add(name, both(place.pose), base, attached_to)
            model.points.append((name, element))
        elif (element.get("type") or "").strip().lower() == "gearbox":
            gear = read_gear(reader, element, axes_in_model=source.axes_in_model)
            model.gears += [] if gear is None else [gear]
        else:
            joint = read_joint(reader, element, JOINT_TYPES, axes_in_model=source.axes_in_model)
            if joint is not None:
                joint = dataclasses.replace(joint, name=name)
                if joint.name == WORLD:  # as old files may call it
                    joint = dataclasses.replace(joint, name=f"{WORLD}_joint")
                    reader.warn(element, f"the joint 'world' is called {joint.name!r}")
                model.add_joint(joint)
            for plugin in element.findall("plugin"):
                self.tell_unread(plugin)

    def _read_link(self, element: Element, name: str) -> Link:
        """Read a ``<link>``."""
        reader, line = self.reader, line_of(element)
        for tag in ("enable_wind", "kinematic"):
            if truth_of(reader, element, tag):
                self._tell_of_link(tag, name, element)
        for tag in ("velocity_decay", "damping"):  # the second in old versions
            decay = reader.only(element, tag)
            ways = ("linear", "angular")
            if decay is not None and any(number_of(reader, decay, way, 0.0) for way in ways):
                self._tell_of_link(tag, name, element)
        inertial = reader.only(element, "inertial")
        if inertial is None:
            said = "has no <inertial>: SDF gives it 1 kg, and 1 kg m^2 about each axis"
            reader.warn(element, said)
            return Link(name, Inertia(1.0, ixx=1.0, iyy=1.0, izz=1.0), line=line)
        if inertial.find("fluid_added_mass") is not None:
            self._tell_of_link("fluid_added_mass", name, inertial)
        return Link(name, read_inertia(reader, inertial), line=line)

    def _tell_of_link(self, tag: str, name: str, element: Element) -> None:
        self.unread.append(f"<{tag}> of link {name!r} (line {line_of(element)})")

    def _renamed(
        self, element: Element, name: str, tag: str, taken: Mapping[str, int | None]
    ) -> str:
        """A free name for a joint or frame that is called as something else, as SDF had it once."""
        new = f"{name}_{tag}"
        while new in taken:
            new += "_"
        self.reader.problem(
            element,
            f"the name is taken by the element in line {taken[name]}",
            leniently=f"called {new!r}",
        )
        return new

    def tell_unread(self, element: Element) -> None:
        """Remember that a simulator may move the mechanism by an element."""
        name = element.get("name")
        self.unread.append(
            f"<{local_name(element)}>{f' {name!r}' if name else ''} (line {line_of(element)})"
        )

    def _is_free(
        self, element: Element, name: str, taken: dict[str, int | None], source: Source
    ) -> bool:
        if name in taken:
            self.reader.problem(
                element, f"the name is taken by the element in line {taken[name]}", lost=True
            )
        elif source.version >= RESERVING and is_reserved(name, scoped=source.version >= SCOPED):
            self.reader.problem(element, f"the name {name!r} is reserved; rename it", lost=True)
        else:
            taken[name] = line_of(element)
            return True
        return False

    def _add_model(
        self,
        model: SdfModel,
        inner: SdfModel,
        part: Element,
        place: SdfPose,
        taken: dict[str, int | None],
        source: Source,
    ) -> None:
        names, merge = [inner.name], bool(self.reader.flag(part, "merge"))
        if merge:
            names = [*inner.links, *inner.joints, *(name for name, _ in inner.points)]
        own = [name for name in names if SEPARATOR not in name or not merge]
        if all([self._is_free(part, name, taken, source) for name in own]):
            try:
                model.include(inner, place, merge=merge)
            except RobodynError as error:  # of the frame that stands there
                self.reader.problem(part, error, lost=True)

    def _included(self, element: Element, source: Source) -> tuple[SdfModel, Element] | None:
        """The model of an ``<include>``, and the element that says where it stands."""
        reader = self.reader
        uri = text_of(reader, element, "uri")
        if not uri:
            reader.problem(element, "<include> has no <uri>", lost=True)
            return None
        if uri in SCENERY:
            return None
        try:
            path = model_file(uri, source.file, self.packages)
            if str(path.resolve()) in source.chain:
                raise UrdfError(_circle(source.chain, path.resolve()))
            data = read_bytes(path)
            self._count(len(data))
            root = parse_xml(decode(data, str(path)), str(path), reader.warnings)
        except UrdfError as error:
            reader.left_out(element, str(error), lost=True)
            return None
        return self._first_model(element, root, str(path), source.chain)

    def _count(self, size: int) -> None:
        """Count an included file; ends the reading where there is no end to them."""
        self._files, self._bytes = self._files + 1, self._bytes + size
        if self._files > MOST_FILES or self._bytes > MOST_BYTES:
            raise TopologyError(
                f"includes more than {MOST_FILES} files, or {MOST_BYTES // 2**20} MB in them: not "
                "read any further",
                file=self.reader.file,
            )

    def _first_model(
        self, include: Element, root: Element, file: str, above: tuple[str, ...]
    ) -> tuple[SdfModel, Element] | None:
        """The model of an included file, read by a reader that knows the file."""
        outer = self.reader
        self.reader = Reader(file, strict=outer.strict)
        try:
            element = root.find("model") if local_name(root) == "sdf" else None
            if element is None:
                self.reader.problem(root, "is included, and is no SDF with a model", lost=True)
                return None
            check_sdf(self.reader, root)
            check_model(self.reader, element)
            name = text_of(outer, include, "name") or None
            model = self.model(element, self.source(root, file, above), name)
        finally:
            outer.take(self.reader)
            self.reader = outer
        if model is None:
            return None
        self._tell_static(outer, include)
        for plugin in include.findall("plugin"):
            self.tell_unread(plugin)
        placement = text_of(outer, include, "placement_frame")
        if placement:
            model.frames.placement = placement
        return model, element if include.find("pose") is None else include


def _circle(chain: tuple[str, ...], path: Path) -> str:
    """How a file includes itself."""
    files = [*chain[chain.index(str(path)) :], str(path)]
    return f"is included by itself: {' -> '.join(Path(file).name for file in files)}"


def is_reserved(name: str, *, scoped: bool = True) -> bool:
    """Whether a name means something else: the world, a frame of SDF, or one of a model within.

    scoped: Whether models have those of models within.
    """
    of_sdf = name.startswith("__") and name.endswith("__")
    return name == WORLD or of_sdf or (SEPARATOR in name and scoped)
