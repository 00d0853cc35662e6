"""The tables of expressions in docs/coming_from: both sides of each row, run and compared."""

import contextlib
import doctest
import functools
import re
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "coming_from"
#: A page, and what it imports. The last two are run in an environment of their own.
PAGES = {
    "pinocchio": "pinocchio",
    "mujoco": "mujoco",
    "drake": "pydrake",
    "roboticstoolbox": "roboticstoolbox",
}

#: A file that a page shows in full, a block of Python, and a row of a table of two expressions.
FILE = re.compile(r"^`([\w.-]+)`:\n\n```\w+\n(.*?)^```", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
ROW = re.compile(r"^\| `([^`|]+)` \| `([^`|]+)` \|", re.MULTILINE)


def read(page):
    return (FOLDER / f"{page}.md").read_text()


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """The names that a page defines."""

    @functools.cache
    def of(page):
        pytest.importorskip(PAGES[page])
        text, folder = read(page), tmp_path_factory.mktemp(page)
        for file, content in FILE.findall(text):
            (folder / file).write_text(content)
        test = doctest.DocTestParser().get_doctest("".join(BLOCK.findall(text)), {}, page, None, 0)
        with contextlib.chdir(folder):
            failed, tried = doctest.DocTestRunner().run(test, clear_globs=False)
        assert failed == 0 < tried
        return test.globs

    return of


ROWS = [(page, *row) for page in PAGES for row in ROW.findall(read(page))]


@pytest.mark.parametrize(("page", "theirs", "ours"), ROWS, ids=str)
def test_both_sides_of_a_row_are_equal(names, page, theirs, ours):
    theirs, ours = (eval(side, names(page)) for side in (theirs, ours))
    if isinstance(ours, list):
        assert theirs == ours
    else:
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("page", PAGES)
def test_every_row_is_read(page):
    tables = re.findall(
        r"^\| \w+ \| robodyn \|\n\|---\|---\|\n((?:\|.*\n)+)", read(page), re.MULTILINE
    )
    assert sum(table.count("\n") for table in tables) == sum(row[0] == page for row in ROWS)
