"""``robodyn new``: copy a starter project into a new folder."""

from __future__ import annotations

import argparse
from importlib import resources
from importlib.util import find_spec

from robodyn.cli.options.output import print_json
from robodyn.cli.options.values import FOLDER, add
from robodyn.exporting.folder import new_folder, write_folder
from robodyn.installation import install_command

__all__ = ["add_options", "run"]

#: Starter projects: the folders beside this file.
PROJECTS = ("arm", "four_bar")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("project", choices=PROJECTS)
    add(parser, "folder", "new or empty (default: ./PROJECT)", complete=FOLDER, nargs="?")


def run(arguments: argparse.Namespace) -> int:
    """Run the command, and return the exit status."""
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
