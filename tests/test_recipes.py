"""The recipes of CONTRIBUTING, followed in one copy of the package."""

import importlib
import re
from pathlib import Path

import pytest
from support.package_copy import ROOT, copy_package, run_python

pytestmark = pytest.mark.slow

NAMES = sorted(path.stem for path in (ROOT / "tests" / "recipes").glob("*.py"))
RECIPES = {name: importlib.import_module(f"recipes.{name}") for name in NAMES}


def insert(path, before, text):
    """Put a text before the first place where another stands."""
    old = path.read_text()
    assert before in old, f"{path}: {before!r}"
    path.write_text(old.replace(before, text + before, 1))


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of the package in which all recipes have been followed."""
    folder = copy_package(tmp_path_factory.mktemp("copy"))
    for recipe in RECIPES.values():
        for path, text in getattr(recipe, "FILES", {}).items():
            assert not (folder / path).exists()
            (folder / path).write_text(text)
        for path, before, text in getattr(recipe, "LINES", ()):
            insert(folder / path, before, text)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_what_the_recipe_adds_works(copied, name):
    done = run_python(copied, "-c", RECIPES[name].USE + "\nprint(rd.__file__)")
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.split()[-1]).is_relative_to(copied)


@pytest.mark.parametrize("name", NAMES)
def test_the_recipe_names_each_place(name):
    """Files to be changed by their paths, those to be made by their folders."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = re.search(rf"\n\*\*An? [^*]*{name}[^*]*\*\*.*?(?=\n\*\*|\n#)", text, re.DOTALL)
    assert section, f"CONTRIBUTING has no recipe for {name}"
    changed = {path for path, *_ in getattr(RECIPES[name], "LINES", ())}
    made = {str(Path(path).parent) for path in getattr(RECIPES[name], "FILES", {})}
    for place in changed | made:
        assert place in section[0], f"the recipe for {name} does not name {place}"


def test_a_quantity_that_does_not_say_what_closed_linkages_get_is_refused(copied):
    recipe = RECIPES["quantity"]
    ((path, text),) = recipe.FILES.items()
    assert recipe.NEEDED in text
    (copied / path).write_text(text.replace(recipe.NEEDED, ""))
    try:
        done = run_python(copied, "-c", "from robodyn import Robot")
    finally:
        (copied / path).write_text(text)
    assert "missing 1 required positional argument: 'closed'" in done.stderr
