"""Loops that are open at zero: where their frames stand, told by robot, check and viewer."""

import json
import re
from importlib import resources

import numpy as np
import pytest
from support.loop_notations import NOTATIONS, digits, exact

import robodyn as rd
from robodyn.cli import main
from robodyn.errors import LoopWarning
from robodyn.view.panels.posing import move, sliders

FOUR_BAR = (resources.files("robodyn.urdf") / "robots" / "four_bar.urdf").read_text()
PIN = '<origin xyz="0.28 0 0.12"/>'
#: The pin of the coupler 2 cm beside that of the rocker, and turned by 0.2 rad about its axis.
ASIDE = FOUR_BAR.replace(PIN, '<origin xyz="0.3 0 0.12" rpy="0 0.2 0"/>')
#: So far away that nothing closes it, and tilted by 0.1 rad.
TOO_FAR = FOUR_BAR.replace(PIN, '<origin xyz="1.8 0 0.12" rpy="0.1 0 0"/>')
#: Crank and coupler in one line at zero.
TURNING_BACK = (
    '<robot name="r"><link name="ground"/>'
    + "".join(
        f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" '
        'iyz="0" izz="1"/></inertial></link>'
        for name in ("crank", "coupler", "rocker")
    )
    + "".join(
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="0 0 1"/></joint>'
        for name, parent, child, xyz in (
            ("drive", "ground", "crank", "0 0 0"),
            ("b", "crank", "coupler", "0.1 0 0"),
            ("d", "ground", "rocker", "0.4 -0.3 0"),
        )
    )
    + '<loop name="c" type="spherical"><predecessor link="coupler"><origin xyz="0.3 0 0"/>'
    '</predecessor><successor link="rocker"><origin xyz="0 0.3 0"/></successor></loop></robot>'
)


def written(tmp_path, text):
    path = tmp_path / "linkage.urdf"
    path.write_text(text)
    return str(path)


def test_where_the_frames_of_a_loop_stand():
    (gap,) = rd.load(ASIDE).loop_gaps()
    assert (gap.name, gap.kind, gap.links) == (
        "rocker_pin",
        "continuous",
        ("coupler", "rocker_end"),
    )
    np.testing.assert_allclose(gap.poses[:, :3, 3], [[0.35, 0, 0.24], [0.33, 0, 0.24]], atol=1e-15)
    np.testing.assert_allclose(gap.poses[1, :3, :3], np.eye(3), atol=1e-15)
    assert gap.distance == pytest.approx(0.02) and gap.angle == pytest.approx(0.2)
    assert gap.tilt == pytest.approx(0.0, abs=1e-15)  # its axis is that of the pin
    assert repr(gap).startswith("<LoopGap of 'rocker_pin': 0.02 m apart")
    (far,) = rd.load(TOO_FAR).loop_gaps()
    assert far.distance == pytest.approx(1.52) and far.tilt == pytest.approx(0.1)


@pytest.mark.slow
def test_half_a_turn_and_no_turn_are_told_apart():
    half = TOO_FAR.replace('rpy="0.1 0 0"', f'rpy="0 0 {np.pi}"')
    (gap,) = rd.load(half).loop_gaps()
    assert gap.angle == pytest.approx(np.pi) and gap.tilt == pytest.approx(np.pi)


def test_gaps_at_a_posture_are_those_of_the_residual():
    robot = rd.load("palletizer")
    rng = np.random.default_rng(3)
    q = robot.neutral() + 0.1 * rng.normal(size=robot.nq)
    rows = np.abs(robot.loop_residual(q))
    for gap in robot.loop_gaps(q):
        own = [k for k, row in enumerate(robot.constraint_names) if row.startswith(f"{gap.name}[")]
        assert gap.residual == pytest.approx(rows[own].max(), rel=1e-12)
        for link, X in zip(gap.links, gap.poses, strict=True):
            on_link = np.linalg.inv(robot.frame_pose(q, link)) @ X
            at_rest = np.linalg.inv(robot.frame_pose(robot.neutral(), link))
            same = next(g for g in robot.loop_gaps(robot.neutral()) if g.name == gap.name)
            np.testing.assert_allclose(on_link, at_rest @ same.poses[gap.links.index(link)],
                                       atol=1e-12)  # fmt: skip
    assert [gap.name for gap in robot.loop_gaps()] == [cut.name for cut in robot.loops]


def test_the_search_starts_where_it_is_told(double):
    robot = rd.load("four_bar", near={"crank_drive": 1.2})
    assert robot.start()[0] == 1.2
    assert robot.loop_gaps()[0].residual > 1e-2
    assert max(gap.residual for gap in robot.loop_gaps(robot.neutral())) < 1e-9
    assert np.array_equal(double.start(), double.neutral()) and double.loop_gaps() == ()
    assert rd.load("four_bar", coordinates="minimal").loop_gaps() == ()
    with pytest.raises(
        rd.ShapeError, match=r"q has shape (.*), expected (.*): one posture at a time"
    ):
        robot.loop_gaps(np.zeros((2, 3)))


@pytest.mark.parametrize("name", ["four_bar", "stewart", "double_pendulum"])
def test_many_postures_are_closed_each_by_itself(name):
    robot = rd.load(name)
    rng = np.random.default_rng(2)
    steps = 0.02 * rng.normal(size=(2, 2, 3, robot.nv))
    near = robot.assemble(robot.integrate(np.tile(robot.neutral(), (2, 3, 1)), steps[0]))
    guesses = robot.integrate(near, steps[1])
    hold = robot.independent_joints[:1]
    for options in ({}, {"near": near}, {"near": near[0]}, {"near": near[0, 0]}):
        if "near" in options:
            guesses = robot.integrate(near[0, 0], np.zeros((2, 3, robot.nv)))
        found = robot.assemble(guesses, hold=hold, **options)
        wanted = np.broadcast_to(options.get("near", guesses), guesses.shape)
        for k in np.ndindex(2, 3):
            own = {"near": wanted[k]} if options else {}
            alone = robot.assemble(guesses[k], hold=hold, **own)
            # without near= they are closed at once, in sums of another order
            np.testing.assert_allclose(found[k], alone, rtol=0, atol=0 if options else 1e-10)
    assert robot.assemble(np.zeros((0, robot.nq))).shape == (0, robot.nq)
    with pytest.raises(rd.ShapeError, match="do not broadcast together"):
        robot.assemble(np.zeros((2, robot.nq)), near=np.zeros((3, robot.nq)))


def test_loops_that_depend_on_time():
    """The pin of the crank wanders along x."""

    def wandering(q, t):
        c, s = rd.cos(q[0]), rd.sin(q[0])
        return [[c, 0, s, 0.01 * t], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1]]

    wander = rd.JointMap(1, wandering)
    robot = rd.load("four_bar", joint_maps={"crank_pin": wander})
    with pytest.raises(rd.ShapeError, match=r"ask robot\.at\(t\)"):
        robot.loop_gaps()
    for t in (0.0, 2.0):
        (gap,) = robot.at(t).loop_gaps()
        assert gap.distance == pytest.approx(0.01 * t, abs=1e-12)


def test_check_for_other_programs(tmp_path, capsys):
    file = written(tmp_path, ASIDE)
    assert main(["check", "--json", file]) == 0
    first, second = json.loads(capsys.readouterr().out)["findings"]
    assert first["severity"] == second["severity"] == "note"
    assert first["line"] == 1 + FOUR_BAR[: FOUR_BAR.index('<joint name="rocker_pin"')].count("\n")
    assert main(["check", "--json", written(tmp_path, TOO_FAR)]) == 2
    severities = [record["severity"] for record in json.loads(capsys.readouterr().out)["findings"]]
    assert severities == ["error", "note"]


def test_a_rod_says_how_long_it_is(tmp_path, capsys):
    rod = """<loop name="rod" type="distance"><predecessor link="ground"/><successor link="rocker"/>
<distance value="0.3"/></loop></robot>"""
    text = FOUR_BAR.replace('<joint name="rocker_pin" type="continuous">',
                            '<joint name="rocker_pin" type="continuous" cut="true">')  # fmt: skip
    main(["check", written(tmp_path, text.replace("</robot>", rod))])
    assert "0.4 m apart and turned by 0 degrees, instead of 0.3 m" in capsys.readouterr().out


@pytest.mark.slow
def test_check_says_what_was_rounded_and_what_cannot_move(tmp_path, capsys):
    rounded = NOTATIONS["loop"](digits(5))
    assert main(["check", written(tmp_path, rounded)]) == 0
    out = capsys.readouterr().out
    assert "-1.5708 for -90 degrees (drive); 1.5708 for 90 degrees (pin_b, pin_d, pin_c)" in out
    assert "--rigid keeps what is written (note)" in out
    # without exact turns to take: axes off parallel by the rounding of a file, and by far
    axis = '<axis xyz="0 0 1"/></joint>'
    held = "cannot move: drive, pin_b, pin_d; motors that move nothing: drive (warning)"
    moved = "leave 0 degrees of freedom; the frames of their joints are moved by up to"
    for tilt, options, told, untold in (
        (1e-5, [], moved, held),
        (1e-5, ["--rigid"], held, moved),
        (1.0, [], held, moved),
    ):
        tilted = NOTATIONS["loop of a ball"](exact).replace(
            axis, f'<axis xyz="0 {tilt} 1"/></joint>', 1
        )
        assert main(["check", written(tmp_path, tilted), *options]) == 0
        out = capsys.readouterr().out
        assert told in out and untold not in out and "(note)" not in out
    # a rocker that turns back just where all joints are at zero
    assert main(["check", written(tmp_path, TURNING_BACK)]) == 0
    assert capsys.readouterr().out.endswith("ok\n")


def test_check_lists_exact_turns_only_where_they_are_taken(tmp_path, capsys):
    """With --rigid no number is another one; frames that are moved have a warning instead."""
    rounded = NOTATIONS["loop of a ball"](digits(5))
    assert main(["check", written(tmp_path, rounded), "--rigid"]) == 0
    assert "are taken for exact ones" not in capsys.readouterr().out
    aside = rounded.replace('xyz="0.5 0.0 0.0"', 'xyz="0.5 0.00001 0.0"')
    assert aside != rounded
    for text, taken in ((rounded, True), (aside, False)):
        assert main(["check", written(tmp_path, text)]) == 0
        out = capsys.readouterr().out
        assert ("are taken for exact ones" in out) == taken
        assert ("the frames of their joints are moved by up to" in out) != taken


def test_sliders_of_a_linkage_that_does_not_close_move_every_joint():
    robot = rd.load(TOO_FAR)
    every = sliders(robot, closed=False)
    assert [slider.joint for slider in every] == list(robot.joint_names)
    moved = move(robot, robot.start(), {every[1]: 0.7}, closed=False)
    assert moved.complete and moved.q.tolist() == [0.0, 0.7, 0.0]


@pytest.fixture
def viewer(request):
    pytest.importorskip("viser", reason="viser is not installed: extra view")
    from robodyn.view import Viewer

    with Viewer(rd.load(request.param), port=8360) as shown:
        yield shown


@pytest.mark.parametrize("viewer", [TOO_FAR], indirect=True)
def test_the_viewer_of_a_linkage_that_does_not_close(viewer):
    assert np.array_equal(viewer.q, np.zeros(3))
    assert viewer.drawing.gaps.texts == {"rocker_pin": "rocker_pin: 1.52 m, 5.73 degrees"}
    assert "do not close" in viewer.pose_panel.closing.value
    viewer.pose_panel.handles["crank_pin"].value = 0.5
    assert viewer.q.tolist() == [0.0, 0.5, 0.0]
    assert "1.52" not in viewer.drawing.gaps.texts["rocker_pin"]
    viewer.close_loops()
    assert "do not close" in viewer.pose_panel.closing.value


@pytest.mark.parametrize("viewer", [ASIDE], indirect=True)
def test_the_viewer_of_a_linkage_that_is_open_at_zero(viewer):
    robot = viewer.robot
    assert viewer.why_open == "" and viewer.drawing.gaps.texts == {}
    viewer.show(robot.start())
    assert viewer.drawing.gaps.texts == {"rocker_pin": "rocker_pin: 0.02 m, 11.5 degrees"}
    viewer.pose_panel.handles["crank_drive"].value = 0.2
    assert np.abs(robot.loop_residual(viewer.q)).max() < 1e-9
    assert viewer.q[0] == pytest.approx(0.2) and viewer.drawing.gaps.texts == {}


@pytest.mark.parametrize("viewer", [ASIDE], indirect=True)
def test_loops_are_closed_from_the_posture_shown(viewer):
    viewer.show([0.1, 0.0, 0.0])
    assert viewer.drawing.gaps.texts
    viewer.close_loops()
    assert viewer.drawing.gaps.texts == {}
    assert np.abs(viewer.q - [0.1, 0.0, 0.0]).max() < 0.3
    said = dict(part.split("=") for part in viewer.pose_panel.closing.value.split("--near ")[1:])
    again = rd.load(ASIDE, near={name: float(value) for name, value in said.items()})
    np.testing.assert_allclose(again.neutral(), viewer.q, atol=1e-5)


def test_the_command_line_says_where_to_look(tmp_path, capsys):
    file = written(tmp_path, ASIDE)
    closed = rd.load(ASIDE, near={"crank_drive": 1.0}).neutral()
    near = [f"--near={name}={x}" for name, x in zip(rd.load(ASIDE).joint_names, closed,
                                                    strict=True)]  # fmt: skip
    assert main(["check", file, "--near", "crank_drive=1.0"]) == 0
    assert "open at the given start" in capsys.readouterr().out
    assert main(["check", file, *near]) == 0
    assert capsys.readouterr().out.strip() == f"{file}: ok"
    assert main(["info", file, *near]) == 0
    for wrong in ("crank_drive", "=1", "crank_drive=x", "nothing=1"):
        assert main(["check", file, "--near", wrong]) == 2


def test_a_constraint_that_cannot_be_met_is_what_is_to_be_mended():
    far = rd.Constraint("far", lambda q: q[0] * q[0] + 1.0, ["crank_drive"])
    with pytest.raises(rd.TopologyError) as caught:
        rd.load("four_bar", constraints=[far]).neutral()
    assert "mend constraint 'far'" in str(caught.value)
    assert "<loop" not in str(caught.value)
    assert "second parent" not in str(caught.value)


def test_of_several_loops_the_one_that_is_open_is_to_be_mended():
    short = TURNING_BACK.replace('xyz="0.3 0 0"', 'xyz="3 0 0"')
    lid = """<link name="lid"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1"
        iyz="0" izz="1"/></inertial></link><joint name="f" type="planar"><parent link="ground"/>
        <child link="lid"/><axis xyz="0 0 1"/></joint><loop name="e" type="revolute">
        <axis xyz="0 0 1"/><predecessor link="lid"/><successor link="crank"/></loop></robot>"""
    with pytest.raises(rd.TopologyError) as caught:
        rd.load(short.replace("</robot>", lid)).neutral()
    assert 'this is the closure to mend: <loop name="c"' in str(caught.value)
    assert '<loop name="e"' not in str(caught.value)


@pytest.mark.slow
def test_the_command_line_speaks_of_its_options(tmp_path, capsys):
    """Errors name arguments of Python; on the command line they name what can be typed there."""
    file = written(tmp_path, TOO_FAR)
    for command in (["check", file], ["check", "--json", file], ["sim", file, "--no-plot"]):
        assert main(command) == 2
        said = "".join(capsys.readouterr())
        assert "--near JOINT=POSITION" in said
        assert "near={" not in said


def test_the_tolerance_that_an_error_names_can_be_given_as_an_option(tmp_path, capsys):
    text = NOTATIONS["loop"](exact).replace('xyz="0.5 0.0 0.0"', 'xyz="0.5 0.0007 0.0"')
    file = written(tmp_path, text)
    assert main(["check", file]) == 2
    said = capsys.readouterr().out
    (tolerance,) = re.findall(r"load with --closure-tolerance (\S+) to have that done", said)
    assert "closure_tolerance" not in said
    assert main(["check", file, "--closure-tolerance", tolerance]) == 0
    out = capsys.readouterr().out
    assert "they close and leave 1" in out and "--rigid takes the numbers to the letter" in out
    assert main(["check", file, "--closure-tolerance", "0"]) == 2


def test_the_remedy_for_a_rigid_linkage_that_does_not_close_works():
    text = NOTATIONS["loop"](digits(5)).replace('xyz="0.5 0.0 0.0"', 'xyz="0.5 0.00001 0.0"')
    with pytest.raises(rd.TopologyError, match="without rigid=True and with closure") as caught:
        rd.load(text, rigid=True).neutral()
    (tolerance,) = re.findall(r"closure_tolerance=(\S+) to have", str(caught.value))
    with pytest.warns(LoopWarning, match="leave 1"):
        assert rd.load(text, closure_tolerance=float(tolerance)).dof == 1


def test_a_linkage_that_does_not_close_is_not_converted(tmp_path, capsys):
    out = tmp_path / "new.urdf"
    assert main(["convert", written(tmp_path, TOO_FAR), str(out)]) == 2
    assert "do not close" in capsys.readouterr().err
    assert not out.exists()
