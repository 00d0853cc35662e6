"""The recipe of CONTRIBUTING for a kind of joint: one file in a copy of robodyn, nothing else."""

import re
from pathlib import Path

import pytest
from support.package_copy import copy_package, run_python

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent
TOYS = {path.stem: path.read_text() for path in (TESTS / "joint_kinds").glob("*.py")}
LAWS = TESTS / "laws" / "test_kind_laws.py"

#: What may go wrong in the file of the varying screw, and the law that finds it.
FAULTS = {
    "offset": (
        "turned(joint.turn(q[0]))",
        "turned(JointGeometry(joint.kind).turn(q[0]))",
        "the_pose_follows_origin_axes_and_numbers",
    ),
    "subspace": (
        "bend * v[0]",
        "-bend * v[0]",
        "the_motion_subspace_is_the_derivative_of_the_pose",
    ),
    "friction": ("X.R.matrix.xx)", "1.0)", "cut_moves_as_not_cut"),
    "bias": (
        " + c * depth * sine * m.w.z * m.w.z",
        "",
        "cut_is_closed_wherever_the_joint_can_go",
    ),
    "unmoved": ("unmoved=(2,)", "unmoved=(2, 3)", "what_it_leaves_unmoved"),
}


def run_tests(folder, kinds, *arguments):
    """Tests of a copy of robodyn with some more kinds of joints."""
    copy_package(folder)
    for name, text in kinds.items():
        (folder / "robodyn" / "joints" / f"{name}.py").write_text(text)
    done = run_python(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)
    return done.stdout + done.stderr


def test_one_file_is_a_kind_of_joint(tmp_path):
    """Both keep all laws, which see them."""
    others = TESTS / "laws" / "test_joint_kinds.py"
    output = run_tests(tmp_path, TOYS, "-k", " or ".join(TOYS), str(LAWS), str(others))
    laws = LAWS.read_text().count("\n@each(")
    passed = re.search(r"^(\d+) passed, \d+ deselected in", output, re.MULTILINE)
    assert passed, output
    assert int(passed[1]) >= laws * len(TOYS)


def test_faults_in_the_file_are_found(tmp_path):
    kinds, tests = {}, []
    for name, (right, wrong, law) in FAULTS.items():
        assert right in TOYS["varying_screw"]
        text = TOYS["varying_screw"].replace(right, wrong)
        kinds[f"{name}_fault"] = text.replace('"varying_screw"', f'"{name}_fault"')
        tests.append(f"{LAWS}::test_{law}[{name}_fault]")
    output = run_tests(tmp_path, kinds, *tests)
    assert f"\n{len(FAULTS)} failed in" in output, output
