"""The tests lie where CONTRIBUTING says."""

from __future__ import annotations

import collections
from pathlib import Path

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
    programs = {"coverage_page", "fuzz_assembly", "fuzz_dynamics", "fuzz_urdf", "wild", "wild_file"}
    here = {path.stem for path in TESTS.glob("*.py") if not path.stem.startswith("test_")}
    assert here == programs | {"conftest"}
