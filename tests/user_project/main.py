"""Runs all of it and compares with what is known; prints the versions that it ran with."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from laws import (
    a_batch_is_its_rows,
    a_controller_gets_there,
    a_linkage_obeys_its_constraints,
    a_pendulum_swings_as_the_book_says,
    energy_stays,
    the_commands_work,
)
from refused import words_that_there_are_not_are_refused
from robots import CRANK, ROD, picker, press
from study import LOAD, droops, picking

import robodyn as rd


def the_picker_is_what_its_file_says() -> None:
    robot = picker()
    joint = robot.joints["extension"]
    assert (joint.type, joint.parent, joint.child) == ("prismatic", "boom", "gripper")
    assert joint.limits is not None and joint.limits.upper == 0.5
    q = np.array([0.7, 0.0, 0.1])
    tau = robot.gravity_forces(q)
    np.testing.assert_allclose(tau[robot.joints["shoulder"].v], 9.81 * (3.0 * 0.3 + 1.0 * 0.6))
    tip = robot.measure(q)["tip"]
    np.testing.assert_allclose(tip, [0.6 * np.cos(0.7), 0.6 * np.sin(0.7), 0.8], atol=1e-12)
    J = robot.frame_jacobian(q, "gripper", axes="world")
    np.testing.assert_allclose(J @ [1.0, 0.0, 0.0], [-tip[1], tip[0], 0.0, 0.0, 0.0, 1.0])


def functions_are_typed() -> None:
    robot = picker()
    q, rest = robot.neutral(), np.zeros(robot.nv)
    mass = robot.function("mass_matrix")
    M = mass(q)
    np.testing.assert_allclose(M, M.T)
    a, tau = robot.function("hybrid_dynamics", controlled=("waist",))(q, rest, [1.0], [0.0, 0.0])
    np.testing.assert_allclose([a[0], tau[1], tau[2]], [1.0, 0.0, 0.0], atol=1e-12)
    assert mass.jacobian("q")(q).shape == (3, 3, 3)
    assert "void mass(" in mass.c_source("mass", dtype="float")


def the_press_moves_as_the_book_says() -> None:
    """The slide stands where trigonometry has it, and the drive feels it by virtual work."""
    robot = press()
    angles = np.linspace(0.2, 2.8, 9)
    for angle in angles:
        q = robot.assemble([angle, 0.0, 0.5], hold=["drive"], near=robot.neutral())
        height = CRANK * np.sin(angle)
        root = np.sqrt(ROD**2 - height**2)
        np.testing.assert_allclose(q[2], CRANK * np.cos(angle) + root, atol=1e-9)
        lever = -height - height * CRANK * np.cos(angle) / root
        push = {"slide": [-100.0, 0.0, 0.0, 0.0, 0.0, 0.0]}
        rest = np.zeros(robot.nv)
        tau = robot.inverse_dynamics(q, rest, rest, wrenches=push)
        np.testing.assert_allclose(tau, [100.0 * lever, 0.0, 0.0], atol=1e-7)
        guide = robot.joint_wrenches(q, rest, tau=tau, wrenches=push)["guide"]
        np.testing.assert_allclose(guide[2], -100.0 * height / root, atol=1e-7)


def the_load_is_caught() -> None:
    run = picking()
    assert [event.name for event in run.events] == ["catch", "knock"]
    loaded = run.phases[1].robot
    assert loaded is not None
    np.testing.assert_allclose(loaded.total_mass, 12.0 + LOAD.mass)
    speeds = [float(x) for x in run.v[run.t == run.events[1].time, 0]]
    np.testing.assert_allclose(max(speeds) - min(speeds), 0.5, rtol=1e-12)
    assert run.energy.shape == run.t.shape


def the_load_is_carried_by_stiffness() -> None:
    table = droops()
    np.testing.assert_allclose(table["droop"][:, 0], 0.0, atol=1e-6)
    for stiffness, sunk in zip((200.0, 400.0), table["droop"][:, 1], strict=True):
        np.testing.assert_allclose(stiffness * sunk, -2.0 * 9.81 * 0.5 * np.cos(sunk), rtol=0.05)


def main() -> None:
    assert version("robodyn") == rd.__version__
    for name in rd.__all__:
        assert getattr(rd, name) is not None
    a_pendulum_swings_as_the_book_says()
    energy_stays("double_pendulum", [1.0, 0.5], 1e-8)
    energy_stays("four_bar", None, 1e-6)
    a_linkage_obeys_its_constraints()
    a_batch_is_its_rows()
    a_controller_gets_there()
    the_picker_is_what_its_file_says()
    functions_are_typed()
    the_press_moves_as_the_book_says()
    the_load_is_caught()
    the_load_is_carried_by_stiffness()
    words_that_there_are_not_are_refused(picker())
    the_commands_work()
    names = ("numpy", "scipy", "numba", "llvmlite", "lxml")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    print(f"robodyn {rd.__version__} works with {versions}")


if __name__ == "__main__":
    main()
