"""Loops that are closed by a weld have minimal coordinates, wherever in the loop the weld is."""

import dataclasses
import pickle

import numpy as np
import pytest
from support import planar_linkages as pl
from support.minimal_pairs import Pair, close
from support.random_mechanisms import random_inertia

import robodyn as rd
from robodyn.closed_loops.assembly import closing
from robodyn.description import Joint, Link, Loop, Mechanism, Pose

#: Kinds of joints round a ring that begins and ends at the ground, each with its place and axis.
RINGS = {
    "four_bar": [
        ("revolute", (0.0, 0.0), pl.Y),
        ("revolute", (0.1, 0.2), (0.0, -1.0, 0.0)),
        ("revolute", (0.6, 0.5), pl.Y),
        ("revolute", (0.7, 0.0), pl.Y),
    ],
    "slider_crank": [
        ("revolute", (0.0, 0.0), pl.Y),
        ("revolute", (0.1, 0.3), pl.Y),
        ("revolute", (0.9, 0.1), (0.0, -1.0, 0.0)),
        ("prismatic", (0.9, 0.1), pl.X),
    ],
    "five_bar": [
        ("revolute", (0.0, 0.0), pl.Y),
        ("revolute", (-0.2, 0.4), pl.Y),
        ("revolute", (0.2, 0.9), pl.Y),
        ("revolute", (0.7, 0.4), pl.Y),
        ("revolute", (0.5, 0.0), pl.Y),
    ],
}
#: Joints of a ring that have motors: its degrees of freedom, from the ground.
DRIVEN = {"four_bar": (0,), "slider_crank": (0,), "five_bar": (0, 4)}


def place(p):
    return np.array([p[0], 0.0, p[1]])


def ring(name, *, weld=None, hinge=2, seed=3):
    """A ring that is cut at a joint, or in a body and welded there.

    Parameters
    ----------
    name : str
        Of `RINGS`.
    weld : int, optional
        Body that is cut, 0 for the ground. The half that is reached last weighs nothing.
    hinge : int
        Joint that is cut, if no body is.
    """
    rng = np.random.default_rng(seed)
    spec = RINGS[name]
    n = len(spec)
    inertias = [random_inertia(rng) for _ in range(n)]
    turn = Pose((0.0, 0.0, 0.0), tuple(rng.normal(size=3)))
    at = {"ground": np.zeros(3)}
    links, joints = [Link("ground")], []

    def add(k, parent, child, body):
        """The body behind joint k, with its frame there."""
        kind, p, axis = spec[k]
        joints.append(Joint(f"joint{k}", kind, parent, child, along(p, parent), axis))
        at[child] = place(p)
        inertia = None
        if body % n:
            centre = np.array(inertias[body].origin.xyz) + place(spec[body - 1][1]) - at[child]
            inertia = dataclasses.replace(inertias[body], origin=Pose(tuple(centre)))
        links.append(Link(child, None if child.endswith("half") else inertia))
        return child

    def along(p, link, rpy=(0.0, 0.0, 0.0)):
        return Pose(tuple(place(p) - at[link]), rpy)

    first = hinge if weld is None else weld or n
    one = other = "ground"
    for k in range(first):
        one = add(k, one, f"body{k + 1}", k + 1)
    for k in reversed(range(first + (weld is None), n)):
        half = "_half" if k == weld else ""
        other = add(k, other, f"body{k}{half}", k)
    kind, p, axis = spec[hinge] if weld is None else ("fixed", (0.3, 0.4), pl.X)
    ends = along(p, one, turn.rpy), along(p, other, turn.rpy)
    axis = tuple(turn.matrix[:3, :3].T @ np.array(axis))
    closure = Loop("closure", kind, one, other, *ends, axis)
    motors = tuple((f"joint{k}", rd.Actuator()) for k in DRIVEN[name])
    return Mechanism(name, tuple(links), tuple(joints), (closure,), actuators=motors)


CASES = [(name, weld) for name, spec in RINGS.items() for weld in range(len(spec))]


@pytest.mark.parametrize(("name", "weld"), CASES)
def test_a_weld_gives_the_numbers_of_a_hinge(name, weld):
    mechanism = ring(name, weld=weld)
    pair = Pair(mechanism)
    pair.check()
    reference = Pair(ring(name))
    driven = [f"joint{k}" for k in DRIVEN[name]]
    assert set(pair.robot.joint_names) == set(reference.robot.joint_names) == set(driven)
    assert pair.robot.mechanism == mechanism
    # round the whole ring the last joint is reached from its other side
    sign = np.array([-1.0 if (weld, name) == (0, "five_bar") and j == "joint4" else 1.0
                     for j in pair.robot.joint_names])  # fmt: skip
    other = [reference.robot.joint_names.index(j) for j in pair.robot.joint_names]
    q, v, a = (np.empty(len(sign)) for _ in range(3))
    q[other], v[other], a[other] = sign * pair.q, sign * pair.v, sign * pair.a
    M = reference.small("mass_matrix", q)[np.ix_(other, other)]
    close(pair.small("mass_matrix", pair.q), np.outer(sign, sign) * M)
    tau = reference.small("inverse_dynamics", q, v, a)[other]
    close(pair.small("inverse_dynamics", pair.q, pair.v, pair.a), sign * tau)


@pytest.mark.parametrize(("name", "weld"), [("four_bar", 2), ("five_bar", 0)])
def test_it_moves_as_the_welded_robot_in_tree_coordinates(name, weld):
    robot = rd.load(ring(name, weld=weld), coordinates="minimal")
    tree = robot.with_(coordinates="tree")
    assert [loop.name for loop in tree.loops] == ["closure"]
    assert [cut.name for cut in robot.loops] != ["closure"]
    joints = robot.joint_names
    there = [tree.joints[j].q.start for j in joints]
    rng = np.random.default_rng(1)
    q, v, tau = 0.1 * rng.normal(size=(3, robot.nv))
    x, w, forces = np.zeros(tree.nq), np.zeros(tree.nv), np.zeros(tree.nv)
    x[[tree.joints[j].q.start for j in joints]] = q
    x = tree.assemble(x, hold=joints)
    w[there], forces[there] = v, tau
    w = tree.consistent_velocity(x, w, hold=joints)
    a = tree.forward_dynamics(x, w, forces)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), a[there], rtol=1e-8)


def test_copies_keep_the_weld_and_the_start():
    mechanism = ring("five_bar", weld=2)
    zero = rd.load(mechanism).nq * [0.0]
    for near in ({"joint0": 0.1}, zero):
        robot = rd.load(mechanism, coordinates="minimal", near=near)
        for copy in (robot.with_(gravity=(0.0, 0.0, -1.6)), pickle.loads(pickle.dumps(robot))):
            assert copy.mechanism == mechanism
            close(copy.neutral(), robot.neutral())
    locked = robot.with_(locked={"joint0": 0.0})
    assert locked.nv == 1


def test_a_weld_to_the_root_or_an_ancestor_is_followed_from_there():
    mechanism = ring("four_bar", weld=0)
    loop = mechanism.loops[0]
    turned = dataclasses.replace(
        loop,
        predecessor=loop.successor,
        successor=loop.predecessor,
        X_predecessor=loop.X_successor,
        X_successor=loop.X_predecessor,
    )
    one, other = (Pair(dataclasses.replace(mechanism, loops=(weld,))) for weld in (loop, turned))
    close(one.small("mass_matrix", one.q), other.small("mass_matrix", one.q), 1e-12)
    # a loop on a stalk: the weld leads back to a link that is not the root
    stalk = Joint("stalk", "prismatic", "base", "ground", Pose((0.1, 0.2, 0.3)), pl.Z)
    for weld in (loop, turned):
        raised = dataclasses.replace(
            mechanism,
            links=(Link("base"), *mechanism.links),
            joints=(stalk, *mechanism.joints),
            loops=(weld,),
        )
        Pair(raised).check()


def ankle(*, welded):
    """Two rods with a universal joint and a ball turn a foot on a cross.

    ``welded``: the balls are in the tree and their far ends welded to the foot; else they are cut.
    """
    joints = [
        Joint("pitch", "revolute", "shin", "cross", Pose((0.0, 0.0, -0.4)), pl.Y),
        Joint("roll", "revolute", "cross", "foot", Pose((0.0, 0.0, -0.02)), pl.X),
    ]
    loops = []
    for side, y in (("left", 0.04), ("right", -0.05)):
        horn, rod, ball = (f"{side}_{name}" for name in ("horn", "rod", "ball"))
        joints += [
            Joint(f"{side}_servo", "revolute", "shin", horn, Pose((-0.03, y, -0.1)), pl.Y),
            Joint(f"{side}_cross", "universal", horn, rod, Pose((-0.05, 0.01, 0.0)), pl.Y, pl.X),
        ]
        end, foot = Pose((0.01, 0.0, -0.3)), Pose((-0.07, y + 0.01, 0.02))
        if welded:
            turn = (0.3, -0.5, 0.7)
            joints.append(Joint(ball, "spherical", rod, f"{ball}_link", end))
            there = Pose(foot.xyz, turn)
            loops.append(Loop(f"{side}_weld", "fixed", f"{ball}_link", "foot", Pose(), there))
        else:
            loops.append(Loop(ball, "spherical", rod, "foot", end, foot))
    rng = np.random.default_rng(7)
    names = ["shin", *(joint.child for joint in joints)]
    links = tuple(Link(n, None if "ball" in n else random_inertia(rng)) for n in names)
    motors = tuple((f"{side}_servo", rd.Actuator()) for side in ("left", "right"))
    return Mechanism("ankle", links, tuple(joints), tuple(loops), actuators=motors)


def test_rods_that_are_welded_to_a_foot():
    pair, reference = (Pair(ankle(welded=welded)) for welded in (True, False))
    pair.check()
    assert pair.robot.joint_names == reference.robot.joint_names
    close(pair.small("mass_matrix", pair.q), reference.small("mass_matrix", pair.q))
    tau = reference.small("inverse_dynamics", pair.q, pair.v, pair.a)
    close(pair.small("inverse_dynamics", pair.q, pair.v, pair.a), tau)


def leg():
    """A universal-spherical rod beside a knee and an ankle: no closed form is known of its loop."""
    joints = (
        Joint("hip", "revolute", "pelvis", "thigh", Pose(), pl.Y),
        Joint("knee", "revolute", "thigh", "shin", Pose((0.0, 0.0, -0.4)), (0.28, 0.96, 0.0)),
        Joint("ankle", "universal", "shin", "foot", Pose((0.0, 0.0, -0.4)), pl.Y, pl.X),
        Joint("servo", "revolute", "shin", "horn", Pose((0.05, 0.03, -0.1)), (0.0, 0.96, 0.28)),
        Joint("rod_universal", "universal", "horn", "rod", Pose((0.05, 0.0, 0.0)), pl.Y, pl.X),
        Joint("rod_cross", "cylindrical", "rod", "tip", Pose((0.0, 0.0, -0.3)), pl.Z),
    )
    names = ["pelvis", *(joint.child for joint in joints)]
    rng = np.random.default_rng(0)
    links = tuple(Link(name, random_inertia(rng)) for name in names)
    weld = Loop("weld", "fixed", "tip", "foot", Pose(), Pose((0.1, 0.03, 0.0)))
    return Mechanism("leg", links, joints, (weld,))


@pytest.mark.parametrize(
    ("make", "moved", "reason"),
    [
        (lambda: "bricard", "hinge1", "is not in its plane"),
        (lambda: "delta", "drive1", "nor spatial"),
        (leg, "servo", "not planar"),
    ],
)
def test_a_refusal_looks_for_no_posture(monkeypatch, make, moved, reason):
    start = {moved: 0.3}  # where the loops are open
    monkeypatch.setattr(closing, "assemble", None)  # what searches fails
    with pytest.raises(TypeError):
        rd.load(make(), near=start).neutral()
    with pytest.raises(rd.TopologyError, match=reason) as caught:
        rd.load(make(), coordinates="minimal", near=start)
    assert "coordinates='tree'" in str(caught.value)


def test_a_loop_whose_joints_all_have_motors_says_which_of_them_closes_it():
    pins = ["crank_drive", "crank_pin", "rocker_pivot", "rocker_pin"]
    with pytest.raises(rd.TopologyError, match=r"'\w+' closes it and needs a coordinate") as caught:
        rd.load("four_bar", coordinates="minimal", actuators={n: rd.Actuator() for n in pins})
    assert "a fixed joint closes it" not in str(caught.value)
