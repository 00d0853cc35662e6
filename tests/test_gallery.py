"""The gallery has every bundled robot; ``make docs`` draws its pictures, and fails without one."""

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


def test_the_page_names_every_picture(tmp_path, monkeypatch):
    monkeypatch.setattr(gallery, "_draw_all", lambda jobs: [job[-1].touch() for job in jobs])
    gallery.write_gallery(tmp_path)
    page = (tmp_path / "index.md").read_text()
    pictures = {path.name for path in tmp_path.iterdir()} - {"index.md"}
    assert len(pictures) == len(rd.robots()) + len(gallery.EXAMPLES) + len(gallery.MOTIONS)
    assert not [name for name in pictures if name not in page]
