"""``robodyn new``: copy a starter project into a new folder."""

from __future__ import annotations

import argparse
from importlib import resources
from importlib.util import find_spec
from typing import Any

from robodyn.cli.options.output import add_json, print_json
from robodyn.cli.options.values import FOLDER, add
from robodyn.exporting.folder import new_folder, write_folder
from robodyn.installation import install_command

__all__ = ["add_to"]

#: Starter projects: the folders beside this file.
PROJECTS = ("arm", "four_bar")


def add_to(commands: Any) -> None:
    """Add the command to a parser's."""
    new = commands.add_parser("new", help="make a starter project: a robot, a program, a README")
    new.add_argument("project", choices=PROJECTS)
    add(new, "folder", "new or empty (default: ./PROJECT)", complete=FOLDER, nargs="?")
    add_json(new)
    new.set_defaults(run=_new)


def _new(arguments: argparse.Namespace) -> int:
    given = arguments.folder or arguments.project
    folder = new_folder(given)
    source = resources.files("robodyn.cli.new") / arguments.project
    files = {x.name: x.read_bytes() for x in source.iterdir() if x.is_file()}
    write_folder(folder, files)
    paths = [folder / name for name in sorted(files)]
    if arguments.json:
        print_json("new", project=arguments.project, files=paths)
        return 0
    print(*paths, sep="\n")
    print(f"\nnext: cd {given} && python run.py, and read README.md")
    if find_spec("matplotlib") is None:
        print(f"its pictures need matplotlib: {install_command('matplotlib', 'plot')}")
    return 0
