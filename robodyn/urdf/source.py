"""Where a mechanism comes from: a file, text, a bundled robot, an object of another library."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from robodyn.description import Mechanism
from robodyn.errors import (
    InertiaError,
    MissingExtraError,
    RobodynError,
    SettingsError,
    UnknownNameError,
    UrdfError,
    UrdfWarning,
)
from robodyn.urdf.adapters import from_object, is_urdf_object
from robodyn.urdf.check import check
from robodyn.urdf.extended import SUFFIXES, Extension, read_extension
from robodyn.urdf.massless import massless_motions
from robodyn.urdf.parse import read
from robodyn.urdf.report import as_warning, tell, tolerable
from robodyn.urdf.suspicions import suspicions
from robodyn.urdf.xml import decode, read_bytes

__all__ = ["bundled_robots", "findings", "load_mechanism", "problems"]


def bundled_robots() -> tuple[str, ...]:
    """Names of the robots that come with the library."""
    folder = resources.files("robodyn.urdf") / "robots"
    return tuple(
        sorted(f.name.removesuffix(".urdf") for f in folder.iterdir() if f.name.endswith(".urdf"))
    )


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
    mechanism, found, warned = _read(source, package_dirs, urdf, strict)
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
        mechanism, found, warned = _read(source, package_dirs, strict=strict)
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


def _read(
    source: Any,
    package_dirs: Mapping[str, str | os.PathLike[str]] | None,
    urdf: Any = None,
    strict: bool = True,
) -> tuple[Mechanism | None, list[RobodynError], list[UrdfWarning]]:
    """Read the mechanism as far as possible; list all problems and all warnings."""
    mechanism: Mechanism | None
    found: list[RobodynError] = []
    warned: list[UrdfWarning] = []
    complete = True
    extension = _extension(source, urdf)
    if isinstance(source, Mechanism):
        mechanism = source
    elif is_urdf_object(source):
        mechanism, warned = from_object(source)
    else:
        text, file = _text(source if extension is None else extension.urdf, package_dirs)
        mechanism, reader = read(text, file, strict=strict)
        found, warned, complete = reader.problems, reader.warnings, not reader.incomplete
        if mechanism is not None and extension is not None and complete:
            applied = extension.applied(mechanism)
            mechanism = applied.mechanism
            found += applied.problems
            warned += applied.warnings
    if mechanism is not None:
        errors, unsound = check(mechanism, graph=complete)
        found, warned = found + errors, warned + unsound
    return mechanism, found, warned


def _extension(source: Any, urdf: Any) -> Extension | None:
    """What a YAML file says, if the source is one."""
    is_path = isinstance(source, os.PathLike) or (isinstance(source, str) and "<" not in source)
    if is_path and Path(source).suffix in SUFFIXES:
        return read_extension(Path(source), urdf)
    if urdf is not None:
        raise SettingsError(
            "urdf= goes with the .yaml of an Extended URDF as source; a URDF is a source itself"
        )
    return None


def _text(
    source: Any, package_dirs: Mapping[str, str | os.PathLike[str]] | None
) -> tuple[str, str | None]:
    """URDF text of a source and the file that it stands in."""
    if isinstance(source, (bytes, bytearray)):
        return decode(bytes(source)), None
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        return source, None
    if not isinstance(source, (str, os.PathLike)):
        raise UrdfError(
            f"a {type(source).__name__} is not a source of a robot: give a path, URDF text, the "
            "name of a bundled robot, or a model of urdfpy, urchin or yourdfpy"
        )
    if isinstance(source, str) and not source.strip():
        raise UrdfError("the text is empty: give a path, URDF text or the name of a bundled robot")
    path = Path(source)
    if isinstance(source, str) and not path.suffix and len(path.parts) <= 1:
        if source in bundled_robots():
            resource = resources.files("robodyn.urdf") / "robots" / f"{source}.urdf"
            return decode(resource.read_bytes()), f"{source}.urdf"
        if len(source) < 256 and not path.exists():
            raise UnknownNameError("bundled robot", source, bundled_robots())
    if path.suffix == ".xacro":
        return _expand_xacro(path, package_dirs or {}), str(path)
    return decode(read_bytes(path), str(path)), str(path)


def _expand_xacro(path: Path, package_dirs: Mapping[str, str | os.PathLike[str]]) -> str:
    """URDF text of a xacro file."""
    try:
        import xacro
        from xacro import substitution_args
    except ImportError as error:
        raise MissingExtraError("xacro", "xacro", f"reading {path.name}") from error
    read_bytes(path)  # says what is wrong with the path

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
