"""The tests lie where CONTRIBUTING says."""

import collections
import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROOT = TESTS.parent
FILES = sorted(TESTS.rglob("test_*.py"))


def test_unit_tests_lie_in_folders_of_the_package():
    folders = {path.parent.relative_to(TESTS / "unit") for path in TESTS.glob("unit/**/test_*.py")}
    rooms = {ROOT / "robodyn" / folder for folder in folders - {Path("controllers")}}
    missing = [str(room) for room in rooms | {ROOT / "controllers"} if not room.is_dir()]
    assert not missing, f"there is no {missing}: move the tests with what they test"


def test_names_of_files_are_unique():
    """As pytest imports them by name alone."""
    names = collections.Counter(path.name for path in FILES)
    assert not [name for name, times in names.items() if times > 1]


def test_helpers_stand_in_support():
    programs = {"coverage_page", "wild", "wild_file"}
    programs |= {f"fuzz_{what}" for what in ("assembly", "dynamics", "rounded", "urdf")}
    here = {path.stem for path in TESTS.glob("*.py") if not path.stem.startswith("test_")}
    assert here == programs | {"conftest"}


def test_the_top_level_has_what_it_must():
    """Files that examples and pages write lie in temporary folders."""
    folders = {"benchmarks", "controllers", "docs", "examples", "findings"}
    folders |= {"robodyn", "robodyn_ros", "tests"}
    pages = {"CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "README.md", "SECURITY.md"}
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    command = ["git", "-C", str(ROOT), "ls-files"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return  # unpacked from an archive: what lies here is its reader's
    here = {line.split("/")[0] for line in done.stdout.splitlines() if line[0] != "."}
    assert here == folders | pages | {"LICENSE", "Makefile", "pyproject.toml"}
