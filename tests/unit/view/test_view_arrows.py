"""Arrows, their numbers and the legend of the viewer, without a browser."""

import itertools

import numpy as np
import pytest
from support.bundled import bundled

import robodyn as rd
from robodyn.view.drawing.arrows import ANCHORS, Arrow, arrows, forces, placed, scale
from robodyn.view.drawing.robot import gap_text, is_closed, open_gaps
from robodyn.view.drawing.scene import Camera, LinkPlaces, looking_at
from robodyn.view.panels.drawn import legend_rows, reference_length


def acting_on(name):
    robot = rd.load(name)
    q = robot.neutral()
    return robot, forces(robot, LinkPlaces(robot).at(q), q)


@pytest.mark.parametrize("name", ["excavator", "palletizer"])
def test_the_largest_force_and_the_largest_moment_have_the_length_asked_for(name):
    _, acting = acting_on(name)
    drawn = arrows(acting, scale(acting, 0.7), {"forces", "moments", "torques"})
    for unit in ("N", "m"):
        lengths = [arrow.length for arrow in drawn if arrow.text.endswith(unit)]
        assert max(lengths) == pytest.approx(0.7)


def test_a_cylinder_pushes_with_a_force():
    """Its arrow is as long as that of a force of its size, and says newtons."""
    robot, acting = acting_on("excavator")
    unit = scale(acting, 1.0)
    q, zero = robot.neutral(), np.zeros(robot.nv)
    tau = robot.inverse_dynamics(q, zero, zero)
    of_joint = {arrow.joint: arrow for arrow in arrows(acting, unit, {"torques"})}
    for name, arrow in of_joint.items():
        slides = robot.joints[name].type == "prismatic"
        pushed = abs(tau[robot.joints[name].v.start])
        assert arrow.length == pytest.approx(pushed * unit["N" if slides else "N m"])
        assert arrow.text.endswith("N m".replace(" ", "\xa0")) != slides
    assert any(robot.joints[name].type == "prismatic" for name in of_joint)


def test_a_camera_sees_what_lies_right_and_below_there():
    eye, point = np.array([0.0, -2.0, 0.0]), np.zeros(3)
    camera = Camera(*[getattr(looking_at(eye, point), x) for x in ("position", "R")],
                    np.pi / 2, (800, 400))  # fmt: skip
    seen = camera.pixels(np.array([point, [1.0, 0, 0], [0, 0, -1.0], [0, -3.0, 0]]))
    assert np.allclose(seen[:3], [[400, 200], [500, 200], [400, 300]])
    assert np.isnan(seen[3]).all()


def boxes(items, anchors, camera):
    """Least boxes around the texts, 7 pixels a character and 16 high."""
    for item in items:
        if item.key in anchors:
            extent = np.array([7.0 * len(item.text), 16.0])
            low = camera.pixels(item.tip[None])[0] + np.array(ANCHORS[anchors[item.key]]) * extent
            yield low, low + extent


def test_no_number_covers_another():
    rng = np.random.default_rng(3)
    camera = looking_at(np.array([3.0, -4.0, 2.0]), np.zeros(3))
    items = [
        Arrow("forces", str(k), x, np.zeros(3), f"{k} N")
        for k, x in enumerate(rng.normal(size=(300, 3)))
    ]
    anchors = placed(items, camera)
    assert 30 < len(anchors) < 300
    assert items[0].key in anchors  # the most important one
    for (low, high), (lower, higher) in itertools.combinations(boxes(items, anchors, camera), 2):
        assert (high <= lower).any() or (higher <= low).any()


def test_numbers_at_one_tip_go_to_its_sides():
    camera = looking_at(np.array([0.0, -2.0, 0.0]), np.zeros(3))
    same = [Arrow(kind, "pin", np.zeros(3), np.zeros(3), "1 N") for kind in ("forces", "moments")]
    assert len(set(placed(same, camera).values())) == 2


def test_numbers_outside_the_picture_are_left_out():
    camera = looking_at(np.array([0.0, -2.0, 0.0]), np.zeros(3))
    away = [np.array([50.0, 0, 0]), np.array([0, -5.0, 0])]
    assert not placed([Arrow("forces", "pin", x, np.zeros(3), "1 N") for x in away], camera)


@pytest.mark.parametrize("scaled", [1.0, 1e-2])
@pytest.mark.parametrize("name", ["four_bar", "stewart"])
def test_closed_is_what_the_methods_of_the_robot_take(name, scaled):
    robot = rd.load(name)
    q = robot.neutral()
    for away in scaled * np.array([0.0, 1e-12, 1e-9, 1e-7, 3e-7, 1e-6, 3e-6, 1e-4, 1e-2]):
        moved = robot.integrate(q, away * np.eye(robot.nv)[0])
        try:
            robot.forward_dynamics(moved, np.zeros(robot.nv), np.zeros(robot.nv))
        except rd.InconsistentStateError:
            assert not is_closed(robot, moved) and gap_text(robot, moved).startswith("open by")
        else:
            assert is_closed(robot, moved) and gap_text(robot, moved) == "closed"
            assert open_gaps(robot, moved) == ()


def test_an_open_loop_is_named(four_bar):
    q = four_bar.start() + 0.2
    (loop,) = four_bar.loops
    largest = np.abs(four_bar.loop_residual(q)).max()
    assert gap_text(four_bar, q) == f"open by {largest:.2g} m or rad at {loop.name}"


def test_the_legend_explains_what_is_drawn_and_nothing_else():
    robot, acting = acting_on("palletizer")
    unit = scale(acting, 1.0)
    texts = [text for *_, text in legend_rows(robot, 2.0, unit, {"forces"}, ())]
    largest = max(np.linalg.norm(x.vector) for x in acting if x.kind == "forces")
    said = float(texts[2].replace("\xa0", " ").split(" m is ")[1].split(" N")[0])
    assert len(texts) == 3 and said == pytest.approx(largest, rel=5e-3)
    every = legend_rows(robot, 2.0, unit, ("forces", "moments", "torques"), ("a loop",))
    assert len({color for color, *_ in every}) == 6
    assert [text for *_, text in legend_rows(bundled("puma560"), 2.0, None, (), ())] == ["joint"]


@pytest.mark.parametrize(
    "size, length, name",
    [(2.5, 1.0, "1 m"), (1.0, 1.0, "1 m"), (0.99, 0.1, "10 cm"), (0.05, 0.01, "1 cm"),
     (0.004, 0.001, "1 mm"), (40.0, 10.0, "10 m")],
)  # fmt: skip
def test_lengths_that_scales_are_told_for(size, length, name):
    found, text = reference_length(size)
    assert found == pytest.approx(length) and text.replace("\xa0", " ") == name
