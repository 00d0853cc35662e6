"""The examples run, are short, are right by their own measure, and draw what they find."""

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path):
    assert len(path.read_text().splitlines()) <= 100
    names = runpy.run_path(str(path))
    result = names["main"]()
    names["check"](result)
    names["draw"](result, str(tmp_path / "found.png"))
    assert (tmp_path / "found.png").stat().st_size > 10_000
