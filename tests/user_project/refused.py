"""Words that there are not: type checkers refuse them, and so does robodyn when it runs.

Each line is ignored by both type checkers, which say so where there is nothing to ignore.
"""

from __future__ import annotations

from collections.abc import Callable

import robodyn as rd
from robodyn.controllers import Filtered, JointPD, PointToPoint


def wrong_calls(robot: rd.Robot) -> tuple[Callable[[], object], ...]:
    q, frames = robot.neutral(), (("ground", ()), ("gripper", ()))
    law = JointPD(robot, PointToPoint(q, q, 1.0), stiffness=1.0, damping=1.0)
    return (
        lambda: rd.load("scara", base="flying"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: rd.load("scara", rotor_model="round"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: robot.with_(coordinates="polar"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: robot.frame_twist(q, q, "boom", axes="wold"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: robot.constrained_dynamics(q, q, q, method="lu"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: robot.derivatives("mass_matrix", q, q, q),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: rd.simulate(robot, integrator="rk5"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: rd.simulate(robot, limits="obey"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: rd.Sensor("sped", at="boom"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: rd.FrameConstraint("x", "glued", frames),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: rd.export(robot, ["momentum"], "fortran", "out"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: robot.function("momentum").c_source(dtype="half"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: rd.set_compilation("lazy"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: rd.Wrench("boom", q, axes="wold"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: Filtered(law, 1.0, signal="voltage"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    )


def words_that_there_are_not_are_refused(robot: rd.Robot) -> None:
    for call in wrong_calls(robot):
        try:
            call()
        except rd.UnknownNameError as error:
            assert "no choice" in str(error), error
        else:
            raise AssertionError("a word that there is not was taken")
