"""Linkages in files with few digits do what their exact geometry does.

`fuzz_rounded.py` judges many of them; here are some of each kind.
"""

import dataclasses
import re
import warnings

import numpy as np
import pytest
from support.linkage_shapes import LINKAGES, STRUCTURES
from support.rounded_judge import GOOD, GRAVITY, Judge, case, verdict
from support.rounded_linkages import CLOSINGS, FRAMES, linkage

import robodyn as rd
from robodyn.errors import LoopWarning

EVERYTHING = ("xyz", "rpy", "axis")

#: What each of the quick ones has beside its digits.
PLAIN = {
    "role": "linkage", "frames": "anyhow", "arm": False, "base": "fixed", "style": "g",
    "only": EVERYTHING, "deep": False, "beside": "",
}  # fmt: skip

#: Misfits of one joint, with nothing beside them.
MISFIT = {"role": "misfit", "wrong": 1, "beside": "", "more": False}

#: Shape, closing joint, notation, digits.
SELECTION = [
    ("four_bar", "spherical", "loop", 9),
    ("four_bar", "as drawn", "second parent", 6),
    ("five_bar", "as drawn", "sdf", 7),
    ("five_bar", "weld", "loop", 5),
    ("crank_slider", "slide", "cut joint", 8),
    ("parallelogram", "universal", "loop", 10),
    ("spherical_four_bar", "cylindrical", "loop", 12),
    ("bennett_ring", "as drawn", "mjcf sites", 8),
    ("sarrus", "weld", "second parent", 16),
    ("rssr", "as drawn", "loop", 4),
]


def judged(number, **chosen):
    """The first case from a number on that there is, and its verdict."""
    for k in range(number, number + 1000, 7):
        made = case(k, **chosen)
        if made is not None:
            return made, verdict(made)
    raise AssertionError("no such case")


def right(number, **chosen):
    made, found = judged(number, **chosen)
    assert found.fate in GOOD, f"case {made.number}, {made.what}: {found.fate}: {found.told}"


@pytest.mark.parametrize("name", [*LINKAGES, *STRUCTURES])
def test_shapes_are_closed_and_have_their_mobility(name):
    """By counting, against the rank of all constraints of the exact geometry."""
    rng = np.random.default_rng(1)
    for closing in CLOSINGS:
        made = linkage(rng, name, closing, str(rng.choice(FRAMES)))
        if made is None:
            continue
        exact = made.exact((0.0, 0.0, -9.81), "fixed", [])
        q = np.zeros(exact.nq)
        for edge in exact.oracle.edges:
            if edge.joint.kind == "spherical":
                q[edge.q.stop - 1] = 1.0
        assert exact.gap(q) < 1e-12
        N, _ = exact.tangents(q)
        q = exact.closed(exact.advanced(q, N @ (0.1 * rng.normal(size=N.shape[1]))))
        assert exact.gap(q) < 1e-11
        assert exact.oracle.mobility(q) == made.dof


@pytest.mark.parametrize(("name", "closing", "notation", "count"), SELECTION)
def test_they_move_as_meant(name, closing, notation, count):
    right(0, **PLAIN | {"name": name, "closing": closing, "notation": notation, "count": count})


@pytest.mark.parametrize(
    ("name", "closing", "notation", "count"),
    [
        ("four_bar", "as drawn", "loop", 7),
        ("crank_slider", "as drawn", "second parent", 8),
        ("four_bar", "as drawn", "sdf", 6),
        ("spherical_four_bar", "spherical", "sdf", 9),
        ("parallelogram", "spherical", "mjcf", 7),
        ("bennett_ring", "as drawn", "mjcf sites", 10),
    ],
)
def test_their_linear_models_are_those_of_the_exact_geometry(name, closing, notation, count):
    chosen = PLAIN | {"name": name, "closing": closing, "notation": notation, "count": count}
    made = next(filter(None, (case(k, **chosen) for k in range(0, 1000, 7))))
    base = {} if notation.startswith("mjcf") else {"base": made.base}
    judge, wrong = Judge(made, rd.load(made.text, gravity=GRAVITY, **base)), []
    judge._linear(wrong, *judge._state(wrong))
    assert not wrong, made.what


@pytest.mark.parametrize("format", ["sdf", "xml"])
def test_what_is_made_of_a_rounded_file_is_exact(format, tmp_path):
    """Converted, it closes and moves; with the digits of the file it came from, it does again."""
    chosen = {"name": "four_bar", "closing": "as drawn", "notation": "loop", "count": 7}
    made = next(filter(None, (case(k, **PLAIN | chosen) for k in range(0, 1000, 7))))
    robot = rd.load(made.text)
    inputs = [robot.independent_joints[0]]

    def model(of):
        q = of.neutral()
        tau = np.full(of.nv, 0.01)
        return of.linearize(q, np.zeros(of.nv), tau, inputs=inputs).A

    rd.convert(robot, path := tmp_path / f"four_bar.{format}")
    text = path.read_text()
    with warnings.catch_warnings(action="error", category=LoopWarning):
        again = rd.load(text)
        np.testing.assert_allclose(model(again), model(robot), rtol=1e-7, atol=1e-9)
    few = re.sub(r"-?\d+\.\d{8,}(e-?\d+)?", lambda x: f"{float(x[0]):.7g}", text)
    rounded = rd.load(few)
    assert rounded.dof == 1
    np.testing.assert_allclose(model(rounded), model(robot), rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("name", STRUCTURES)
def test_structures_stay_stiff(name):
    chosen = {"role": "structure", "name": name, "notation": "loop", "closing": "as drawn"}
    right(1, **PLAIN | chosen | {"count": 7})


@pytest.mark.parametrize("only", [("xyz",), EVERYTHING])
def test_structures_on_an_arm_stay_stiff(only):
    chosen = {"role": "structure", "closing": "weld", "notation": "loop", "arm": True}
    right(300002, **PLAIN | chosen | {"only": only, "count": 8})


@pytest.mark.parametrize("name", ["four_bar", "sarrus", "wrist"])
def test_misfits_are_told_with_a_remedy_that_works(name):
    chosen = MISFIT | {"name": name, "notation": "loop", "closing": "as drawn"}
    right(2, **PLAIN | chosen | {"count": 10})


def test_a_hinge_with_opposite_axes_that_stands_anyhow():
    """Rows of both directions across its axis are open."""
    chosen = {"role": "linkage", "name": "sarrus", "notation": "cut joint", "flipped": True}
    right(4, **PLAIN | chosen | {"closing": "as drawn", "count": 9})


def test_axes_that_alone_have_few_digits():
    """They are unit vectors where they are read, with all digits."""
    right(310272, role="linkage", count=4)


@pytest.mark.parametrize("count", [5, 6, 8, 10])
def test_joints_that_hold_nothing_that_others_do_not(count):
    """A rod turns in a nut that slides along it: all that their joint holds is held already."""
    rng = np.random.default_rng(3)
    nut, rod, end = (np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(3))
    nut, rod, end = (R * np.sign(np.linalg.det(R)) for R in (nut, rod, end))
    along = np.array([0.36, -0.48, 0.8])

    def rounded(numbers):
        return tuple(float(f"{x:.{count}g}") for x in numbers)

    def pose(point, R):
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = R, point
        found = rd.Pose.from_matrix(X)
        return rd.Pose(rounded(found.xyz), rounded(found.rpy))

    def axis(R):
        found = np.array(rounded(R.T @ along))
        return tuple((found / np.linalg.norm(found)).tolist())

    inertia = rd.Inertia(2.0, ixx=0.1, iyy=0.1, izz=0.1)
    links = (rd.Link("ground"), rd.Link("nut", inertia), rd.Link("rod", inertia))
    at = 0.2 * along
    joints = (
        rd.Joint("slide", "prismatic", "ground", "nut", pose(0.1 * along, nut), axis=axis(nut)),
        rd.Joint("turn", "revolute", "ground", "rod", pose(0.0 * along, rod), axis=axis(rod)),
    )
    ends = {
        "X_predecessor": pose(nut.T @ (at - 0.1 * along), nut.T @ end),
        "X_successor": pose(rod.T @ at, rod.T @ end),
    }
    loops = (rd.Loop("thread", "cylindrical", "nut", "rod", axis=axis(end), **ends),)
    mechanism = rd.Mechanism("jack", links, joints, loops)
    robot = rd.load(mechanism, gravity=tuple((-9.81 * along).tolist()))
    assert robot.dof == 2
    q = robot.assemble([0.3, 1.0], hold=["slide", "turn"])
    a = robot.forward_dynamics(q, np.zeros(2), [4.0, 0.2])
    np.testing.assert_allclose(a, [4.0 / 2.0 - 9.81, 0.2 / 0.1], rtol=1e-12 + 10.0 ** (2 - count))


@pytest.mark.parametrize("number", [115, 3034])
def test_misfits_that_are_stiff_are_told(number):
    """They close, where they are drawn or elsewhere, and no joint of their loops can move."""
    _, found = judged(number, **MISFIT)
    assert found.fate == "misfit told", found
    assert "closure_tolerance" in found.told


SILENT = [68, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 18, 140, 222, 263))]


@pytest.mark.parametrize("number", SILENT)
def test_a_tilted_hinge_of_a_sarrus_linkage_is_told(number):
    """It closes and cannot move: parallel axes on a body are told from those that are across."""
    made = case(number, 779, **MISFIT | {"name": "sarrus"})
    assert verdict(made).fate == "misfit told", made.what


@pytest.mark.slow
@pytest.mark.parametrize("number", [73, 91, 259, 272, 381, 438])
def test_the_remedy_for_a_tilted_hinge_of_a_sarrus_linkage(number):
    """It does not close; with some tolerances it would, and could not move."""
    made = case(number, 779, **MISFIT | {"name": "sarrus"})
    assert verdict(made).fate == "misfit refused, the remedy works", made.what


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "seed", "fate"),
    [
        (7, 905, "misfit refused, the remedy works"),
        (54, 905, "misfit told"),
        (56, 905, "misfit told"),
        (67, 904, "misfit told"),
    ],
)
def test_tilted_hinges_of_a_bricard_linkage(number, seed, fate):
    """Some close only where the search for the neutral posture finds it, some near flat ones."""
    assert verdict(case(number, seed, role="misfit", name="bricard")).fate == fate


@pytest.mark.slow
@pytest.mark.parametrize(("number", "seed"), [(69, 910), (97, 911)])
def test_misfits_that_move_far_from_where_they_are_drawn(number, seed):
    """Two of a scissor lift, which folds flat; one of a wrist, by some hundredths of a radian."""
    made = case(number, seed, role="misfit")
    assert verdict(made).fate == "misfit refused, the remedy works", made.what


@pytest.mark.slow
def test_a_misfit_of_some_hundredths_has_a_remedy_that_works():
    right(60173, **MISFIT)


@pytest.mark.parametrize("number", [6, 25])
def test_the_remedy_for_a_tilted_guide_lets_it_move(number):
    """Less lets it close where it cannot move: it is named first with no other to follow."""
    chosen = {"name": "crank_slider", "notation": "loop", "closing": "as drawn", "count": 10}
    made = case(number, **MISFIT | chosen)
    found = verdict(made)
    assert found.fate == "misfit refused, the remedy works", (made.what, found)
    assert "->" not in found.told


@pytest.mark.slow
def test_a_frame_that_closes_its_loop_is_named_where_others_are_open_too():
    """It is moved to where it closes with the others closed; then nothing is open."""
    made, found = judged(300154, **MISFIT, count=13)
    assert found.fate == "misfit refused, the remedy closes it", (made.what, found)


@pytest.mark.slow
def test_the_remedy_is_one_near_where_a_linkage_is_drawn():
    """Folded flat, a scissor lift closes with less, and turns about its feet besides."""
    made = case(114, 4242, role="misfit")
    found = verdict(made)
    assert found.fate == "misfit refused, the remedy works", (made.what, found)
    assert " or " not in found.told


@pytest.mark.slow
def test_the_remedy_that_leaves_more_motion_is_named_beside_a_smaller_one():
    """A planar 3-RRR with a tilted pin closes by universal joints, and moves in two ways of 3."""
    made = case(59, 9902, role="misfit")
    found = verdict(made)
    assert found.fate == "misfit refused, the remedy works", (made.what, found)
    assert " or closure_tolerance" in found.told


FOUR_BAR = """
<link name="crank{k}">{body}</link><link name="coupler{k}">{body}</link>
<link name="rocker{k}">{body}</link>
<joint name="crank{k}" type="continuous"><parent link="ground"/><child link="crank{k}"/>
  <origin xyz="{k} 0 0"/><axis xyz="0 0 1"/></joint>
<joint name="coupler{k}" type="continuous"><parent link="crank{k}"/><child link="coupler{k}"/>
  <origin xyz="0 0.2 0"/><axis xyz="0 0 1"/></joint>
<joint name="rocker{k}" type="continuous"><parent link="coupler{k}"/><child link="rocker{k}"/>
  <origin xyz="0.5 0.1 0"/><axis xyz="0 0 1"/></joint>
<loop name="pin{k}" type="revolute"><predecessor link="rocker{k}"><origin xyz="-0.1 -0.3 0"/>
  </predecessor><successor link="ground"><origin xyz="{x} 0 {z}"/></successor>
  <axis xyz="0 0 1"/></loop>
"""
BODY = """<inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""


def test_a_frame_that_closes_its_loop_is_named_where_rounding_leaves_others_open():
    """One four-bar is out of its plane by a digit, the other one by 0.3 m."""
    bars = (FOUR_BAR.format(k=k, x=k + 0.4, z=z, body=BODY) for k, z in ((0, 3e-7), (1, 0.3)))
    text = f'<robot name="pair"><link name="ground"/>{"".join(bars)}</robot>'
    with pytest.raises(rd.TopologyError, match="moved to where it closes, this is") as told:
        rd.load(text).neutral()
    pin = re.compile('<loop name="pin1".*?</loop>', re.DOTALL)
    with pytest.warns(LoopWarning, match="as rounding can have done"):
        robot = rd.load(pin.sub(pin.search(str(told.value))[0], text))
    assert robot.dof == 2


def rods(turned, lower=-1.0):
    """Two cranks with rods on both sides; pins of the second are turned by an angle.

    Then one rod is too long and the other too short by as much: to first order all moves the same.
    """
    length, radius, z = 0.042, 0.0075, (0.0, 0.0, 1.0)
    inertia = rd.Inertia(0.1, ixx=1e-5, iyy=1e-5, izz=1e-5, origin=rd.Pose((0.003, 0.001, 0.0)))
    links = [rd.Link(name, inertia) for name in ("drive", "driven", "left", "right")]
    limits, at_end = rd.Limits(lower, 1.0), rd.Pose((length, 0.0, 0.0))
    joints = [
        rd.Joint("a", "revolute", "ground", "drive", axis=z, limits=limits),
        rd.Joint("b", "revolute", "ground", "driven", at_end, axis=z, limits=limits),
    ]
    loops = []
    for rod, side in (("left", radius), ("right", -radius)):
        end = np.array([length - side * np.sin(turned), side * np.cos(turned), 0.0])
        on_drive, on_driven = rd.Pose((0.0, side, 0.0)), rd.Pose(tuple(end - [length, 0.0, 0.0]))
        joints.append(rd.Joint(f"{rod}_pin", "revolute", "drive", rod, on_drive, axis=z))
        on_rod = rd.Pose(tuple(end - [0.0, side, 0.0]))
        ends = {"X_predecessor": on_rod, "X_successor": on_driven}
        loops.append(rd.Loop(f"{rod}_end", "revolute", rod, "driven", axis=z, **ends))
    return rd.Mechanism("neck", (rd.Link("ground"), *links), tuple(joints), tuple(loops))


def test_rods_that_are_too_long_and_too_short_by_as_much():
    """Loops open by the square of that, so that steps towards the exact linkage go half way."""
    exact = rd.load(rods(0.0), gravity=(0.0, -9.81, 0.0))
    assert exact.dof == 1
    assert rd.load(rods(4e-3), rigid=True).dof == 0
    with pytest.warns(LoopWarning, match="leave 0 degrees .* close and leave 1"):
        robot = rd.load(rods(4e-3), gravity=(0.0, -9.81, 0.0))
    assert robot.dof == 1
    q = robot.assemble(np.full(4, 0.8), hold=["a"])
    assert np.abs(robot.loop_residual(q)).max() < 1e-12
    tau = np.array([0.02, 0.0, 0.0, 0.0])
    a = robot.forward_dynamics(q, np.zeros(4), tau)
    expected = exact.forward_dynamics(exact.assemble(q, hold=["a"]), np.zeros(4), tau)
    np.testing.assert_allclose(a, expected, rtol=6e-3)  # rods differ by 1e-3 of their length


def test_half_turns_of_four_digits():
    """Frames that are turned half round are as far from what was meant as they were before."""
    exact = rods(0.0)
    left, right_end = exact.loops
    X = rd.Pose(left.X_successor.xyz, (3.142, 0.0, 0.0))
    flipped = dataclasses.replace(left, X_successor=X)
    with pytest.warns(LoopWarning, match="point opposite ways .* close and leave 1"):
        robot = rd.load(dataclasses.replace(exact, loops=(flipped, right_end)))
    assert robot.dof == 1


@pytest.mark.parametrize("lower", [0.2, 0.6])
def test_linkages_that_are_drawn_beyond_their_limits(lower):
    """They move all the same; where they are drawn closed is their neutral posture."""
    with pytest.warns(LoopWarning, match="leave 0 degrees .* close and leave 1"):
        robot = rd.load(rods(4e-3, lower))
    exact = rd.load(rods(0.0, lower))
    assert robot.dof == exact.dof == 1
    np.testing.assert_allclose(robot.neutral(), exact.neutral(), atol=1e-12)
    tau = np.array([0.02, 0.0, 0.0, 0.0])
    within = [x.assemble(np.full(4, 0.8), hold=["a"]) for x in (robot, exact)]
    for q, same in ((robot.neutral(), exact.neutral()), within):
        assert np.abs(robot.loop_residual(q)).max() < 1e-12
        a = robot.forward_dynamics(q, np.zeros(4), tau)
        np.testing.assert_allclose(a, exact.forward_dynamics(same, np.zeros(4), tau), rtol=6e-3)


@pytest.mark.slow
def test_a_chain_that_digits_open_much_where_it_has_moved_far():
    right(310502, role="linkage", count=5)


@pytest.mark.slow
@pytest.mark.parametrize("only", ["xyz", "rpy", "axis"])
@pytest.mark.parametrize("name", ["four_bar", "crank_slider", "wrist"])
def test_noise_of_one_kind(name, only):
    chosen = {"name": name, "notation": "loop", "closing": "as drawn", "only": (only,)}
    for count in (5, 8, 11):
        right(3, **PLAIN | chosen | {"count": count})


@pytest.mark.slow
@pytest.mark.parametrize("count", range(4, 17))
def test_any_number_of_digits(count):
    """Of any kind, with motions, linear models and minimal coordinates."""
    for k in range(5):
        right(1000 * count + 100 * k, role="linkage", count=count, deep=True)


#: A spherical four-bar in five digits, whose last frame is half a millimetre away.
DISPLACED = """<robot name="sphere"><link name="g"/>
<link name="c"><inertial><origin xyz="0.1 0.01 -0.02"/><mass value="0.9"/>
<inertia ixx=".008" iyy=".01" izz=".008" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="k"><inertial><origin xyz="-0.1 0.05 -0.16"/><mass value="0.6"/>
<inertia ixx=".009" iyy=".01" izz=".012" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="o"><inertial><origin xyz="0.03 -0.06 -0.17"/><mass value="0.5"/>
<inertia ixx=".008" iyy=".016" izz=".016" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="a" type="continuous"><parent link="g"/><child link="c"/>
<origin xyz="0.38224 0.36271 0.31595" rpy="-2.1188 -0.83146 0.6745"/>
<axis xyz="-0.10794 0.27261 0.95605"/></joint>
<joint name="b" type="continuous"><parent link="c"/><child link="k"/>
<origin xyz="0.1993 0.077484 -0.08821" rpy="-2.2849 0.12826 -0.73265"/>
<axis xyz="0.30678 -0.69536 0.64989"/></joint>
<joint name="d" type="continuous"><parent link="k"/><child link="o"/>
<origin xyz="-0.22447 0.096772 -0.27616" rpy="-2.3121 0.41253 1.4062"/>
<axis xyz="-0.082831 0.072217 0.99394"/></joint>
<loop name="e" type="revolute"><axis xyz="-0.33359 -0.90412 -0.26698"/>
<predecessor link="o"><origin xyz="0.06641 -0.11566 -0.2596" rpy="2.4874 -0.13639 -3.0025"/>
</predecessor>
<successor link="g"><origin xyz="0.4188 0.16022 0.38533" rpy="-0.23131 0.3649 0.59435"/></successor>
</loop></robot>"""


def test_the_tolerance_that_lets_a_stiff_linkage_move_counts_from_what_is_written():
    """Not from the frames as they were moved to close it: loading starts from the file."""
    with pytest.warns(LoopWarning) as caught:
        assert rd.load(DISPLACED).dof == 0
    advice = [str(x.message) for x in caught if "closure_tolerance=" in str(x.message)]
    tolerance = float(re.search(r"closure_tolerance=([0-9.e-]+)", advice[0])[1])
    with pytest.warns(LoopWarning, match="leave 1"):
        assert rd.load(DISPLACED, closure_tolerance=tolerance).dof == 1
