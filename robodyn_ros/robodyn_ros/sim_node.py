"""``ros2 run robodyn_ros sim_node FILE``: the same as ``robodyn publish FILE``."""

from __future__ import annotations

import sys

from robodyn.cli import main as robodyn


def main() -> int:
    """Run ``robodyn publish`` with the arguments of the process."""
    return robodyn(["publish", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
