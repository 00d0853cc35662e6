"""The linear model of a robot alone, with the names of its forces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import UnknownNameError
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot
from robodyn.state_space import StateSpace

#: Of the wrench on a link, along and about axes of the world.
ALONG = ("x", "y", "z", "rx", "ry", "rz")

#: Step of difference quotients of fourth order.
STEP = 2e-3


@dataclass(frozen=True, eq=False)
class Plant:
    """A robot near a state, with a force at each of its speeds as an input.

    robot: At the time of the model.
    tau (nv,): Forces in that state.
    """

    robot: Robot
    q: FloatArray
    v: FloatArray
    tau: FloatArray
    base: BaseMotion | None

    @cached_property
    def _joints(self) -> list[str]:
        """Joints with speeds, in their order."""
        robot = self.robot
        return [x for x in robot.joint_names if robot.joints[x].v.stop > robot.joints[x].v.start]

    @cached_property
    def model(self) -> StateSpace:
        """The linear model; its inputs are forces over all speeds."""
        return self.outputs(()) if self.charges else self._near(None)

    def _near(self, outputs: Iterable[str] | None) -> StateSpace:
        given = {"inputs": self._joints, "outputs": outputs, "base": self.base}
        return self.robot.linearize(self.q, self.v, self.tau, **given)  # type: ignore[arg-type]

    def outputs(self, names: Iterable[str]) -> StateSpace:
        """The same model with other outputs; charges are states of it, which these may not read."""
        found = self._near([*names, *self.charges])
        shown = len(found.outputs) - len(self.charges)
        own = found.outputs[:shown]
        return replace(found, C=found.C[:shown], D=found.D[:shown], outputs=own)

    @cached_property
    def charges(self) -> list[str]:
        """States of windings, on which nothing may depend."""
        return [f"q:{x.winding}" for x in self.robot.model.setup.windings]

    @cached_property
    def A(self) -> FloatArray:
        """Rates of the state by the state, under forces over the speeds that are held."""
        A, robot = self.model.A, self.robot
        if not robot.model.gearing.elsewhere or not self.tau.any():
            return A
        places = [k for k, name in enumerate(self.model.states) if name.startswith("q:")]
        f = np.linalg.pinv(robot.actuation_matrix(self.q)) @ self.tau
        steps = STEP * self.displacement[0][:, places].T

        def forces(s: float) -> FloatArray:
            at = robot.integrate(np.tile(self.q, (len(steps), 1)), s * steps)
            return np.asarray(robot.actuation_matrix(at) @ f)

        near, far = (forces(s) - forces(-s) for s in (1.0, 2.0))
        turned = np.zeros(A.shape)  # of motors whose own forces are held, which are not these
        turned[:, places] = self.model.B @ ((8.0 * near - far) / (12.0 * STEP)).T
        return A - turned

    @cached_property
    def displacement(self) -> tuple[FloatArray, FloatArray]:
        """Displacements along all speeds, and changes of all speeds, by the state, (nv, n) each."""
        robot, n, nv = self.robot, len(self.model.states), self.robot.nv
        if not robot.nc and robot.joints.coordinates_add and n == 2 * nv:
            return np.eye(nv, n), np.eye(nv, n, nv)
        found = self.outputs([*self._joints, *(f"v:{x}" for x in self._joints)]).C
        return found[:nv], found[nv:]

    @cached_property
    def labels(self) -> list[str]:
        """A name for each speed."""
        return [x.removeprefix("tau:") for x in self.model.inputs]

    @cached_property
    def motors(self) -> dict[str, FloatArray]:
        """What a unit of force of each motor is over all speeds, (nv,), by its name."""
        columns = np.asarray(self.robot.actuation_matrix(self.q)).T
        names = []
        for name in self.robot.actuated_joints:
            own = self.robot.joints[name].v if name in self.robot.joints else slice(0, 0)
            names += self.labels[own] or [name]
        return dict(zip(names, columns, strict=True))

    def named(self, name: str) -> tuple[dict[str, FloatArray], bool]:
        """Forces of a name, over all speeds, and whether they are those of motors.

        Raises UnknownNameError: If there is no such joint, motor or link.
        """
        name = name.removeprefix("tau:")
        robot = self.robot
        whole = robot.joints[name].v if name in self._joints else slice(0, 0)
        labels = self.labels[whole] or [name]
        if labels[0] in self.motors:
            return {f"tau:{x}": self.motors[x] for x in labels}, True
        unit = dict(zip(self.labels, np.eye(robot.nv), strict=True))
        if labels[0] in unit:
            return {f"tau:{x}": unit[x] for x in labels}, False
        if name in robot.link_names:
            J = robot.frame_jacobian(self.q, name, axes="world", base=self.base)
            return {f"{x}:{name}": row for x, row in zip(ALONG, np.asarray(J), strict=True)}, False
        known = (*self.motors, *self.labels, *robot.link_names)
        raise UnknownNameError("motor, joint or link", name, known, repr(robot.name))
