"""A process in which many threads make the first calls of one robot: ``first_calls.py KIND N``.

It ends with exit code 0 if all threads got the numbers that a single thread gets.
"""

import sys
import threading

import numpy as np

import robodyn as rd

ROBOTS = {
    "tree": lambda: rd.load("arm7"),
    "closed": lambda: rd.load("five_bar"),
    "minimal": lambda: rd.load("four_bar", coordinates="minimal"),
}
CALLS = 20


def results(robot, f, q, v):
    """One call of each way to machine code: methods, a function, states in a batch."""
    many = np.tile(q, (3000, 1))
    a = robot.forward_dynamics(q, v, 0.0 * v)
    return [
        a,
        robot.inverse_dynamics(q, v, a),
        robot.inverse_dynamics(q=q, v=v, a=a),
        robot.mass_matrix(q.tolist()),
        robot.mass_matrix(many)[-1],
        robot.frame_pose(q, robot.frame_names[-1]),
        robot.joint_wrenches(q, v, a)["base"],
        f(q, v),
        f(many[:7], v)[-1],
        robot.function("kinetic_energy")(q, v),
    ]


def main(kind: str, count: int) -> None:
    sys.setswitchinterval(1e-5)
    robot = ROBOTS[kind]()
    q, v = robot.neutral(), np.full(robot.nv, 0.1)
    if robot.nc:
        v = robot.consistent_velocity(q, v)
    f = robot.function("bias_forces")
    gate, found = threading.Barrier(count), []

    def work() -> None:
        gate.wait()
        for _ in range(CALLS):
            last = results(robot, f, q, v)
        found.append(last)

    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = ROBOTS[kind]()
    expected = results(alone, alone.function("bias_forces"), q, v)
    assert len(found) == count
    for got in found:
        for x, y in zip(got, expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
