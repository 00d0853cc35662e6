"""Seconds and commands from an empty machine to first results, as a Markdown table.

A new environment, an empty cache of machine code, and packages that pip downloads anew: what a new
user waits for. Every command is one that the manual tells; the last column adds up what was waited
for so far. Without a wheel, one is made of this tree first, which is not counted.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

TORQUE = (
    "import robodyn as rd; robot = rd.load('puma560'); print(robot.gravity_forces(robot.neutral()))"
)

#: What is reached -> the commands that lead there from what was reached before.
STEPS = {
    "robodyn is installed": [
        f"{sys.executable} -m venv env",
        "pip install --quiet --no-cache-dir '{wheel}[plot]'",
    ],
    "the installation is checked": ["robodyn doctor"],
    "first torque": [f'python -c "{TORQUE}"'],
    "first picture": ["robodyn sim puma560"],
    "first closed loop of one's own": [
        "robodyn new four_bar",
        "robodyn check four_bar/four_bar.urdf",
    ],
    "first controller of one's own, with pictures": ["python four_bar/run.py"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, help="of robodyn; default: made of this tree")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        wheel = arguments.wheel.resolve() if arguments.wheel else made(work)
        here = work / "here"
        here.mkdir()
        print(f"{wheel.name}, Python {platform.python_version()}, {os.cpu_count()} processors\n")
        print("| reached | commands | seconds | together |\n|---|---:|---:|---:|")
        commands, seconds = 0, 0.0
        for reached, lines in STEPS.items():
            began = time.perf_counter()
            worked = all(run(line.format(wheel=wheel), here) for line in lines)
            taken = time.perf_counter() - began
            commands, seconds = commands + len(lines), seconds + taken
            shown = f"{taken:.1f}" if worked else "it has no such command"
            print(
                f"| {reached} | {len(lines)} | {shown} | {commands} commands, {seconds:.1f} s |",
                flush=True,
            )


def made(work: Path) -> Path:
    """A wheel of this tree."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"]
    subprocess.run([*command, work / "wheel", ROOT], check=True)
    return next((work / "wheel").iterdir())


def run(line: str, here: Path) -> bool:
    """Whether a command of the shell works, in a folder where nothing else is."""
    environment = {name: x for name, x in os.environ.items() if name != "PYTHONPATH"}
    environment["PATH"] = os.pathsep.join([str(here / "env" / "bin"), environment["PATH"]])
    environment |= {"ROBODYN_CACHE_DIR": str(here.parent / "cache"), "MPLBACKEND": "Agg"}
    done = subprocess.run(
        line, shell=True, cwd=here, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        print(done.stderr.strip(), file=sys.stderr)
    return done.returncode == 0


if __name__ == "__main__":
    main()
