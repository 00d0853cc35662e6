"""The action server of a node, with a real action client, by the messages of control_msgs."""

import generated_messages
import numpy as np
import pytest
from client import by_name
from rclpy.action import ActionClient
from test_ros_simulation import trajectory

NAME = "/robodyn/follow_joint_trajectory"
SUCCEEDED, CANCELED, ABORTED = 4, 5, 6


class Asker:
    """Sends goals, and keeps what comes of them."""

    def __init__(self, client):
        from control_msgs.action import FollowJointTrajectory

        self.client, self.kind = client, FollowJointTrajectory
        self.action = ActionClient(client.node, FollowJointTrajectory, NAME)
        self.feedback = []
        client.until(self.action.server_is_ready, what=NAME)

    def wait(self, future):
        self.client.until(future.done, what="an answer")
        return future.result()

    def send(self, names, *points, **fields):
        goal = self.kind.Goal(trajectory=trajectory(names, *points), **fields)
        keep = lambda message: self.feedback.append(message.feedback)  # noqa: E731
        handle = self.wait(self.action.send_goal_async(goal, keep))
        assert handle.accepted
        return handle

    def result(self, handle):
        answer = self.wait(handle.get_result_async())
        return answer.status, answer.result.error_code, answer.result.error_string


@pytest.fixture
def asker(monkeypatch, client):
    try:
        generated_messages.use(monkeypatch)
    except RuntimeError as error:
        pytest.skip(str(error))
    return lambda: Asker(client)


@pytest.mark.slow
def test_a_goal_is_reached_with_feedback_and_a_wrong_one_is_told(asker, launch, client):
    process = launch("publish", "palletizer", "--controller", "gravity")
    states = client.states()
    made = asker()
    handle = made.send(["shoulder", "waist"], (0.5, [0.02, 0.05]), (1.0, [0.05, 0.1]))
    assert made.result(handle) == (SUCCEEDED, made.kind.Result.SUCCESSFUL, "")
    client.some(states)
    places = by_name(states[-1])
    np.testing.assert_allclose([places["waist"], places["shoulder"]], [0.1, 0.05], atol=1e-4)
    assert len(made.feedback) > 20
    for feedback in made.feedback:
        assert list(feedback.joint_names) == ["shoulder", "waist"]
        x = np.array([feedback.desired.positions, feedback.actual.positions])
        np.testing.assert_allclose(x[0] - x[1], feedback.error.positions, atol=1e-12)
        assert np.abs(feedback.error.positions).max() < 1e-3
    assert {feedback.index for feedback in made.feedback} == {0, 1}
    codes = made.kind.Result
    for name, goal, code, told in (
        ("knee", 0.1, codes.INVALID_JOINTS, "knee"),
        ("waist", 50.0, codes.INVALID_GOAL, "limit"),
        ("elbow", 0.1, codes.INVALID_JOINTS, "elbow"),  # it has no motor
    ):
        status, found, text = made.result(made.send([name], (1.0, [goal])))
        assert (status, found) == (ABORTED, code) and told in text
    assert process.stop() == 0, process.text
    assert "Traceback" not in process.text


@pytest.mark.slow
def test_a_goal_is_cancelled_and_another_takes_its_place(asker, launch, client):
    from control_msgs.msg import JointTolerance

    process = launch("publish", "puma560", "--controller", "gravity")
    states = client.states()
    made = asker()
    slow = made.send(["joint1"], (20.0, [1.0]))
    client.some(states)
    client.until(lambda: by_name(states[-1])["joint1"] > 1e-3)
    assert made.wait(slow.cancel_goal_async()).goals_canceling
    assert made.result(slow)[0] == CANCELED
    client.run(0.5)
    still = by_name(client.some(states))["joint1"]
    client.run(0.5)
    assert by_name(client.some(states))["joint1"] == pytest.approx(still, abs=1e-6)
    first = made.send(["joint2"], (20.0, [0.5]))
    second = made.send(["joint3"], (0.5, [0.1]))
    assert made.result(first) == (ABORTED, made.kind.Result.INVALID_GOAL, "another goal has come")
    assert made.result(second)[:2] == (SUCCEEDED, made.kind.Result.SUCCESSFUL)
    other = JointTolerance(name="joint5", position=0.1)
    wrong = made.send(["joint4"], (1.0, [0.1]), path_tolerance=[other])
    assert "'joint5' is not in the trajectory" in made.result(wrong)[2]
    last = made.send(["joint1"], (20.0, [1.0]))
    assert client.trigger("/robodyn/reset").success
    assert "reset has ended the trajectory" in made.result(last)[2]
    made.send(["joint1"], (20.0, [1.0]))
    assert process.stop() == 0, process.text  # while a goal is followed
    assert "Traceback" not in process.text
