"""A copy of the package that a test may change."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def copy_package(folder: Path) -> Path:
    """Copy the package and its controllers to a folder, which is returned."""
    for name in ("robodyn", "controllers"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    return folder


def run_python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments, where ``robodyn`` is the copy in a folder."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        "ROBODYN_CACHE_DIR": str(folder / "cache"),
    }
    environment.pop("ROBODYN_TEST_TURN", None)  # of tests in the copy, all cases run
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
