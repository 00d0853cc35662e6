"""Linkages in minimal coordinates that pass postures in which all bars lie in one line.

Ways to assemble a loop meet there. Parallelograms and kites go on as what they are; where only sum
or difference of two lengths agree the joints that follow turn back. Both say so.
"""

import dataclasses
import re
import warnings

import numpy as np
import pytest
from support import planar_linkages as pl
from support.comparison import close_within
from support.planar_linkages import BODY, flat_bars

import robodyn as rd
from robodyn import Pose
from robodyn.description import Joint, Link, Loop
from robodyn.errors import SingularWarning

close = close_within(1e-9)

Y = (0.0, 1.0, 0.0)

#: Crank, ground, coupler, rocker [m].
PARALLELOGRAM, KITE = (0.2, 0.4, 0.4, 0.2), (0.2, 0.4, 0.2, 0.4)
#: The difference of the last two is that of the first two; their sum is that of the first two.
DIFFERENCE, SUM = (0.2, 0.4, 0.3, 0.1), (0.2, 0.4, 0.35, 0.25)
SMOOTH = (PARALLELOGRAM, KITE)


def way(t):
    """Of the crank, through 1 rad at 0.5 s."""
    return 0.4 + 1.2 * t, 1.2, 0.0


def told(run):
    """A result, and its messages of `SingularWarning`."""
    with warnings.catch_warnings(record=True, action="always") as found:
        motion = run()
    return motion, [str(x.message) for x in found if x.category is SingularWarning]


def passing(robot, **options):
    given = {"controlled": {"drive": way}, "duration": 1.003, "step": 1e-2 + 1e-4, **options}
    return told(lambda: rd.simulate(robot, q0=[0.4], **given))


@pytest.mark.parametrize("lengths", SMOOTH)
@pytest.mark.parametrize("branch", [1, -1])
def test_a_parallelogram_and_a_kite_go_on_as_what_they_are(lengths, branch):
    """Positions and speeds of all joints are smooth, and the loop stays closed."""
    robot = rd.load(flat_bars(lengths), coordinates="minimal", branches={"end": branch})
    run, messages = passing(robot)
    full = robot.expand(run.q)
    close(robot.tree_form.loop_residual(full), 0.0)
    x, step = np.linspace(0.9, 1.1, 40)[:, None], 1e-5
    ahead, before = (robot.expand(x + side) for side in (step, -step))
    rates = np.angle(np.exp(1j * (ahead - before))) / (2.0 * step)
    np.testing.assert_allclose(robot.expand_velocity(x, np.ones((40, 1))), rates, atol=1e-6)
    assert np.abs(np.diff(rates, axis=0)).max() < 0.05
    words = re.fullmatch(
        r"the motion of 'bars' comes to a singular posture at t = (\S+) s, .* joint 'pin' goes on: "
        rf".* at q = \[1\]; loop 'end' has gone on in its branch \{branch:+d}",
        messages[-1],
    )
    assert float(words[1]) == pytest.approx(0.5, abs=1e-9)
    np.testing.assert_allclose(run.branch_changes, run.t[run.t > 0.5][:1])


def test_branches_of_smooth_loops_are_those_of_tree_coordinates():
    for lengths in SMOOTH:
        for branch in (1, -1):
            robot = rd.load(flat_bars(lengths), coordinates="minimal", branches={"end": branch})
            q = np.array([[0.9], [1.1]])
            sign = robot.branch_sign(q)
            assert sign[0] == -sign[1]
            assert (sign == robot.tree_form.branch_sign(robot.expand(q))).all()


def test_forces_beyond_are_those_of_a_parallelogram():
    robot = rd.load(flat_bars(PARALLELOGRAM), coordinates="minimal")
    tree = robot.tree_form
    for angle in (0.5, 0.999, 1.0 + 1e-6, 1.5, 4.0, 5.0):

        def posture(x):
            return np.array([x, -x, x])

        close(np.exp(1j * robot.expand([angle])), np.exp(1j * posture(angle)))
        step = 1e-5
        slope = tree.potential_energy(posture(angle + step)) - tree.potential_energy(
            posture(angle - step)
        )
        np.testing.assert_allclose(robot.gravity_forces([angle]), [slope / (2.0 * step)], atol=1e-8)
        close(robot.mass_matrix([angle]), _along(tree.mass_matrix(posture(angle))))


def _along(M):
    e = np.array([1.0, -1.0, 1.0])
    return [[e @ M @ e]]


@pytest.mark.parametrize("seed", range(3))
def test_frames_of_links_and_the_order_of_the_file_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    mechanism, _ = pl.reframed(flat_bars(PARALLELOGRAM), rng)
    (end,) = mechanism.loops
    turned = dataclasses.replace(
        end, predecessor=end.successor, successor=end.predecessor,
        X_predecessor=end.X_successor, X_successor=end.X_predecessor,
    )  # fmt: skip
    links = mechanism.links[:1] + mechanism.links[:0:-1]
    other = dataclasses.replace(mechanism, loops=(turned,), links=links)
    for x in (mechanism, other):
        robot = rd.load(x, coordinates="minimal")
        for angle in (0.7, 1.4):
            q = robot.tree_form.joints
            full = robot.expand([angle])
            close([full[q[name].q.start] for name in ("pin", "pivot")], [-angle, angle])


def test_lengths_that_agree_up_to_rounding():
    near = (0.2, 0.4, 0.4 + 3e-14, 0.2 - 2e-14)
    robot = rd.load(flat_bars(near), coordinates="minimal")
    close(robot.expand([1.5]), [1.5, -1.5, 1.5])
    rough = rd.load(flat_bars((0.2, 0.4, 0.4 + 2e-8, 0.2 + 2e-8)), coordinates="minimal")
    _, messages = passing(rough)
    assert "turn back" in messages[-1]


def test_a_slide_whose_rod_is_as_long_as_its_crank():
    joints = (
        ("crank", "continuous", "ground", "crank_link", Pose(), Y),
        ("rod_pin", "continuous", "crank_link", "rod", pl.at(0.3, 0.0), Y),
        ("slide", "prismatic", "ground", "block", Pose(), pl.X),
    )
    mechanism = pl.with_independent(
        pl.linkage("isosceles", joints, ("rod", "block", pl.at(0.3, 0.0), Pose())), "crank"
    )
    options = {"coordinates": "minimal", "branches": {"pin": 1}}
    robot = load(mechanism, options)
    q = np.linspace(-3.0, 3.0, 8)[:, None]
    there = robot.joint_positions(q)["slide"]
    np.testing.assert_allclose(np.abs(there), np.abs(0.6 * np.cos(q[:, 0])), atol=1e-12)
    assert (there > 0.0).any() and (there < 0.0).any()
    run, messages = told(
        lambda: rd.simulate(
            robot, q0=[1.0], controlled={"crank": lambda t: (1.0 + t, 1.0, 0.0)}, duration=1.0
        )
    )
    assert "at t = 0.5708 s" in messages[-1]
    np.testing.assert_allclose(run.branch_changes, 0.571)


def rod(lengths, seed):
    """The coupler is a rod between two points, one of them in another plane; links have frames."""
    crank, _, coupler, rocker = lengths
    plain = flat_bars(lengths)
    drive, _, pivot = plain.joints
    ends = Pose((crank, 0.05, 0.0)), Pose((rocker, 0.0, 0.0))
    loop = Loop(
        "rod", "distance", "crank", "rocker", *ends, distance=float(np.hypot(coupler, 0.05))
    )
    links = tuple(x for x in plain.links if x.name != "coupler")
    mechanism = dataclasses.replace(plain, links=links, joints=(drive, pivot), loops=(loop,))
    return pl.reframed(mechanism, np.random.default_rng(seed))[0]


@pytest.mark.parametrize("lengths", [*SMOOTH, DIFFERENCE])
@pytest.mark.parametrize("branch", [1, -1])
def test_a_rod_turns_back(lengths, branch):
    robot = load(rod(lengths, branch + 1), {"coordinates": "minimal", "branches": {"rod": branch}})
    run, messages = passing(robot)
    assert "at t = 0.5 s" in messages[-1]
    assert f"loop 'rod' has gone on in its branch {branch:+d}, in which" in messages[-1]
    np.testing.assert_allclose(run.branch_changes, run.t[run.t > 0.5][:1])
    other = load(rod(SUM, 0), {"coordinates": "minimal", "branches": {"rod": branch}})
    assert not passing(other)[1]


@pytest.mark.parametrize("lengths", [*SMOOTH, DIFFERENCE])
def test_a_motion_that_stands_at_a_flat_posture_ends_there(lengths):
    robot = load(flat_bars(lengths), {"coordinates": "minimal", "branches": {"end": 1}})
    path = {"drive": lambda t: (0.5 + t, 1.0, 0.0)}
    with pytest.raises(
        rd.SimulationError, match=r"comes to a singular posture at t = 0.5 s, .* at q = \[1\]"
    ) as caught:
        rd.simulate(robot, q0=[0.5], controlled=path, duration=1.0, step=0.01)
    assert caught.value.trajectory.t[-1] == pytest.approx(0.5)


def test_the_time_of_a_flat_posture_is_found_within_a_step():
    robot = load(flat_bars(PARALLELOGRAM), {"coordinates": "minimal"})
    given = {"q0": [0.5], "v0": [1.0], "limits": "ignore"}
    coarse, messages = told(lambda: rd.simulate(robot, duration=0.2, step=0.02, **given))
    assert "at q = [1]" in messages[-1]
    fine = rd.simulate(robot, duration=0.2, step=1e-4, **given)
    time = np.interp(1.0, fine.q[:, 0], fine.t)
    assert float(re.search(r"t = (\S+) s", messages[-1])[1]) == pytest.approx(time, abs=1e-4)
    assert len(coarse.branch_changes) == 1


@pytest.mark.parametrize("branch", [1, -1])
def test_a_loop_behind_a_crossed_one(branch):
    """The second crank is on the first rocker; its angle is no sum of that of the drive."""
    first, hinge = flat_bars(PARALLELOGRAM), {"kind": "continuous", "axis": Y}
    second = (
        Joint("pin2", parent="rocker", child="coupler2", origin=pl.at(0.12, 0.16), **hinge),
        Joint("pivot2", parent="ground", child="rocker2", origin=pl.at(0.8, 0.0), **hinge),
    )
    loop = Loop("end2", "revolute", "coupler2", "rocker2", pl.at(0.4, 0.0), pl.at(0.2, 0.0), Y)
    mechanism = dataclasses.replace(
        first,
        links=(*first.links, Link("coupler2", BODY), Link("rocker2", BODY)),
        joints=(*first.joints, *second),
        loops=(*first.loops, loop),
    )
    options = {"coordinates": "minimal", "branches": {"end": branch, "end2": 1}}
    robot = load(pl.with_independent(mechanism, "drive"), options)
    path = {"drive": lambda t: (-4.0 + 7.0 * t, 7.0, 0.0)}
    run, messages = told(
        lambda: rd.simulate(robot, q0=[-4.0], controlled=path, duration=1.0, step=1e-3)
    )
    pivot = robot.joint_positions(run.q)["pivot"]
    flat = np.sign(np.sin([pivot - 1.0 - np.arctan2(4.0, 3.0), run.q[:, 0] - 1.0]))
    changed = (flat[:, 1:] != flat[:, :-1]).any(axis=0)
    assert changed.sum() > 3
    np.testing.assert_allclose(run.branch_changes, run.t[1:][changed])
    assert "loop 'end'" in messages[-1] or "loop 'end2'" in messages[-1]


def load(mechanism, options):
    """Load, whether or not the neutral posture is at a singular one."""
    return told(lambda: rd.load(mechanism, **options))[0]


@pytest.mark.parametrize("lengths", [PARALLELOGRAM, KITE, DIFFERENCE])
def test_a_flat_posture_itself_has_no_forces(lengths):
    robot = rd.load(flat_bars(lengths), coordinates="minimal", branches={"end": 1})
    with pytest.raises(rd.SingularError, match="'end'"):
        robot.gravity_forces([1.0])
    assert np.isfinite(robot.gravity_forces([1.0 + 1e-3])).all()


@pytest.mark.parametrize("branch", [1, -1])
def test_where_the_joints_that_follow_turn_back_the_advice_helps(branch):
    robot = rd.load(flat_bars(DIFFERENCE), coordinates="minimal", branches={"end": branch})
    run, messages = passing(robot)
    assert "at t = 0.5 s" in messages[-1]
    assert f"branch {branch:+d}" in messages[-1]
    assert "load with coordinates='tree'" in messages[-1]
    speeds = robot.expand_velocity(run.q, run.v)
    assert np.abs(np.diff(speeds, axis=0)).max() > 1.0
    assert len(run.branch_changes) == 1
    tree = robot.tree_form
    start = robot.expand([0.4])
    other, messages = told(
        lambda: rd.simulate(
            tree, q0=start, controlled={"drive": way}, duration=1.003, step=1e-2 + 1e-4
        )
    )
    assert np.abs(np.diff(other.v, axis=0)).max() < 0.3
    assert len(messages) == 1


def test_a_sum_of_lengths_counts_where_the_crank_points_the_other_way():
    robot = rd.load(flat_bars(SUM), coordinates="minimal", branches={"end": 1})
    _, messages = passing(robot)
    assert not messages
    backward = {"drive": lambda t: (-1.6 - 1.2 * t, -1.2, 0.0)}
    run, messages = told(
        lambda: rd.simulate(robot, q0=[-1.6], controlled=backward, duration=1.0, step=1e-2)
    )
    assert len(messages) == len(run.branch_changes) == 1
    assert run.branch_changes[0] == pytest.approx((np.pi - 2.6) / 1.2, abs=0.01)


def test_a_motion_that_jumps_across_does_not_pass():
    robot = rd.load(flat_bars(PARALLELOGRAM), coordinates="minimal")
    jump = rd.Event(0.01, rd.events.jump(q=[1.5]))
    run, messages = told(
        lambda: rd.simulate(robot, q0=[0.4], duration=0.02, step=1e-3, events=[jump])
    )
    assert run.q[-1, 0] > 1.0
    assert not messages


def test_a_dead_point_is_no_flat_posture_to_go_through():
    for name in ("four_bar", "crank_slider", "five_bar", "excavator"):
        assert not rd.load(name, coordinates="minimal").model.flat_postures.loops


def test_assembly_keeps_to_the_branch_of_another_posture():
    smooth = rd.load(flat_bars(PARALLELOGRAM), coordinates="minimal")
    np.testing.assert_array_equal(smooth.assemble([1.5], near=[0.5]), [1.5])
    turning = rd.load(flat_bars(DIFFERENCE), coordinates="minimal", branches={"end": 1})
    np.testing.assert_array_equal(turning.assemble([0.8], near=[0.5]), [0.8])
    with pytest.raises(rd.AssemblyError, match="loop 'end' lies flat") as caught:
        turning.assemble([[0.8], [1.5]], near=[0.5])
    assert 0.95 < caught.value.q[0] < 1.0


def test_assembly_tells_of_loops_that_do_not_close():
    """The rod is too short for its crank from 0.14 to 1.86 rad."""
    robot = rd.load(flat_bars((0.2, 0.5, 0.5, 0.1)), coordinates="minimal", branches={"end": 1})
    np.testing.assert_array_equal(robot.assemble([[-0.2], [2.2]]), [[-0.2], [2.2]])
    with pytest.raises(rd.AssemblyError, match="'end' of 'bars' does not close"):
        robot.assemble([1.0])
    with pytest.raises(rd.AssemblyError, match="its loops do not close") as caught:
        robot.assemble([2.2], near=[-0.2])
    assert 0.05 < caught.value.q[0] < 0.15


def test_exported_code_warns_where_joints_turn_back(tmp_path):
    robot = rd.load(flat_bars(DIFFERENCE), coordinates="minimal", branches={"end": 1})
    _, messages = told(lambda: rd.export(robot, ["gravity_forces"], "c", tmp_path / "one"))
    assert "export robot.tree_form" in messages[0]
    smooth = rd.load(flat_bars(PARALLELOGRAM), coordinates="minimal")
    for own, name in ((smooth, "two"), (robot.tree_form, "three")):
        _, messages = told(
            lambda own=own, name=name: rd.export(own, ["gravity_forces"], "c", tmp_path / name)
        )
        assert not messages


def test_rollouts_name_the_motion():
    robot = rd.load(flat_bars(PARALLELOGRAM), coordinates="minimal")
    q0, v0 = np.array([[0.2], [0.9], [0.3]]), np.array([[0.1], [3.0], [0.1]])
    _, messages = told(lambda: rd.rollout(robot, None, q0, v0, duration=0.05, step=1e-3))
    assert "(motion 1 of the batch)" in messages[-1]
