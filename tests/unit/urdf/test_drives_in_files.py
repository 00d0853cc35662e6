"""Electric motors, gears that lose power, stretch and have play, in files."""

import pytest

import robodyn as rd

WINDING = rd.Winding((2.0, 6.0), (15.0, 900.0), 155.0)
MOTORS = {
    "shoulder": rd.Actuator(
        50, 1e-4, efficiency=0.8, backward_efficiency=0.7, backlash=1e-3,
        elastic=rd.Elastic(1e4, 2.0),
        motor=rd.Motor(0.05, 0.3, inductance=1e-3, voltage=48.0, current=20.0, thermal=WINDING),
    ),
    "elbow": rd.Actuator(20, efficiency=0.9, motor=rd.Motor(0.1, 1.0)),
}  # fmt: skip


@pytest.fixture
def written(tmp_path):
    robot = rd.load("double_pendulum", actuators=MOTORS)
    path = tmp_path / "arm.urdf"
    rd.convert(robot, path)
    return robot, path


def test_what_is_written_reads_back(written):
    robot, path = written
    again = rd.load(path)
    assert dict(again.mechanism.actuators) == MOTORS
    assert again.joint_names == robot.joint_names == ("shoulder", "elbow", "shoulder_motor")
    assert again.actuators == robot.actuators


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ('resistance="0.3"', 'resistance="-0.3"', "resistance=-0.3"),
        ('resistance="0.3"', "", "<electric> has no resistance"),
        ('resistance="0.3"', 'resistence="0.3"', "resistance"),
        ('resistances="2 6"', 'resistances="2"', "resistances is"),
        ('resistances="2 6"', 'resistances="2 x"', "'x'"),
        ('stiffness="10000"', 'stiffness="0"', "stiffness=0.0"),
        ('efficiency="0.8"', 'efficiency="much"', "much"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(written, one, other, words):
    _, path = written
    text = path.read_text()
    assert one in text
    path.write_text(text.replace(one, other, 1))
    with pytest.raises(rd.UrdfError, match=words):
        rd.load(path)


@pytest.mark.parametrize("suffix", [".xml", ".sdf", ".usda"])
def test_other_formats_say_what_they_lose(tmp_path, suffix):
    robot = rd.load("double_pendulum", actuators=MOTORS)
    lost = " ".join(rd.convert(robot, tmp_path / f"arm{suffix}").lost)
    for words in ("electric motors (shoulder, elbow)", "losses of gears", "elastic gears"):
        assert words in lost
