"""Recorded motions as references: they pass their samples, rates belong to them, jumps are told."""

import numpy as np
import pytest
from support.bundled import bundled

import robodyn as rd
from robodyn.controllers import ComputedTorque, Recorded

ARM = bundled("double_pendulum")

BALL = """<robot name="ball"><link name="ground"/>
<link name="a"><inertial><mass value="2"/><origin xyz="0 0 -0.4"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.3"/></inertial></link>
<link name="b"><inertial><mass value="1"/><origin xyz="0.1 0 -0.2"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.3"/></inertial></link>
<joint name="socket" type="spherical"><parent link="ground"/><child link="a"/></joint>
<joint name="hinge" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
<origin xyz="0 0 -0.8"/></joint></robot>"""
SLED = BALL.replace("spherical", "planar").replace("socket", "floor")


@pytest.fixture(scope="module")
def swing():
    return rd.simulate(ARM, q0=[0.6, -0.4], duration=1.0, step=1e-2)


@pytest.mark.parametrize(
    ("source", "options"),
    [("double_pendulum", {}), (BALL, {}), (SLED, {}), (BALL, {"base": "floating"})],
    ids=["hinges", "ball", "plane", "floating"],
)
def test_it_is_the_motion_whatever_the_joints(source, options):
    """A free motion: its own speeds and accelerations, on the manifold."""
    robot = rd.load(source, **options)
    if options:
        hull = rd.Inertia.from_matrix(3.0, (0, 0, 0), np.eye(3))
        robot = robot.with_(payload={"ground": hull})
    q0, v0 = robot.neutral(), np.linspace(0.4, 1.2, robot.nv)
    run = rd.simulate(robot, q0=q0, v0=v0, duration=0.6, step=1e-2, limits="ignore")
    reference = Recorded(robot, run.t, run.q, run.v)
    for k in (0, 7, 60):
        np.testing.assert_allclose(robot.difference(reference(run.t[k])[0], run.q[k]), 0, atol=1e-9)
    fine = rd.simulate(robot, q0=q0, v0=v0, duration=0.6, step=5e-3, limits="ignore")
    for k in (31, 77):
        q, v, a = reference(fine.t[k])
        # three times the errors of this interpolation; where nothing turns freely they are smaller
        np.testing.assert_allclose(robot.difference(q, fine.q[k]), 0, atol=2e-7)
        np.testing.assert_allclose(v, fine.v[k], atol=3e-5)
        np.testing.assert_allclose(a, fine.a[k], atol=1.5e-2)
    h = 1e-5
    (q, v, _), (other, dv, _) = reference(0.3333), reference(0.3333 + h)
    a = reference(0.3333 + h / 2)[2]
    np.testing.assert_allclose(robot.difference(q, other) / h, (v + dv) / 2, atol=1e-6)
    np.testing.assert_allclose((dv - v) / h, a, atol=1e-4)


@pytest.mark.parametrize("ending", [".npz", ".csv", ".mcap"])
def test_from_a_file(swing, tmp_path, ending):
    if ending == ".mcap":
        pytest.importorskip("rosbags")
    path = tmp_path / f"swing{ending}"
    swing.save(path)
    reference = Recorded.load(path, ARM)
    np.testing.assert_allclose(reference(0.5)[0], swing.q[50], atol=1e-8)
    drive = ComputedTorque(ARM, reference, 400.0)
    run = rd.simulate(ARM, drive, q0=swing.q[0], duration=1.0, step=1e-3, limits="ignore")
    np.testing.assert_allclose(run.q[-1], swing.q[-1], atol=1e-3)
    with pytest.raises(rd.ShapeError if ending != ".mcap" else rd.RobodynError):
        Recorded.load(path, bundled("puma560"))
    with pytest.raises(FileNotFoundError):
        Recorded.load(tmp_path / "none.csv", ARM)


def test_it_does_not_go_on_beyond_its_samples(swing):
    for t in (-0.1, 1.1, np.nan):
        with pytest.raises((rd.PathError, rd.ShapeError), match=r"0 s to 1 s|t is nan"):
            Recorded(ARM, swing.t, swing.q)(t)
    still = Recorded(ARM, [0.0, 1.0, 1.5], [[0, 0], [1, 0.5], [0.2, 0]], ends="rest")
    np.testing.assert_allclose(still(9.0), [[0.2, 0], [0, 0], [0, 0]], atol=1e-15)
    with pytest.raises(rd.ShapeError, match="t is nan"):
        still(np.nan)
    ball = rd.load(BALL)
    q = np.tile(ball.neutral(), (5, 1))
    with pytest.raises(rd.SettingsError, match="'socket' do not add"):
        Recorded(ball, np.arange(5.0), q, ends="rest")


def test_jumps(puma, swing):
    q = swing.q.copy()
    q[43:, 1] += 0.3
    with pytest.raises(
        rd.PathError, match=r"'elbow' jumps between t = 0\.42 s and 0\.43 s"
    ) as error:
        Recorded(ARM, swing.t, q, swing.v)
    assert (error.value.time, error.value.joint) == (pytest.approx(0.42), ARM.joint_names[1])
    rows = np.linspace(0.0, 1.0, 11)[:, None] * np.full(6, 0.3)
    Recorded(puma, np.linspace(0.0, 1.0, 11), rows)
    rows[5, 2] -= 1.0
    with pytest.raises(rd.PathError, match=r"'joint3' jumps between t = 0\.4 s"):
        Recorded(puma, np.linspace(0.0, 1.0, 11), rows)
    turned = rd.load(BALL)
    ball = rd.simulate(turned, v0=[0.5, 0.2, 0.1, 0.0], duration=0.2, step=1e-2)
    flipped = ball.q.copy()
    flipped[8:, :4] *= -1.0  # the same rotations
    np.testing.assert_allclose(
        Recorded(turned, ball.t, flipped, ball.v)(0.123)[1],
        Recorded(turned, ball.t, ball.q, ball.v)(0.123)[1],
        atol=1e-9,
    )
    flipped[8:, :4] = [0.5, 0.5, 0.5, 0.5]
    with pytest.raises(rd.PathError, match=r"'socket\[.\]' jumps between t = 0.07 s"):
        Recorded(turned, ball.t, flipped, ball.v)


@pytest.mark.parametrize(
    ("times", "positions"),
    [
        (np.arange(5.0), np.zeros((5, 3))),
        (np.arange(4.0), np.zeros((5, 2))),
        (np.arange(3.0), np.zeros((3, 2))),
        ([0.0, 1.0, 1.0, 2.0], np.zeros((4, 2))),
        (np.arange(4.0), np.full((4, 2), np.nan)),
        (np.arange(2.0), np.zeros(2)),
    ],
)
def test_what_is_no_record(times, positions):
    with pytest.raises(rd.ShapeError):
        Recorded(ARM, times, positions)


def test_a_record_of_nobody():
    with pytest.raises(rd.ShapeError, match="robot is str"):
        Recorded("arm", np.arange(5.0), np.zeros((5, 2)))
    with pytest.raises(rd.UnknownNameError, match="rest"):
        Recorded(ARM, np.arange(5.0), np.zeros((5, 2)), ends="resting")
    with pytest.raises(rd.ShapeError, match="velocities"):
        Recorded(ARM, np.arange(5.0), np.zeros((5, 2)), np.zeros((4, 2)))
