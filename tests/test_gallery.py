"""The gallery has every bundled robot; examples are in tests/test_examples.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import robodyn as rd

pytest.importorskip("matplotlib")
pytest.importorskip("sphinx")
sys.path.append(str(Path(__file__).parents[1] / "docs/_extensions"))
gallery = pytest.importorskip("gallery")


def test_every_robot_says_what_it_is():
    for name in rd.robots():
        text = gallery.about(name)
        assert text[0].isupper() and 4 < len(text) < 160, name
    assert gallery.about("watt") == "Six-bar linkage of Watt"


@pytest.mark.slow
@pytest.mark.parametrize("name", rd.robots())
def test_every_robot_has_a_picture(name, tmp_path):
    gallery.draw_robot(name, tmp_path / "robot.png")
    assert (tmp_path / "robot.png").stat().st_size > 10_000


@pytest.mark.slow
def test_the_picture_of_the_readme(tmp_path):
    gallery.draw_palletizer(tmp_path / "palletizer.png")
    assert (tmp_path / "palletizer.png").stat().st_size > 10_000


@pytest.mark.slow
def test_the_page_names_every_picture(tmp_path, monkeypatch):
    def touch(_, path):
        Path(path).touch()

    monkeypatch.setattr(gallery, "draw_robot", touch)
    monkeypatch.setattr(gallery, "draw_example", touch)
    monkeypatch.setattr(gallery, "MOTIONS", {"four_bar": gallery.animate_four_bar})
    gallery.write_gallery(tmp_path)
    page = (tmp_path / "index.md").read_text()
    pictures = {path.name for path in tmp_path.iterdir()} - {"index.md"}
    assert len(pictures) == len(rd.robots()) + len(gallery.EXAMPLES) + 1
    assert not [name for name in pictures if name not in page]
