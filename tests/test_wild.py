"""The script that tries other people's robots, on a folder made here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import wild
import wild_file
from support.xacro_packages import write_packages

INERTIAL = (
    '<inertial><origin xyz="0 0.1 0.3"/><mass value="2"/><inertia ixx="0.2" ixy="0.01" ixz="0" '
    'iyy="0.3" iyz="0.02" izz="0.25"/></inertial>'
)
ARM = f"""<robot name="arm"><link name="base"/><link name="upper">{INERTIAL}</link>
<link name="lower">{INERTIAL}</link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/>
<axis xyz="0 1 0"/></joint>
<joint name="elbow" type="prismatic"><origin xyz="0 0 1" rpy="0.3 0 0"/><parent link="upper"/>
<child link="lower"/><axis xyz="1 1 0"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>
</robot>"""
FILES = {
    "good.urdf": ARM,
    "impossible.urdf": ARM.replace('izz="0.25"', 'izz="0.9"'),
    "unknown.urdf": ARM.replace('child link="lower"', 'child link="lover"'),
    "broken.urdf": ARM[:200],
    "schema.sdf": '<element name="box"><description>of a format</description></element>',
    "launch.xml": "<launch/>",
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory):
    """Exit status, what was printed, and the records by name."""
    pytest.importorskip("xacro")
    pytest.importorskip("pinocchio")
    folder = tmp_path_factory.mktemp("wild")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    write_packages(folder)
    script, records = Path(wild.__file__), folder / "records.json"
    done = subprocess.run(
        [sys.executable, str(script), str(folder), "--json", str(records), "--jobs", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    named = {Path(r["file"]).name: r for r in json.loads(records.read_text())}
    return done.returncode, done.stdout + done.stderr, named


@pytest.mark.slow
def test_files_are_counted_by_what_becomes_of_them(tried):
    status, told, records = tried
    assert {name: record["status"] for name, record in records.items()} == {
        "good.urdf": "loaded",
        "impossible.urdf": "lenient",
        "unknown.urdf": "refused",
        "broken.urdf": "refused",
        "arm.urdf.xacro": "refused",
        "arm_macro.xacro": "refused",
        "common.xacro": "refused",
        "cell.urdf.xacro": "loaded",
    }
    assert records["arm.urdf.xacro"]["reason"] == "xacro: arguments are needed"
    assert records["common.xacro"]["reason"] == "xacro: macros alone"
    assert "URDF: 1 loaded, 1 lenient, 2 refused" in told
    assert "xacro: 1 loaded, 3 refused" in told
    assert status == 0


def test_dynamics_are_compared_with_pinocchio(tried):
    _, told, records = tried
    for name in ("good.urdf", "impossible.urdf", "cell.urdf.xacro"):
        errors = records[name]["errors"]
        assert list(errors) == ["inverse dynamics", "mass matrix", "poses", "forward dynamics"]
        assert max(errors.values()) < 1e-9
    assert "compared with Pinocchio: 3" in told


def test_what_other_readers_take_is_told(tmp_path):
    pytest.importorskip("pinocchio")
    records = [
        {"file": "a", "status": "refused", "lenient_reason": "why", "read_by": ["A", "B"]},
        {"file": "b", "status": "refused", "lenient_reason": "why", "read_by": ["A"]},
    ]
    assert "refused, and read by two others: 1\n      1 why\n          a" in wild.table(records)
    path = tmp_path / "arm.urdf"
    for text, takes in ((ARM, True), ("<robot/>", False)):
        path.write_text(text)
        assert wild_file.OTHERS["Pinocchio"](path, "URDF") is takes


@pytest.mark.slow
def test_a_worker_that_dies_or_hangs_is_replaced(tmp_path, monkeypatch):
    fake = tmp_path / "wild_file.py"
    fake.write_text(
        "import json, os, sys, time\n"
        "for line in sys.stdin:\n"
        "    if 'dies' in line: os._exit(3)\n"
        "    if 'hangs' in line: time.sleep(60)\n"
        "    if 'asks' in line:\n"
        "        print(json.dumps({'status': 'refused', 'asked': 'PyBullet'}), flush=True)\n"
        "        os._exit(3)\n"
        "    print(json.dumps({'status': 'loaded', 'end': True}), flush=True)\n"
    )
    monkeypatch.setattr(wild, "__file__", str(tmp_path / "wild.py"))
    files = [Path(name) for name in ("dies", "fine", "hangs", "asks", "well")]
    records = wild.look_at(files, 1, 2.0)
    told = [(r["status"], r.get("ended")) for r in records]
    assert told == [
        ("crashed", None),
        ("loaded", None),
        ("too slow", None),
        ("refused", "crashed in PyBullet"),
        ("loaded", None),
    ]
    assert "crashed or too slow: 2" in wild.table(records)
