"""Warnings stand at the line of the user's call, whatever part of the package gives them."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import ConvergenceWarning, LimitWarning, SweepWarning, UrdfWarning

ROOT = Path(__file__).parents[2]

FALLING = """<robot name="r"><link name="a"/><link name="b"><inertial><origin xyz="0 0 -1"/>
<mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="revolute" {}><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>
<limit lower="-0.1" upper="0.1"/></joint></robot>"""


def nothing(t, q, v):
    return np.zeros(1)


def load():
    rd.load(FALLING.format('independent="TRUE"'))


def simulate():
    rd.simulate(rd.load(FALLING.format("")), q0=[0.1], v0=[1.0], duration=0.1, step=0.01)


def inverse_kinematics():
    rd.load(FALLING.format("")).inverse_kinematics({"b": [9.0, 9.0, 9.0]})


def failing(x):
    raise ValueError(x)


def sweep():
    rd.sweep(failing, {"x": [1.0]}, errors="keep")


def hold(t):
    return np.zeros(1), np.zeros(1), np.zeros(1)


CONTROLLERS = {"no": nothing}
TASK = {"reference": hold, "v0": [9.0], "limits": "report", "duration": 0.1}


def compare():
    rd.compare(rd.load(FALLING.format("")), CONTROLLERS, **TASK)


@pytest.mark.parametrize(
    ("call", "category"),
    [
        (load, UrdfWarning),
        (simulate, LimitWarning),
        (inverse_kinematics, ConvergenceWarning),
        (sweep, SweepWarning),
        (compare, LimitWarning),
    ],
)
def test_a_warning_stands_at_the_line_of_the_call(call, category):
    with warnings.catch_warnings(record=True, action="always") as heard:
        call()
    (warning,) = (one for one in heard if one.category is category)
    assert (warning.filename, warning.lineno) == (__file__, call.__code__.co_firstlineno + 1)


def test_a_call_out_of_a_callback_stands_in_the_callback():
    def controller(t, q, v):
        load()
        return 0.0 * v

    with warnings.catch_warnings(record=True, action="always") as heard:
        robot = rd.load(FALLING.format(""))
        rd.simulate(robot, controller, q0=[0.0], v0=[0.0], duration=0.01, step=0.01)
    assert {one.lineno for one in heard} == {load.__code__.co_firstlineno + 1}


@pytest.mark.slow
def test_the_command_line_has_no_line_of_a_user(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(FALLING.format('independent="TRUE"'))
    command = [sys.executable, "-c", "from robodyn.cli import main; main(['info', 'FILE'])"]
    command[-1] = command[-1].replace("FILE", str(path))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "robodyn: warning: " in done.stderr
    assert "main(" not in done.stderr
