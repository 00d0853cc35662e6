"""The code in README and docs does what it shows."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import robodyn as rd
from robodyn import errors

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_code_in_the_readme():
    """That of the pages in docs/ is run by ``make docs``."""
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert failed == 0 < tried


MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((ROOT / "robodyn").rglob("*.py"))
    if ">>>" in path.read_text()
]
MODULES += [
    "robodyn." + ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in sorted((ROOT / "controllers").rglob("*.py"))
    if ">>>" in path.read_text()
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module):
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert failed == 0 < tried


TOPS = ("robodyn", "robodyn_ros", "controllers", "tests", "examples", "benchmarks", "docs")
FILES = [path for top in TOPS for path in sorted((ROOT / top).rglob("*.py"))]


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_files_of_the_package_that_a_page_names_exist(page):
    """Such as ``equations/mechanism/frames.py``, from any folder on."""
    files = [f"/{path.relative_to(ROOT)}" for path in FILES]
    paths = re.findall(r"`((?:\w+/)+\w+\.py)`", page.read_text())
    assert not [path for path in paths if not any(file.endswith(f"/{path}") for file in files)]


@pytest.mark.parametrize("page", ["architecture.md", "optimisations.md"])
def test_what_pages_about_the_code_name_exists(page):
    """Files without their folder, folders, classes and constants."""
    text = (ROOT / "docs/project" / page).read_text()
    files = {path.name for path in FILES}
    assert set(re.findall(r"`(\w+\.py)`", text)) <= files
    folders = {part for path in FILES for part in path.relative_to(ROOT).parts[:-1]}
    named = {name for path in re.findall(r"`((?:\w+/)+)`", text) for name in path[:-1].split("/")}
    assert named <= folders
    source = "\n".join(path.read_text() for path in FILES)
    names = set(re.findall(r"^(?:class )?([A-Z]\w+)\b", source, re.MULTILINE))
    assert set(re.findall(r"`([A-Z]\w+)\b[^`=]*`", text)) <= names


def test_every_public_name_of_a_robot_is_in_the_docs():
    text = (ROOT / "docs/reference/robot.md").read_text()
    names = [name for name in dir(rd.Robot) if not name.startswith("_")]
    assert not [name for name in names if not re.search(rf"`{name}\b", text)]


def test_every_argument_of_load_is_in_the_docs():
    text = (ROOT / "docs/reference/robot.md").read_text()
    names = [*inspect.signature(rd.load).parameters][1:]
    assert not [name for name in names if f"`{name}=" not in text]


def test_every_name_in_the_docs_is_public():
    named = {m for page in PAGES for m in re.findall(r"\brd\.([A-Z]\w*)", page.read_text())}
    assert not [name for name in sorted(named) if not hasattr(rd, name)]


def test_every_error_is_in_the_docs():
    text = (ROOT / "docs/reference/conventions.md").read_text()
    found = [
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, (rd.RobodynError, Warning))
    ]
    assert not [
        name for name in found if name[0] != "_" and not re.search(rf"`(rd\.)?{name}`", text)
    ]


@pytest.mark.parametrize("name", [name for name in dir(rd.Robot) if not name.startswith("_")])
def test_docstrings_name_the_parameters(name):
    attribute = inspect.getattr_static(rd.Robot, name)
    assert attribute.__doc__
    if inspect.isfunction(attribute):
        for parameter in [*inspect.signature(attribute).parameters][1:]:
            assert re.search(rf"\b{parameter}\b", attribute.__doc__), parameter


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text()):
        there = page.parent / target if target else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), f"{target}#{anchor}"


def anchors(page):
    """What the headings of a page are called in links."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
