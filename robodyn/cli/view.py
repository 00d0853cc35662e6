"""``robodyn view``: show a robot in the browser."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import robodyn as rd
from robodyn.cli.options.robot import add_robot, robot_options
from robodyn.cli.options.values import FILE, add

#: Options that write a file instead of serving, with their help.
_FILES = {
    "screenshot": "write an image (.png, .jpg)",
    "video": "write a video of the motion (.mp4, .gif)",
    "html": "write a web page that needs no server",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_robot(parser, bases=("fixed", "floating"))
    motion = "motion to play: .npz, .csv or a bag"
    add(parser, "--trajectory", motion, complete=FILE, type=Path)
    host = "who may connect (default: this machine)"
    parser.add_argument("--host", default="127.0.0.1", help=host)
    parser.add_argument("--port", type=int, default=8080, help="default 8080, or the next free one")
    arrows = ("forces", "moments", "torques")
    parser.add_argument("--arrows", nargs="+", choices=arrows, default=(), help="forces to draw")
    for name, what in _FILES.items():
        add(parser, f"--{name}", f"{what}, and end", complete=FILE, type=Path, metavar="FILE")


def run(arguments: argparse.Namespace) -> int:
    """Run the command, and return the exit status."""
    from robodyn.view import Viewer
    from robodyn.view.recording import read_motion

    options = robot_options(arguments)
    packages = options.get("package_dirs")
    robot = rd.load(arguments.robot, base=arguments.base, **options)
    motion = read_motion(arguments.trajectory, robot) if arguments.trajectory else None
    viewer = Viewer(robot, motion, host=arguments.host, port=arguments.port, package_dirs=packages)
    for note in viewer.notes:
        print(f"  not shown: {note}", file=sys.stderr)
    with viewer:
        viewer.show_arrows(*arguments.arrows)
        if not _written(viewer, arguments):
            _serve(viewer)
    return 0


def _written(viewer: Any, arguments: argparse.Namespace) -> bool:
    """Write the files that options ask for, and return whether there were any."""
    write = {
        "html": viewer.write_html,  # first: it needs no browser
        "screenshot": viewer.screenshot,
        "video": viewer.video,
    }
    asked = {name: path for name in write if (path := getattr(arguments, name))}
    for name, path in asked.items():
        write[name](path)
        print(f"wrote {path}", flush=True)
    return bool(asked)


def _serve(viewer: Any) -> None:
    with contextlib.suppress(KeyboardInterrupt):
        print(f"{viewer.robot.name}: {viewer.url} (Ctrl-C ends)", flush=True)
        if viewer.is_everywhere:
            name = urlsplit(viewer.url).hostname
            print(f"from elsewhere: the same, with this machine's name for {name}", flush=True)
        viewer.wait()
