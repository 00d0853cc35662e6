"""Where a mesh lies: from the name in the file to a path on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["find_file"]


def find_file(
    name: str, folder: Path | None, package_dirs: Mapping[str, str | os.PathLike[str]]
) -> Path:
    """Path of a file that a URDF names.

    Parameters
    ----------
    name : str
        A path, ``file://...`` or ``package://...``; nothing is fetched from elsewhere.
    folder : Path or None
        Of the URDF; relative names start there.
    package_dirs : mapping of package name to path

    Raises
    ------
    ValueError
        If there is no such file.
    """
    scheme = name.partition("://")[0] if "://" in name else ""
    if scheme in ("package", "model"):
        package, _, rest = name.partition("://")[2].partition("/")
        candidates = [root / rest for root in _packages(package, folder, package_dirs)]
        if not candidates:
            raise ValueError(f"no package {package!r} for {name}; give its folder in package_dirs")
    elif scheme == "file":
        candidates = [Path(unquote(urlsplit(name).path))]
    elif scheme:
        raise ValueError(f"{name} is not on this machine; nothing is fetched")
    else:
        candidates = [(folder or Path()) / name]
    for path in candidates:
        if name and path.is_file():
            return path
    raise ValueError(f"mesh {name!r} not found")


def _packages(
    package: str, folder: Path | None, package_dirs: Mapping[str, str | os.PathLike[str]]
) -> Iterator[Path]:
    """Folders that may be the package, the surest first."""
    if package in package_dirs:
        yield Path(package_dirs[package])
        return
    for parent in (folder, *folder.parents) if folder else ():
        for candidate in (parent, parent / package):
            if candidate.name == package and candidate.is_dir():
                yield candidate
    for variable, inside in (("AMENT_PREFIX_PATH", "share"), ("ROS_PACKAGE_PATH", "")):
        for root in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            if (Path(root) / inside / package).is_dir():
                yield Path(root) / inside / package
