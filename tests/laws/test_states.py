"""States that are none: numbers that are not finite, quaternions of another length than one."""

import functools

import numpy as np
import pytest
from support.bundled import bundled
from support.random_mechanisms import random_mechanism

import robodyn as rd

KINDS = ["revolute", "spherical", "prismatic", "floating", "planar"]
METHODS = {
    "inverse_dynamics": "qva",
    "forward_dynamics": "qva",
    "bias_forces": "qv",
    "gravity_forces": "q",
    "mass_matrix": "q",
    "mass_matrix_inverse": "q",
    "coriolis_matrix": "qv",
    "kinetic_energy": "qv",
    "potential_energy": "q",
    "momentum": "qv",
    "center_of_mass": "q",
    "integrate": "qv",
    "frame_poses": "q",
    "frame_twists": "qv",
    "regressor": "qva",
    "dynamic_regressor": "qva",
}


@pytest.fixture(scope="module")
def robot():
    """A floating base, and joints of many kinds."""
    mechanism = random_mechanism(np.random.default_rng(3), KINDS)
    return rd.load(mechanism, base="floating", passive=False)


@functools.cache
def arrays(robot, batch):
    rng = np.random.default_rng(1)
    q = np.array([robot.random(rng) for _ in range(int(np.prod(batch)))])
    v, a = rng.normal(size=(2, *batch, robot.nv))
    return q.reshape(*batch, robot.nq) if batch else robot.random(rng), v, a


def state(robot, batch=()):
    return dict(zip("qva", arrays(robot, batch), strict=True))


def quaternions(robot):
    joints = [joint for joint in robot.joints.values() if joint.kind.coordinates.quaternion]
    return {joint.name: slice(joint.q.stop - 4, joint.q.stop) for joint in joints}


def stretched(robot, q, factor):
    q = q.copy()
    for k, part in enumerate(quaternions(robot).values()):
        q[..., part] *= factor * (-1) ** k
    return q


@pytest.mark.parametrize("factor", [2.0, 1e-3, 1e-100, 1e100])
@pytest.mark.parametrize("name", METHODS)
def test_a_quaternion_of_any_length_is_a_rotation(robot, name, factor):
    assert len(quaternions(robot)) == 3
    for batch in ((), (3,)):
        given = state(robot, batch)
        expected = getattr(robot, name)(*(given[x] for x in METHODS[name]))
        given["q"] = stretched(robot, given["q"], factor)
        found = getattr(robot, name)(*(given[x] for x in METHODS[name]))
        if name == "integrate":
            found = robot.difference(expected, found)
            expected = np.zeros(robot.nv)
        scale = max(1.0, np.abs(expected).max())
        assert (np.abs(found - expected) <= 1e-12 * scale).all()


def test_differences_and_starts_are_normalised(robot):
    q = state(robot)["q"]
    other = stretched(robot, q, 3.0)
    np.testing.assert_allclose(robot.difference(q, other), 0.0, atol=1e-12)
    for found in (robot.assemble(other), rd.simulate(robot, q0=other, duration=0.0).q[0]):
        for part in quaternions(robot).values():
            np.testing.assert_allclose(np.linalg.norm(found[part]), 1.0, atol=1e-14)
        np.testing.assert_allclose(robot.difference(q, found), 0.0, atol=1e-12)
    np.testing.assert_array_equal(rd.simulate(robot, q0=q, duration=0.0).q[0], q)


@pytest.mark.parametrize("size", [0.0, 1e-200, 1e200])
def test_a_quaternion_of_no_direction_is_refused(robot, size):
    """Names the joint."""
    given = state(robot)
    calls = {
        "inverse_dynamics": lambda q: robot.inverse_dynamics(q, given["v"], given["a"]),
        "forward_dynamics": lambda q: robot.forward_dynamics(q, given["v"], given["a"]),
        "hybrid_dynamics": lambda q: robot.hybrid_dynamics(q, given["v"]),
        "integrate": lambda q: robot.integrate(q, given["v"]),
        "frame_pose": lambda q: robot.frame_pose(q, robot.frame_names[-1]),
        "assemble": lambda q: robot.assemble(q),
        "difference": lambda q: robot.difference(given["q"], q),
        "simulate": lambda q: rd.simulate(robot, q0=q, duration=0.0),
    }
    for joint, part in quaternions(robot).items():
        q = given["q"].copy()
        q[part] = [size, 0.0, 0.0, -size]
        for name, call in calls.items():
            for _ in range(3):  # also once the method is bound
                with pytest.raises(
                    rd.ShapeError, match=f"quaternion x, y, z, w of joint '{joint}'"
                ):
                    pytest.fail(f"{name}: {call(q)}")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", METHODS)
def test_methods_refuse_what_is_not_finite(arm, name, value):
    """Wherever it reaches the result; the first call, bound calls, single precision, batches."""
    method = getattr(arm, name)
    for dtype in (float, np.float32):
        for batch in ((), (1,), (2,), (40,), (3, 500)):
            given = {key: x.astype(dtype) for key, x in state(arm, batch).items()}
            method(*(given[x] for x in METHODS[name]))
            for which in METHODS[name]:
                x = given[which].copy()
                place = (*(n // 2 for n in batch), 3)
                x[place] = value
                arguments = [x if key == which else given[key] for key in METHODS[name]]
                own = "dv" if name == "integrate" and which == "v" else which
                own = "tau" if name == "forward_dynamics" and which == "a" else own
                with pytest.raises(
                    rd.ShapeError, match=rf"{own}\[3\] is {value} \(joint '.*'\)"
                ) as e:
                    method(*arguments)
                assert e.value.name == own
                shown = str(list(place[:-1]))
                assert (f"in state {shown} of the batch" in str(e.value)) == bool(batch)
                expected = method(*(given[x] for x in METHODS[name]))
                assert np.isfinite(expected).all()


def test_out_is_no_way_around(arm):
    given = state(arm)
    out = np.zeros(arm.nv)
    arm.inverse_dynamics(**given, out=out)
    with pytest.raises(rd.ShapeError, match="v\\[0\\] is nan"):
        arm.inverse_dynamics(given["q"], [np.nan] * 7, given["a"], out=out)


def test_functions_pass_on_what_is_not_finite(arm):
    f = arm.function("inverse_dynamics")
    given = state(arm)
    assert np.isnan(f(given["q"], given["v"] * np.nan, given["a"])).any()
    assert np.isnan(f(np.zeros((5, 7)), given["v"] * np.nan, given["a"])).any()


def test_wrenches_that_are_not_finite(arm):
    given = state(arm)
    wrench = np.array([0.0, 0.0, np.nan, 0.0, 0.0, 0.0])
    for _ in range(2):
        with pytest.raises(rd.ShapeError, match=r"\[2\] is nan") as error:
            arm.inverse_dynamics(**given, wrenches={arm.link_names[-1]: wrench})
        assert arm.link_names[-1] in str(error.value)


def test_differences_of_what_is_not_finite(arm):
    q = np.zeros((2, arm.nq))
    q[1, 2] = np.nan
    with pytest.raises(rd.ShapeError, match=r"q1\[2\] is nan .*in state \[1\]"):
        arm.difference(np.zeros(arm.nq), q)


@pytest.mark.parametrize("calls", [1, 2])
def test_results_that_overflow_are_refused(arm, calls):
    """Finite numbers whose results are not, also in calls that go straight to machine code."""
    given = state(arm)
    q, fast = given["q"], given["v"] * 1e200
    for _ in range(calls):
        with pytest.raises(rd.ShapeError, match=r"kinetic_energy of .* in v overflow") as caught:
            arm.kinetic_energy(q, fast)
        assert caught.value.name == "v"
        with pytest.raises(rd.ShapeError, match=r"regressor of .* overflow"):
            arm.regressor(q, fast, fast)
        with pytest.raises(rd.ShapeError, match=r"forward_dynamics of .*states 1 of the batch"):
            arm.forward_dynamics(q, np.stack([0.0 * fast, fast]), 0.0 * fast)
        single = q.astype("f4"), (given["v"] * 1e20).astype("f4")
        with pytest.raises(rd.ShapeError, match="overflow in single precision"):
            arm.kinetic_energy(*single)


#: Methods by their arguments: those that have speeds, accelerations and forces are given huge ones.
OF_SPEEDS = {
    "qv": ("bias_forces", "consistent_velocity", "coriolis_matrix", "frame_twists", "loop_bias",
           "kinetic_energy", "momentum", "passive_forces", "joint_velocities", "steady_motion"),
    "qva": ("consistent_acceleration", "inverse_dynamics", "joint_wrenches", "motor_torques",
            "regressor"),
    "qvt": ("forward_dynamics", "constrained_dynamics"),
    "qvf": ("frame_twist", "frame_jacobian_dot"),
}  # fmt: skip


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("size", [1e308, 1e154])
@pytest.mark.parametrize("coordinates", ["tree", "minimal"])
@pytest.mark.parametrize("name", ["arm7", "palletizer", "four_bar"])
@pytest.mark.parametrize("large", ["vat", "v", "a", "t"])
def test_no_method_returns_what_has_overflown(name, coordinates, size, large):
    """Neither at the first call, nor at those that go straight to machine code, nor in a batch."""
    robot = rd.load(name, coordinates=coordinates)
    q, rest = robot.neutral(), np.zeros(robot.nv)
    values = {"q": q, "v": rest, "a": rest, "t": rest, "f": robot.link_names[-1]}
    values |= dict.fromkeys(large, np.full(robot.nv, size))
    refused = 0
    for letters, methods in OF_SPEEDS.items():
        one = [values[letter] for letter in letters]
        many = [np.tile(x, (40, 1)) if isinstance(x, np.ndarray) else x for x in one]
        for method in methods:
            for given in (one, one, one, *([many] if method != "steady_motion" else [])):
                try:
                    found = getattr(robot, method)(*given)
                except rd.RobodynError:
                    refused += 1
                    continue
                arrays = found
                if method == "constrained_dynamics":
                    arrays = {"a": found.a, "multipliers": found.multipliers}
                arrays = [arrays[x] for x in arrays] if hasattr(arrays, "items") else [arrays]
                arrays = [found.q, found.v] if method == "steady_motion" else arrays
                assert all(np.isfinite(x).all() for x in arrays), method
    assert refused > (20 if size == 1e308 else 5) or large != "vat"


def test_differences_that_overflow(arm):
    far = np.full(arm.nq, 1.5e308)
    if not arm.model.has_quaternions:
        with pytest.raises(rd.ShapeError, match=r"difference of .* is not finite"):
            arm.difference(-far, far)


def test_large_arguments_that_do_not_overflow(arm):
    """They take the slow path, and give what equal ones of a batch give."""
    q, fast = arm.neutral(), np.full(arm.nv, 1e70)
    for _ in range(3):
        one = arm.frame_twists(q, fast)
        np.testing.assert_array_equal(one, arm.frame_twists(np.tile(q, (40, 1)), fast)[7])
        single = arm.frame_twists(q.astype("f4"), np.full(arm.nv, 1e20, "f4"))
        assert single.dtype == np.float32 and np.isfinite(single).all()


def test_a_map_without_a_derivative():
    def slide(q):
        return [[1, 0, 0, (q[0] + 1.0) ** 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]

    links = rd.Link("base"), rd.Link("block", rd.Inertia(2.0))
    joint = rd.Joint("slide", "map", "base", "block", map=rd.JointMap(1, slide))
    robot = rd.load(rd.Mechanism("edge", links, (joint,)), allow_unphysical=True)
    for _ in range(3):
        with pytest.raises(rd.ShapeError, match="mass_matrix of 'edge' is not finite: a joint map"):
            robot.mass_matrix([-1.0])


def test_numbers_that_no_result_needs_are_refused_at_every_call():
    q, links = np.ones(7), bundled("arm7").link_names
    for batch in ((), (3,), (400,)):
        robot = bundled("arm7")
        for wrong in (np.nan, np.inf):
            x = np.broadcast_to(q, (*batch, 7)).copy()
            x[(*(n // 2 for n in batch), 6)] = wrong
            for ask in (
                lambda x, robot=robot: robot.frame_pose(x, links[2]),
                lambda x, robot=robot: robot.mass_matrix(x),
                lambda x, robot=robot: robot.consistent_velocity(x, q),
            ):
                for _ in range(2):
                    for given in (x, x[..., ::-1][..., ::-1], x.tolist()):
                        with pytest.raises(rd.ShapeError, match=r"q\[.*6\]"):
                            ask(given)
                    ask(np.nan_to_num(x, posinf=0.0))
