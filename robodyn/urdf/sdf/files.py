"""Paths of files that ``<include>`` of SDF refers to: ``model://``, ``package://``, or a path."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.request import url2pathname

from robodyn.errors import UrdfError
from robodyn.urdf.common.packages import Packages
from robodyn.urdf.common.xml import decode, parse_xml, read_bytes

#: Environment variables that list folders of models.
VARIABLES = ("SDF_PATH", "GZ_SIM_RESOURCE_PATH", "IGN_GAZEBO_RESOURCE_PATH", "GAZEBO_MODEL_PATH")
#: File in the folder of a model that names its SDF file.
CONFIG = "model.config"


def model_file(uri: str, file: str | None, packages: Packages) -> Path:
    """The SDF file that a URI refers to.

    Raises `UrdfError` with the places that were searched if there is no such file.

    uri: ``model://name``, ``package://name/...``, ``file://...`` or a path, of a file or of the
        folder of a model.
    file: Where it is written; relative paths start in its folder.
    packages: Folders of models and packages.
    """
    scheme, _, rest = uri.partition("://")
    if not rest:
        scheme, rest = "file", uri
    elif scheme == "file":
        rest = url2pathname(rest)
    if scheme not in ("model", "package", "file"):
        raise UrdfError(f"{uri!r}: nothing is fetched; fetch it, and write its path")
    name, _, inner = rest.partition("/")
    if scheme == "package":
        places = [packages.folder(name, [file] if file else ()) / inner]
    else:
        places = [*_places(rest, file)]
        if scheme == "model":
            places[:0] = [folder / inner for folder in packages.folders(name, ())]
    for place in places:
        if place.is_dir():
            return _in_folder(place)
        if place.is_file():
            return place
    looked = ", ".join(map(str, places)) or "nowhere"
    hint = f"; give its folder, package_dirs={{{name!r}: FOLDER}}, or set {VARIABLES[1]}"
    raise UrdfError(
        f"{uri!r} is not found (looked for at {looked}){hint if scheme == 'model' else ''}"
    )


def _places(rest: str, file: str | None) -> Iterator[Path]:
    """Places where a model may be: folders of the environment, and beside and above the file."""
    if Path(rest).is_absolute():
        yield Path(rest)
        return
    for variable in VARIABLES:
        for listed in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            yield Path(listed) / rest
    if file is not None:
        beside = Path(file).resolve().parent
        for folder in (beside, *beside.parents[:3]):
            yield folder / rest


def _in_folder(folder: Path) -> Path:
    """The SDF file of the folder of a model: that of the highest version in its config."""
    config = folder / CONFIG
    names: list[tuple[tuple[int, ...], str]] = []
    if config.is_file():
        root = parse_xml(decode(read_bytes(config), str(config)), str(config))
        for element in root.findall("sdf"):
            version = element.get("version", "0").split(".")
            number = tuple(int(word) if word.isdigit() else 0 for word in version)
            names.append((number, (element.text or "").strip()))
    found = folder / (max(names)[1] if names else "model.sdf")
    if not found.is_file():
        raise UrdfError(f"{str(folder)!r} is the folder of a model without {found.name!r}")
    return found
