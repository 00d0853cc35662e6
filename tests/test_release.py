"""The script that makes a release refuses what is none."""

import importlib.util
import shutil
import subprocess
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-31\n\n- A change.\n"
FILES = {
    "CHANGELOG.md": CHANGELOG,
    "CITATION.cff": "version: 1.2.3\ndate-released: 2026-01-31\n",
    "robodyn_ros/package.xml": "<package>\n  <version>1.2.3</version>\n</package>\n",
    "robodyn_ros/setup.py": 'setup(\n    version="1.2.3",\n)\n',
}


@pytest.fixture
def release(tmp_path, monkeypatch):
    """The script, for a repository that could be released."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    loader = SourceFileLoader("release", str(ROOT / ".ci" / "release"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("release", loader))
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    (tmp_path / "robodyn_ros").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return module


def git(folder, *arguments):
    names = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
    subprocess.run(["git", *names, *arguments], cwd=folder, check=True)


def commit(folder):
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "A commit")


def test_what_is_in_order(release):
    assert release.refusals("1.2.3") == []


def test_a_dirty_tree(release, tmp_path):
    (tmp_path / "new.py").touch()
    (reason,) = release.refusals("1.2.3")
    assert "not committed" in reason and "new.py" in reason


def test_a_version_that_is_tagged(release, tmp_path):
    git(tmp_path, "tag", "v1.2.3")
    (reason,) = release.refusals("1.2.3")
    assert "v1.2.3 is tagged already" in reason


@pytest.mark.parametrize(
    "section", ["", "## [1.2.3]\n\n- A change.\n", "## [1.2.3] - 2026-01-31\n\n## [1.2.2] - x\n"]
)
def test_a_changelog_without_a_section(release, tmp_path, section):
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## [Unreleased]\n\n{section}")
    commit(tmp_path)
    assert 'CHANGELOG.md has no section "## [1.2.3] - YEAR' in release.refusals("1.2.3")[0]


@pytest.mark.parametrize("name", sorted(FILES.keys() - {"CHANGELOG.md"}))
def test_a_file_of_another_version(release, tmp_path, name):
    (tmp_path / name).write_text(FILES[name].replace("1.2.3", "1.2.2"))
    commit(tmp_path)
    assert release.refusals("1.2.3") == [f"{name} says 1.2.2, expected 1.2.3"]


def test_a_file_of_another_day(release, tmp_path):
    (tmp_path / "CITATION.cff").write_text("version: 1.2.3\ndate-released: 2026-02-01\n")
    commit(tmp_path)
    assert release.refusals("1.2.3") == ["CITATION.cff says 2026-02-01, expected 2026-01-31"]


def test_another_version(release):
    """Its dots are no wildcards."""
    assert "CHANGELOG.md has no section" in release.refusals("1x2.3")[0]
