"""List what the reports of pytest in a folder say was skipped; fail where a reason is not known."""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

#: Why a test may be skipped: what is tested elsewhere, or what no machine of ours has.
KNOWN = {
    "main": (
        "needs cupy and a CUDA device",
        "this test needs nvcc",
        "colcon is not installed",  # it is where ROS is, and test_ros_elsewhere.py runs that
        "control_msgs is not installed, and no rosidl or compiler makes it",
        "pybullet is not installed",  # it has no wheels for Python 3.12 and newer
        "mpi4py is not installed",  # its wheels are of Linux on x86-64
        "could not import '(jax|torch)'",  # they are installed for the report "interop"
        "could not import '(pydrake|roboticstoolbox|newton)'",  # for the report "peers"
    ),
    #: What compares with other programs: they need newer versions of numpy, and run in main.
    "elsewhere": (
        "pinocchio|mujoco|pybullet|example-robot-data|playwright",
        "no URDF of this collection is installed",  # those of example-robot-data and pybullet
        r"empty parameter set .*test_regressors\.py",  # robots of example-robot-data
        "ROBODYN_ROS_PYTHON",
        "could not import '(fmpy|pymoca)|cmake is not installed",  # for what is exported
    ),
}


def main() -> int:
    """Print a table; the exit status is 1 where a reason is unknown or nothing ran."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reports", type=Path)
    parser.add_argument("--expect", action="append", default=[], help="reason, also allowed")
    arguments = parser.parse_args()
    bad = False
    for report in sorted(arguments.reports.glob("*.xml")):
        known = [*KNOWN["main"], *arguments.expect]
        if report.stem in ("interop", "peers"):
            known = [*arguments.expect]
        elif report.stem != "main":
            known += KNOWN["elsewhere"]
        cases = list(ElementTree.parse(report).iter("testcase"))
        reasons = Counter(reason(skip) for case in cases for skip in case.iter("skipped"))
        print(f"{report.stem}: {len(cases)} tests, {reasons.total()} skipped")
        for text, count in reasons.most_common():
            unknown = not any(re.search(pattern, text) for pattern in known)
            print(f"  {count:4d}  {text}" + ("  <- NOT EXPECTED" if unknown else ""))
            bad = bad or unknown
        bad = bad or not len(cases) > reasons.total()
    return int(bad)


def reason(skip: ElementTree.Element) -> str:
    """The reason in one line; that of a whole file stands in the text."""
    message = skip.get("message") or ""
    return (skip.text or "" if message == "collection skipped" else message).splitlines()[0]


if __name__ == "__main__":
    sys.exit(main())
