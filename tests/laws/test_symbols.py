"""Numbers that have names: functions of them are those of robots that have other numbers."""

import dataclasses
import pickle

import numpy as np
import pytest
from support.compiled_c import c_library, pointers

import robodyn as rd

NUMBERS = {"l1": 0.4, "l2": 0.3, "m": 1.5, "k": 3.0, "h": 0.05}
OTHERS = {"l1": 0.45, "l2": 0.2, "m": 3.1, "k": 7.0, "h": -0.03}

#: Files: paths of numbers with their names, and other values of these.
FILES = {
    "puma560": (
        {
            "joint joint3 x": "l1",
            "joint joint4 z": "d4",
            "link link3 x": "c",
            "link link3 ixx": "I",
        },
        {"l1": 0.5, "d4": 0.3, "c": 0.03, "I": 0.07},
    ),
    "four_bar": (
        {
            "joint crank_pin x": "x1",
            "joint rocker_pivot x": "g",
            "joint rocker_end_fixed z": "r",
            "joint rocker_pin x": "cx",
            "link coupler mass": "m",
        },
        {"x1": 0.04, "g": 0.38, "r": 0.25, "cx": 0.27, "m": 2.0},
    ),
}


FILES["satellite"] = ({"link camera mass": "m"}, {"m": 20.0})  # on a clock that is symmetric


def arm(l1, l2, m, k, h):
    """Two links that are not in a plane, and a tool that is fixed to the second."""
    upper = rd.Inertia(2.0, rd.Pose((l1 / 2, 0.02, 0.0)), 0.05, 0, 0, 0.05, 0, 2.0 * l1**2 / 12)
    rod = m * l2 * l2 / 12 + 0.01
    lower = rd.Inertia(m, rd.Pose((0.5 * l2, 0, 0.1), (0.1, 0.2, 0)), 0.02, 0, 0.001, rod, 0, 0.02)
    ground = rd.Inertia(4.0, ixx=0.1, iyy=0.1, izz=0.1)
    bodies = {"base": ground, "upper": upper, "lower": lower}
    links = {**bodies, "tool": rd.Inertia(0.5), "tip": rd.Inertia(0.2)}.items()
    turned = rd.Pose((l1, 0.1, -h), (0.3, 0.4, 0.0))
    joints = (
        rd.Joint("shoulder", "revolute", "base", "upper", rd.Pose((0, 0, 0.3)), (0.0, 0.0, 1.0)),
        rd.Joint("elbow", "revolute", "upper", "lower", turned, (0.0, 1.0, 0.0), stiffness=k),
        rd.Joint("flange", "fixed", "lower", "tool", rd.Pose((l2, h, 0.05), (0.1, 0.0, 0.5))),
        rd.Joint("finger", "fixed", "tool", "tip", rd.Pose((0.1, 0.02, 2 * h))),
    )
    return rd.Mechanism("arm", tuple(rd.Link(*x) for x in links), joints)


def named_arm(**options):
    return rd.load(arm(*(rd.symbol(*x) for x in NUMBERS.items())), **options)


def state(robot, seed=0):
    rng = np.random.default_rng(seed)
    q = robot.random(rng)
    v, tau = rng.normal(size=(2, robot.nv))
    return q, robot.consistent_velocity(q, v) if robot.model.setup.closed else v, tau


#: Numbers that turn joints, and those of springs, stops and rotors; other values of them.
TURNED = {
    **{"roll": 0.3, "pitch": -0.4, "yaw": 0.5, "tilt": 0.2, "x": 0.3, "bend": 0.1},
    **{"k": 40.0, "c": 2.0, "rest": 0.6, "at": 0.1, "J": 0.05, "stop": 500.0, "upper": 0.4},
}
TURNED_OTHERS = {
    **{"roll": -0.2, "pitch": 0.1, "yaw": 0.9, "tilt": -0.3, "x": 0.5, "bend": 0.4},
    **{"k": 10.0, "c": 5.0, "rest": 0.2, "at": -0.2, "J": 0.2, "stop": 900.0, "upper": 0.2},
}


def turned_arm(roll, pitch, yaw, tilt, x, bend, k, c, rest, at, J, stop, upper):
    """Three links whose joints have oblique axes, a tool fixed at an angle, and a spring."""
    rod = rd.Inertia(1.0, rd.Pose((0.1, 0.02, -0.2)), 0.05, 0.001, 0.002, 0.06, -0.003, 0.04)
    names = "base", "one", "two", "three", "tool", "mid", "tip"
    first, second = rd.Pose((0, 0.1, 0.3), (roll, pitch, yaw)), rd.Pose((x, 0, 0), (0, tilt, 0))
    limits = rd.Limits(-1.0, upper)
    joints = (
        rd.Joint("a", "revolute", "base", "one", first, (0.0, 0.0, 1.0), armature=J),
        rd.Joint(
            *("b", "revolute", "one", "two", second, (0.6, 0.8, 0.0)),
            **{"limits": limits, "stop_stiffness": stop, "stop_damping": c},
        ),
        rd.Joint("c", "prismatic", "two", "three", rd.Pose((0, x, 0.1)), (0.0, 1.0, 0.0)),
        rd.Joint("d", "fixed", "three", "tool", rd.Pose((0.1, 0, x), (bend, 0.2, tilt + 0.1))),
        rd.Joint("e", "fixed", "tool", "mid", rd.Pose((0, x / 2, 0.1), (0, 0.3, 2 * bend))),
        rd.Joint("f", "fixed", "mid", "tip", rd.Pose((0.1, x, 0.1), (0.2, 0.3, 0.4))),
    )
    spring = rd.PointSpring("base", (at, 0.5, 0.0), "tip", (0.0, 0.1, at), k, rest, c, "pull")
    return rd.Mechanism(
        "turned", tuple(rd.Link(x, rod) for x in names), joints, link_elements=(spring,)
    )


RESISTANCE = ("damping", "friction")

QUANTITIES = {
    "forward_dynamics": {},
    "joint_wrenches": {},
    "momentum": {},
    "frame_pose": {"frame": "tip"},
}


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_functions_are_those_of_robots_with_other_numbers(base):
    robot, other = named_arm(base=base), rd.load(arm(*OTHERS.values()), base=base)
    assert robot.symbols == NUMBERS
    q, v, tau = state(robot)
    for name, options in QUANTITIES.items():
        f, expected = robot.function(name, symbols=True, **options), other.function(name, **options)
        given = [{"q": q, "v": v}.get(x.name, tau) for x in expected.inputs]
        found = f(*given, *(OTHERS[x] for x in robot.symbols))
        np.testing.assert_allclose(found, expected(*given), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_angles_springs_stops_and_armatures(base):
    symbols = [rd.symbol(*x) for x in TURNED.items()]
    robot = rd.load(turned_arm(*symbols), base=base)
    other = rd.load(turned_arm(*TURNED_OTHERS.values()), base=base)
    assert {*robot.symbols} == {*TURNED}
    q, v, tau = state(robot)
    q[-2] = 0.6  # in its stop
    for name, options in {**QUANTITIES, "potential_energy": {}, "inverse_dynamics": {}}.items():
        f, expected = robot.function(name, symbols=True, **options), other.function(name, **options)
        given = [{"q": q, "v": v}.get(x.name, tau) for x in expected.inputs]
        found = f(*given, *(TURNED_OTHERS[x] for x in robot.symbols))
        np.testing.assert_allclose(found, expected(*given), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("end", ["predecessor", "successor"])
def test_angles_damping_and_places_of_loops(end):
    """Functions of a linkage that is not closed are still equations of its numbers."""

    def linkage(x, yaw, damping):
        pose = {f"X_{end}": rd.Pose((x, 0.2, 0.1), (0.1, 0.2, yaw))}
        rods = [rd.Link(name, rd.Inertia(1.0, ixx=0.1, iyy=0.1, izz=0.1)) for name in "gabc"]
        joints = [rd.Joint(y, "revolute", "g", y, rd.Pose((0.1, 0, 0))) for y in "ab"]
        joints.append(rd.Joint("c", "spherical", "b", "c", rd.Pose((0, 0.3, 0))))
        loop = rd.Loop("l", "universal", "a", "c", **pose, damping=damping)
        return rd.Mechanism("l", tuple(rods), tuple(joints), (loop,))

    given, others = {"x": 0.2, "yaw": 0.3, "damping": 0.4}, {"x": 0.5, "yaw": -0.2, "damping": 2.0}
    robot = rd.load(linkage(*(rd.symbol(*x) for x in given.items())))
    other = rd.load(linkage(*others.values()))
    v, tau = np.arange(robot.nv) - 1.0, np.ones(robot.nv)
    q = robot.integrate(robot.start(), 0.1 * v)
    for name in ("loop_residual", "loop_jacobian", "bias_forces"):
        f, expected = robot.function(name, symbols=True), other.function(name)
        arrays = [{"q": q, "v": v}.get(x.name, tau) for x in expected.inputs]
        found = f(*arrays, *(others[x] for x in robot.symbols))
        np.testing.assert_allclose(found, expected(*arrays), rtol=1e-11, atol=1e-11)


def test_some_symbols_as_inputs():
    """The others are numbers; what stands for a product depends on the chosen one alone."""
    robot = named_arm()
    q, v, a = state(robot)
    whole = robot.function("inverse_dynamics", symbols=True)
    own = robot.symbols
    for names in (("m",), ["h", "l2"], "k"):
        f = robot.function("inverse_dynamics", symbols=names)
        taken = [x.name for x in f.inputs[3:]]
        assert {*taken} == {*names} and taken == [x for x in own if x in names]
        found = f(q, v, a, *(OTHERS[x] for x in taken))
        given = [OTHERS[x] if x in taken else own[x] for x in own]
        np.testing.assert_allclose(found, whole(q, v, a, *given), rtol=1e-11, atol=1e-11)
    assert [x.name for x in robot.function("mass_matrix", symbols=()).inputs] == ["q"]
    with pytest.raises(rd.UnknownNameError, match="no symbol 'n'"):
        robot.function("mass_matrix", symbols=("n",))
    with pytest.raises(rd.ShapeError, match="symbols"):
        robot.function("mass_matrix", symbols=3)


def test_named_angles_of_files():
    """Angles of loops keep their names and, as these loops close, their digits; so do springs."""
    robot = rd.load("four_bar", symbols={"joint rocker_pivot pitch": "tilt"})
    assert robot.symbols == {"tilt": 0.0}
    q = robot.neutral()
    f = robot.function("loop_residual", symbols=True)
    turned = dataclasses.replace
    mechanism = rd.load("four_bar").mechanism
    joints = [
        turned(x, origin=rd.Pose(x.origin.xyz, (0.0, 0.1, 0.0))) if x.name == "rocker_pivot" else x
        for x in mechanism.joints
    ]
    other = rd.load(turned(mechanism, joints=tuple(joints)))
    np.testing.assert_allclose(f(q, 0.1), other.loop_residual(q), atol=1e-12)
    quarter = rd.Pose((0, 0, 0), (rd.symbol("roll", 1.5708), 0, 0))
    joints[1] = turned(joints[1], origin=quarter)
    rolled = rd.load(turned(mechanism, joints=tuple(joints)))
    assert rolled.symbols == {"roll": 1.5708}
    sprung = rd.load("scara", springs={"elbow": (rd.symbol("k", 3.0), 0.1)})
    assert sprung.symbols == {"k": 3.0}
    stops = rd.CompliantStops(rd.symbol("stop", 100.0), rd.symbol("c", 0.2))
    assert rd.load("scara").with_(stops=stops).symbols == {"stop": 100.0, "c": 0.2}
    with pytest.raises(rd.SettingsError, match=r"rotor_inertia"):
        rd.load("scara", actuators={"elbow": rd.Actuator(rotor_inertia=rd.symbol("J", 0.1))})


@pytest.mark.parametrize("name", ["m", "l1", "d"])
def test_derivatives_are_no_numbers_where_the_function_is_none(name):
    """The posture is looked at, which a mass does not enter."""
    paths = {"link coupler mass": "m", "joint crank_pin x": "l1", "joint rocker_pin damping": "d"}
    robot = rd.load("four_bar", symbols=paths)
    q, v, _ = state(robot)
    f, own = robot.function("inverse_dynamics", symbols=True), [*robot.symbols.values()]
    a = robot.forward_dynamics(q, v, np.ones(3))
    slope = f.jacobian(name)
    assert np.isfinite(f(q, v, a, *own)).all() and np.isfinite(slope(q, v, a, *own)).all()
    a[0] += 1.0
    assert np.isnan(f(q, v, a, *own)).any() and np.isnan(slope(q, v, a, *own)).any()


@pytest.mark.parametrize("name", NUMBERS)
def test_derivatives_by_symbols(name):
    robot = named_arm()
    q, v, a = state(robot)
    f, h = robot.function("inverse_dynamics", symbols=True), 1e-6
    ends = [rd.load(arm(**{**NUMBERS, name: NUMBERS[name] + x})) for x in (h, -h)]
    above, below = (robot.inverse_dynamics(q, v, a) for robot in ends)
    found = f.jacobian(name)(q, v, a, *robot.symbols.values())
    np.testing.assert_allclose(found, (above - below) / (2 * h), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("file", FILES)
def test_numbers_of_files(file):
    names, values = FILES[file]
    robot = rd.load(file, symbols=names)
    assert {*robot.symbols} == {*values}
    again = pickle.loads(pickle.dumps(robot))
    assert again.symbols == robot.symbols
    other = rd.load(rd.load(file, symbols=names).model.mechanism)  # a description of its own
    assert other.symbols == robot.symbols
    q, v, tau = state(robot)
    f = robot.function("forward_dynamics", symbols=True)
    expected = robot.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(
        f(q, v, tau, *robot.symbols.values()), expected, rtol=1e-9, atol=1e-9
    )
    slopes = robot.function("mass_matrix", symbols=True)
    for name, x in robot.symbols.items():
        step = 1e-5
        ends = [[*{**robot.symbols, name: x + dx}.values()] for dx in (step, -step)]
        above, below = (slopes(q, *end) for end in ends)
        found = slopes.jacobian(name)(q, *robot.symbols.values())
        np.testing.assert_allclose(found, (above - below) / (2 * step), rtol=1e-6, atol=1e-8)


def test_motors_resist_beside_symbols():
    """Damping and friction of a motor are added to those of its joint, which have names."""
    paths = {f"joint {x} {y}": f"{x}_{y}" for x in ("lift", "spindle") for y in RESISTANCE}
    plain, robot = rd.load("scara"), rd.load("scara", symbols=paths)
    q, v, _ = state(plain)
    own = robot.symbols
    f = robot.function("bias_forces", symbols=True)
    expected = plain.bias_forces(q, v)
    np.testing.assert_allclose(f(q, v, *own.values()), expected, rtol=1e-12)
    more = {**own, "spindle_damping": own["spindle_damping"] + 0.5}
    found = f(q, v, *more.values()) - expected
    np.testing.assert_allclose(found, [0.0, 0.0, 0.0, 0.5 * v[3]], rtol=1e-9, atol=1e-12)
    geared = rd.load("scara", symbols={"joint lift armature": "J"})
    f, M = geared.function("mass_matrix", symbols=True), plain.mass_matrix(q)
    assert geared.symbols == {"J": 0.0} and np.abs(f(q, 0.0) - M).max() < 1e-12
    np.testing.assert_allclose(f(q, 0.3) - M, np.diag([0.0, 0.0, 0.3, 0.0]), atol=1e-12)


@pytest.mark.parametrize("name", RESISTANCE)
def test_joints_that_are_cut_resist(name):
    robot = rd.load("four_bar", symbols={f"joint rocker_pin {name}": "s"})
    mechanism = rd.load("four_bar").mechanism
    *joints, pin = mechanism.joints
    assert pin.name == "rocker_pin" and robot.symbols == {"s": 0.0}
    joints.append(dataclasses.replace(pin, **{name: 0.5}))
    other = rd.load(dataclasses.replace(mechanism, joints=tuple(joints)))
    q, v, tau = state(other)
    found = robot.function("forward_dynamics", symbols=True)(q, v, tau, 0.5)
    np.testing.assert_allclose(found, other.forward_dynamics(q, v, tau), rtol=1e-9)
    assert np.abs(found - robot.forward_dynamics(q, v, tau)).max() > 0.1


@pytest.mark.parametrize("number", ["armature", "stiffness", "stop_stiffness"])
def test_joints_that_are_cut_have_no_springs_and_rotors(number):
    """A name for a zero would promise that another value counts."""
    robot = rd.load("four_bar", symbols={f"joint rocker_pin {number}": "s"})
    with pytest.raises(rd.SettingsError, match=f"'rocker_pin' is cut .* its {number} is zero"):
        robot.function("mass_matrix", symbols=True)


def test_angles_that_turn_rotors():
    """Carriers feel the rotors of SCARA: by their inertia about a known axis, or not at all."""
    paths = {"joint shoulder pitch": "tilt"}
    with pytest.raises(rd.SettingsError, match=r"rotor of joint 'shoulder'.*armature"):
        rd.load("scara", symbols=paths).function("mass_matrix", symbols=True)
    robot = rd.load("scara", symbols=paths, rotor_model="armature")
    mechanism = rd.load("scara").mechanism
    joints = [
        dataclasses.replace(x, origin=rd.Pose(x.origin.xyz, (0.0, 0.3, 0.0)))
        if x.name == "shoulder"
        else x
        for x in mechanism.joints
    ]
    turned = dataclasses.replace(mechanism, joints=tuple(joints))
    other = rd.load(turned, rotor_model="armature")
    q, v, a = state(robot)
    for name in ("inverse_dynamics", "momentum"):
        f = robot.function(name, symbols=True)
        given = [{"q": q, "v": v, "a": a}[x.name] for x in f.inputs[:-1]]
        expected = other.function(name)(*given)
        np.testing.assert_allclose(f(*given, 0.3), expected, rtol=1e-10, atol=1e-12)


def test_loops_close_at_other_lengths():
    names, values = FILES["four_bar"]
    robot = rd.load("four_bar", symbols=names)
    q, _, _ = state(robot)
    residual = robot.function("loop_residual", symbols=True)
    numbers = [values[x] for x in robot.symbols]
    for _ in range(20):
        K = residual.jacobian("q")(q, *numbers)
        q = q - np.linalg.lstsq(K, residual(q, *numbers), rcond=None)[0]
    pin = robot.function("cut_joint_poses", symbols=True)
    assert np.abs(residual(q, *numbers)).max() < 1e-12
    crank, rocker = (
        robot.function("frame_pose", frame=x, symbols=True)(q, *numbers)
        for x in ("coupler", "rocker_end")
    )
    np.testing.assert_allclose(
        crank[[0, 2], :] @ [0.27, 0, 0.12, 1.0], rocker[[0, 2], 3], atol=1e-9
    )
    np.testing.assert_allclose(
        rocker[[0, 2], 3] - [0.38, 0.0], np.hypot(0.07, 0.25) * _unit(rocker)
    )
    assert pin.inputs[-1].name in values


def _unit(X):
    place = X[[0, 2], 3] - [0.38, 0.0]
    return place / np.linalg.norm(place)


def test_what_is_made_of_symbols():
    x, y = rd.symbol("x", 3.0), rd.symbol("y", 2.0)
    made = [x + y, 1 - x, x - 1, 2 * x, x / y, 1 / y, -x, x**2, x**0.5, np.float64(2.0) * x, +x * y]
    expected = [5, -2, 2, 6, 1.5, 0.5, -3, 9, 3**0.5, 6, 6]
    assert [float(z) for z in made] == expected
    for z in made:
        assert {name for name, _ in z.named()} <= {"x", "y"}
        assert z.of({"x": 3.0, "y": 2.0}) == float(z)
        assert pickle.loads(pickle.dumps(z)).made == z.made
    assert (x * y + 1.0).of({"x": 5.0, "y": 7.0}) == 36.0
    for array in (np.ones(2) * x, x * np.ones(2), np.ones(2) / (1 / x), x + np.zeros(2)):
        np.testing.assert_allclose(array, [3.0, 3.0], rtol=1e-15)
        assert array.dtype == float
    with pytest.raises(TypeError):
        x + "1"
    functions = [np.sin(x), rd.cos(y), np.tan(x), np.sqrt(x), abs(-x), np.square(y), np.abs(y)]
    values = [np.sin(3.0), np.cos(2.0), np.tan(3.0), np.sqrt(3.0), 3.0, 4.0, 2.0]
    np.testing.assert_allclose([float(z) for z in functions], values, rtol=1e-15)
    assert [z.named()[0][0] for z in functions] == ["x", "y", "x", "x", "x", "y", "y"]
    assert [float(z.of({"x": 1.0, "y": 1.0})) for z in functions[3:]] == [1.0, 1.0, 1.0, 1.0]
    assert not np.isnan(x) and np.maximum(np.ones(2), x).tolist() == [3.0, 3.0]
    kept = (x * y + x).only({"y"})
    assert float(kept) == 9.0 and kept.of({"y": 1.0}) == 6.0 and kept.named() == [("y", 2.0)]
    assert type((x + 1.0).only({"y"})) is float


@pytest.mark.parametrize(
    "lost",
    [
        np.floor,
        lambda x: np.hypot(x, 1.0),
        lambda x: x % 1.0,
        lambda x: 7 // x,
        lambda x: 2.0**x,
        lambda x: divmod(x, 2),
    ],
)
def test_what_would_lose_a_name_is_refused(lost):
    with pytest.raises(rd.SettingsError, match="lose the name of symbol 'x'"):
        lost(rd.symbol("x", 3.0))


@pytest.mark.parametrize(
    "made",
    [
        lambda x: np.int64(2) * x + np.float32(0.5),
        lambda x: x * np.int64(2) - np.float32(-0.5),
        lambda x: +x / np.float64(0.5) + 0.5,
        lambda x: x ** np.int64(2) + 2.25,
    ],
)
def test_numbers_of_numpy_leave_names(made):
    found = made(rd.symbol("l", 1.5))
    assert isinstance(found, float) and found.named()[0] == ("l", 1.5)
    assert float(found) == pytest.approx(made(1.5))


def test_names_in_latex_and_c():
    robot = named_arm()
    f = robot.function("mass_matrix", symbols=True)
    assert "l_{1}" in f.latex()
    assert "const double *l1" in f.c_source()
    kept = f.latex(constants=robot.symbols)
    assert r"l_{1} &= 0.4 \\" in kept and kept.endswith(f.latex().partition("\n")[2])
    assert r"h &= -0.5" in f.latex(constants={"h": -0.5})


def test_names_as_constants_in_c(tmp_path):
    """A function with constants is that of the robot; those that it does not need are left out."""
    robot = named_arm()
    f = robot.function("mass_matrix", symbols=True)
    constants = {**robot.symbols, "l1": 0.45}
    text = f.c_source("f", constants=constants)
    assert "void f(const double *q, double *M)" in text
    assert "static const double l1 = 0.45;" in text and " k = " not in text
    q, M = np.array([0.3, -0.5]), np.empty((2, 2))
    c_library(tmp_path, text).f(*pointers(q, M))
    np.testing.assert_allclose(M, f(q, *constants.values()), rtol=1e-12)
    assert "static const float l1 = 0.45f;" in f.c_source("f", "float", constants=constants)
    with pytest.raises(rd.UnknownNameError, match="input 'n'"):
        f.c_source(constants={"n": 1.0})
    with pytest.raises(rd.SettingsError, match="'q', an array"):
        f.latex(constants={"q": 1.0})
    with pytest.raises(rd.ShapeError, match="finite"):
        f.c_source(constants={"l1": np.inf})


# -- what is refused ------------------------------------------------------------------------------


def test_a_symbol_with_two_values():
    x, y = rd.symbol("l", 0.4), rd.symbol("l", 0.5)
    with pytest.raises(rd.SettingsError, match=r"'l' has two values, 0\.4 and, .*0\.5"):
        rd.load(arm(x, y, 1.0, 1.0, 0.0))
    with pytest.raises(rd.SettingsError, match="two values"):
        rd.load("scara", symbols={"link upper_arm mass": "m", "link forearm mass": "m"})


def test_symbols_where_none_may_stand():
    axis = (0.0, rd.symbol("s", 0.6), 0.8)
    joint = rd.Joint("j", "revolute", "a", "b", axis=axis)
    links = rd.Link("a"), rd.Link("b", rd.Inertia(1.0, ixx=1.0, iyy=1.0, izz=1.0))
    with pytest.raises(
        rd.SettingsError, match=r"'s' stands in axis\.1 of joint 'j'.* roll, .*turn"
    ):
        rd.load(rd.Mechanism("m", links, (joint,)))
    rotor = rd.Actuator(rotor_inertia=rd.symbol("J", 0.1))
    joint = rd.Joint("j", "revolute", "a", "b")
    with pytest.raises(
        rd.SettingsError, match=r"'J' .* rotor_inertia of the actuator of joint 'j'.*: none"
    ):
        rd.load(rd.Mechanism("m", links, (joint,), actuators=(("j", rotor),)))


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("arm mass", "kind of element"),
        ("link nosuch mass", "nosuch"),
        ("link coupler colour", "colour"),
        ("link rocker_end mass", "without an inertia"),
        ("joint crank_pin", "crank_pin"),
        ("", "kind of element"),
    ],
)
def test_paths_of_no_number(path, error):
    with pytest.raises(rd.RobodynError, match=error):
        rd.load("four_bar", symbols={path: "x"})


def test_functions_that_have_no_symbols():
    q_and_more = "q", "tau", "M", "t"
    for name in q_and_more:
        robot = rd.load("double_pendulum", symbols={"joint elbow x": name})
        quantity = {"tau": "forward_dynamics", "M": "mass_matrix"}.get(name, "bias_forces")
        with pytest.raises(rd.SettingsError, match=f"'{name}' has the name of an array"):
            robot.function(quantity, symbols=True)
    with pytest.raises(rd.SettingsError, match="no number of 'scara' has a name"):
        rd.load("scara").function("mass_matrix", symbols=True)
    tied = rd.Constraint("tie", lambda q: q[0] - q[1], ("shoulder", "elbow"))
    with pytest.raises(rd.SettingsError, match="constraints, forces or joints that are functions"):
        named_arm(constraints=[tied]).function("mass_matrix", symbols=True)
    backward = named_arm(root="tip")
    with pytest.raises(rd.SettingsError, match="from its child to its parent"):
        backward.function("mass_matrix", symbols=True)
    robot = named_arm()
    with pytest.raises(rd.SettingsError, match="parameters=True or by symbols=True"):
        robot.function("inverse_dynamics", symbols=True, parameters=True)
    minimal = rd.load("four_bar", symbols=FILES["four_bar"][0], coordinates="minimal")
    with pytest.raises(rd.SettingsError, match=r"\('cx', 'g', 'r', 'x1'\).*minimal coordinates"):
        minimal.function("mass_matrix", symbols=True)
    assert [x.name for x in minimal.function("mass_matrix", symbols=("m",)).inputs] == ["q", "m"]


@pytest.mark.filterwarnings("ignore::UserWarning")  # of an inertia that no rod has
@pytest.mark.parametrize("name", ["four_bar", "crank_slider", "stewart"])
def test_masses_and_damping_of_linkages_in_minimal_coordinates(name):
    """Against the robot that was loaded with the other numbers."""
    plain = rd.load(name).mechanism
    link = [x for x in plain.links if x.inertia][2]
    joint, mass = plain.joints[0], link.inertia.mass
    paths = {"mass": "m", "x": "c", "ixx": "I"}
    robot = rd.load(
        name,
        coordinates="minimal",
        symbols={
            **{f"link {link.name} {x}": y for x, y in paths.items()},
            f"joint {joint.name} damping": "d",
        },
    )
    new = {"m": 1.1 * mass, "c": 0.03, "I": 1.05 * link.inertia.ixx, "d": 0.7}
    place = dataclasses.replace(link.inertia.origin, xyz=(0.03, *link.inertia.origin.xyz[1:]))
    body = dataclasses.replace(link.inertia, mass=new["m"], ixx=new["I"], origin=place)
    links = (dataclasses.replace(x, inertia=body) if x is link else x for x in plain.links)
    joints = (dataclasses.replace(x, damping=0.7) if x is joint else x for x in plain.joints)
    changed = dataclasses.replace(plain, links=tuple(links), joints=tuple(joints))
    other = rd.load(changed, coordinates="minimal", allow_unphysical=True)
    rng = np.random.default_rng(1)
    q, v, tau = robot.random(1), *(0.5 * rng.normal(size=robot.nv) for _ in range(2))
    assert (
        np.abs(robot.inverse_dynamics(q, v, tau) - other.inverse_dynamics(q, v, tau)).max() > 1e-4
    )
    for quantity, given in {
        "mass_matrix": (q,),
        "forward_dynamics": (q, v, tau),
        "inverse_dynamics": (q, v, tau),
        "coriolis_matrix": (q, v),
        "potential_energy": (q,),
    }.items():
        f = robot.function(quantity, symbols=True)
        found = f(*given, *(new[port.name] for port in f.inputs[len(given) :]))
        expected = getattr(other, quantity)(*given)
        np.testing.assert_allclose(found, expected, atol=1e-9 * max(1, np.abs(expected).max()))


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({"payload": {"tool": rd.Inertia(2.0)}}, {"l1", "l2", "m", "k", "h"}),
        ({"locked": {"shoulder": 0.3}}, {"l1", "l2", "m", "k", "h"}),
        ({"locked": {"elbow": 0.5}}, {"l2", "m"}),
        ({"payload": {"lower": rd.Inertia(2.0)}}, {"l1", "k", "h"}),
        ({"parameters": {"lower.m": 2.3}}, {"l1", "k", "h"}),
    ],
)
def test_copies_keep_names_of_numbers_that_are_whole(change, kept):
    """Else derivatives would be by a part of what a name stands for."""
    copy = named_arm().with_(**change)
    assert {*copy.symbols} == kept
    q, v, a = state(copy)
    f = copy.function("inverse_dynamics", symbols=True)
    expected = copy.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(f(q, v, a, *copy.symbols.values()), expected, rtol=1e-11)
