"""The installation of robodyn: its source, its requirements, and commands to install extras."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

_REQUIREMENT = re.compile(r"\s*([\w.-]+)(?:\[[^]]*\])?\s*(?:(>=|==)\s*([\w.]+))?\s*(?:;(.*))?")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([\w.-]+)['"]""")


_HERE = Path(__file__).resolve()
_ROOT = _HERE.parents[1]


@dataclass(frozen=True)
class Requirement:
    """A package that robodyn, or an extra of it, requires.

    text: As pip takes it, such as ``numpy>=2.0``.
    least: The oldest version that works, or the only one; empty if any version works.
    exact: Whether ``least`` is the only version.
    extra: Empty for requirements of robodyn itself.
    """

    text: str
    package: str
    least: str
    exact: bool
    extra: str

    @property
    def found(self) -> str | None:
        """The version that is installed, if one is."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None

    @property
    def is_met(self) -> bool:
        """Whether the package is installed in a version that works."""
        found = self.found
        if found is None or not self.least:
            return found is not None
        return found == self.least if self.exact else _numbers(found) >= _numbers(self.least)


def requirements() -> tuple[Requirement, ...]:
    """Requirements of robodyn and of its extras.

    Returns Empty if robodyn is neither installed nor a source tree.
    """
    return tuple(map(_requirement, _texts()))


def installed_from() -> tuple[str, str]:
    """How and from where robodyn was installed.

    Returns how: ``"editable"``, ``"folder"``, ``"file"`` (a wheel or a source distribution),
        ``"index"``, ``"url"``, or ``"source tree"`` if it was not installed.
    Returns where: Path of the folder or file, or the address; empty for an index.
    """
    found = _distribution()
    if found is None:
        return "source tree", str(_ROOT)
    text = found.read_text("direct_url.json")
    if not text:
        return "index", ""
    given = json.loads(text)
    path = _local(given["url"])
    if path is None:
        return "url", given["url"]
    if "dir_info" not in given:
        return "file", path
    return "editable" if given["dir_info"].get("editable") else "folder", path


def install_command(package: str, extra: str = "") -> str:
    """The command that installs a missing package.

    It installs the extra that contains the package, from the folder, file or index that robodyn was
    installed from; or the packages of the extra, if that folder or file no longer exists.

    package: Its name, or a requirement such as ``numpy>=2.0``.
    extra: Empty if no extra contains the package.
    """
    if not extra:
        return f"pip install {_quoted(package)}"
    how, where = installed_from()
    if how == "index":
        return f"pip install {_quoted(f'robodyn[{extra}]')}"
    is_source = how in ("editable", "folder", "source tree")
    if how != "url" and Path(where, "pyproject.toml" if is_source else "").exists():
        editable = "" if how in ("folder", "file") else "-e "
        return f"pip install {editable}{_quoted(f'{where}[{extra}]')}"
    packages = [x.text for x in requirements() if x.extra == extra] or [package]
    return f"pip install {' '.join(map(_quoted, packages))}"


def _quoted(text: str) -> str:
    """A word of a command, quoted for the shells of this system."""
    return f'"{text}"' if sys.platform == "win32" else shlex.quote(text)


def _distribution() -> Distribution | None:
    """The installed distribution, if this module belongs to it and not to a source tree."""
    try:
        found = distribution("robodyn")
    except PackageNotFoundError:
        return None
    if Path(str(found.locate_file(f"robodyn/{Path(__file__).name}"))).resolve() == _HERE:
        return found
    text = found.read_text("direct_url.json")  # an editable install names the source tree here
    path = _local(json.loads(text)["url"]) if text else None
    return found if path and Path(path).resolve() == _ROOT else None


def _local(url: str) -> str | None:
    """The path of a ``file:`` address."""
    parts = urlsplit(url)
    return url2pathname(parts.path) if parts.scheme == "file" else None


def _texts() -> list[str]:
    """The requirements in the notation of pip, with markers of extras."""
    found, project = _distribution(), _ROOT / "pyproject.toml"
    if found is not None:
        return found.requires or []
    if not project.is_file():
        return []
    table = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    texts = list(table["dependencies"])
    for extra, wanted in table["optional-dependencies"].items():
        texts += [f"{x}{' and' if ';' in x else ';'} extra == '{extra}'" for x in wanted]
    return texts


def _requirement(text: str) -> Requirement:
    match = _REQUIREMENT.fullmatch(text)
    if match is None:
        return Requirement(text, text, "", False, "")
    package, sign, least, marker = match.groups()
    extra = _EXTRA.search(marker or "")
    name = extra[1] if extra else ""
    return Requirement(text.partition(";")[0].strip(), package, least or "", sign == "==", name)


def _numbers(text: str) -> tuple[int, ...]:
    """The leading numbers of a version, without zeros at the end."""
    match = re.match(r"\d+(\.\d+)*", text)
    numbers = list(map(int, match[0].split("."))) if match else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
