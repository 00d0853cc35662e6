"""SDF to a description: the model of a file, or of its world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from robodyn.errors import RobodynError, UnknownNameError, UrdfError, some_of
from robodyn.tolerances import DEFAULT_GRAVITY
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.reading import Document, Options, Reading
from robodyn.urdf.common.xml import Element, local_name, parse_xml
from robodyn.urdf.sdf.frames import MODEL, Frames, Matrix, both, inverse, read_sdf_pose
from robodyn.urdf.sdf.mechanism import mechanism_of
from robodyn.urdf.sdf.model import SdfModel, Source
from robodyn.urdf.sdf.models import ModelReader
from robodyn.urdf.sdf.schema import check_model, check_sdf

#: Gravity of a world that says nothing else, and what it is rounded to.
GRAVITY = (0.0, 0.0, -9.81)
#: How much is said of what is not read.
LISTED = 5
#: How many models an error lists.
SHOWN = 30


def read_sdf(document: Document, options: Options) -> Reading:
    """Read SDF.

    Models that it includes are looked for beside its file, too. Where the base is fixed, the root
    link stands in the world where the file says; a floating base stands where its coordinates say.

    Raises `UnknownNameError` if no model has the name that is asked for.
    """
    reader, root = Reader(document.file, strict=options.strict), document.root
    try:
        root = parse_xml(document.text, reader.file, reader.warnings) if root is None else root
    except UrdfError as error:
        return Reading(None, [error], reader.warnings, complete=False)
    check_sdf(reader, root)
    models = ModelReader(reader, options.packages)
    found = _model(models, root, models.source(root, reader.file), options.model)
    mechanism = None
    if found is not None and not reader.incomplete:
        model, X_world = found
        mechanism = mechanism_of(reader, model, X_world, in_world=options.base == "fixed")
    if models.unread:
        names = some_of(models.unread, LISTED)
        reader.warn(root, f"not read, though it may move the mechanism: {names}")
    return Reading.of(mechanism, reader)


@dataclass
class _Found:
    """A model of the file or of a world, and what there is to say about it."""

    place: Element
    model: SdfModel
    element: Element
    reader: Reader
    unread: list[str]


def _every_model(models: ModelReader, root: Element, source: Source) -> Iterator[_Found]:
    """All models, each with findings of its own: some models are left out."""
    reader = models.reader
    for place in (root, *root.findall("world")):
        for child in place:
            own = models.reader = Reader(reader.file, strict=reader.strict)
            models.unread = []
            if local_name(child) == "model":
                check_model(own, child)
            found = [*models.models([child], source)]
            if not found:
                reader.take(own)
            for model, _, element in found:
                yield _Found(place, model, element, own, models.unread)
    models.reader, models.unread = reader, []


def _model(
    models: ModelReader, root: Element, source: Source, name: str | None
) -> tuple[SdfModel, Matrix] | None:
    """The model that is meant, and its pose in the world."""
    reader = models.reader
    every = list(_every_model(models, root, source))
    found = [entry for entry in every if entry.model.moves] if len(every) > 1 else every
    if name is not None:
        found = [entry for entry in every if entry.model.name == name]
    for entry in found if len(found) == 1 else every:
        reader.take(entry.reader)
        models.unread += entry.unread
    if name is not None and not found:
        known = [entry.model.name for entry in every]
        raise UnknownNameError("model", name, known, reader.file or "the text")
    if len(found) != 1:
        if not reader.incomplete:
            reader.problem(root, _which([x.model.name for x in found or every], name), lost=True)
        return None
    place, model, element = found[0].place, found[0].model, found[0].element
    others = [repr(entry.model.name) for entry in every if entry.model is not model]
    if others and name is None:
        names = some_of(others, LISTED)
        reader.warn(root, f"only model {model.name!r} moves in itself: left out is {names}")
    if place is not root:
        _check_gravity(reader, place)
        for joint in place.findall("joint"):
            models.unread.append(f"joint {joint.get('name', '')!r} of the world")
    try:
        return model, _pose(reader, place, model, element)
    except RobodynError as error:
        reader.problem(element, error, lost=True)
        return None


def _which(names: list[str], given: str | None) -> str:
    """What is wrong where not one model is meant."""
    if not names:
        return "has no <model>"
    if given is not None:
        return f"has {len(names)} models of the name {given!r}: rename them"
    shown = some_of([*map(repr, names)], SHOWN)
    return f"has the models {shown}: a robot is one model; say which by model={names[0]!r}"


def _pose(reader: Reader, place: Element, model: SdfModel, element: Element) -> Matrix:
    """Pose of a model in the world as written, shape (4, 4) [1, m]."""
    frames = Frames()
    frames.add("world", np.eye(4))
    for frame in place.findall("frame"):
        at = read_sdf_pose(reader, frame)
        attached_to = frame.get("attached_to") or MODEL
        frames.add(frame.get("name", ""), both(at.pose), at.relative_to or attached_to)
    at = read_sdf_pose(reader, element)
    placed = inverse(model.frames.pose(model.frames.placement))
    frames.add(model.name, both(at.pose) @ placed, at.relative_to or MODEL)
    X: Matrix = frames.pose(model.name)[0]
    return X


def _check_gravity(reader: Reader, world: Element) -> None:
    """A robot has gravity along -z, whatever the world says."""
    gravity = world.find("gravity")
    if gravity is None:
        gravity = world.find("physics/gravity")
    if gravity is None:
        return
    words = (gravity.text or "").split()
    numbers = tuple(reader.to_number(gravity, "text", word) for word in words)
    if len(numbers) != 3:
        reader.problem(gravity, f"<gravity> has {len(numbers)} numbers, expected 3")
    elif max(abs(a - b) for a, b in zip(numbers, GRAVITY, strict=True)) > DEFAULT_GRAVITY:
        values = ", ".join(f"{x:g}" for x in numbers)
        reader.warn(gravity, f"<gravity> is not read: give gravity=({values})")
