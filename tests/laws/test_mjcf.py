"""Robots read from MJCF move as MuJoCo's own model of the file says."""

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.mjcf_models import ARM, GRIPPER, LEG, WELDED

import robodyn as rd
from robodyn.urdf import load_mechanism, write

mujoco = pytest.importorskip("mujoco")

from support.mujoco_twin import Twin  # noqa: E402

#: Relative to the largest number beside it.
ROUNDING = 1e-12


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings(action="ignore", category=rd.errors.UrdfWarning):
        yield


def _near(one, other, part=ROUNDING):
    np.testing.assert_allclose(one, other, rtol=0, atol=part * max(1.0, np.abs(other).max()))


def test_a_tree_has_its_masses_forces_energies_and_frames():
    twin = Twin(ARM.replace(' frictionloss="0.01"', ""))
    robot, rng = twin.robot, np.random.default_rng(1)
    energies = []
    for _ in range(3):
        q, v = robot.random(rng), rng.normal(size=robot.nv)
        T = twin.speeds_of(q, np.eye(robot.nv))
        twin.at(q, v)
        M = twin.mass_matrix
        _near(robot.mass_matrix(q), T.T @ M @ T)
        bias = T.T @ (twin.bias + M @ twin.drift(q, v))
        _near(robot.inverse_dynamics(q, v, np.zeros(robot.nv)), bias)
        for kind, count in (("body", twin.model.nbody), ("site", twin.model.nsite)):
            for k in range(count):
                body = getattr(twin.model, kind)(k)
                seen = getattr(twin.data, kind)(k)
                R, p = (seen.xmat, seen.xpos)
                X = robot.frame_pose(q, body.name)
                _near(X[:3, 3], p)
                _near(X[:3, :3], R.reshape(3, 3))
        ours = robot.potential_energy(q), robot.kinetic_energy(q, v)
        energies.append((*ours, *twin.data.energy))
    ours_u, ours_t, theirs_u, theirs_t = np.transpose(energies)
    _near(ours_t, theirs_t)
    _near(np.diff(ours_u), np.diff(theirs_u))


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "actuator_armature"), reason="an older mujoco")
def test_actuators_have_damping_and_armature_of_their_own():
    text = ARM.replace(
        "<actuator>", '<actuator><motor joint="roll" gear="5" damping="0.2" armature="0.01"/>'
    )
    if hasattr(mujoco.mjtTrn, "mjTRN_SO3"):  # three numbers, before those of the others
        text = text.replace("<actuator>", '<actuator><orientation joint="elbow" kp="3"/>')
    twin = Twin(text.replace(' frictionloss="0.01"', ""))
    robot, rng = twin.robot, np.random.default_rng(4)
    roll = robot.joints["roll"].v.start
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    gained = robot.mass_matrix(q) - rd.load(ARM).mass_matrix(q)
    np.testing.assert_allclose(gained[roll, roll], 0.25, rtol=1e-12)
    T = twin.speeds_of(q, np.eye(robot.nv))
    twin.at(q, v)
    _near(robot.mass_matrix(q), T.T @ twin.mass_matrix @ T)
    bias = T.T @ (twin.bias + twin.mass_matrix @ twin.drift(q, v))
    _near(robot.inverse_dynamics(q, v, np.zeros(robot.nv)), bias)
    limits = {name: motor.torque_limit for name, motor in robot.mechanism.actuators}
    assert limits == {"yaw": 2.0, "pitch": 3.0, "extend": 40.0, "roll": np.inf}


def test_coordinates_are_those_of_the_file():
    robot = rd.load(ARM)
    names = ["yaw", "pitch", "extend", "roll", "elbow", "crate", "hinge"]
    assert list(robot.joint_names) == names
    limits = robot.joints["yaw"].limits
    np.testing.assert_allclose((limits.lower, limits.upper), np.radians([-170, 160]))
    assert limits.effort == 100.0
    assert robot.joints["roll"].limits is None
    motors = dict(robot.mechanism.actuators)
    assert list(motors) == ["yaw", "pitch", "extend"]
    assert (motors["yaw"].gear_ratio, motors["yaw"].torque_limit) == (50.0, 2.0)
    assert (motors["pitch"].gear_ratio, motors["pitch"].torque_limit) == (-20.0, 3.0)
    assert motors["extend"].torque_limit == 40.0
    assert robot.mechanism.joints[-1].name == "elbow_pad_fixed"


HELD = GRIPPER.replace(
    "</equality>", '<joint joint1="right_driver" polycoef="0.1 0 0 0 0"/></equality>'
)
AT_SITES = WELDED.replace('body1="rod_a" body2="rod_b"', 'site1="cut_a" site2="cut_b"')
PINNED = AT_SITES.replace('weld name="rejoin"', 'connect name="rejoin"')
BESIDE = WELDED.replace(
    'body2="rod_b"', 'body2="rod_b" anchor="-0.1 0.02 0" relpose="0.15 0.02 0.03 1 0 0 0"'
)
TURNING = BESIDE.replace("relpose=", 'torquescale="0" relpose=')
LINKAGES = {
    "leg": LEG,
    "gripper": GRIPPER,
    "held gripper": HELD,
    "welded": WELDED,
    "welded at sites": AT_SITES,
    "pinned at sites": PINNED,
    "welded elsewhere": BESIDE,
    "welded without moments": TURNING,
}


@pytest.mark.parametrize("name", LINKAGES)
def test_a_linkage_accelerates_as_its_constraints_say(name):
    """Exact multipliers of MuJoCo's own rows, where MuJoCo's solver gives way softly."""
    twin = Twin(LINKAGES[name], {"latch": 0.35, "right_driver": 0.1, "left_driver": 0.1})
    robot, rng = twin.robot, np.random.default_rng(2)
    q0 = robot.neutral()
    q = robot.assemble(robot.integrate(q0, 0.1 * rng.normal(size=robot.nv)))
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    T = twin.speeds_of(q, np.eye(robot.nv))
    J = twin.at(q, v).equality_rows
    assert np.abs(twin.gaps).max() < 1e-9
    assert np.abs(J @ twin.data.qvel).max() < 1e-9
    M, h, speeds, drift = twin.mass_matrix, twin.bias, twin.data.qvel.copy(), twin.drift(q, v)
    force = M @ rng.normal(size=twin.model.nv)
    step = 1e-4  # rows change with the motion: fourth order of central differences
    rates = [
        twin.at(robot.integrate(q, k * step * v), v).equality_rows @ speeds for k in (-2, -1, 1, 2)
    ]
    bias = (rates[0] - 8 * rates[1] + 8 * rates[2] - rates[3]) / (12 * step)
    inverse = np.linalg.inv(M)
    free = inverse @ (force - h)
    multipliers = np.linalg.lstsq(J @ inverse @ J.T, -bias - J @ free, rcond=1e-10)[0]
    expected = free + inverse @ J.T @ multipliers
    found = T @ robot.forward_dynamics(q, v, T.T @ force) + drift
    _near(found, expected, 1e-7)


def test_a_closed_posture_is_that_of_the_drawing():
    robot = rd.load(WELDED)
    drawn = {"crank": 0.4, "rocker": -0.2}
    for name, x in drawn.items():
        np.testing.assert_allclose(robot.neutral()[robot.joints[name].q], x, atol=1e-12)
    crank = robot.joints["crank"].q
    assert robot.with_(locked={"crank": 0.45}).dof == 0
    moved = rd.load(WELDED, near={"crank": 0.5}).neutral()
    np.testing.assert_allclose(moved[crank], 0.5, atol=1e-12)


def test_a_floating_base_takes_the_place_of_a_free_joint():
    robot, free = rd.load(LEG, base="floating"), rd.load(LEG)
    assert robot.joint_names[0] == "floating_base" and free.joint_names[0] == "float"
    assert (robot.nq, robot.nv) == (free.nq, free.nv)
    rng = np.random.default_rng(3)
    q, v = free.random(rng), rng.normal(size=free.nv)
    _near(robot.mass_matrix(q), free.mass_matrix(q))
    _near(robot.bias_forces(q, v), free.bias_forces(q, v))
    assert rd.load(LEG, base="moving").nv == free.nv - 6
    with pytest.raises(rd.errors.SettingsError, match="other things stand in 'world' too"):
        rd.load(ARM, base="floating")
    damped = LEG.replace(
        '<freejoint name="float"/>', '<joint name="float" type="free" damping="1"/>'
    )
    assert rd.load(damped).joints["float"]
    with pytest.raises(rd.errors.SettingsError, match="damping"):
        rd.load(damped, base="floating")


#: A free body that carries a link, and an arm, with what acts on bodies wherever they are.
BODY = """<mujoco model="body"><option viscosity="{viscosity}" gravity="0.3 -1 -9.81"/>
 <default><geom contype="0" conaffinity="0"/></default><worldbody>
 <body name="box" pos="0.1 0.2 0.3" euler="10 20 30" gravcomp="{gravcomp}">
  <joint name="free" type="free" {free}/>
  <geom type="box" size="0.1 0.2 0.3" pos="0.02 0.03 -0.04" mass="2"/>
  <body name="fin" pos="0.2 0 0.1" gravcomp="0.3"><joint name="hinge" axis="0 1 0.2"/>
   <geom type="capsule" fromto="0 0 0 0.1 0.3 0.2" size="0.03" mass="0.7"/></body></body>
 <body name="arm" pos="1 0 0"><joint name="swing" axis="0 1 0" pos="0.1 0 0"/>
  <geom type="capsule" fromto="0 0 0 0.4 0 0.1" size="0.05" mass="1.5"/>
  <body name="ball" pos="0.4 0 0.1" gravcomp="1.4"><joint name="ball" type="ball"/>
   <geom type="ellipsoid" size="0.1 0.05 0.2" pos="0 0.1 0" mass="0.5"/></body></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize(
    "values",
    [
        {"gravcomp": 1},
        {"viscosity": 0.8},
        {"free": 'armature="0.7"'},
        {"free": 'armature="0.7" damping="0.2"', "gravcomp": 0.5, "viscosity": 3},
    ],
    ids=lambda values: " ".join(values),
)
def test_bodies_are_held_and_braked_wherever_they_are(values):
    text = BODY.format(**{"viscosity": 0, "gravcomp": 0, "free": "", **values})
    twin = Twin(text)
    robot, rng = twin.robot.with_(gravity=(0.3, -1, -9.81)), np.random.default_rng(5)
    energies = []
    for _ in range(3):
        q, v = robot.random(rng), rng.normal(size=robot.nv)
        T = twin.speeds_of(q, np.eye(robot.nv))
        twin.at(q, v)
        M = twin.mass_matrix
        _near(robot.mass_matrix(q), T.T @ M @ T)
        bias = T.T @ (twin.bias + M @ twin.drift(q, v))
        _near(robot.bias_forces(q, v), bias)
        _near(robot.passive_forces(q, v), T.T @ twin.data.qfrc_passive)
        a = rng.normal(size=robot.nv)
        tau = robot.inverse_dynamics(q, v, a) + robot.passive_forces(q, v)
        _near(robot.dynamic_regressor(q, v, a) @ robot.dynamic_parameters, tau)
        a = robot.forward_dynamics(q, v, np.zeros(robot.nv))
        _near(robot.mass_matrix(q) @ a, -bias, 1e-11)
        C = robot.coriolis_matrix(q, v)
        _near(C @ v, robot.bias_forces(q, v) + robot.passive_forces(q, v) - robot.gravity_forces(q))
        assert np.linalg.eigvalsh(C + C.T - _rate(robot.mass_matrix, robot, q, v)).max() < 1e-7
        energies.append((robot.kinetic_energy(q, v), twin.data.energy[1]))
    ours, theirs = np.transpose(energies)
    _near(ours, theirs)
    assert load_mechanism(write(robot.mechanism)) == robot.mechanism


def _rate(function, robot, q, v, step=1e-5):
    one, other = (function(robot.integrate(q, k * step * v)) for k in (1, -1))
    return (one - other) / (2 * step)


def test_energy_of_a_held_weight_is_that_of_its_force():
    robot = rd.load(BODY.format(viscosity=0, gravcomp=1, free=""))
    q, v = robot.random(np.random.default_rng(6)), np.ones(robot.nv)
    power = _rate(robot.potential_energy, robot, q, v)
    holding = robot.gravity_forces(q) - robot.passive_forces(q, 0 * v)
    np.testing.assert_allclose(power, holding @ v, rtol=1e-7)
    run = rd.simulate(robot, q0=q, v0=v, duration=0.2, step=1e-3, integrator="rk4")
    assert np.abs(run.audit.unexplained).max() < 1e-7
    assert not run.audit.dissipated.any()


@pytest.mark.parametrize("turned", [(0.0, 0.0, 0.0), (0.4, -0.7, 1.1)], ids=["drawn", "turned"])
def test_friction_of_a_free_joint_acts_along_the_axes_of_the_world(turned):
    text = BODY.format(viscosity=0, gravcomp=0, free='frictionloss="0.4"')
    text = text.replace(' gravcomp="0.3"', "").replace(' gravcomp="1.4"', "")
    robot = rd.load(text, friction_speed=0.3)
    rng = np.random.default_rng(7)
    q = robot.random(rng)
    free = robot.joints["free"]
    q[free.q][3:] = Rotation.from_euler("xyz", turned).as_quat()
    v = rng.normal(size=robot.nv)
    R = robot.frame_pose(q, "box")[:3, :3]
    speed = np.r_[R @ v[free.v][:3], v[free.v][3:]]
    force = -0.4 * speed / np.sqrt(speed**2 + 0.09)
    found = robot.passive_forces(q, v)[free.v]
    np.testing.assert_allclose(np.r_[R @ found[:3], found[3:]], force, rtol=1e-12)


BOX = '<body name="box" pos="0 .7 .1"><freejoint name="loose"/><geom size=".02" mass=".1"/></body>'
FLAT = """<mujoco model="cell"><worldbody>{before}{floor}
 <body name="crank"><joint name="drive" axis="0 0 1"/><geom size=".03" pos=".1 0 0" mass="1"/>
  <body name="coupler" pos=".3 0 0"><joint name="pin" axis="0 0 1"/>
   <geom size=".03" pos=".2 0 0" mass="1"/></body></body>
 <body name="rocker" pos=".5 0 0"><joint name="d" axis="0 0 1"/>
  <geom size=".03" pos=".1 0 0" mass="1"/></body>{end}{after}</worldbody>
 <equality><connect body1="coupler" body2="rocker" anchor="0.5 0 0"/></equality></mujoco>"""
MOVED = '<body name="floor" pos="1 2 3"><freejoint name="f"/><geom size="1" mass="9"/>', "</body>"
WITH = {
    "box after": {"after": BOX},
    "box before": {"before": BOX},
    "free base": {"floor": MOVED[0], "end": MOVED[1]},
    "both": {"before": BOX, "floor": MOVED[0], "end": MOVED[1]},
}


@pytest.mark.parametrize("name", WITH)
def test_what_is_loose_has_nothing_to_do_with_the_neutral_posture_of_a_linkage(name):
    parts = {"before": "", "after": "", "floor": "", "end": ""}
    with pytest.warns(rd.errors.SingularWarning, match="a regular posture near it"):
        alone = rd.load(FLAT.format(**parts))
        q0 = alone.joint_positions(alone.neutral())
    with pytest.warns(rd.errors.SingularWarning, match="a regular posture near it"):
        robot = rd.load(FLAT.format(**{**parts, **WITH[name]}))
        q = robot.neutral()
    found = robot.joint_positions(q)
    for joint in ("drive", "pin", "d"):
        # near a flat posture gaps grow with the square of a motion: 1e-10 m are 1e-5 rad
        np.testing.assert_allclose(found[joint], q0[joint], atol=1e-5)
    for joint, place in {"loose": (0, 0.7, 0.1), "f": (1, 2, 3)}.items():
        if joint in found:
            np.testing.assert_allclose(found[joint], [*place, 0, 0, 0, 1], atol=1e-9)
    assert robot.mobility(q) == robot.dof
    assert np.isfinite(robot.forward_dynamics(q, np.zeros(robot.nv), np.zeros(robot.nv))).all()


#: A hand whose tendons pull several joints: tied ones, held ones, free ones, and a cam.
HAND = """<mujoco model="hand"><compiler angle="radian"/>
 <default><geom contype="0" conaffinity="0" size="0.02" pos="0.05 0 0.01" mass="0.2"/>
  <joint axis="0 1 0"/></default>
 <worldbody><body name="palm"><joint name="wrist" axis="0 0 1"/><geom mass="1"/>
  <body name="l" pos="0 0.1 0"><joint name="left" ref="0.1"/><geom/></body>
  <body name="r" pos="0 -0.1 0"><joint name="right" type="slide" axis="1 0.2 0"/><geom/></body>
  <body name="a" pos="0.1 0 0"><joint name="a" damping="0.02"/><geom/>
   <body name="b" pos="0.1 0 0"><joint name="b" ref="-0.2"/><geom/>
    <body name="c" pos="0.1 0 0"><joint name="c"/><geom/></body></body></body>
  <body name="k" pos="0 0 0.1"><joint name="cam"/><geom/></body>
  <body name="h" pos="0 0 0.2"><joint name="held" ref="0.3"/><geom/></body></body></worldbody>
 <tendon>
  <fixed name="grip" {grip}><joint joint="left" coef="0.5"/><joint joint="right" coef="2"/></fixed>
  <fixed name="bend" {bend}><joint joint="a" coef="1.3"/><joint joint="b" coef="-0.7"/>
   <joint joint="c" coef="0.4"/></fixed>
  <fixed name="mixed" {mixed}><joint joint="held" coef="1.5"/><joint joint="cam" coef="0.6"/>
   <joint joint="right" coef="-1"/></fixed>
  <fixed name="one" {one}><joint joint="wrist" coef="3"/></fixed></tendon>
 <equality>{equality}</equality>
 <actuator><motor name="grip" tendon="grip" gear="3" forcerange="-5 5"/>
  <motor name="bend" tendon="bend" gear="-2"/><motor name="mixed" tendon="mixed"/>
  <motor name="one" tendon="one" gear="4" ctrlrange="-1 1"/><motor name="own" joint="a"/></actuator>
</mujoco>"""
TIES = {
    "free": "",
    "tied": '<joint joint1="left" joint2="right" polycoef="0.05 2 0 0 0"/>',
    "cam": '<joint joint1="cam" joint2="a" polycoef="0.1 0.5 0.3 0 0"/>',
    "held": '<joint joint1="held" polycoef="0.2 0 0 0 0"/>',
    "three": '<tendon tendon1="bend" polycoef="0.02 0 0 0 0"/>',
    "two": '<tendon tendon1="bend" tendon2="grip" polycoef="0.02 0.8 0 0 0"/>',
}
TIES["all"] = "".join(TIES.values()).replace(TIES["two"], "")
TIES = {"all but the cam": TIES["all"].replace(TIES["cam"], ""), **TIES}
PULLS = {
    "motors": {},
    "springs": {
        "grip": 'stiffness="30" springlength="0.2"',
        "bend": 'stiffness="12" damping="0.5" armature="0.06"',
        "mixed": 'stiffness="4" damping="0.7"',  # MuJoCo's armature has no terms across branches
        "one": 'stiffness="2" armature="0.1"',
    },
}


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("pull", PULLS)
def test_tendons_of_several_joints_pull_as_in_mujoco(tie, pull):
    values = {name: "" for name in ("grip", "bend", "mixed", "one")} | PULLS[pull]
    twin = Twin(HAND.format(equality=TIES[tie], **values), {"held": 0.5})
    robot, rng = twin.robot, np.random.default_rng(8)
    moving = sum(1 for x in ("tied", "cam", "held", "three", "two") if TIES[x] in TIES[tie])
    assert robot.nv == twin.model.nv - (moving if tie else 0) and not robot.nc
    for _ in range(3):
        q, v = 0.3 * rng.normal(size=robot.nq), rng.normal(size=robot.nv)
        T = twin.speeds_of(q, np.eye(robot.nv))
        twin.at(q, v)
        assert np.abs(twin.gaps).max(initial=0.0) < 1e-12
        M, h = twin.mass_matrix, twin.bias
        _near(robot.mass_matrix(q), T.T @ M @ T)
        if tie != "cam" and tie != "all":  # else T turns with the motion
            _near(robot.bias_forces(q, v), T.T @ h)
        _near(robot.passive_forces(q, v), T.T @ twin.data.qfrc_passive)
        moment = twin.motor_moments
        motors = dict(robot.mechanism.actuators)
        columns = {twin.model.actuator(k).name: T.T @ moment[k] for k in range(twin.model.nu)}
        for same in (robot, robot.with_(coordinates="minimal")):
            B = same.actuation_matrix(q)
            for k, name in enumerate(robot.actuated_joints):
                words = motors[name].name.split()
                if len(words) == 1:  # two motors of a joint are one
                    _near(motors[name].gear_ratio * B[:, k], columns[words[0]])
        named = {word for motor in motors.values() for word in motor.name.split()}
        assert not any(columns[x].any() for x in columns if x not in named)
    limits = {motor.name: motor.torque_limit for _, motor in robot.mechanism.actuators}
    assert limits["grip"] == 5.0 and limits["one"] == 1.0
    assert load_mechanism(write(robot.mechanism)) == robot.mechanism


SPLIT = """<tendon><fixed name="split"><joint joint="right_driver" coef="0.5"/>
  <joint joint="left_driver" coef="0.5"/></fixed></tendon>
 <actuator><motor name="turn" joint="wrist"/>
  <general name="fingers" tendon="split" forcerange="-5 5" gainprm="0.3" biasprm="0 -100 -10"
   biastype="affine"/></actuator></mujoco>"""


def test_a_gripper_that_a_tendon_drives_has_a_motor():
    """Fingers that are tied, each a four-bar, on a wrist: as in the Robotiq 2F-85 and the xArm7."""
    text = GRIPPER.replace("</mujoco>", SPLIT)
    robot = rd.load(text)
    motors = dict(robot.mechanism.actuators)
    assert robot.actuated_joints == ("wrist", "right_driver")
    assert (motors["right_driver"].gear_ratio, motors["right_driver"].torque_limit) == (1.0, 5.0)
    assert robot.joints["right_driver"].limits.effort == 5.0
    rng = np.random.default_rng(9)
    q = robot.assemble(robot.integrate(robot.neutral(), 0.1 * rng.normal(size=robot.nv)))
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    tau = np.zeros(robot.nv)
    for name in motors:
        tau[robot.joints[name].v] = rng.normal()
    a = robot.forward_dynamics(q, v, tau)
    _near(robot.inverse_dynamics(q, v, a), tau, 1e-9)
    twin = Twin(text).at(q, v)
    moment = twin.motor_moments
    force = np.array([tau[robot.joints[name].v][0] for name in ("wrist", "right_driver")])
    np.testing.assert_allclose(force @ moment @ twin.data.qvel, tau @ v, rtol=1e-12)


def test_of_contacts_alone_one_line_tells():
    text = BODY.replace('contype="0" conaffinity="0"', "").format(viscosity=0, gravcomp=0, free="")
    with warnings.catch_warnings(record=True, action="always") as told:
        rd.load(text.replace("0.3 -1 -9.81", "0 0 -9.81"))
    (warning,) = told
    assert str(warning.message) == "MJCF without counterpart, left out: contacts of 4 geoms"
