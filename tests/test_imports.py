"""What is imported, and when: one process imports, loads, computes, asks, and says what it has."""

import json

import pytest
from support.processes import python
from test_architecture import LATE

PROGRAM = """
import contextlib, io, json, sys
seen = {}
import numpy as np
before = {*sys.modules}
import robodyn as rd
seen["import"] = [*sys.modules]
import numpy.typing, lxml.etree
before |= {*sys.modules}
robot = rd.load("puma560")
seen["load"] = [*sys.modules]
import llvmlite.binding
before |= {*sys.modules}
robot.inverse_dynamics(np.zeros(6), np.zeros(6), np.zeros(6))
rd.simulate(robot, duration=0.01)
seen["result"] = [x for x in sys.modules if x not in before]
from robodyn.cli import main
with contextlib.redirect_stderr(io.StringIO()):
    main(["check", "nowhere.urdf"])
seen["command"] = [*sys.modules]
rd.controllers.LQR, rd.view.Viewer, rd.ros.Engine
print(json.dumps(seen))
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Modules there were after each step."""
    done = python("-c", PROGRAM, cwd=tmp_path_factory.mktemp("elsewhere"))
    return {step: {*names} for step, names in json.loads(done.stdout.splitlines()[-1]).items()}


def test_the_package_loads_no_compiler_and_no_extra(seen):
    """Importing takes as long as importing numpy, twice; LLVM alone would take as long again."""
    assert not {name.split(".")[0] for name in seen["import"]} & {"llvmlite", "tomllib", *LATE}


def test_a_robot_needs_no_network_and_no_library_of_models(seen):
    """Modules of the standard library import it where one would not think: as xml.sax does."""
    network = {"http", "ssl", "email", "urllib.request"}
    assert not seen["load"] & network
    assert not seen["load"] & {"urchin", "yourdfpy", "urdfpy", "trimesh", "xacro"}


def test_a_first_result_needs_nothing_that_takes_long(seen):
    slow = {"scipy", "logging", "numpy.random", "numpy.ma", "importlib.metadata"}
    slow |= {"subprocess", "tempfile", "xml.dom", "robodyn.urdf.sdf.read"}
    assert not seen["result"] & slow


def test_a_command_imports_no_other(seen):
    assert not seen["command"] & {"robodyn.cli.sim.command", "robodyn.ros"}
