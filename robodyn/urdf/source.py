"""Loading of mechanisms from files, text, bundled robots and objects of other libraries.

Readers of other kinds of documents than URDF are imported when the first such document is read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from robodyn.description import Mechanism
from robodyn.description.written_digits import digits_of, rounding_of_text
from robodyn.errors import (
    InertiaError,
    RobodynError,
    SettingsError,
    UnknownNameError,
    UrdfError,
    UrdfWarning,
)
from robodyn.literals import Base, XacroChoice
from robodyn.urdf.adapters import from_object, is_urdf_object
from robodyn.urdf.checks.check import check, massless_motions
from robodyn.urdf.common.document_kind import EXTENDED_URDF, MJCF, SDF, URDF, USD, XACRO, outer_kind
from robodyn.urdf.common.packages import PackageDirs, Packages
from robodyn.urdf.common.reading import Document, Options, Reading, bundled_robots, open_document
from robodyn.urdf.common.report import as_warning, raise_or_warn, tolerable
from robodyn.urdf.common.xml import fragment, root_tag
from robodyn.urdf.parse import read
from robodyn.urdf.xacro.arguments import Value, given_arguments

__all__ = ["bundled_robots", "findings", "load_mechanism", "problems"]


def load_mechanism(
    source: Any,
    *,
    package_dirs: PackageDirs = None,
    xacro_args: Mapping[str, Value] | None = None,
    xacro: XacroChoice = "auto",
    allow_unphysical: bool = False,
    urdf: Any = None,
    strict: bool = True,
    base: Base = "fixed",
    root: str | None = None,
    model: str | None = None,
) -> Mechanism:
    """Read a mechanism and check it.

    Parameters
    ----------
    source : path, str, bytes or object
        A file or its text: URDF, xacro, SDF, MJCF or the YAML of an Extended URDF, recognised by
        its content; the name of a bundled robot; or a model of urdfpy, urchin or yourdfpy.
    package_dirs : mapping of str to path, path, or iterable of paths, optional
        Folders of ROS packages, or folders that contain some, for ``$(find package)`` and
        ``package://`` in xacro, and of models that SDF includes. Meshes are never opened.
    xacro_args : mapping of str to str, path, bool, int or float, optional
        Values of the ``<xacro:arg>`` of a xacro file.
    xacro : {"auto", True, False}
        Whether what looks like xacro is expanded, which runs it as a program. ``"auto"``: of files
        those whose names end in ``.xacro``, text, and what ``xacro_args`` are given for.
    allow_unphysical : bool
        Take masses and inertias that no body can have as they are, with a warning.
    urdf : path, optional
        The URDF that the ``.yaml`` of an Extended URDF belongs to.
    strict : bool
        ``False``: read what other readers skip or accept as they do, impossible inertias and
        joints that move no mass included, with one warning that lists each such place.
    base : {"fixed", "floating", "moving"}
        What the robot stands on. Only a fixed base stands where a file of SDF places it.
    root : str, optional
        The link that is the base. Default: the one that is no joint's child.
    model : str, optional
        The model that is meant, of an SDF file that has several.

    Raises
    ------
    UrdfError, TopologyError, InertiaError
        The first problem found, with the next ones as notes; ``problems`` gives them all.
    PackageError
        A package that is not found.
    SettingsError
        ``urdf`` without a ``.yaml``, ``xacro_args`` without xacro, or ``model`` without SDF.
    UnknownNameError
        Neither a file nor a bundled robot; no model of that name.
    MissingExtraError
        A xacro or YAML file, and xacro or PyYAML is not installed.

    Examples
    --------
    >>> from robodyn.urdf import load_mechanism
    >>> load_mechanism("four_bar").joints[0].name
    'crank_drive'
    """
    options = Options(
        Packages(package_dirs), given_arguments(xacro_args), xacro, urdf, strict, base, root, model
    )
    reading = _read(source, options)
    mechanism, found, warned = reading.mechanism, reading.problems, reading.warnings
    if mechanism is not None and reading.complete and not strict:
        found += massless_motions(mechanism)
    if strict and allow_unphysical:
        warned += [as_warning(error) for error in found if isinstance(error, InertiaError)]
        found = [error for error in found if not isinstance(error, InertiaError)]
    raise_or_warn(found, warned, strict=strict)
    assert mechanism is not None
    return mechanism


def problems(
    source: Any,
    *,
    package_dirs: PackageDirs = None,
    xacro_args: Mapping[str, Value] | None = None,
    xacro: XacroChoice = "auto",
    strict: bool = True,
    model: str | None = None,
) -> list[RobodynError]:
    """All errors of a description, in the order found.

    Joints that move no mass are among them; they can be loaded, but have no forward dynamics.
    Parameters are those of ``load_mechanism``.

    Examples
    --------
    >>> from robodyn.urdf import problems
    >>> [error.line for error in problems('<robot name="r"><lnik name="b"/></robot>')]
    [1]
    """
    given: dict[str, Any] = {"package_dirs": package_dirs, "xacro_args": xacro_args}
    return findings(source, xacro=xacro, strict=strict, model=model, **given)[0]


def findings(
    source: Any,
    *,
    package_dirs: PackageDirs = None,
    xacro_args: Mapping[str, Value] | None = None,
    xacro: XacroChoice = "auto",
    allow_unphysical: bool = False,
    strict: bool = True,
    model: str | None = None,
) -> tuple[list[RobodynError], list[UrdfWarning]]:
    """All errors of a description, and warnings about suspicious values.

    Parameters are those of ``load_mechanism``. With ``strict=False`` what is read leniently is
    among the warnings, with what was done about it (``leniently``).

    Examples
    --------
    >>> from robodyn.urdf import findings
    >>> errors, warnings = findings('<robot name="r"><link name="a"/><lnik name="b"/></robot>')
    >>> errors[0].suggestion
    'link'
    """
    from robodyn.urdf.checks.suspicions import suspicions

    try:
        packages = Packages(package_dirs)
        options = Options(packages, given_arguments(xacro_args), xacro, strict=strict, model=model)
        reading = _read(source, options)
        mechanism, found, warned = reading.mechanism, reading.problems, reading.warnings
        if mechanism is not None and reading.complete:
            found += massless_motions(mechanism)
            warned += suspicions(mechanism)
    except RobodynError as error:
        return [error], []
    accepted = [
        error
        for error in found
        if (allow_unphysical and isinstance(error, InertiaError))
        or (not strict and tolerable(error))
    ]
    errors = [error for error in found if error not in accepted]
    return errors, [*map(as_warning, accepted), *warned]


def _read(source: Any, options: Options) -> Reading:
    """Read the mechanism as far as possible; list all problems and all warnings."""
    if isinstance(source, Mechanism) or is_urdf_object(source):
        _refuse_arguments("the source", f"a {type(source).__name__}", options)
    if isinstance(source, Mechanism):
        reading = Reading(source)
    elif is_urdf_object(source):
        mechanism, warned = from_object(source)
        reading = Reading(mechanism, warnings=warned)
    else:
        reading = _read_document(open_document(source), options)
    if reading.mechanism is not None:
        if options.root is not None:
            names, robot = [link.name for link in reading.mechanism.links], reading.mechanism.name
            if options.root not in names:
                raise UnknownNameError("link", options.root, names, f"root of {robot!r}")
            reading.mechanism = dataclasses.replace(reading.mechanism, root=options.root)
        check(reading)
    return reading


def _read_document(document: Document, options: Options) -> Reading:
    if options.urdf is not None and document.kind != EXTENDED_URDF:
        raise SettingsError(
            "urdf= goes with the .yaml of an Extended URDF as source; a URDF is a source itself"
        )
    if document.kind == XACRO and not _may_expand(document, options):
        document = _unexpanded(document, options)
    if document.kind not in (XACRO, EXTENDED_URDF):
        _refuse_arguments(document.file or "the text", document.kind, options)
    reading = READERS.get(document.kind, _read_urdf)(document, options)
    reading.problems[:0] = document.problems
    if reading.mechanism is not None:
        of_text = document.kind in (SDF, MJCF)
        text, read = document.text, reading.mechanism
        digits = rounding_of_text(text) if of_text else digits_of(read, text)
        reading.mechanism = dataclasses.replace(read, rounding=digits)
    return reading


def _may_expand(document: Document, options: Options) -> bool:
    """Whether what looks like xacro is to be run."""
    if options.xacro != "auto":
        return options.xacro
    named = document.file is None or ".xacro" in Path(document.file).suffixes
    return named or bool(options.xacro_args)


def _unexpanded(document: Document, options: Options) -> Document:
    """What looks like xacro, to be read as it is written."""
    problem = UrdfError(
        "looks like xacro, which is a program, but its name does not end in .xacro: if you trust "
        "it, xacro=True expands it, and xacro=False reads it as it is written",
        file=document.file,
        leniently="read as it is written",
    )
    told = (problem,) if options.xacro == "auto" else ()
    kind = outer_kind(document.text)
    return dataclasses.replace(document, kind=kind, problems=(*document.problems, *told))


def _refuse_arguments(name: str, what: str, options: Options) -> None:
    if options.xacro_args:
        names = ", ".join(options.xacro_args)
        raise SettingsError(f"xacro_args gives {names}, but {name} is no xacro, but {what}")
    if options.model is not None and what != SDF:
        raise SettingsError(
            f"model is {options.model!r}, but {name} is no SDF, but {what}: only files of SDF have "
            "several models"
        )


def _read_urdf(document: Document, options: Options) -> Reading:
    source = document.text if document.root is None else document.root
    return Reading.of(*read(source, document.file, strict=options.strict))


def _read_sdf(document: Document, options: Options) -> Reading:
    from robodyn.urdf.sdf.read import read_sdf

    return read_sdf(document, options)


def _read_xacro(document: Document, options: Options) -> Reading:
    from robodyn.urdf.xacro.expansion import expand

    root, warned = expand(document.text, document.file, options.xacro_args, options.packages)
    text = fragment(root)
    expanded = Document(text, document.file, outer_kind(text), root)
    reading = _read_document(expanded, dataclasses.replace(options, xacro_args={}))
    reading.warnings[:0] = warned
    return reading


def _read_extended(document: Document, options: Options) -> Reading:
    if document.file is None:
        raise UrdfError("an Extended URDF is read from its file, beside the URDF that it extends")
    from robodyn.urdf.extended.read import read_extension

    extension = read_extension(Path(document.file), options.urdf)
    urdf = open_document(extension.urdf)
    if urdf.kind == EXTENDED_URDF:
        raise UrdfError("is YAML, or JSON, where a URDF is expected", file=urdf.file)
    reading = _read_document(urdf, dataclasses.replace(options, urdf=None))
    if reading.mechanism is not None and reading.complete:
        reading.mechanism = extension.applied(reading.mechanism)
        reading.problems += extension.problems
        reading.warnings += extension.warnings
    return reading


def _read_mjcf(document: Document, options: Options) -> Reading:
    if root_tag(document.text) == "mujocoinclude":
        raise UrdfError(
            "<mujocoinclude> is a part of a model: load the file with <mujoco> that includes it",
            file=document.file,
        )
    from robodyn.urdf.mjcf import read_mjcf

    return Reading(*read_mjcf(document.text, document.file))


def _read_usd(document: Document, options: Options) -> Reading:
    from robodyn.urdf.usd.read import read_usd

    if document.file is None:
        raise UrdfError("USD is read from its file, beside what it refers to")
    return Reading(*read_usd(document.file))


#: Readers by kind of document.
READERS: dict[str, Callable[[Document, Options], Reading]] = {
    URDF: _read_urdf,
    SDF: _read_sdf,
    XACRO: _read_xacro,
    EXTENDED_URDF: _read_extended,
    MJCF: _read_mjcf,
    USD: _read_usd,
}
