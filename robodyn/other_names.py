"""Names that others in the field give to what a robot has, for those who come from there."""

from __future__ import annotations

from collections.abc import Collection

#: Arguments that no method of a robot has, and what to write instead.
ELSEWHERE = {
    "t": "robot.at(t) is the robot at a time, and has the same methods",
}

#: What a robot has, and other names of it: in lower case, without ``get``, ``compute`` and ``_``.
_NAMES = {
    "gravity_forces(q)": "gravitytorque gravitytorques gravityvector gravityterm gravload "
    "generalizedgravity gravitycompensation g",
    "coriolis_matrix(q, v)": "coriolis c",
    "bias_forces(q, v)": "nle nonlineareffects bias biasterm coriolisforces velocityproduct "
    "coriolisandgravity nonlinearterms h",
    "mass_matrix(q)": "m mass inertia inertiamatrix massinertiamatrix jointspaceinertia "
    "jointspaceinertiamatrix crba generalizedmassmatrix",
    "mass_matrix_inverse(q)": "minv minverse inversemassmatrix invmass invm",
    "inverse_dynamics(q, v, a)": "rnea id invdyn inversedynamicstorques recursivenewtoneuler",
    "forward_dynamics(q, v, tau)": "aba fd fwddyn accel acceleration accelerations qdd ddq",
    "constrained_dynamics(q, v, tau)": "constraintdynamics constraineddynamicssolver",
    "frame_pose(q, frame)": "fk fkine forwardkinematics forward pose linkpose framepose "
    "frameplacement linktransform transform endeffectorpose omf",
    "frame_poses(q)": "linkfk fkineall allposes updateframeplacements linkposes linktransforms",
    "frame_twist(q, v, frame)": "framevelocity linkvelocity spatialvelocity twist",
    "frame_jacobian(q, frame)": "jacobian jacobians j jac jacob0 jacobe jointjacobian "
    "jointjacobians framejacobian bodyjacobian geometricjacobian analyticjacobian linkjacobian",
    "frame_jacobian_dot(q, v, frame)": "jdot jacobiandot jacobiantimevariation "
    "jointjacobianstimevariation",
    "inverse_kinematics(targets)": "ik ikine solveik inversekinematicssolver",
    "center_of_mass(q)": "com centerofmassposition composition",
    "kinetic_energy(q, v)": "ke kinetic",
    "potential_energy(q)": "pe potential",
    "centroidal_matrix(q)": "centroidalmap cmm ccrba ag",
    "regressor(q, v, a)": "jointtorqueregressor torqueregressor y",
    "derivatives(name, q, v, x)": "rneaderivatives abaderivatives inversedynamicsderivatives "
    "forwarddynamicsderivatives",
    "integrate(q, dv)": "step",
    "random()": "randomconfiguration randomq sample qrandom qrand",
    "neutral()": "qz qhome home zeroconfiguration zero",
    "link_names, or mechanism.links": "links bodies linknames bodynames",
    "frame_names": "frames",
    "joint_names": "jointnames actuatedjointnames activejoints",
    "nv": "n ndof ndofs dofs numdofs numvelocities",
    "nq": "numpositions",
    "lower_limits and upper_limits": "qlim limits jointlimits positionlimits",
    "velocity_limits": "velocitylimit speedlimits",
    "effort_limits": "effortlimit torquelimits",
    "linearize(q, v, tau)": "linearise linear linearization",
    "mechanism": "description",
    "with_(gravity=...), a changed copy": "setgravity",
}

#: The same of the package.
_OF_PACKAGE = {
    "load(path)": "loadurdf fromurdf parseurdf readurdf buildmodelfromurdf buildmodel "
    "robotwrapper erobot urdfmodel rigidbodytree multibodyplant mjmodel loadmodel loadrobot parser",
    "robots()": "models availablerobots listrobots",
    "Robot": "robotmodel multibody dhrobot",
    "Pose": "se3 transform homogeneous isometry3 rigidtransform",
    "simulate(robot, ...)": "sim simulator run odeint solveivp integrator",
    "closed_loop(robot, controller)": "diagram",
    "Event": "witnessfunction",
    "Ground": "plane halfspace",
    "BaseMotion": "basevelocity twist",
}


def _words(names: dict[str, str]) -> dict[str, str]:
    return {other: own for own, others in names.items() for other in others.lower().split()}


_KNOWN, _KNOWN_OF_PACKAGE = _words(_NAMES), _words(_OF_PACKAGE)


def _plain(name: str) -> str:
    plain = name.lower().replace("_", "")
    for prefix in ("get", "compute", "calc"):
        plain = plain.removeprefix(prefix) or plain
    return plain


def robot_attribute(name: str) -> str:
    """What a robot calls that; empty where nothing is known by this name."""
    return _KNOWN.get(_plain(name), "")


def module_attribute(name: str, of_robot: Collection[str]) -> str:
    """What the package or a robot calls that; empty where nothing is known by this name.

    of_robot: What a robot has.
    """
    own = _KNOWN_OF_PACKAGE.get(_plain(name))
    if own:
        return f"robodyn.{own}"
    own = name if name in of_robot else robot_attribute(name)
    return f"robot.{own}, of a robot that robodyn.load gives" if own else ""
