"""Where ROS packages lie: in given folders, where the environment says, or around a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from robodyn.arrays import mismatch
from robodyn.errors import PackageError, ShapeError, UrdfError
from robodyn.urdf.common.xml import decode, parse_xml, read_bytes

Folder = str | os.PathLike[str]

#: Folders by package name; or folders that are packages or contain some, and pairs of both.
PackageDirs = Mapping[str, Folder] | Folder | Iterable[Folder | tuple[str, Folder]] | None

#: How deep packages may lie in a folder that contains some.
DEPTH = 5

#: How far above the package of a file others of its workspace may stand, and how deep below there.
ABOVE = 2


class Packages:
    """Folders of ROS packages by name.

    They are looked for in ``given``, in ``ROS_PACKAGE_PATH``, in ``share`` of the folders of
    ``AMENT_PREFIX_PATH``, then around the file that refers to them: a ``package.xml`` of that name
    above it or in a package beside its own, and at last a folder of that name.

    What is given and is no folder, or no mapping or list of folders, raises `ShapeError`.

    given, optional: A path is that of a package, or of a folder that contains packages; among
        several, a pair ``(name, path)`` gives a package that name.
    """

    def __init__(self, given: PackageDirs = None) -> None:
        self._named, self._folders = _given(given)

    @property
    def given(self) -> list[Path]:
        """Folders that were given."""
        return [folder.resolve() for folder in (*self._named.values(), *self._folders)]

    def folder(self, name: str, around: Iterable[str | os.PathLike[str]] = ()) -> Path:
        """Folder of a package.

        Where there is none, `PackageError` lists all places that were searched.

        around: Files around which it may stand.
        """
        files = [Path(file).resolve() for file in around]
        for found in self.folders(name, files):
            return found
        raise PackageError(
            f"no package {name!r}; looked in {self._searched(files)}; give its folder: "
            f"package_dirs={{{name!r}: FOLDER}}, or --package FOLDER",
            package=name,
        )

    def folders(self, name: str, around: Iterable[Path]) -> Iterator[Path]:
        """Folders that may be the package, the surest first."""
        if not name or name in (".", "..") or "/" in name or "\\" in name:
            return
        if name in self._named:
            yield self._named[name]
        for root in self._folders:
            yield from _found_in(root, name, DEPTH)
            if root.name == name and _name(root) is None:
                yield root
        for root in _of_variable("ROS_PACKAGE_PATH"):
            yield from _found_in(root, name, DEPTH)
        for root in _of_variable("AMENT_PREFIX_PATH"):
            if (root / "share" / name).is_dir():
                yield root / "share" / name
        for file in around:
            yield from _above_or_beside(file, name)

    def _searched(self, files: Iterable[Path]) -> str:
        """The places that were searched, for a message."""
        given = [*map(str, self._named.values()), *map(str, self._folders)]
        places = [f"package_dirs ({', '.join(given) or 'not given'})"]
        for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
            places.append(f"{variable} ({os.environ.get(variable) or 'not set'})")
        for file in dict.fromkeys(files):
            places.append(f"the packages above and beside {file}")
        return ", ".join(places)


def is_in_package(file: Path) -> bool:
    """Whether there is a ``package.xml`` beside or above a file."""
    return any((folder / "package.xml").is_file() for folder in file.parents)


def folders_around(file: str | None) -> list[Path]:
    """The folder of a file, and that of the repository that it is in."""
    if file is None:
        return []
    above = Path(file).resolve().parents
    return [above[0], *(folder for folder in above if (folder / ".git").exists())][:2]


def _given(given: PackageDirs) -> tuple[dict[str, Path], list[Path]]:
    """Folders by name, and folders in which to search."""
    one = isinstance(given, str | os.PathLike)
    items: Any = () if given is None else [given] if one else given
    named: dict[str, Path] = {}
    folders: list[Path] = []
    try:
        for item in items.items() if isinstance(items, Mapping) else items:
            if isinstance(item, str | os.PathLike):
                folders.append(Path(item).resolve())
            else:
                name, folder = item
                named[name] = Path(folder)
    except (TypeError, ValueError):
        raise mismatch("package_dirs", given, "{package: folder}, a folder, or several") from None
    for folder in (*named.values(), *folders):
        if not folder.is_dir():
            raise ShapeError(
                f"package_dirs has {str(folder)!r}, which is no folder",
                name="package_dirs",
                given=given,
            )
    return named, folders


def _of_variable(variable: str) -> list[Path]:
    return [Path(root) for root in os.environ.get(variable, "").split(os.pathsep) if root]


def _above_or_beside(file: Path, name: str) -> Iterator[Path]:
    """Packages of that name above a file, and beside the package that it stands in."""
    above = file.parents
    yield from (folder for folder in above if _name(folder) == name)
    own = next((folder for folder in above if _name(folder) is not None), None)
    for workspace in own.parents[:ABOVE] if own else ():
        if workspace.parent != workspace:  # not all of the disk
            yield from _single(name, [*_found_in(workspace, name, ABOVE)])
    for folder in above:
        for candidate in (folder, folder / name):
            if candidate.name == name and candidate.is_dir() and _name(candidate) in (None, name):
                yield candidate


def _single(name: str, found: list[Path]) -> list[Path]:
    """What was found at one place; several are an error, since nobody said which is meant."""
    if len(found) > 1:
        raise PackageError(
            f"{len(found)} folders are the package {name!r}: {', '.join(map(str, found))}; say "
            f"which: package_dirs={{{name!r}: FOLDER}}, or --package FOLDER",
            package=name,
        )
    return found


def _found_in(folder: Path, name: str, depth: int) -> Iterator[Path]:
    """Packages of that name in a folder, itself included."""
    own = _name(folder)
    if own == name:
        yield folder
    if own is None and depth:
        for child in _subfolders(folder):
            yield from _found_in(child, name, depth - 1)


def _subfolders(folder: Path) -> list[Path]:
    """Folders in a folder that may contain packages."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(e.name for e in entries if e.is_dir() and not e.name.startswith("."))
    except OSError:  # not ours to read
        return []
    return [folder / name for name in names]


def _name(folder: Path) -> str | None:
    """What the ``package.xml`` of a folder calls it; ``None`` where there is none."""
    file = folder / "package.xml"
    try:
        if not file.is_file():
            return None
        root = parse_xml(decode(read_bytes(file), str(file)), str(file))
    except (OSError, UrdfError):
        return None
    return (root.findtext("name") or "").strip() or folder.name
