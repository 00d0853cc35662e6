"""What a cut joint carries beside its constraint: damping, motors, marks."""

import dataclasses

import numpy as np
import pytest
from support.recut import coordinates_of, speeds_of

import robodyn as rd
from robodyn import urdf
from robodyn.description import Coupling, Joint, Link, Mimic, Pose


def four_bar(joint, **changes):
    """The bundled one with something changed in a joint."""
    mechanism = urdf.load_mechanism("four_bar")
    joints = tuple(
        dataclasses.replace(j, **changes) if j.name == joint else j for j in mechanism.joints
    )
    return dataclasses.replace(mechanism, joints=joints)


def moving():
    robot = rd.load("four_bar")
    q = robot.neutral()
    return robot, q, robot.consistent_velocity(q, [5.0, 0.0, 0.0], hold=["crank_drive"])


@pytest.mark.parametrize("what", ["damping", "friction"])
def test_damping_of_a_cut_joint_brakes(what):
    robot, q, v = moving()
    damped = rd.load(four_bar("rocker_pin", **{what: 0.5}))
    a, b = (r.forward_dynamics(q, v, np.zeros(3)) for r in (robot, damped))
    assert np.abs(a - b).max() > 1e-3


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        ('<dynamics spring_stiffness="1"/>', "a spherical joint has no spring"),
        ('<dynamics damping="-1"/>', "negative"),
        ('<mimic joint="rocker_pivot"/>', "cannot mimic"),
    ],
)
def test_what_a_joint_that_closes_a_loop_cannot_have(inner, words):
    loop = (
        '<loop name="more" type="spherical"><predecessor link="crank"/><successor link="rocker"/>'
        f"{inner}</loop></robot>"
    )
    text = urdf.write(urdf.load_mechanism("four_bar")).replace("</robot>", loop)
    with pytest.raises(rd.UrdfError, match=words):
        rd.load(text)


def test_a_link_is_cut_in_two_for_a_joint_that_needs_a_coordinate():
    text = urdf.write(urdf.load_mechanism("four_bar"))
    text = text.replace('<joint name="rocker_pin" ', '<joint name="rocker_pin" cut="true" ')
    bare, robot = rd.load(text), rd.load(text, springs={"rocker_pin": (2.0, 0.1)})
    assert [cut.name for cut in robot.loops] == ["rocker_pin_weld"]
    assert (robot.nv, robot.nc) == (bare.nv + 1, bare.nc + 1)
    assert {*robot.link_names} - {*bare.link_names} == {"rocker_pin_half"}
    assert robot.total_mass == pytest.approx(bare.total_mass)
    pin = robot.joints["rocker_pin"]
    assert (pin.parent, pin.child, pin.closure) == ("coupler", "rocker_end", "rocker_pin_weld")
    assert not pin.cut and pin.q.stop - pin.q.start == 1
    again = rd.load(urdf.write(robot.mechanism))
    assert again.joint_names == robot.joint_names
    q = robot.random(0)
    assert again.potential_energy(q) == pytest.approx(robot.potential_energy(q))


def test_halves_find_names_that_are_free():
    mechanism = urdf.load_mechanism("four_bar")
    links = tuple(
        dataclasses.replace(link, name="rocker_pin_half") if link.name == "ground" else link
        for link in mechanism.links
    )
    joints = tuple(
        dataclasses.replace(joint, parent="rocker_pin_half") if joint.parent == "ground" else joint
        for joint in mechanism.joints
    )
    renamed = dataclasses.replace(mechanism, links=links, joints=joints)
    robot = rd.load(renamed, actuators={name: rd.Actuator() for name in PINS})
    assert {"rocker_pin_half", "rocker_pin_half_"} <= {*robot.link_names}


@pytest.mark.parametrize("cut", ["crank_drive", "rocker_pivot"])
def test_the_ground_is_not_cut_in_two(cut):
    """These joints have it for a parent; the child may be ground as well."""
    text = urdf.write(urdf.load_mechanism("four_bar"))
    text = text.replace(f'<joint name="{cut}" ', f'<joint name="{cut}" cut="true" ')
    robot = rd.load(text, springs={cut: (2.0, 0.1)})
    assert robot.total_mass == pytest.approx(rd.load("four_bar").total_mass)
    assert robot.dof == 1


@pytest.mark.parametrize("place", [Pose(), Pose((0.1, 0.0, 0.2), (0.0, 0.3, 0.0))])
@pytest.mark.parametrize("ends", [("ground", "coupler"), ("coupler", "ground")])
def test_a_loop_to_the_ground_may_have_a_motor(ends, place):
    loop = rd.Loop("drive", "planar", *ends, X_successor=place, axis=(0.0, 1.0, 0.0))
    motor = {"drive": rd.Actuator()}
    robot, bare = (rd.load("four_bar", loops=[loop], actuators=motors) for motors in (motor, {}))
    assert robot.joints["drive"].v.stop - robot.joints["drive"].v.start == 3
    assert robot.dof == bare.dof
    known = [joint for joint in bare.joint_names]
    q, v = bare.neutral(), bare.consistent_velocity(bare.neutral(), np.ones(bare.nv))
    a = bare.forward_dynamics(q, v, np.zeros(bare.nv))
    positions, speeds = bare.joint_positions(q), bare.joint_velocities(q, v)
    q2, v2 = coordinates_of(robot, positions), speeds_of(robot, speeds)
    a2 = robot.forward_dynamics(q2, v2, np.zeros(robot.nv))
    for name in known:
        assert a2[robot.joints[name].v] == pytest.approx(a[bare.joints[name].v], abs=1e-9)


def test_a_distance_has_no_motor():
    loop = rd.Loop("rod", "distance", "ground", "coupler", distance=1.0)
    with pytest.raises(
        rd.TopologyError, match="distance loop has a motor, a spring or an armature"
    ):
        rd.load("four_bar", loops=[loop], actuators={"rod": rd.Actuator()})


PINS = ("crank_drive", "crank_pin", "rocker_pivot", "rocker_pin")


@pytest.mark.parametrize("wrong", ["q", "v", "tau"])
@pytest.mark.parametrize("size", [2, 4])
def test_shapes_of_constrained_dynamics(wrong, size):
    robot, q, v = moving()
    given = {"q": q, "v": v, "tau": np.zeros(3)}
    robot.constrained_dynamics(*given.values())
    given[wrong] = np.ones(size)
    with pytest.raises(
        rd.ShapeError, match=rf"{wrong} has shape \({size},\), expected .*3"
    ) as caught:
        robot.constrained_dynamics(*given.values())
    assert caught.value.name == wrong


def test_joints_that_mimic_each_other_may_all_be_in_a_loop():
    """Here each joint of the loop is one that another refers to; the freedom is gone."""
    mechanism = urdf.load_mechanism("four_bar")
    masters = {"crank_pin": "crank_drive", "rocker_pin": "rocker_pivot"}
    joints = tuple(
        dataclasses.replace(j, mimic=Mimic(masters[j.name], -1.0)) if j.name in masters else j
        for j in mechanism.joints
    )
    robot = rd.load(dataclasses.replace(mechanism, joints=joints))
    assert robot.joints["rocker_pin"].closure == "rocker_pin_weld"
    assert robot.joint_names == ("crank_drive", "rocker_pivot")
    assert robot.joint_positions([0.3, 0.2])["rocker_pin"] == pytest.approx(-0.2)


def test_a_coupling_counts_the_joints_as_they_are_drawn():
    """One of them closes the loop: the link beyond it is cut in two, and has another parent."""
    mechanism = urdf.load_mechanism("four_bar")
    gear = Coupling("gear", "rocker", "coupler", ratio=0.5, offset=0.1)
    motors = tuple((name, rd.Actuator()) for name in PINS[1:])
    coupled = dataclasses.replace(mechanism, couplings=(gear,), actuators=motors)
    robot = rd.load(coupled)
    assert robot.joints["crank_drive"].closure == "crank_drive_weld"
    q = np.random.default_rng(0).normal(size=robot.nq)
    at = {name: q[robot.joints[name].q][0] for name in robot.joint_names}
    row = robot.constraint_names.index("gear[0]")
    wanted = at["crank_drive"] + at["crank_pin"] - 0.5 * at["rocker_pivot"] - 0.1
    assert robot.loop_residual(q)[row] == pytest.approx(wanted)


@pytest.mark.parametrize("motor", [False, True])
def test_a_loop_is_locked_as_the_joint_that_it_is(motor):
    """The pin of a five-bar, as a `Loop` and as a joint of the graph: one linkage is left."""
    written = urdf.load_mechanism("five_bar")
    (pin,) = written.loops
    end = Joint("end_weld", "fixed", pin.successor, "end", pin.X_successor)
    closing = Joint(pin.name, pin.kind, pin.predecessor, "end", pin.X_predecessor, pin.axis)
    drawn = dataclasses.replace(
        written,
        links=(*written.links, Link("end")),
        joints=(*written.joints, end, closing),
        loops=(),
    )
    actuators = {pin.name: rd.Actuator(gear_ratio=3.0, rotor_inertia=1e-3)} if motor else None
    one = rd.load(drawn).with_(locked={pin.name: 0.3})
    other = rd.load(written, actuators=actuators).with_(locked={pin.name: 0.3})
    q0 = one.neutral()
    v0 = one.consistent_velocity(q0, np.ones(one.nv))
    found, speeds = one.joint_positions(q0), one.joint_velocities(q0, v0)
    q, v = (np.array([x[name] for name in other.joint_names]) for x in (found, speeds))
    assert np.abs(other.loop_residual(q)).max() < 1e-9
    assert np.abs(v).min() > 1e-3
    tau = {name: 1.0 for name in other.actuated_joints if name in one.joint_names}
    a0 = one.hybrid_dynamics(q0, v0, tau=tau).a
    a = other.hybrid_dynamics(q, v, tau=tau).a
    expected = [a0[one.joints[name].v] for name in one.joint_names]
    np.testing.assert_allclose([a[other.joints[n].v] for n in one.joint_names], expected, rtol=1e-8)
    with pytest.raises(rd.SettingsError, match="expected a finite number"):
        rd.load(written).with_(locked={pin.name: [1.0, 2.0]})
