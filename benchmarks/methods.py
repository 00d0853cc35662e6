"""Time of one call of all methods of a robot, on a tree, a planar and a spatial linkage."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import robodyn as rd

rd.set_compilation("eager")  # calls are timed

#: What is called, on a robot ``r`` in a state ``q, v`` with accelerations ``a`` and forces ``tau``.
METHODS = {
    "forward_dynamics": "r.forward_dynamics(q, v, tau)",
    "forward_dynamics, wrenches": "r.forward_dynamics(q, v, tau, wrenches=wrenches)",
    "inverse_dynamics": "r.inverse_dynamics(q, v, a)",
    "hybrid_dynamics": "r.hybrid_dynamics(q, v, controlled=controlled)",
    "hybrid_dynamics, arrays": "r.hybrid_dynamics(q, v, controlled=controlled, tau=tau)",
    "hybrid_dynamics, 100 states": "r.hybrid_dynamics(Q, V, controlled=several)",
    "driven_dynamics": "r.driven_dynamics(q, v, one, free, speeds)",
    "constrained_dynamics": "r.constrained_dynamics(q, v, tau)",
    "derivatives, forward": 'r.derivatives("forward_dynamics", q, v, tau)',
    "derivatives, inverse": 'r.derivatives("inverse_dynamics", q, v, a)',
    "derivatives, hybrid": 'r.derivatives("hybrid_dynamics", q, v, None, controlled=controlled)',
    "linearize": "r.linearize(q, v, tau)",
    "joint_wrenches": "r.joint_wrenches(q, v, a)",
    "joint_wrenches, controlled": "r.joint_wrenches(q, v, controlled=controlled)",
    "measure": "measuring.measure(q, v, a)",
    "joint_positions": "r.joint_positions(q)",
    "joint_velocities": "r.joint_velocities(q, v)",
    "motor_torques": "r.motor_torques(q, v, a)",
    "motor_power": "r.motor_power(q, v, a)",
    "impact": "r.impact(q, v, link, point, direction)",
    "impact, sticking": "r.impact(q, v, link, point, None)",
    "impact, friction": "r.impact(q, v, link, point, direction, friction=0.3)",
    "impact, particle": "r.impact(q, v, link, point, None, against=particle)",
    "impact, link": "r.impact(q, v, link, point, None, against=(r.link_names[1], point))",
    "impact, controlled": "r.impact(q, v, link, point, None, against=particle, controlled=joints)",
    "simultaneous_impacts": "r.simultaneous_impacts(q, v, [hit])",
    "impact_derivatives": "r.impact_derivatives(q, v, link, point, direction)",
    "apparent_mass": "r.apparent_mass(q, link, point, direction)",
    "impulses": "r.impulses(q, v, wrenches)",
    "impact_tensors": "r.impact_tensors(q, link, point)",
    "latch": "r.latch(q, v, joints)",
    "consistent_velocity": "r.consistent_velocity(q, v)",
    "consistent_velocity, held": "r.consistent_velocity(q, v, hold=[*joints])",
    "consistent_acceleration": "r.consistent_acceleration(q, v, a)",
    "closed_state": "r.closed_state(q, v)",
    "check_state": "r.check_state(q, v)",
    "assemble": "r.assemble(q)",
    "loop_gaps": "r.loop_gaps(q)",
    "loop_rank": "r.loop_rank(q)",
    "loop_rank, distance": "r.loop_rank(q).distance",
    "loop_rank, rank": "r.loop_rank(q).rank",
    "mobility": "r.mobility(q)",
    "operational_inertia": "r.operational_inertia(q, link)",
    "manipulability": "r.manipulability(q, link)",
    "random": "r.random(0)",
    "mass_matrix": "r.mass_matrix(q)",
    "mass_matrix_inverse": "r.mass_matrix_inverse(q)",
    "bias_forces": "r.bias_forces(q, v)",
    "gravity_forces": "r.gravity_forces(q)",
    "coriolis_matrix": "r.coriolis_matrix(q, v)",
    "passive_forces": "r.passive_forces(q, v)",
    "gear_friction": "r.gear_friction(q, v, tau)",
    "motor_currents": "r.motor_currents(q, tau)",
    "ground_contacts": "r.ground_contacts(q, v)",
    "center_of_mass": "r.center_of_mass(q)",
    "kinetic_energy": "r.kinetic_energy(q, v)",
    "potential_energy": "r.potential_energy(q)",
    "elastic_energy": "r.elastic_energy(q)",
    "elastic_forces": "r.elastic_forces(q)",
    "momentum": "r.momentum(q, v)",
    "centroidal_matrix": "r.centroidal_matrix(q)",
    "regressor": "r.regressor(q, v, a)",
    "dynamic_regressor": "r.dynamic_regressor(q, v, a)",
    "frame_pose": "r.frame_pose(q, link)",
    "frame_poses": "r.frame_poses(q)",
    "frame_twist": "r.frame_twist(q, v, link)",
    "frame_twists": "r.frame_twists(q, v)",
    "frame_acceleration": "r.frame_acceleration(q, v, a, link)",
    "frame_jacobian": "r.frame_jacobian(q, link)",
    "frame_jacobians": "r.frame_jacobians(q)",
    "frame_jacobian_dot": "r.frame_jacobian_dot(q, v, link)",
    "integrate": "r.integrate(q, v)",
    "difference": "r.difference(q, q)",
    "coordinate_rates": "r.coordinate_rates(q, v)",
    "tangent_rate": "r.tangent_rate(v, v)",
    "neutral": "r.neutral()",
    "start": "r.start()",
    "loop_residual": "r.loop_residual(q)",
    "loop_jacobian": "r.loop_jacobian(q)",
    "loop_bias": "r.loop_bias(q, v)",
    "loop_velocity_offset": "r.loop_velocity_offset(q)",
    "branch_sign": "r.branch_sign(q)",
    "dependent_positions": "r.dependent_positions(q)",
    "expand": "r.expand(q)",
    "expand_velocity": "r.expand_velocity(q, v)",
    "expand_acceleration": "r.expand_acceleration(q, v, a)",
    "speed_map": "r.speed_map(q)",
    "torque_map": "r.torque_map(q)",
    "actuation_matrix": "r.actuation_matrix(q)",
    "function": 'r.function("mass_matrix")',
    "inverse_kinematics": "r.inverse_kinematics({link: pose}, q0=q)",
    "contact_forces": "held.contact_forces(q, zeros, zeros, inverse)",
    "acceleration_for": "r.acceleration_for(task, q, zeros, limits=False)",
    "velocity_for": "r.velocity_for(task, q, dt=0.01)",
}

#: Methods that make another robot, look at whole mechanisms, or search for long.
NOT_TIMED = (
    "dh_table",
    "at", "base_parameters", "equilibrium", "of_rows", "plot", "reduced", "steady_motion", "with_",
)  # fmt: skip

#: A tree, a planar and a spatial linkage.
ROBOTS: Mapping[str, Callable[[], Any]] = {
    "arm7": lambda: rd.load("arm7"),
    "four_bar": lambda: rd.load("four_bar"),
    "palletizer": lambda: rd.load("palletizer"),
    "delta": lambda: rd.load("delta"),
}


def arguments(robot: Any) -> dict[str, Any]:
    """A state of a robot, and what else its methods are given."""
    rng = np.random.default_rng(1)
    q = robot.random(1)
    v = robot.consistent_velocity(q, rng.uniform(-1.0, 1.0, robot.nv))
    a = robot.consistent_acceleration(q, v, rng.uniform(-1.0, 1.0, robot.nv))
    names, link = robot.independent_joints, robot.link_names[-1]
    speeds = tuple(range(robot.joints[names[0]].v.start, robot.joints[names[0]].v.stop))
    held = robot.with_(contacts={link: rd.Contact("grip")}, near=q)
    point, direction = np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 0.5])
    J = robot.frame_jacobian(q, link, axes="world")
    offset = robot.frame_pose(q, link)[:3, :3] @ point
    moves = (J[:3] + np.cross(J[3:].T, offset).T) @ v
    return {
        "r": robot,
        "held": held,
        "zeros": np.zeros(robot.nv),
        "inverse": robot.inverse_dynamics(q, np.zeros(robot.nv), np.zeros(robot.nv)),
        "measuring": robot.with_(sensors=[rd.Sensor("imu", at=link), rd.Sensor("momentum")]),
        "q": q,
        "v": v,
        "a": a,
        "tau": np.zeros(robot.nv),
        "wrenches": {link: np.ones(6)},
        "controlled": {names[0]: 1.0},
        "Q": np.repeat(q[None], 100, axis=0),
        "V": np.repeat(v[None], 100, axis=0),
        "several": {names[0]: np.linspace(0.0, 1.0, 100)},
        "speeds": speeds,
        "one": np.ones(len(speeds)),
        "free": np.zeros(robot.nv - len(speeds)),
        "joints": names[:1],
        "pose": robot.frame_pose(q, link),
        "task": rd.Task(robot.frame_pose(q, link), frame=link),
        "particle": rd.PointMass(1.0, [0.1, 0.0, 0.2]),
        "hit": rd.Hit(link, point, -direction if moves @ direction > 0.0 else direction),
        "link": link,
        "point": point,
        "direction": -direction if moves @ direction > 0.0 else direction,
    }


def cost(text: str, names: dict[str, Any], seconds: float) -> float:
    """CPU time of a statement [s], the best of several turns."""
    code = compile(text, text, "eval")
    call = eval(f"lambda: {text}", names)
    eval(code, names)
    start = time.process_time()
    call()
    count = max(1, int(0.1 * seconds / max(time.process_time() - start, 1e-6)))
    best = np.inf
    for _ in range(10):
        start = time.process_time()
        for _ in range(count):
            call()
        best = min(best, (time.process_time() - start) / count)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.2, help="for each number")
    parser.add_argument("--robots", nargs="*", default=[*ROBOTS], choices=[*ROBOTS])
    parser.add_argument("--methods", default="", help="only those with this in their name")
    given = parser.parse_args()
    rd.set_num_threads(1)
    states = [arguments(ROBOTS[name]()) for name in given.robots]
    print(f"| us a call | {' | '.join(given.robots)} |\n|---|{'---|' * len(states)}")
    for label, text in METHODS.items():
        if given.methods in label:
            row = []
            for names in states:
                try:
                    row.append(f"{1e6 * cost(text, names, given.seconds):.2f}")
                except rd.errors.RobodynError as error:
                    row.append(type(error).__name__)
            print(f"| {label} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
