"""The action ``~/follow_joint_trajectory``, where the messages of control_msgs are installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from robodyn.ros.engine.engine import Engine
from robodyn.ros.engine.trajectory_goal import (
    INVALID_GOAL,
    Outcome,
    Progress,
    RefusedGoal,
    TrajectoryGoal,
)
from robodyn.ros.rclpy.access import MESSAGES, message_class, rclpy

#: Name of the action.
NAME = "~/follow_joint_trajectory"


def action_type() -> Any:
    """Class of the action; ``None`` where control_msgs is not installed."""
    try:
        return importlib.import_module("control_msgs.action").FollowJointTrajectory
    except ImportError:
        return None


class FollowJointTrajectory:
    """Server of the action: one goal at a time, and a new one takes the place of the last.

    kind: Class of the action.
    running: Whether time runs; else goals are rejected.
    """

    def __init__(self, node: Any, engine: Engine, kind: Any, running: Callable[[], bool]) -> None:
        from rclpy.action import ActionServer, CancelResponse, GoalResponse

        self._node, self._engine, self._kind = node, engine, kind
        #: The goal that is followed: its handle, itself, and what waits for its outcome.
        self._active: tuple[Any, TrajectoryGoal, Any] | None = None
        self._server = ActionServer(
            node,
            kind,
            NAME,
            self.execute,
            goal_callback=lambda goal: GoalResponse.ACCEPT if running() else GoalResponse.REJECT,
            cancel_callback=lambda handle: CancelResponse.ACCEPT,
        )

    def look(self) -> None:
        """Tell how far the goal is, and end it where it has ended."""
        if self._active is None:
            return
        handle, goal, _ = self._active
        if handle.is_cancel_requested:
            goal.cancel()
            self._end((0, "canceled"), handle.canceled)
            return
        progress = goal.progress()
        handle.publish_feedback(self._feedback(goal, progress))
        outcome = goal.outcome(progress)
        if outcome is not None:
            self._end(outcome, handle.abort if outcome[0] else handle.succeed)

    def close(self) -> None:
        """Abort what is followed, and remove the server from the node."""
        if rclpy().ok(context=self._node.context):
            self._preempt("the node ends")
        self._server.destroy()

    async def execute(self, handle: Any) -> Any:
        """Follow a goal; its result is awaited, and comes from `look`."""
        from rclpy.task import Future

        try:
            now = int(self._node.get_clock().now().nanoseconds)
            goal = TrajectoryGoal(self._engine, handle.request, now)
        except RefusedGoal as error:
            self._node.get_logger().warning(f"goal refused: {error}")
            handle.abort()
            return self._result((error.code, str(error)))
        self._preempt("another goal has come")
        done = Future()
        self._active = handle, goal, done
        return await done

    def _preempt(self, reason: str) -> None:
        if self._active is not None:
            handle = self._active[0]
            end = handle.canceled if handle.is_cancel_requested else handle.abort
            self._end((INVALID_GOAL, reason), end)

    def _end(self, outcome: Outcome, end: Any) -> None:
        assert self._active is not None
        done, self._active = self._active[2], None
        end()
        done.set_result(self._result(outcome))

    def _result(self, outcome: Outcome) -> Any:
        return self._kind.Result(error_code=outcome[0], error_string=outcome[1])

    def _feedback(self, goal: TrajectoryGoal, progress: Progress) -> Any:
        point = message_class("trajectory_msgs/msg/JointTrajectoryPoint")
        desired, actual = progress.desired, progress.actual
        points = [
            point(positions=x.tolist(), velocities=v.tolist())
            for x, v in (desired, actual, desired - actual)
        ]
        for made in points:
            made.time_from_start.sec = int(progress.t)
            made.time_from_start.nanosec = int(1e9 * (progress.t % 1.0))
        stamp = divmod(int(self._node.get_clock().now().nanoseconds), 10**9)
        feedback = self._kind.Feedback(
            header=MESSAGES.header(stamp),
            joint_names=[*goal.names],
            desired=points[0],
            actual=points[1],
            error=points[2],
        )
        if hasattr(feedback, "index"):  # not in older distributions
            feedback.index = progress.index
        return feedback
