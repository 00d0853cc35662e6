"""A shared library made of C, for this machine."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from robodyn.errors import FileError, MissingFileError, SettingsError
from robodyn.files import writing

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
