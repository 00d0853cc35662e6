"""Where a mechanism comes from: a file, text, a bundled robot, an object of another library."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from robodyn.description import Mechanism
from robodyn.errors import (
    InertiaError,
    MissingExtraError,
    RobodynError,
    SettingsError,
    UrdfError,
    UrdfWarning,
)
from robodyn.urdf.adapters import from_object, is_urdf_object
from robodyn.urdf.check import check
from robodyn.urdf.document_kind import EXTENDED_URDF, MJCF, URDF, XACRO
from robodyn.urdf.extended import read_extension
from robodyn.urdf.massless import massless_motions
from robodyn.urdf.mjcf import read_mjcf
from robodyn.urdf.parse import read
from robodyn.urdf.reading import Document, Options, Reading, bundled_robots, open_document
from robodyn.urdf.report import as_warning, tell, tolerable
from robodyn.urdf.suspicions import suspicions
from robodyn.urdf.xml import root_tag

__all__ = ["bundled_robots", "findings", "load_mechanism", "problems"]


def load_mechanism(
    source: Any,
    *,
    package_dirs: Mapping[str, str | os.PathLike[str]] | None = None,
    allow_unphysical: bool = False,
    urdf: Any = None,
    strict: bool = True,
) -> Mechanism:
    """Read a mechanism and check it.

    Parameters
    ----------
    source : path, str, bytes or object
        A ``.urdf`` or ``.xacro`` file, the ``.yaml`` of an Extended URDF, URDF text, the name of a
        bundled robot, or a model of urdfpy, urchin or yourdfpy.
    package_dirs : mapping of str to path, optional
        Folders of ROS packages, for ``$(find package)`` in xacro. Meshes are never opened.
    allow_unphysical : bool
        Take masses and inertias that no body can have as they are, with a warning.
    urdf : path, optional
        The URDF that the ``.yaml`` of an Extended URDF belongs to.
    strict : bool
        ``False``: read what other readers skip or accept as they do, impossible inertias and
        joints that move no mass included, with one warning that lists each such place.

    Raises
    ------
    UrdfError, TopologyError, InertiaError
        The first problem found, with the next ones as notes; ``problems`` gives them all.
    SettingsError
        ``urdf`` without a ``.yaml``.
    UnknownNameError
        Neither a file nor a bundled robot.
    MissingExtraError
        A ``.xacro`` or ``.yaml`` file, and xacro or PyYAML is not installed.
    """
    reading = _read(source, Options(package_dirs or {}, urdf, strict))
    mechanism, found, warned = reading.mechanism, reading.problems, reading.warnings
    if mechanism is not None and not (strict or any(not tolerable(error) for error in found)):
        found += massless_motions(mechanism)
    if strict and allow_unphysical:
        warned += [as_warning(error) for error in found if isinstance(error, InertiaError)]
        found = [error for error in found if not isinstance(error, InertiaError)]
    tell(found, warned, strict=strict)
    assert mechanism is not None
    return mechanism


def problems(
    source: Any,
    *,
    package_dirs: Mapping[str, str | os.PathLike[str]] | None = None,
    strict: bool = True,
) -> list[RobodynError]:
    """All that is wrong with a description, in the order found; empty if nothing is.

    Joints that move no mass are among them; they can be loaded, but have no forward dynamics.
    Parameters are those of ``load_mechanism``.
    """
    return findings(source, package_dirs=package_dirs, strict=strict)[0]


def findings(
    source: Any,
    *,
    package_dirs: Mapping[str, str | os.PathLike[str]] | None = None,
    strict: bool = True,
) -> tuple[list[RobodynError], list[UrdfWarning]]:
    """All that is wrong with a description, and all that is legal but suspicious.

    Parameters are those of ``load_mechanism``. With ``strict=False`` what is read leniently is
    among the warnings, with what was done about it (``leniently``).
    """
    try:
        reading = _read(source, Options(package_dirs or {}, strict=strict))
        mechanism, found, warned = reading.mechanism, reading.problems, reading.warnings
        tolerated = [] if strict else [as_warning(error) for error in found if tolerable(error)]
        found = [error for error in found if strict or not tolerable(error)]
        if mechanism is not None and not found:
            massless = massless_motions(mechanism)
            tolerated += [] if strict else map(as_warning, massless)
            found += massless if strict else []
            warned += suspicions(mechanism)
    except RobodynError as error:
        return [error], []
    return found, tolerated + warned


def _read(source: Any, options: Options) -> Reading:
    """Read the mechanism as far as possible; list all problems and all warnings."""
    if isinstance(source, Mechanism):
        reading = Reading(source)
    elif is_urdf_object(source):
        mechanism, warned = from_object(source)
        reading = Reading(mechanism, warnings=warned)
    else:
        reading = _read_document(open_document(source), options)
    if reading.mechanism is not None:
        errors, unsound = check(reading.mechanism, graph=reading.complete)
        reading.problems += errors
        reading.warnings += unsound
    return reading


def _read_document(document: Document, options: Options) -> Reading:
    if options.urdf is not None and document.kind != EXTENDED_URDF:
        raise SettingsError(
            "urdf= goes with the .yaml of an Extended URDF as source; a URDF is a source itself"
        )
    return READERS.get(document.kind, _read_urdf)(document, options)


def _read_urdf(document: Document, options: Options) -> Reading:
    mechanism, reader = read(document.text, document.file, strict=options.strict)
    return Reading(mechanism, reader.problems, reader.warnings, not reader.incomplete)


def _read_xacro(document: Document, options: Options) -> Reading:
    if document.file is None:  # whose includes would be relative to nothing
        return _read_urdf(document, options)
    text = _expand_xacro(Path(document.file), options.package_dirs)
    return _read_urdf(Document(text, document.file, URDF), options)


def _read_extended(document: Document, options: Options) -> Reading:
    if document.file is None:
        raise UrdfError("an Extended URDF is read from its file, beside the URDF that it extends")
    extension = read_extension(Path(document.file), options.urdf)
    reading = _read_document(open_document(extension.urdf), dataclasses.replace(options, urdf=None))
    if reading.mechanism is not None and reading.complete:
        applied = extension.applied(reading.mechanism)
        reading.mechanism = applied.mechanism
        reading.problems += applied.problems
        reading.warnings += applied.warnings
    return reading


def _read_mjcf(document: Document, options: Options) -> Reading:
    if root_tag(document.text) == "mujocoinclude":
        raise UrdfError(
            "<mujocoinclude> is a part of a model: load the file with <mujoco> that includes it",
            file=document.file,
        )
    return Reading(*read_mjcf(document.text, document.file))


#: What reads which kind of document.
READERS: dict[str, Callable[[Document, Options], Reading]] = {
    URDF: _read_urdf,
    XACRO: _read_xacro,
    EXTENDED_URDF: _read_extended,
    MJCF: _read_mjcf,
}


def _expand_xacro(path: Path, package_dirs: Mapping[str, str | os.PathLike[str]]) -> str:
    """URDF text of a xacro file."""
    try:
        import xacro
        from xacro import substitution_args
    except ImportError as error:
        raise MissingExtraError("xacro", "xacro", f"reading {path.name}") from error

    def find(package: str) -> str:
        if package in package_dirs:
            return os.fspath(package_dirs[package])
        return str(ament_find(package))

    ament_find = substitution_args._eval_find  # xacro asks the ROS installation and nobody else
    substitution_args._eval_find = find
    try:
        return str(xacro.process_file(str(path)).toprettyxml(indent="  "))
    except Exception as error:  # xacro raises what it meets: XML, name and type errors
        raise UrdfError(f"xacro cannot expand it: {error}", file=str(path)) from error
    finally:
        substitution_args._eval_find = ament_find
