"""Another DDS participant, in a process of its own: with cyclonedds, or with rclpy.

    python dds_peer.py dds|rclpy DOMAIN

Speaks to the node ``sim`` and prints what it saw as JSON.
"""

import json
import sys
import time

BAD = ([1.0] * 20, [float("nan")] * 6)
GOOD = [5.0, 4.0, 3.0, 2.0, 1.0, 0.5]
SOME = {"joint2": 7.0}


class Dds:
    def __init__(self, domain):
        from robodyn.ros.dds.node import DdsNode

        self.node = DdsNode("peer", domain=domain)
        self.states = self.node.reader("JointState", "/joint_states")
        self.latched = self.node.reader("String", "/robot_description", depth=1, latched=True)
        self.commands = self.node.writer("Float64MultiArray", "/sim/commands")
        self.named = self.node.writer("JointState", "/sim/joint_commands")

    def ready(self):
        return self.commands.matched and self.named.matched

    def command(self, values):
        self.commands.numbers(values)

    def command_some(self, values):
        self.named.state([*values], effort=[*values.values()])

    def look(self):
        states = [(s.names, s.position.tolist(), s.effort.tolist()) for s in self.states.states()]
        return states, [m.data for m in self.latched.take()]


class Ros:
    def __init__(self, domain):
        import rclpy
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Float64MultiArray, String

        self.types = JointState, Float64MultiArray
        rclpy.init(domain_id=domain)
        self.rclpy, self.node, self.states, self.texts = rclpy, rclpy.create_node("peer"), [], []
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.node.create_subscription(JointState, "/joint_states", self.states.append, 10)
        self.node.create_subscription(String, "/robot_description", self.texts.append, latched)
        self.commands = self.node.create_publisher(Float64MultiArray, "/sim/commands", 10)
        self.named = self.node.create_publisher(JointState, "/sim/joint_commands", 10)

    def ready(self):
        return self.commands.get_subscription_count() and self.named.get_subscription_count()

    def command(self, values):
        self.commands.publish(self.types[1](data=values))

    def command_some(self, values):
        self.named.publish(self.types[0](name=[*values], effort=[*values.values()]))

    def look(self):
        self.rclpy.spin_once(self.node, timeout_sec=0.0)
        states = [(m.name, m.position.tolist(), m.effort.tolist()) for m in self.states]
        texts = [m.data for m in self.texts]
        self.states.clear()
        self.texts.clear()
        return states, texts


def main(kind, domain):
    peer = {"dds": Dds, "rclpy": Ros}[kind](int(domain))
    seen, texts, until = [], [], time.monotonic() + 60.0

    def look(done):
        while not done() and time.monotonic() < until:
            states, more = peer.look()
            seen.extend(states)
            texts.extend(more)
            time.sleep(0.001)

    look(lambda: len(seen) > 20 and texts and peer.ready())
    for values in BAD:
        peer.command(values)
    peer.command_some({"elbow": 1.0})
    look(lambda: bool(seen and False) or len(seen) > 40)
    peer.command(GOOD)
    look(lambda: seen and list(seen[-1][2]) == GOOD)
    good = seen[-1][2]
    peer.command_some(SOME)
    look(lambda: seen and seen[-1][2][1] == SOME["joint2"])
    nodes = peer.node.get_node_names() if kind == "rclpy" else []
    print(json.dumps([seen[-1][0], good, seen[-1][2], texts[:1], nodes, len(seen)]))


if __name__ == "__main__":
    main(*sys.argv[1:])
