"""A ROS node for tests: waits for what it wants instead of sleeping."""

import time

import rclpy
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

LATCHED = QoSProfile(
    depth=1,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
    reliability=ReliabilityPolicy.RELIABLE,
)


class Client:
    """Subscribes, publishes and calls; ``with Client() as client``."""

    def __init__(self):
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node("tester", context=self.context)
        self.executor = rclpy.executors.SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)

    def until(self, condition, seconds=60.0, what="it"):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"waited {seconds} s for {what}"
            self.executor.spin_once(timeout_sec=0.05)

    def run(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.02)

    def listen(self, kind, topic, qos=10):
        found = []
        self.node.create_subscription(kind, topic, found.append, qos)
        return found

    def states(self, topic="/joint_states"):
        return self.listen(JointState, topic)

    def some(self, found, count=1, **wait):
        """The newest of the messages, after ``count`` more have come."""
        start = len(found)
        self.until(lambda: len(found) >= start + count, what="messages", **wait)
        return found[-1]

    def publisher(self, kind, topic):
        made = self.node.create_publisher(kind, topic, 10)
        self.until(lambda: made.get_subscription_count() > 0, what=f"a subscriber of {topic}")
        return made

    def command(self, publisher, values):
        publisher.publish(Float64MultiArray(data=[float(x) for x in values]))

    def call(self, kind, name, **fields):
        asker = self.node.create_client(kind, name)
        assert asker.wait_for_service(timeout_sec=20.0), name
        future = asker.call_async(kind.Request(**fields))
        self.until(future.done, what=name)
        self.node.destroy_client(asker)
        return future.result()

    def trigger(self, name):
        return self.call(Trigger, name)

    def pause(self, name, data=True):
        return self.call(SetBool, name, data=data)

    def set(self, node, **values):
        """Set parameters one by one; the answer of the last."""
        kinds = {
            bool: ("bool_value", ParameterType.PARAMETER_BOOL),
            int: ("integer_value", ParameterType.PARAMETER_INTEGER),
            float: ("double_value", ParameterType.PARAMETER_DOUBLE),
            str: ("string_value", ParameterType.PARAMETER_STRING),
            list: ("double_array_value", ParameterType.PARAMETER_DOUBLE_ARRAY),
            tuple: ("string_array_value", ParameterType.PARAMETER_STRING_ARRAY),
        }
        wanted = []
        for name, value in values.items():
            field, kind = kinds[type(value)]
            held = ParameterValue(type=kind, **{field: list(value) if field[-11:] == "array_value"
                                                else value})  # fmt: skip
            wanted.append(Parameter(name=name, value=held))
        return self.call(SetParameters, f"{node}/set_parameters", parameters=wanted).results[-1]

    def get(self, node, name):
        return self.call(GetParameters, f"{node}/get_parameters", names=[name]).values[0]


def by_name(msg):
    """Positions of a JointState by name."""
    return dict(zip(msg.name, msg.position, strict=True))
