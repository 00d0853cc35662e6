"""FMU: a unit of FMI 3.0 for co-simulation, with its sources and a library for this machine."""

from __future__ import annotations

import hashlib
import io
import os
import platform
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from robodyn.errors import FileError, MissingFileError, SettingsError
from robodyn.exporting.c_code.signature import CNames
from robodyn.exporting.c_code.source import header, source
from robodyn.exporting.fmi.model import model_header, model_source
from robodyn.exporting.fmi.variables import (
    build_description,
    model_description,
    parts_of,
    variables,
)
from robodyn.exporting.templates import template
from robodyn.exporting.unit.unit import Unit
from robodyn.files import writing


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


#: Names of machines in tuples of FMI, and what libraries end with.
MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
SYSTEMS = {"Linux": ("linux", ".so"), "Darwin": ("darwin", ".dylib")}

#: Without contraction of products and sums, so that it computes as robodyn does.
FLAGS = ("-std=c99", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-ffp-contract=off")


def shared_library(identifier: str, sources: Mapping[str, str]) -> tuple[str, bytes]:
    """Path in an FMU and contents of the shared library of C sources.

    Raises `MissingFileError` without a C compiler, which is the program that the environment
    variable ``CC`` names, or ``cc``; `SettingsError` on a machine for which robodyn does not know
    what libraries are called; `FileError` if the compiler fails.

    identifier: Name of the library.
    sources: Texts by name of the file, headers among them.
    """
    machine = MACHINES.get(platform.machine().lower())
    if machine is None or platform.system() not in SYSTEMS:
        raise SettingsError(
            f"an FMU has a library of this machine, but robodyn makes none for {platform.system()} "
            f"on {platform.machine()}: export 'c', or make the FMU on Linux or macOS"
        )
    system, ending = SYSTEMS[platform.system()]
    command = os.environ.get("CC", "cc").split() or ["cc"]
    if shutil.which(command[0]) is None:
        raise MissingFileError(
            f"an FMU has compiled code, but there is no C compiler {command[0]!r} here: install "
            "one, name one by the environment variable CC, or export 'c'"
        )
    place = Path(tempfile.gettempdir(), "robodyn-fmu")
    with writing(place), tempfile.TemporaryDirectory(prefix=f"{place.name}-") as folder:
        for name, text in sources.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        result = f"library{ending}"
        files = sorted(name for name in sources if name.endswith(".c"))
        done = subprocess.run(
            [*command, *FLAGS, *files, "-o", result, "-lm"],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise FileError(f"{' '.join(command)} cannot compile the FMU:\n{done.stderr[:2000]}")
        return f"binaries/{machine}-{system}/{identifier}{ending}", Path(
            folder, result
        ).read_bytes()
