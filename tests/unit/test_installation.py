"""Advice on how to install an extra: the command works where it is printed."""

import json
import re
import shlex
import tomllib
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

import robodyn as rd
from robodyn import installation

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Take robodyn for installed, with a ``direct_url.json`` or without one."""

    def install(given=None):
        site = tmp_path / "site"
        info = site / "robodyn-9.dist-info"
        info.mkdir(parents=True)
        lines = [
            "Metadata-Version: 2.4",
            "Name: robodyn",
            "Version: 9",
            "Requires-Dist: numpy>=2.0",
        ]
        lines += ['Requires-Dist: viser>=1.1; extra == "view"']
        lines += ['Requires-Dist: pycollada>=0.8 ; sys_platform != "win32" and extra == "view"']
        (info / "METADATA").write_text("\n".join(lines))
        if given is not None:
            (info / "direct_url.json").write_text(json.dumps(given))
        here = site / "robodyn" / "installation.py"
        monkeypatch.setattr(installation, "distribution", lambda name: PathDistribution(info))
        monkeypatch.setattr(installation, "_HERE", here.resolve())
        monkeypatch.setattr(installation, "_ROOT", site.resolve())

    return install


def advice():
    return str(rd.MissingExtraError("viser", "view", "showing a robot"))


def test_from_an_index(installed):
    installed()
    assert advice() == "showing a robot needs viser: pip install 'robodyn[view]'"


def test_in_shells_of_windows(installed, monkeypatch):
    """cmd takes single quotes for part of the word."""
    monkeypatch.setattr("sys.platform", "win32")
    installed()
    assert advice().endswith(': pip install "robodyn[view]"')


@pytest.mark.parametrize("editable", [False, True])
def test_from_a_folder(installed, tmp_path, editable):
    clone = tmp_path / "my clone"
    clone.mkdir()
    (clone / "pyproject.toml").touch()
    installed({"url": clone.as_uri(), "dir_info": {"editable": True} if editable else {}})
    command = shlex.split(advice().partition(": ")[2])
    assert command == ["pip", "install", *["-e"] * editable, f"{clone}[view]"]


def test_from_a_wheel(installed, tmp_path):
    wheel = tmp_path / "robodyn-9-py3-none-any.whl"
    wheel.touch()
    installed({"url": wheel.as_uri(), "archive_info": {}})
    assert shlex.split(advice())[-1] == f"{wheel}[view]"
    wheel.unlink()
    assert advice().endswith(": pip install 'viser>=1.1' 'pycollada>=0.8'")


def test_from_an_address(installed):
    installed({"url": "https://example.org/robodyn.git", "vcs_info": {"vcs": "git"}})
    assert advice().endswith(": pip install 'viser>=1.1' 'pycollada>=0.8'")


def test_a_source_tree_that_is_not_installed(monkeypatch):
    def none(name):
        raise installation.PackageNotFoundError(name)

    monkeypatch.setattr(installation, "distribution", none)
    root = Path(rd.__file__).resolve().parents[1]
    assert shlex.split(advice())[-2:] == ["-e", f"{root}[view]"]
    monkeypatch.setattr(installation, "_ROOT", root / "elsewhere")
    assert advice().endswith(": pip install viser")


def test_what_no_extra_brings():
    text = str(rd.MissingExtraError("numba", "", "a compiled loop"))
    assert text == "a compiled loop needs numba: pip install numba"


def expanded(requirements):
    """With those of other extras in the place of ``robodyn[extra]``, as some build tools write."""
    whole = set()
    for extra, text in requirements:
        own = re.fullmatch(r"robodyn\[(\w+)\]", text)
        named = [t for e, t in requirements if e == own[1]] if own else [text]
        whole |= {(extra, t.lower()) for t in named}
    return whole


def test_requirements_are_those_of_the_project():
    found = {(x.extra, x.text) for x in installation.requirements()}
    given = {("", text) for text in PROJECT["dependencies"]}
    for extra, texts in PROJECT["optional-dependencies"].items():
        given |= {(extra, text) for text in texts}
    plain = {(extra, re.sub(r"\s*;.*", "", text)) for extra, text in given}
    assert expanded(found) == expanded(plain)
    assert all(x.least for x in installation.requirements() if x.package != "robodyn")


@pytest.mark.parametrize(
    ("found", "sign", "least", "met"),
    [
        ("2.0", ">=", "2.0", True),
        ("2.10.1", ">=", "2.9", True),
        ("2.0.0rc1", ">=", "2.0", True),
        ("2", ">=", "2.0.0", True),
        ("20.0", ">=", "3.1", True),
        ("1.26.4", ">=", "2.0", False),
        ("9.1.2", "==", "9.1.2", True),
        ("9.1.3", "==", "9.1.2", False),
        (None, ">=", "2.0", False),
    ],
)
def test_versions_are_compared_as_numbers(monkeypatch, found, sign, least, met):
    def version(name):
        if found is None:
            raise installation.PackageNotFoundError(name)
        return found

    monkeypatch.setattr(installation, "version", version)
    assert installation.Requirement(f"x{sign}{least}", "x", least, sign == "==", "").is_met is met
