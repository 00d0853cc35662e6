"""Limits of joints that a simulated robot behind commands keeps: own, of followers, of loops."""

import numpy as np
import pytest
from support.engines import engine

import robodyn as rd
from robodyn.ros import TrajectoryContent, TrajectoryPoint, trajectory_paths

BODY = """<inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""


def chain(lower=-1.0, upper=1.0, velocity=50.0, mimic="", mimic_limits=(-1.0, 1.0)):
    """A lever on a hub; with ``mimic`` a hand that follows it."""
    hand = f"""<link name="hand">{BODY}</link><joint name="grip" type="revolute">
      <parent link="lever"/><child link="hand"/><axis xyz="0 1 0"/><mimic joint="hub" {mimic}/>
      <limit lower="{mimic_limits[0]}" upper="{mimic_limits[1]}" effort="9"
      velocity="20"/></joint>"""
    return rd.load(
        f"""<robot name="chain"><link name="post"/><link name="lever">{BODY}</link>
        <joint name="hub" type="revolute"><parent link="post"/><child link="lever"/>
        <axis xyz="0 1 0"/><limit lower="{lower}" upper="{upper}" effort="9000"
        velocity="{velocity}"/></joint>{hand if mimic else ""}</robot>"""
    )


def four_bar(**limits):
    """A crank, a coupler and a rocker, of which joints have limits (lower, upper)."""

    def limit(lower, upper):
        return f'<limit lower="{lower}" upper="{upper}" effort="900" velocity="90"/>'

    def joint(name, parent, child, at):
        return f"""<joint name="{name}" type="revolute"><parent link="{parent}"/>
          <child link="{child}"/><origin xyz="{at}"/><axis xyz="0 1 0"/>
          {limit(*limits.get(name, (-50.0, 50.0)))}</joint>"""

    links = "".join(f'<link name="{name}">{BODY}</link>' for name in ("crank", "coupler", "rocker"))
    return rd.load(
        f"""<robot name="four_bar"><link name="post"/>{links}
        {joint("drive", "post", "crank", "0 0 0")}{joint("pin", "crank", "coupler", "0.1 0 0")}
        {joint("pivot", "post", "rocker", "0.4 0 0")}
        <loop name="tip" type="revolute">
        <predecessor link="coupler"><origin xyz="0.4 0 0.1"/></predecessor>
        <successor link="rocker"><origin xyz="0.05 0 0.3"/></successor>
        <axis xyz="0 1 0"/>{limit(*limits.get("tip", (-50.0, 50.0)))}</loop></robot>"""
    )


def points(*rows):
    return TrajectoryContent(("hub",), tuple(TrajectoryPoint(t, *map(tuple, x)) for t, *x in rows))


def taken(robot, content):
    try:
        return trajectory_paths(robot, content, [0.0], [0.0])
    except rd.PathError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize("fields", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_a_path_is_refused_if_and_only_if_it_leaves_a_limit_somewhere(fields, seed):
    """Against samples of the path that a robot without limits is given."""
    rng, count = np.random.default_rng(seed), 0
    free = chain(-1e3, 1e3, 1e3)
    for _ in range(8):
        n = int(rng.integers(1, 5))
        times = np.cumsum(rng.uniform(0.2, 1.0, n))
        rows = rng.uniform(-0.5, 0.5, (n, 3)) * [1.0, 2.0, 4.0]
        rows[-1, 1:] = 0.0
        content = points(*((t, *row[:fields, None]) for t, row in zip(times, rows, strict=True)))
        paths, duration = taken(free, content)
        at = [np.ravel(paths["hub"](t)) for t in np.linspace(0.0, duration, 4001)]
        least, most = np.min(at, axis=0)[0], np.max(at, axis=0)[0]
        fastest = np.abs(at).max(axis=0)[1]
        for gap in (1e-4, -1e-4):
            limits = [(-9.0, 9.0, fastest + gap)]
            limits += [(least - gap, 9.0, 1e3)] * bool(least < -1e-3)  # it may start beyond
            limits += [(-9.0, most + gap, 1e3)] * bool(most > 1e-3)
            for each in limits:
                assert (taken(chain(*each), content) is not None) == (gap > 0.0)
            count += len(limits)
    assert count > 30


def test_a_refusal_names_where_and_its_advice_helps():
    corner = [(0.5, 0.98), (0.7, 0.98), (2.0, 0.0)]
    with pytest.raises(rd.PathError, match=r"'hub' would reach 1\.02.*velocities of zero") as error:
        trajectory_paths(chain(), points(*((t, [x]) for t, x in corner)), [0.0], [0.0])
    assert 0.5 < error.value.time < 0.7 and error.value.joint == "hub"
    trajectory_paths(chain(), points(*((t, [x], [0.0]) for t, x in corner)), [0.0], [0.0])


def test_a_joint_beyond_its_limit_may_come_back_and_no_farther():
    back, out = points((1.0, [0.5])), points((1.0, [1.5], [0.0]))
    once_more = points((1.0, [0.5], [0.0]), (2.0, [1.1], [0.0]))
    trajectory_paths(chain(), back, [1.2], [0.0])
    for content, v in ((out, 0.0), (back, 2.0), (once_more, 0.0)):
        with pytest.raises(rd.PathError, match="beyond 1"):
            trajectory_paths(chain(), content, [1.2], [v])


def test_the_acceleration_of_a_point_at_time_zero_counts():
    first, last = (0.0, [0.0], [0.0], [5.0]), (1.3, [0.6], [0.0], [0.0])
    content = points(first, (0.6, [0.5], [0.4], [-1.0]), last)
    paths, _ = trajectory_paths(chain(), content, [0.0], [0.0])
    A = np.array([[0.6**k * c for k, c in zip((p, p + 1, p + 2), f, strict=True)]
                  for p, f in ((3, (1, 1, 1)), (2, (3, 4, 5)), (1, (6, 12, 20)))])  # fmt: skip
    k = np.linalg.solve(A, [0.5 - 0.5 * 5.0 * 0.36, 0.4 - 5.0 * 0.6, -1.0 - 5.0])
    for t in (0.0, 0.25, 0.5):
        x, _, a = np.ravel(paths["hub"](t))
        assert x == pytest.approx(2.5 * t * t + k @ [t**3, t**4, t**5], abs=1e-12)
        assert a == pytest.approx(5.0 + k @ [6 * t, 12 * t**2, 20 * t**3], abs=1e-9)


@pytest.mark.parametrize(
    "mimic, limits, inside, outside",
    [
        ('multiplier="2" offset="0.1"', (-1.0, 1.0), 0.449, 0.451),
        ('multiplier="-2"', (-1.0, 0.5), 0.499, 0.501),
        ('multiplier="-2"', (-1.0, 0.5), -0.249, -0.251),
        ('multiplier="0.5"', (-0.2, 9.0), -0.399, -0.401),
    ],
)
def test_joints_are_not_driven_where_those_that_follow_leave_their_limits(
    mimic, limits, inside, outside
):
    robot = chain(mimic=mimic, mimic_limits=limits)
    made, _ = engine(robot)
    with pytest.raises(rd.PathError, match="grip"):
        made.follow(points((1.0, [outside], [0.0])))
    made.follow(points((1.0, [inside], [0.0])))
    for interface, value in (("position", outside), ("velocity", np.sign(outside))):
        made, said = engine(robot, ["hub"], interfaces=interface, command_timeout=10.0)
        made.command([value])
        for _ in range(200):
            made.advance(10)
            x = robot.joint_positions(made.q)["grip"]
            assert limits[0] - 1e-9 <= x <= limits[1] + 1e-9
        assert made.q[0] == pytest.approx(inside, abs=3e-3)
        assert any("limit" in text for text in said), said


def test_a_follower_has_a_top_speed():
    robot = chain(mimic='multiplier="-4"', mimic_limits=(-9.0, 9.0))  # 20 rad/s
    content = points((0.2, [0.5], [4.9]), (0.4, [0.98], [0.0]))
    trajectory_paths(chain(), content, [0.0], [4.9])
    with pytest.raises(rd.PathError, match=r"speeds of 'hub'.*grip"):
        trajectory_paths(robot, points((0.2, [0.5], [5.1]), (0.4, [0.98], [0])), [0.0], [4.9])


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", ["tree", "minimal"])
@pytest.mark.parametrize("joint", ["pin", "pivot", "tip"])
def test_joints_of_loops_are_not_driven_beyond_their_limits(joint, coordinates):
    """A whole turn of the crank is too much for the others; half of the way is not."""
    free = four_bar()
    first = q = free.neutral()
    found = []
    for turn in np.linspace(0.0, 2.5, 51):
        q = free.assemble(np.r_[first[0] + turn, q[1:]], hold=["drive"], near=q)
        found.append(float(free.joint_positions(q)[joint]))
    way = np.array(found) - found[0]
    side = 1.0 if abs(way.max()) > abs(way.min()) else -1.0
    reach = float((side * way).max())
    edge = sorted((found[0] + side * 0.6 * reach, found[0] - side * 2.0))
    passed = np.linspace(0.0, 2.5, 51)[int((side * way > 0.6 * reach).argmax())]
    robot = four_bar(**{joint: edge})
    if coordinates == "minimal":
        robot = rd.load(robot.mechanism, coordinates="minimal")
    made, said = engine(robot, ["drive"])
    start = float(made.q[0])
    assert start == pytest.approx(first[0], abs=1e-9)
    with pytest.raises(rd.PathError, match=f"{joint} would leave its limit"):
        made.follow(TrajectoryContent(("drive",), (TrajectoryPoint(2.0, (start + 2.5,)),)))
    made.follow(TrajectoryContent(("drive",), (TrajectoryPoint(2.0, (start + passed - 0.1,)),)))
    for interface, value in (("position", start + 2.5), ("velocity", 1.5)):
        made, said = engine(robot, ["drive"], interfaces=interface, command_timeout=10.0)
        made.command([value])
        for _ in range(200):
            made.advance(10)
            x = float(robot.joint_positions(made.q)[joint])
            assert edge[0] - 1e-9 <= x <= edge[1] + 1e-9
        assert made.q[0] - start == pytest.approx(passed, abs=0.06)
        assert any(f"{joint} would leave its limit" in text for text in said), said


def test_joints_that_forces_move_pass_limits_which_is_told_once():
    made, said = engine(chain(-0.5, 0.5, 3.0), ["hub"], command_timeout=10.0)
    made.command([20.0])
    for _ in range(40):
        made.advance(25)
    assert made.q[0] > 0.5
    kinds = [" ".join(text.split()[:8]) for text in said if "leaves a limit" in text]
    assert sorted(kinds) == [
        f"a joint leaves a limit: the {limit} of" for limit in ("position", "velocity")
    ]


def test_speed_commands_end_at_limits_of_position():
    made, said = engine(rd.load("puma560"), interfaces="velocity", command_timeout=100.0)
    for _ in range(5):  # again, there
        made.command([0.0, 0.9, 0.0, 0.0, 0.0, 0.0])
        made.advance(1500)
        assert made.q[1] <= made.robot.upper_limits[1] + 1e-9
    assert made.q[1] == pytest.approx(made.robot.upper_limits[1], abs=2e-3)
    assert len([text for text in said if "joint2 would leave its limit" in text]) == 1
    made.command([0.0, -0.9, 0.0, 0.0, 0.0, 0.0])
    made.advance(500)
    assert made.q[1] < made.robot.upper_limits[1] - 0.3


@pytest.mark.parametrize(
    "rows",
    [
        [(1.0, [1e300]), (1.000000001, [-1e300])],
        [(1.0, [0.5], [1e300]), (2.0, [0.5], [0.0])],
        [(1.0, [0.5], [1.0], [1e308]), (2.0, [0.5], [0.0], [0.0])],
        [(1e-9, [0.1]), (1e300, [0.2])],
        [(5e-324, [0.1])],
        [(1.0, [1e7])],
    ],
)
def test_huge_numbers_in_trajectories_are_refused(rows):
    made, _ = engine(chain(-1e40, 1e40, 0.0))
    with pytest.raises(rd.RobodynError):
        made.follow(points(*rows))
    made.advance(10)


@pytest.mark.parametrize("interface", ["position", "velocity"])
@pytest.mark.parametrize("value", [1e300, -1e300, 1e7])
def test_huge_positions_and_speeds_are_refused(interface, value):
    made, _ = engine(chain(-1e40, 1e40, 0.0), ["hub"], interfaces=interface)
    with pytest.raises(rd.ShapeError, match="beyond 1e"):
        made.command([value])
    made.advance(10)
    assert made.q[0] == 0.0
