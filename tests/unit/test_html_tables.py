"""What a notebook shows of robots, motions and results."""

import numpy as np
import pytest
from lxml import html

import robodyn as rd
from robodyn.controllers import ComputedTorque, PointToPoint
from robodyn.html_tables import ROWS, Drawn, html_table, sparkline


def cells(thing):
    """Rows of a table, the head first; whatever the text holds, it is no element."""
    root = html.fragment_fromstring(thing._repr_html_())
    assert {x.tag for x in root.iter()} <= {
        "div",
        "b",
        "table",
        "tr",
        "th",
        "td",
        "svg",
        "polyline",
    }
    return [[cell.text_content() for cell in row] for row in root.iter("tr")]


def test_text_is_escaped_and_numbers_stand_right():
    class Thing:
        def _repr_html_(self):
            rows = [["<script>", 1.23456789, 7, True, np.float32(0.5), None]]
            return html_table("<i>", ["&lt;", "b"], rows, facts=["<u>"], notes=["<p>"])

    head, row = cells(Thing())
    assert head == ["&lt;", "b"]
    assert row == ["<script>", "1.235", "7", "True", "0.5", "None"]
    aligned = [
        x.get("style").rpartition(":")[2] for x in html.fromstring(Thing()._repr_html_()).iter("td")
    ]
    assert aligned == ["left", "right", "right", "left", "right", "left"]


def test_long_tables_are_cut_and_say_so():
    text = html_table("long", ["k"], ([k] for k in range(ROWS + 5)))
    assert text.count("<tr>") == ROWS + 1 and "and 5 more rows" in text


def test_a_curve_rises_where_values_do():
    points = html.fromstring(sparkline(np.linspace(0.0, 1.0, 1000) ** 2)).find("polyline")
    x, y = np.array([p.split(",") for p in points.get("points").split()], float).T
    assert 40 <= len(x) <= 62 and (np.diff(x) > 0).all() and (np.diff(y) <= 0).all()
    for nothing in ([], [1.0], [1.0, np.nan, 2.0], [3.0, 3.0]):
        assert sparkline(np.array(nothing)) == Drawn("")


@pytest.mark.parametrize("name", ["palletizer", "excavator", "prosthesis", "puma560"])
def test_a_robot_lists_its_joints(name):
    robot = rd.load(name)
    rows = {row[0]: row for row in cells(robot)[1:]}
    assert list(rows) == list(robot.joints)
    for joint in robot.joints.values():
        row = rows[joint.name]
        assert row[1:4] == [joint.type, joint.parent, joint.child]
        assert (row[-1] == "motor") == (joint.name in robot.actuated_joints)
        assert (row[-1] == "closes a loop") == joint.cut
        if joint.position_limits:
            low, high = joint.position_limits
            assert row[4] == f"{low:.4g} to {high:.4g} {joint.kind.unit(0)}"


def test_names_of_joints_are_escaped():
    text = rd.urdf.write(rd.load("double_pendulum").mechanism).replace("elbow", "&lt;b&gt;")
    assert ["<b>"] == [row[0] for row in cells(rd.load(text)) if "<" in row[0]]


def test_a_motion_lists_what_its_joints_do(four_bar):
    run = rd.simulate(four_bar, duration=0.2, step=1e-2)
    assert "loops closed" in run._repr_html_()
    for row, k in zip(cells(run)[1:], range(four_bar.nv), strict=True):
        numbers = [float(text.split()[0]) for text in row[2:]]
        known = [
            run.q[:, k].min(),
            run.q[:, k].max(),
            *(np.abs(x[:, k]).max() for x in (run.v, run.tau)),
        ]
        assert np.allclose(numbers, known, rtol=1e-3, atol=1e-11)
    assert run[0]._repr_html_() is None  # a state
    assert rd.Trajectory(run.t, run.q, run.v, run.a, run.tau)._repr_html_() is None


def test_orientations_have_no_range_and_several_motions_share_one():
    robot = rd.load("prosthesis", base="floating")
    q0 = np.tile(robot.neutral(), (2, 1))
    v0 = np.zeros((2, robot.nv))
    v0[1, 0] = 1.0
    runs = rd.rollout(robot, None, q0, v0, duration=0.1, step=1e-2)
    assert "2 motions at once" in runs._repr_html_()
    rows = cells(runs)[1:]
    assert len(rows) == robot.nv
    assert rows[0][3] == f"{runs.q[..., 0].max():.4g} m" and rows[3][2:4] == ["", ""]


def test_results_show_the_table_that_they_print(double):
    goal = PointToPoint(np.zeros(2), np.ones(2), 0.2)
    law = ComputedTorque(double, goal)
    options = {"duration": 0.2, "step": 1e-2}
    compared = rd.compare(double, {"<soft>": law}, reference=goal, **options)
    run = rd.simulate(double, law, **options)
    for result in (compared, run.sizing()):
        for shown, printed in zip(cells(result), str(result).splitlines(), strict=False):
            assert " ".join(shown).split() == printed.split()


def test_a_sweep_shows_its_rows_and_errors():
    def study(gain):
        if gain > 2.0:
            raise ValueError("<too much>")
        return {"peak": 2.0 * gain, "curve": np.ones(3)}

    with pytest.warns(rd.errors.SweepWarning):
        table = rd.sweep(study, {"gain": [1.0, 2.0, 3.0]})
    head, *rows = cells(table)
    assert head == ["gain", "peak", "curve", "error"]
    assert rows[:2] == [["1", "2", "array (3,)", ""], ["2", "4", "array (3,)", ""]]
    assert "<too much>" in rows[2][3]
