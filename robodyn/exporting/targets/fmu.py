"""FMU: a unit of FMI 3.0 for co-simulation, with its sources and a library for this machine."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from dataclasses import replace

from robodyn.exporting.c_code.header import header
from robodyn.exporting.c_code.signature import CNames
from robodyn.exporting.c_code.source import source
from robodyn.exporting.fmi.description import build_description, model_description
from robodyn.exporting.fmi.library import shared_library
from robodyn.exporting.fmi.model import model_header, model_source
from robodyn.exporting.fmi.parts import parts_of
from robodyn.exporting.fmi.variables import variables
from robodyn.exporting.templates import template
from robodyn.exporting.unit.unit import Unit


def write(unit: Unit) -> Mapping[str, str | bytes]:
    """``ROBOT.fmu``.

    Raises
    ------
    SettingsError
        If there is no step, a function takes more than the state, or dtype is "float".
    MissingFileError, FileError
        If there is no C compiler, or it fails.
    """
    parts = parts_of(unit)
    if parts.motors is not None and parts.motors not in unit.routines:
        unit = replace(unit, routines=(*unit.routines, parts.motors))
    names = CNames(unit)
    found = variables(unit, parts)
    identifier = names.prefix
    sources = {
        f"{identifier}.h": header(names),
        f"{identifier}.c": source(names),
        "fmi3.c": template("fmi3.c"),
        "model.c": model_source(names, parts, found),
    }
    token = _token(sources, repr(found))
    sources["model.h"] = model_header(names, parts, found, token)
    described = model_description(unit.name, identifier, token, parts.step.h, found)
    built = sorted(name for name in sources if name.endswith(".c"))
    place, library = shared_library(identifier, sources)
    contents: dict[str, str | bytes] = {"modelDescription.xml": described}
    contents |= {f"sources/{name}": text for name, text in sorted(sources.items())}
    contents["sources/buildDescription.xml"] = build_description(identifier, built)
    contents[place] = library
    return {f"{identifier}.fmu": _archive(contents)}


def _token(sources: Mapping[str, str], described: str) -> str:
    """A name of these contents: others have another one."""
    texts = [*(f"{name}\0{text}" for name, text in sorted(sources.items())), described]
    return f"{{{hashlib.sha256(chr(0).join(texts).encode()).hexdigest()[:32]}}}"


def _archive(contents: Mapping[str, str | bytes]) -> bytes:
    """A ZIP file, the same for the same contents."""
    result = io.BytesIO()
    with zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return result.getvalue()
