"""Paths of mesh files, from their names in a URDF."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from robodyn.urdf.common.packages import Packages

__all__ = ["find_file"]


def find_file(name: str, file: Path | None, packages: Packages) -> Path:
    """Path of a file that a URDF names.

    Parameters
    ----------
    name : str
        A path, ``file://...`` or ``package://...``; nothing is fetched from elsewhere.
    file : Path or None
        The URDF; relative names start at its folder.
    packages : Packages

    Raises
    ------
    ValueError
        If there is no such file, or no such package.
    """
    scheme = name.partition("://")[0] if "://" in name else ""
    if scheme in ("package", "model"):
        package, _, rest = name.partition("://")[2].partition("/")
        around = [file] if file else []
        packages.folder(package, around)  # says where it was looked for
        candidates = [root / rest for root in packages.folders(package, around)]
    elif scheme == "file":
        candidates = [Path(url2pathname(urlsplit(name).path))]
    elif scheme:
        raise ValueError(f"{name} is not on this machine; nothing is fetched")
    else:
        candidates = [(file.parent if file else Path()) / name]
    for path in candidates:
        if name and path.is_file():
            return path
    raise ValueError(f"mesh {name!r} not found")
