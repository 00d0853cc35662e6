"""USD that is written moves in Newton as it does here; with Newton in an environment of its own."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd

newton = pytest.importorskip("newton")
warp = pytest.importorskip("warp")
pytest.importorskip("pxr")

DURATION, STEP = 0.1, 1e-3


def read_by_newton(robot, path):
    """The model, and the names of its bodies."""
    warp.config.quiet = True
    rd.convert(robot, path)
    builder = newton.ModelBuilder()
    builder.add_usd(str(path))
    model = builder.finalize(device="cpu")
    return model, [label.rpartition("/")[2] for label in model.body_label]


def moved_by_newton(model):
    """Positions of bodies at the start, after one step and at the end, shape (3, bodies, 3) [m]."""
    solver = newton.solvers.SolverMuJoCo(
        model, use_mujoco_cpu=True, iterations=100, ls_iterations=50, integrator="implicitfast"
    )
    solver.mj_model.eq_solref[:] = 2.0 * STEP, 1.0  # loops as stiff as the step allows
    solver.mj_model.eq_solimp[:, :2] = 0.99, 0.999
    state, other, control = model.state(), model.state(), model.control()
    newton.eval_fk(model, model.joint_q, model.joint_qd, state)
    places = [state.body_q.numpy()[:, :3].copy()]
    for step in range(round(DURATION / STEP)):
        state.clear_forces()
        solver.step(state, other, control, None, STEP)
        state, other = other, state
        if step == 0:
            places.append(state.body_q.numpy()[:, :3].copy())
    return np.array([*places, state.body_q.numpy()[:, :3]])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "delta", "palletizer"])
def test_a_linkage_falls_in_newton_as_here(name, tmp_path):
    """It starts where it is drawn, without a jump, to single precision."""
    robot = rd.load(name)
    model, bodies = read_by_newton(robot, tmp_path / "robot.usda")
    shared = [k for k, body in enumerate(bodies) if body in robot.link_names]
    assert {bodies[k] for k in shared} == {*robot.link_names} & {*bodies}
    start, first, end = moved_by_newton(model)[:, shared]
    run = rd.simulate(robot, duration=DURATION, step=STEP, limits="ignore")
    links = [bodies[k] for k in shared]
    here, there = (
        np.array([robot.frame_pose(q, link)[:3, 3] for link in links]) for q in run.q[[0, -1]]
    )
    way = np.abs(there - here).max()
    assert way > 1e-3
    assert np.abs(start - here).max() < 1e-5
    assert np.abs(first - start).max() < 0.01 * way
    # its step is of first order: one of a hundred counts too much
    assert np.abs(end - there).max() < 0.02 * way
