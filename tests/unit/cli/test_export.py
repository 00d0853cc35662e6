"""``robodyn export``."""

import pytest

from robodyn.cli import main

CONTROLLER = """
import numpy as np
from robodyn.controllers import JointPD, SineReference

def wave(robot):
    reference = SineReference(robot.neutral(), 0.1 * np.ones(robot.nq), np.ones(robot.nq))
    return JointPD(robot, reference, stiffness=10.0, damping=1.0)
"""


def test_one_function_is_printed(capsys):
    assert main(["export", "double_pendulum", "mass_matrix"]) == 0
    assert "void mass_matrix(const double *q, double *M)" in capsys.readouterr().out


def test_a_function_with_options_is_printed_in_single_precision(capsys):
    choices = "frame_pose:frame=tool:relative_to=link3"
    assert main(["export", "arm7", choices, "--dtype", "float"]) == 0
    assert "void frame_pose(const float *q, float *X)" in capsys.readouterr().out
    assert main(["export", "arm7", "mass_matrix", "--dtype", "half"]) == 2
    assert main(["export", "arm7"]) == 2
    assert "robodyn export ROBOT --list" in capsys.readouterr().err


def test_a_folder_with_a_controller(tmp_path, capsys):
    file, out = tmp_path / "control.py", tmp_path / "code"
    file.write_text(CONTROLLER)
    functions = ["frame_pose:frame=left_rod", "assemble:hold=left_drive", "step"]
    options = ["--target", "python", "--out", str(out), "--controller", f"{file}:wave"]
    robot = ["export", "five_bar", *functions, *options, "--step", "2e-3", "--integrator", "heun"]
    assert main(robot) == 0
    assert capsys.readouterr().out.split() == [str(out / "five_bar.py")]
    names = {}
    exec((out / "five_bar.py").read_text(), names)
    expected = {"frame_pose_left_rod", "assemble_left_drive", "step", "control"}
    assert expected <= set(names["__all__"])
    assert "0.002 s" in names["step"].__doc__


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mass_matrix", "gravity_forces"], "give --out DIR"),
        (["mass_matrix", "--target", "python"], "give --out DIR"),
        (["mass_matrix", "--out", "{}", "--target", "pyton"], "did you mean 'python'"),
        (["mas_matrix", "--out", "{}"], "did you mean 'mass_matrix'"),
        (["step:1", "--out", "{}"], "expected NAME:OPTION=VALUE"),
        (["step", "--out", "{}", "--step", "0"], "--step is '0'"),
        (["step", "--out", "{}", "--controller", "wave"], "expected FILE.py:NAME"),
        (["step", "--out", "{}", "--controller", "{}.py:wave"], "there is no file"),
        (["step", "--out", "{}", "--controller", "{file}:wav"], "did you mean 'wave'"),
        (["mass_matrix", "--out", "{}", "--controller", "{file}:wave"], "no function has it"),
    ],
)
def test_what_is_refused_leaves_nothing(arguments, words, tmp_path, capsys):
    file = tmp_path / "control.py"
    file.write_text(CONTROLLER)
    given = [x.format(tmp_path / "code", file=file) for x in arguments]
    assert main(["export", "five_bar", *given]) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [file]
