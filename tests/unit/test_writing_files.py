"""Files are written completely or not at all, and what was there before stays until then."""

import os
import stat
import threading
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import robodyn as rd
from robodyn.files import replacing, save_figure


def write(path, text, then=None):
    with replacing(Path(path)) as unfinished:
        unfinished.write_text(text)
        if then is not None:
            raise then


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OSError(28, "No space left")])
def test_what_was_there_stays_if_writing_fails(tmp_path, error):
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises((KeyboardInterrupt, ValueError, rd.errors.FileError)):
        write(tmp_path / "a.txt", "new", error)
    assert {x.name: x.read_text() for x in tmp_path.iterdir()} == {"a.txt": "old"}


def test_rights_of_the_file_stay(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o640)
    write(path, "new")
    assert path.read_text() == "new" and stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "one.txt").write_text("old")
    (tmp_path / "latest.txt").symlink_to("runs/one.txt")
    write(tmp_path / "latest.txt", "new")
    assert (tmp_path / "latest.txt").is_symlink()
    assert [x.read_text() for x in (tmp_path / "runs").iterdir()] == ["new"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_stays_a_pipe(tmp_path):
    path, got = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: got.append(path.read_text()))
    reader.start()
    write(path, "new")
    reader.join(60.0)
    assert got == ["new"] and stat.S_ISFIFO(path.stat().st_mode)
    assert [x.name for x in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_device_stays_a_device():
    with pytest.raises(rd.errors.FileError, match="No space left"):
        rd.urdf.write(rd.load("double_pendulum").mechanism, "/dev/full")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@pytest.mark.parametrize(("name", "made"), [("a.png", "a.png"), ("plain", "plain.png")])
def test_a_picture_replaces_the_old_one_when_it_is_complete(tmp_path, monkeypatch, name, made):
    figure = plt.figure()
    (tmp_path / made).write_bytes(b"old")
    savefig = figure.savefig

    def full(path, **options):
        savefig(path, **options)
        os.truncate(path, 10)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(figure, "savefig", full)
        with pytest.raises(rd.errors.FileError, match="No space left"):
            save_figure(figure, tmp_path / name)
    assert [(x.name, x.read_bytes()) for x in tmp_path.iterdir()] == [(made, b"old")]
    save_figure(figure, tmp_path / name)
    plt.close(figure)
    assert [x.name for x in tmp_path.iterdir()] == [made]
    assert (tmp_path / made).read_bytes().startswith(b"\x89PNG")


def test_a_table_of_a_sweep_leaves_nothing_beside_it(tmp_path, monkeypatch):
    from robodyn.studies.sweep.store import Store

    table = rd.sweep(lambda x: 2 * x, {"x": [1.0, 2.0]})
    table.save(tmp_path / "a.sweep")
    before = (tmp_path / "a.sweep").read_bytes()

    def full(self, done):
        (self._path.parent / f"{self._path.name}-journal").touch()  # as SQLite leaves it
        raise rd.errors.FileError("no space left")

    monkeypatch.setattr(Store, "add", full)
    with pytest.raises(rd.errors.FileError):
        table.save(tmp_path / "a.sweep")
    assert [(x.name, x.read_bytes()) for x in tmp_path.iterdir()] == [("a.sweep", before)]
