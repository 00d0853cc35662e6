"""The files that an MJCF names, looked at before MuJoCo opens them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from robodyn.errors import UrdfError
from robodyn.urdf.common.xml import decode_leniently, read_bytes

__all__ = ["check_files"]

#: Attributes that name files and folders.
_NAMED = re.compile(r"\b(file\w*|\w+dir)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")

#: Elements that hold the names of other documents.
_DOCUMENT = re.compile(r"<(include|model)\b[^>]*$")


def check_files(text: str, file: str | None) -> None:
    """Refuse a document that names pipes or devices, which MuJoCo would wait for or read on and on.

    Parameters
    ----------
    text : str
    file : str or None
        Where it stands; names are relative to its folder, or to the working directory.

    Raises
    ------
    UrdfError
        With the line of the name.
    """
    base = Path(file).parent if file else Path()
    pending, seen = [(text, file)], set[Path]()
    while pending:
        text, source = pending.pop()
        folders = [base, Path(source).parent] if source else [base]
        names = [*_names(text)]
        folders += [folder / name for folder in folders for what, name, _ in names if what == "dir"]
        for what, name, start in names:
            for path in {folder / x for folder in folders for x in (name, Path(name).name)}:
                if what == "dir" or path in seen or not path.exists() or path.is_dir():
                    continue
                seen.add(path)
                if not path.is_file():
                    raise UrdfError(
                        f"names {str(path)!r}, a pipe or a device, which may never end: put a file "
                        "in its place",
                        file=source,
                        line=text.count("\n", 0, start) + 1,
                    )
                if what == "document":
                    pending.append((decode_leniently(read_bytes(path), str(path))[0], str(path)))


def _names(text: str) -> Iterator[tuple[str, str, int]]:
    """Kinds (``"dir"``, ``"document"``, ``"file"``) of names, names, and where they stand."""
    for found in _NAMED.finditer(text):
        name = html.unescape(found[2] or found[3] or "")
        kind = "dir" if found[1].endswith("dir") else "file"
        if kind == "file" and _DOCUMENT.search(text, max(0, found.start() - 1000), found.start()):
            kind = "document"
        if name and "\0" not in name:
            yield kind, name, found.start()
