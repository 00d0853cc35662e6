"""The code in README and docs does what it shows."""

import doctest
import functools
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
    ".".join((*prefix, *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for folder, prefix in (("robodyn", ()), ("controllers", ("robodyn",)))
    for path in sorted((ROOT / folder).rglob("*.py"))
    if ">>>" in path.read_text()
]


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module):
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert failed == 0 < tried


TOPS = ("robodyn", "robodyn_ros", "controllers", "tests", "examples", "benchmarks", "docs")
FILES = [path for top in TOPS for path in sorted((ROOT / top).rglob("*.py"))]


def test_files_of_the_package_that_pages_name_exist():
    """Such as ``equations/mechanism/frames.py``, from any folder on."""
    files = [f"/{path.relative_to(ROOT)}" for path in FILES]
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for path in re.findall(r"`((?:\w+/)+\w+\.py)`", page.read_text()):
            assert any(file.endswith(f"/{path}") for file in files), (page.name, path)


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


def test_links_lead_somewhere():
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text()):
            there = page.parent / target if target else page
            assert there.exists(), (page.name, target)
            assert not anchor or anchor in anchors(there), (page.name, f"{target}#{anchor}")


@functools.cache
def anchors(page):
    """What the headings of a page are called in links."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
