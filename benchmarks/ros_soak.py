"""Ten minutes of a simulated robot on ROS topics under a flood of commands.

Counts states that were missed by a listener in a process of its own, publications that came late,
and the memory of the simulation. Needs rclpy: ``python benchmarks/ros_soak.py --minutes 10``.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
import time

#: Memory may grow by this [MB] after the first minute (or tenth part).
GROWTH = 5.0


def memory(pid: int) -> float:
    """Resident memory of a process [MB]."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def flood(rate: float) -> None:
    import rclpy
    from std_msgs.msg import Float64MultiArray

    rclpy.init()
    node = rclpy.create_node("flood")
    publisher = node.create_publisher(Float64MultiArray, "/robodyn/commands", 1)
    good, bad = Float64MultiArray(data=[0.0] * 6), Float64MultiArray(data=[0.0])
    start, sent = time.monotonic(), 0
    while True:
        due = int((time.monotonic() - start) * rate)
        for _ in range(min(due - sent, 200)):
            publisher.publish(bad if sent % 100 == 0 else good)
            sent += 1
        sent = max(sent, due)
        time.sleep(0.001)


def soak(minutes: float, rate: float, flood_rate: float, robot: str) -> int:
    import rclpy
    from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
    from sensor_msgs.msg import JointState
    from std_msgs.msg import UInt64

    latched = QoSProfile(
        depth=1,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
        reliability=ReliabilityPolicy.RELIABLE,
    )
    simulation = subprocess.Popen(
        [sys.executable, "-m", "robodyn", "publish", robot, "--controller", "gravity",
         "--rate", str(rate)]
    )  # fmt: skip
    flooding = subprocess.Popen([sys.executable, __file__, "--flood", str(flood_rate)])
    stamps: list[int] = []
    late = [0]
    try:
        rclpy.init()
        node = rclpy.create_node("soak")
        node.create_subscription(
            JointState,
            "/joint_states",
            lambda m: stamps.append(10**9 * m.header.stamp.sec + m.header.stamp.nanosec),
            QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE),
        )
        node.create_subscription(
            UInt64, "/robodyn/overruns", lambda m: late.__setitem__(0, m.data), latched
        )
        while not stamps:
            rclpy.spin_once(node, timeout_sec=1.0)
        sizes, end, shown = [], time.monotonic() + 60.0 * minutes, 0.0
        while time.monotonic() < end:
            rclpy.spin_once(node, timeout_sec=0.1)
            if time.monotonic() - shown > 6.0 * minutes:
                shown = time.monotonic()
                sizes.append(memory(simulation.pid))
                print(f"{len(stamps)} states, {late[0]} late, {sizes[-1]:.1f} MB", flush=True)
        alive = simulation.poll() is None
    finally:
        flooding.kill()
        simulation.terminate()
        simulation.wait(20)
    return report(stamps, late[0], sizes, rate, alive)


def report(stamps: list[int], late: int, sizes: list[float], rate: float, alive: bool) -> int:
    gaps = [b - a for a, b in itertools.pairwise(stamps)]
    seconds = 1e-9 * (stamps[-1] - stamps[0])
    expected = round(seconds * rate) + 1
    missed = expected - len(stamps)
    growth = sizes[-1] - sizes[1] if len(sizes) > 2 else 0.0
    print(f"{seconds:.0f} s, {len(stamps)} states received of {expected} periods; {late} came late")
    print(f"missed: {max(missed, 0)}; longest gap {max(gaps) / 1e6:.1f} ms")
    print(f"memory grew by {growth:.2f} MB; simulation {'alive' if alive else 'died'}")
    good = alive and missed <= 1 and growth < GROWTH
    print("passed" if good else "FAILED")
    return 0 if good else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=200.0, help="of publication, Hz")
    parser.add_argument("--flood-rate", type=float, default=10000.0, help="of commands, Hz")
    parser.add_argument("--robot", default="puma560")
    parser.add_argument("--flood", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    os.environ.setdefault("ROS_DOMAIN_ID", "77")
    if arguments.flood:
        flood(arguments.flood)
    return soak(arguments.minutes, arguments.rate, arguments.flood_rate, arguments.robot)


if __name__ == "__main__":
    sys.exit(main())
