"""Time from a joint state of driven joints to all joints and poses of links.

That is what a relay computes between messages, and with ``--dds`` the whole way to another node and
back in one process: ``python benchmarks/ros_relay.py --dds``.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

import robodyn as rd
from robodyn.ros import JointStateContent, Relay, RelayTopics
from robodyn.ros.states.throttled_logger import ThrottledLogger

#: Median that a relay at 1 kHz has to keep [us].
ENOUGH = 200.0


def motion(relay: Relay, count: int) -> list[JointStateContent]:
    """Messages at 1 kHz of motors that swing about the neutral posture."""
    names, q = relay.names, relay.robot.neutral()
    start = np.array([q[names.coordinate(name)] for name in names.motors])
    ones = np.ones(len(start))
    return [
        JointStateContent(
            (k // 1000, k % 1000 * 10**6),
            names.motors,
            start + 0.02 * np.sin(2e-3 * k),
            0.04 * np.cos(2e-3 * k) * ones,
            ones,
        )
        for k in range(1, count + 1)
    ]


def computation(name: str, count: int) -> float:
    """Median [us] from message to message."""
    relay = Relay(rd.load(name))
    relay.prepare()
    times = []
    for message in motion(relay, count):
        start = time.perf_counter()
        assert len(relay.complete(message).poses)
        times.append(time.perf_counter() - start)
    return 1e6 * float(np.median(times))


def there_and_back(name: str, count: int, tf: bool) -> float:
    """Median [us] from the message of another node to its answer there, by DDS."""
    from robodyn.ros.dds.node import DdsNode
    from robodyn.ros.dds.relay import DdsRelay

    domain = 77
    log = ThrottledLogger(print)
    relay = DdsRelay(rd.load(name), DdsNode("relay", domain=domain), log, RelayTopics(tf=tf))
    peer = DdsNode("driver", domain=domain)
    driver = peer.writer("JointState", "joint_states")
    answers = peer.reader("JointState", "/relay/joint_states")
    while not (driver.matched and answers.matched):
        time.sleep(0.01)
    times = []
    for x in motion(relay.outputs.relay, count):
        start = time.perf_counter()
        driver.state(x.name, x.position, x.velocity, x.effort, 10**9 * x.stamp[0] + x.stamp[1])
        while not answers.take():
            relay.run(1e-3)
        times.append(time.perf_counter() - start)
    return 1e6 * float(np.median(times))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", default=["four_bar", "palletizer", "delta", "stewart"])
    parser.add_argument("--count", type=int, default=5000, help="of messages")
    parser.add_argument("--dds", action="store_true", help="also by DDS (extra dds)")
    arguments = parser.parse_args()
    good = True
    for name in arguments.robots:
        found = computation(name, arguments.count)
        good &= found < ENOUGH
        line = f"{name:12} {found:6.0f} us"
        if arguments.dds:
            ways = [there_and_back(name, arguments.count // 10, tf) for tf in (False, True)]
            line += " by DDS {:6.0f} us, with /tf {:6.0f} us".format(*ways)
        print(line, flush=True)
    print("passed" if good else f"FAILED: more than {ENOUGH:g} us")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
