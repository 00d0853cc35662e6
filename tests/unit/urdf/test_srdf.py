"""Rotors from an SRDF."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import UrdfWarning

SRDF = """<?xml version="1.0"?>
<robot name="arm7">
  <group name="arm"/>
  <rotor_params>
    <!-- a comment -->
    <joint name="elbow_pitch" mass="1e-5" gear_ratio="100."/>
    <joint name="wrist_pitch" mass="2e-5" gear_ratio="50"/>
  </rotor_params>
</robot>
"""


def test_rotors_are_read(tmp_path):
    path = tmp_path / "arm.srdf"
    path.write_text(SRDF)
    robot = rd.load("arm7", srdf=path, rotor_model="armature")
    assert robot.actuators["elbow_pitch"] == rd.Actuator(100.0, 1e-5)


def test_rotors_count(tmp_path):
    path = tmp_path / "arm.srdf"
    path.write_text(SRDF)
    q = np.zeros(7)
    with_rotors = rd.load("arm7", srdf=path, rotor_model="armature").mass_matrix(q)
    plain = dict(rd.load("arm7").mechanism.actuators)
    without = rd.load(
        "arm7",
        rotor_model="armature",
        actuators={**plain, "elbow_pitch": rd.Actuator(100.0), "wrist_pitch": rd.Actuator(50.0)},
    ).mass_matrix(q)
    expected = np.zeros(7)
    expected[3], expected[5] = 1e-5 * 100**2, 2e-5 * 50**2
    np.testing.assert_allclose(np.diag(with_rotors - without), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("elbow_pitch", "elbw", 6),
        ('gear_ratio="50"', 'gear_ratio="many"', 7),
        ("</rotor_params>", "", None),
    ],
)
def test_bad_files_are_refused(tmp_path, old, new, line):
    path = tmp_path / "arm.srdf"
    path.write_text(SRDF.replace(old, new))
    with pytest.raises(rd.UrdfError) as caught:
        rd.load("arm7", srdf=path)
    assert caught.value.file == str(path)
    assert line is None or caught.value.line == line


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ('mass="1e-5"', 'mas="1e-5"', "mas='1e-5' is not read; did you mean 'mass'"),
        ('mass="1e-5"', 'mass="-1e-5"', "mass=-1e-05 is negative"),
        ("<joint name", "<jiont name", "did you mean <joint>"),
        ("rotor_params>", "rotor_parms>", "did you mean <rotor_params>"),
        ("wrist_pitch", "elbow_pitch", "a second rotor for joint 'elbow_pitch'"),
    ],
)
def test_mistakes_are_refused(tmp_path, old, new, match):
    path = tmp_path / "arm.srdf"
    path.write_text(SRDF.replace(old, new))
    with pytest.raises(rd.UrdfError, match=match) as caught:
        rd.load("arm7", srdf=path)
    assert caught.value.line


def test_a_file_without_rotors_is_warned_of(tmp_path):
    path = tmp_path / "arm.srdf"
    path.write_text('<robot name="arm7"><group name="arm"/></robot>')
    with pytest.warns(UrdfWarning, match="has no <rotor_params>"):
        rd.load("arm7", srdf=path)
