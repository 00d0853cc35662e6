"""``robodyn doctor`` on machines where something is wrong."""

import json
import sys

import numpy as np
import pytest

import robodyn as rd
from robodyn import installation
from robodyn.cli import main


def doctor(capsys, status=0):
    assert main(["doctor", "--json"]) == status
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] is (status == 0)
    return {x["name"]: x for x in found["findings"]}, {x["name"]: x for x in found["extras"]}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBODYN_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "robodyn"


def test_all_is_well(capsys, cache):
    findings, extras = doctor(capsys)
    assert findings["numpy"]["text"].startswith(np.__version__)
    assert findings["cache"]["text"].startswith(str(cache))
    assert findings["compilation"]["text"].endswith(" s, and kept")
    assert list(cache.glob("*.o"))  # one function was compiled, and kept
    assert extras["plot"]["installed"] and "matplotlib" in extras["plot"]["packages"][0]
    assert "test" not in extras
    files = [path.stat().st_size for path in cache.glob("*.o")]
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert f"{len(files)} files, {sum(files) / 2**20:.1f} MB" in out and "all is well" in out


def test_a_package_that_is_too_old(monkeypatch, capsys):
    version = installation.version
    monkeypatch.setattr(
        installation, "version", lambda name: "1.26.4" if name == "numpy" else version(name)
    )
    findings, _ = doctor(capsys, status=2)
    assert findings["numpy"]["problem"] == "pip install 'numpy>=2.0'"
    assert main(["doctor"]) == 2
    assert "WRONG: pip install 'numpy>=2.0'" in capsys.readouterr().out


def test_a_package_that_cannot_be_imported(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "lxml.etree", None)
    findings, _ = doctor(capsys, status=2)
    assert "it cannot be imported (" in findings["lxml"]["problem"]
    assert findings["lxml"]["problem"].endswith("pip install --force-reinstall lxml")


def test_no_machine_code_at_all(monkeypatch, capsys):
    def broken():
        raise OSError("libLLVM is not there")

    monkeypatch.setattr("robodyn.cli.doctor.chosen_target", broken)
    findings, _ = doctor(capsys, status=2)
    assert findings["CPU"]["problem"] == "libLLVM is not there"


def test_a_cache_that_cannot_be_written(cache, capsys):
    cache.parent.write_text("a file, no folder")
    findings, _ = doctor(capsys, status=2)
    assert "name another one in ROBODYN_CACHE_DIR" in findings["compilation"]["problem"]


def test_no_cache(monkeypatch, capsys):
    monkeypatch.setenv("ROBODYN_CACHE", "0")
    findings, _ = doctor(capsys)
    assert "every process compiles anew" in findings["cache"]["text"]


def test_code_that_computes_something_else(monkeypatch, capsys):
    load = rd.load
    monkeypatch.setattr(rd, "load", lambda text: load(text, gravity=(0.0, 0.0, -9.8)))
    findings, _ = doctor(capsys, status=2)
    assert "expected" in findings["compilation"]["problem"]
    monkeypatch.setattr(rd, "load", lambda text: load("nowhere"))
    findings, _ = doctor(capsys, status=2)
    assert "UnknownNameError" in findings["compilation"]["problem"]
