"""A leg of an Extended URDF: as in Pinocchio, in minimal coordinates, with merged hinges."""

import numpy as np
import pytest
from support.extended_leg import write_leg

import robodyn as rd

HIPS = ("motor_hip_z", "motor_hip_x", "motor_hip_y", "motor_knee")


def states(robot, count=3):
    """Closed postures near the neutral one, speeds that fit, and torques of motors."""
    rng = np.random.default_rng(1)
    neutral = robot.neutral()
    for _ in range(count):
        step = 0.15 * robot.consistent_velocity(neutral, rng.normal(size=robot.nv))
        q = robot.assemble(robot.integrate(neutral, step))
        v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
        tau = np.zeros(robot.nv)
        for name in HIPS:
            tau[robot.joints[name].v] = rng.normal(size=1)
        yield q, v, tau


def close(x, y, tolerance):
    np.testing.assert_allclose(x, y, rtol=0.0, atol=tolerance * np.abs(y).max())


@pytest.mark.slow
@pytest.mark.parametrize("gimbals", [False, True])
def test_it_moves_as_in_pinocchio(tmp_path, gimbals):
    pytest.importorskip("pinocchio")
    from oracles.pinocchio_extended import PinocchioExtended

    path = write_leg(tmp_path, gimbals=gimbals)
    robot, there = rd.load(path, passive=False), PinocchioExtended(path)
    assert (robot.nv, robot.dof) == ((17, 8) if gimbals else (21, 6))
    assert {*robot.actuated_joints} == {*HIPS, "motor_ankle1", "motor_ankle2"}
    places = [robot.joints[name].v.start for name in robot.actuated_joints]
    assert places == sorted(set(places))
    for q, v, tau in states(robot):
        a = robot.forward_dynamics(q, v, tau)
        close(a, there.forward_dynamics(robot, q, v, tau), 1e-10)


def test_minimal_coordinates(tmp_path):
    path = write_leg(tmp_path)
    robot, minimal = rd.load(path), rd.load(path, coordinates="minimal")
    assert (minimal.nv, minimal.nc) == (6, 0)
    for q, v, tau in states(robot):
        x, w, force = (
            np.concatenate(
                [given[getattr(robot.joints[name], key)] for name in minimal.joint_names]
            )
            for given, key in ((q, "q"), (v, "v"), (tau, "v"))
        )
        close(minimal.frame_pose(x, "foot"), robot.frame_pose(q, "foot"), 1e-12)
        a = robot.forward_dynamics(q, v, tau)
        own = np.concatenate([a[robot.joints[name].v] for name in minimal.joint_names])
        close(minimal.forward_dynamics(x, w, force), own, 1e-10)


@pytest.mark.slow
def test_merged_hinges(tmp_path):
    path = write_leg(tmp_path, gimbals=True)
    hinged, merged = rd.load(path), rd.load(path, merge_hinges=True)
    balls = [info for info in merged.joints.values() if info.merged]
    assert [ball.merged for ball in balls] == [
        tuple(f"rod{n}_hinge{k}" for k in range(3)) for n in (1, 2)
    ]
    for q, v, tau in states(hinged):
        a = hinged.forward_dynamics(q, v, tau)
        Q, (V, A, force) = merged.neutral(), np.zeros((3, merged.nv))
        for name in set(merged.joint_names) - {ball.name for ball in balls}:
            one, other = hinged.joints[name], merged.joints[name]
            Q[other.q], force[other.v] = q[one.q], tau[one.v]
            V[other.v], A[other.v] = v[one.v], a[one.v]
        for ball in balls:
            seen = {"frame": ball.child, "relative_to": ball.parent}
            R = hinged.frame_pose(q, **seen)[:3, :3]
            R = hinged.frame_pose(np.zeros(hinged.nq), **seen)[:3, :3].T @ R
            sine = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
            w = 0.5 * np.sqrt(1.0 + np.trace(R))
            Q[ball.q] = [*(sine / (2.0 * w)), w]
            V[ball.v] = hinged.frame_twist(q, v, **seen)[3:]
            A[ball.v] = hinged.frame_acceleration(q, v, a, **seen)[3:]
        close(merged.forward_dynamics(Q, V, force), A, 1e-10)
