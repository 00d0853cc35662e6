"""`robodyn.load`: a `Robot` from a file, a text, an object or the name of a bundled robot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.array_types import Array
from robodyn.arrays import by_name, named, numbers
from robodyn.caller import warn
from robodyn.description import Actuator, Inertia, Loop, Mechanism, Rotor, Transmission
from robodyn.description.contact import Contact
from robodyn.description.couplings import sides
from robodyn.description.symbols import symbols_of
from robodyn.errors import SettingsError, ShapeError, UnknownNameError
from robodyn.force_elements.common.link_element import DescribedElement
from robodyn.force_elements.ground import Ground
from robodyn.joints.joint_map import JointMap
from robodyn.literals import Base, Coordinates, DHConvention, RotorModel, XacroChoice
from robodyn.model.changes.changes import Changes
from robodyn.model.changes.edit import JointSpring
from robodyn.model.changes.functions import AnyConstraint, AnyCoupling, AnyForce, AnySensor
from robodyn.model.joint_info import nearest_turn
from robodyn.model.settings import Settings, check_letter
from robodyn.robot import Robot
from robodyn.tolerances import CLOSURE_TOLERANCE, PLACEMENT_OVER_LIMIT
from robodyn.urdf import bundled_robots, load_mechanism
from robodyn.urdf.common.packages import PackageDirs
from robodyn.urdf.xacro.arguments import Value


def robots() -> tuple[str, ...]:
    """Names of the bundled robots.

    Examples
    --------
    >>> import robodyn as rd
    >>> "four_bar" in rd.robots()
    True
    """
    return tuple(bundled_robots())


@checked_arguments
def load(
    source: Any,
    *,
    base: Base = "fixed",
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    passive: bool = True,
    actuators: Mapping[str, Actuator] | None = None,
    loops: Iterable[Loop] = (),
    coordinates: Coordinates = "tree",
    branches: Mapping[str, int] | None = None,
    package_dirs: PackageDirs = None,
    xacro_args: Mapping[str, Value] | None = None,
    xacro: XacroChoice = "auto",
    friction_speed: float = 0.01,
    snap: float | None = None,
    allow_unphysical: bool = False,
    rotor_model: RotorModel = "exact",
    rotors: Iterable[Rotor] = (),
    springs: Mapping[str, JointSpring] | Iterable[DescribedElement] = (),
    joint_maps: Mapping[str, JointMap] | None = None,
    srdf: str | Path | None = None,
    constraints: Iterable[AnyConstraint] = (),
    contacts: Mapping[str, Contact] | None = None,
    couplings: Iterable[AnyCoupling] = (),
    near: ArrayLike | Mapping[str, ArrayLike] | None = None,
    urdf: str | Path | None = None,
    strict: bool = True,
    merge_hinges: bool = False,
    closure_tolerance: float = CLOSURE_TOLERANCE,
    rigid: bool = False,
    ground: Ground | Iterable[Ground] = (),
    root: str | None = None,
    forces: Iterable[AnyForce] = (),
    symbols: Mapping[str, str] | None = None,
    sensors: Iterable[AnySensor] = (),
    transmissions: Iterable[Transmission] = (),
    model: str | None = None,
) -> Robot:
    """Load a robot.

    Parameters
    ----------
    source : path, str, bytes, object or Mechanism
        A file of URDF, xacro, SDF or MJCF, its text, the YAML file of an Extended URDF, an open
        urdfpy / urchin / yourdfpy object, the name of a bundled robot (`robots`), or a description.
    base : {"fixed", "floating", "moving"}
        ``"floating"``: six more degrees of freedom, first in q and v. ``"moving"``: moved along a
        prescribed path; pass ``base=BaseMotion(...)`` to each call. Where a file says itself that
        the robot moves freely in a world, both take the place of its free joint.
    gravity : array_like, shape (3,) [m/s^2]
        In the world.
    passive : bool
        Joint damping, friction and armature of the file, and the rotors and friction of its motors,
        belong to the mechanism and act alike in inverse, forward and hybrid dynamics; ``False``:
        rigid bodies only, which ``forces=`` and ``springs=`` contradict.
    actuators : mapping of joint name to Actuator
        Motors in addition to those of the file; for the same joint, these replace them.
    loops : iterable of Loop
        Closures that the file does not have.
    coordinates : {"tree", "minimal"}
        Coordinates of closed linkages; for a tree, both are the same. ``"minimal"``: loops of
        planar linkages, hexapods and steering linkages are solved in closed form, and only
        independent joints have coordinates. A loop that a weld closes is cut at another of its
        joints.
    branches : mapping of loop name to {+1, -1}, of balls in space {+1, -1, +2, -2}
        With minimal coordinates: the assembly mode of loops. Default: that of the closed posture
        nearest to the zero position.
    package_dirs : mapping of package name to path, path, or iterable of paths
        Folders of ROS packages, or folders that contain some: for ``$(find package)`` and
        ``package://`` in xacro. They are looked for before those of ``ROS_PACKAGE_PATH`` and
        ``AMENT_PREFIX_PATH``, and those whose ``package.xml`` is above or beside the file.
    xacro_args : mapping of name to str, path, bool, int or float
        Arguments of a xacro file, as ``name:=value`` on the command line of ROS.
    xacro : {"auto", True, False}
        Whether what looks like xacro is expanded, which runs it as a program. ``"auto"``: of files
        those whose names end in ``.xacro``, text, and what ``xacro_args`` are given for.
    friction_speed : float [rad/s or m/s]
        Dry friction is smoothed: ``f v / sqrt(v^2 + friction_speed^2)``.
    snap : float
        Does nothing but give a `DeprecationWarning`: see ``rigid``.
    allow_unphysical : bool
        Accept inertias that no body can have, and joints that move no mass; results follow the
        equations all the same. If a joint moves no mass, the mass matrix is singular and forward
        dynamics raises `SingularError`.
    rotor_model : {"exact", "armature"}
        ``"exact"``: rotors spin on the links that carry them, with gyroscopic and cross terms; the
        inertia of a link counts its rotors as if they did not turn. ``"armature"``: only the
        inertia ``gear_ratio^2 rotor_inertia`` that the driven joint feels.
    rotors : iterable of Rotor
        Wheels that spin freely on links, in addition to those of the file. Each is a joint.
    springs : mapping of joint name to (stiffness, rest position), or iterable of PointSpring
        Springs in joints, or between links, in addition to those of the file.
    joint_maps : mapping of joint name to JointMap
        Maps that replace the type of joints in the file.
    srdf : path
        An SRDF file beside the URDF, read for the ``<rotor_params>`` of its motors.
    constraints : iterable of Constraint, FrameConstraint or Rolling
        Constraints between joints, or between frames of links, in addition to loops; holonomic or
        not.
    contacts : mapping of link name to Contact
        Links that touch the world or another link as said, as constraints of their frames.
    couplings : iterable of Follower, ExplicitLoop or Coupling
        Joints that are functions of others, in addition to those of the file.
    near : array_like, shape (nq,), or mapping of joint name to position [rad, m]
        Where the search for the closed posture `Robot.neutral` of a closed linkage starts. Joints
        that are named keep their position if the loops can be closed with it; the others start at
        zero. A joint that is cut can be named if it has one coordinate. Default: the posture in the
        file (MJCF), or the zero position.
    urdf : path
        The URDF that the YAML file of an Extended URDF belongs to. Default: the one that it names,
        that has its name, ``robot.urdf``, or the only one beside it.
    strict : bool
        ``False``: what other readers of URDF skip or accept is skipped or accepted, with one
        warning that lists every such place, its line and what was done: misspelt and misplaced
        elements, values left out, inertias that no body can have and joints that move no mass (as
        ``allow_unphysical=True``), and what side files (the YAML of an Extended URDF, an SRDF) say
        of names that the URDF does not have.
    merge_hinges : bool
        Three hinges in a row whose axes meet in a point, neighbours perpendicular, with links of no
        mass between (at most a millionth of the robot's), are one spherical joint, which cannot
        lock as a gimbal does. It is called by their three names, ``"a-b-c"``; at its unit
        quaternion they are at zero; `Robot.joints` says what is ``merged``. Hinges with motors,
        springs, damping or friction stay; limits of position are left out with a warning.
    closure_tolerance : float
        Largest residual of the loops with which a state counts as closed: an angle [rad], or a
        fraction of the longest link of the loops; per second at unit speed, the same for the rates.
        Beyond it, methods that need closed loops raise `InconsistentStateError`. For float32 it is
        1e-4, or this if it is larger. Frames of joints in loops may be moved by as much, all
        together, to let rounded numbers close and move (see ``rigid``).
    rigid : bool
        The numbers of closed linkages are taken to the letter. Default: a linkage whose loops
        close, or move, only but for what the digits of its numbers can have done (at least 1e-5 rad
        or parts of the longest link, or ``closure_tolerance``) is taken for the one near by that
        closes and moves, with one `LoopWarning` that says how far frames of joints were moved.
    ground : Ground or iterable of Ground
        Planes that points of links may touch; their contact forces enter all dynamics.
    root : str
        The link that is the base, and whose frame is the world's. Joints that point to it are
        followed backwards; their coordinates are those of the file. Default: the link that is no
        joint's child.
    forces : iterable of Force or InverseSquareGravity
        Forces given as functions, in joints and on links, and gravity of planets; they enter all
        dynamics, as springs do.
    symbols : mapping of str to str
        Names for numbers of the file, which functions made with ``symbols=True`` take as inputs:
        ``{"link arm mass": "m2", "joint elbow x": "l1"}``. Of links ``mass``, ``ixx`` to ``izz``
        and the centre of mass ``x``, ``y``, ``z``; of joints the place ``x``, ``y``, ``z`` and the
        angles ``roll``, ``pitch``, ``yaw`` in the parent, ``damping``, ``friction``,
        ``stiffness``, ``rest``, ``armature``, ``stop_stiffness``, ``stop_damping``, ``lower`` and
        ``upper``; of loops ``predecessor x`` to ``successor yaw``, ``damping``, ``friction``; of
        springs between points ``stiffness``, ``rest_length``, ``damping``, ``point1 x`` to
        ``point2 z``. See `robodyn.symbol` for descriptions made by program.
    sensors : iterable of Sensor
        What `Robot.measure` shows.
    transmissions : iterable of Transmission
        Differentials, belts and others that couple the motors of several joints, in addition to
        those of the file.
    model : str
        The model that is meant, of an SDF file or world that has several. Default: the only one in
        which something moves.

    Returns
    -------
    robot : Robot

    Raises
    ------
    UrdfError, TopologyError, InertiaError, PackageError, UnknownNameError
    ShapeError
        An argument of the wrong shape or type.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("puma560", base="floating", gravity=(0, 0, 0))
    >>> robot.nv     # six of the base, six of the joints
    12
    """
    check_letter(rigid, closure_tolerance, snap)
    if snap is not None:
        warn(
            DeprecationWarning(
                "snap= does nothing: frames of linkages whose numbers are rounded are moved by as "
                "little as lets them close and move; rigid=True takes numbers to the letter"
            )
        )
    if branches and coordinates == "tree":
        raise SettingsError(
            "branches= goes with coordinates='minimal'; with the coordinates of the tree, near= "
            "says which of the closed postures is meant"
        )
    mechanism = load_mechanism(
        source,
        package_dirs=package_dirs,
        xacro_args=xacro_args,
        xacro=xacro,
        allow_unphysical=allow_unphysical,
        urdf=urdf,
        strict=strict,
        base=base,
        root=root,
        model=model,
    )
    loops = named("loops", loops, "Loops")
    if srdf is not None:
        from robodyn.urdf.extended.srdf import read_rotor_params

        names = [mover.name for mover in (*mechanism.movers, *loops)]
        motors = read_rotor_params(srdf, names, strict=strict)
        actuators = {**motors, **by_name("actuators", actuators)}
    changes = Changes(
        loops=loops,
        actuators=actuators,
        rotors=rotors,
        joint_maps=joint_maps,
        transmissions=transmissions,
        springs=springs,
        symbols=symbols,
        couplings=couplings,
        constraints=constraints,
        contacts=contacts,
        forces=forces or None,
        sensors=sensors or None,
        merge_hinges=merge_hinges,
        settings={
            "base": base,
            "gravity": gravity,
            "passive": passive,
            "friction_speed": friction_speed,
            "allow_unphysical": allow_unphysical or not strict,
            "rotor_model": rotor_model,
            "coordinates": coordinates,
            "branches": branches or (),
            "near": near,
            "closure_tolerance": closure_tolerance,
            "ground": ground,
            "rigid": rigid,
        },
    )
    wanted = Settings(**changes.settings)
    described, settings = changes.applied(mechanism, Settings(), wanted)
    if changes.given or isinstance(source, Mechanism):
        _ = symbols_of(described)  # raises an error if symbols are wrong
    if near is None:
        settings = settings.replaced({"near": _start(described)})
    meant = None
    if described.constraints or len(described.movers) >= len(described.links):  # loops
        from robodyn.closed_loops.assembly.misfits import linkage_as_meant

        meant = linkage_as_meant(described, settings)
    robot = Robot(meant.mechanism if meant else described, settings, model=meant)
    if isinstance(near, Mapping):
        _check_start(robot.tree_form, near)
    return robot


@checked_arguments
def from_dh(
    rows: Iterable[Sequence[Any]],
    convention: DHConvention = "standard",
    *,
    inertias: Iterable[Inertia | None] | None = None,
    name: str = "arm",
) -> Robot:
    """A serial arm from a table of Denavit and Hartenberg.

    Joints are ``joint1`` to ``jointn``, links ``link0`` (the base) to ``linkn``; the frame of
    ``linki`` is frame i of the table. For other settings, give `load` the arm's
    `Robot.mechanism`.

    Parameters
    ----------
    rows : iterable of (theta, d, a, alpha) or (theta, d, a, alpha, kind) [rad, m, m, rad]
        A row a joint; the kind is ``"revolute"``, if it is left out, or ``"prismatic"``. The
        position of the joint is added to theta or to d. Numbers may be those of `symbol`.
    convention : {"standard", "modified"}
        ``Rz(theta) Tz(d) Tx(a) Rx(alpha)``, or ``Rx(alpha) Tx(a) Rz(theta) Tz(d)`` where a and
        alpha of row i are those of link i - 1 [Siciliano et al., Robotics, 2.8; Craig,
        Introduction to Robotics, 3.4].
    inertias : iterable of Inertia or None
        One a row, each in the frame of its row. Default: the arm has no mass, so that it has
        kinematics, and `SingularError` for forward dynamics.
    name : str

    Returns
    -------
    robot : Robot

    Raises
    ------
    ShapeError
        If a row is none, or there are more or fewer bodies than rows.

    Examples
    --------
    >>> import robodyn as rd
    >>> arm = rd.from_dh([(0, 0, 0.5, 0), (0, 0, 0.3, 0), (0, 0.1, 0, 0, "prismatic")])
    >>> arm.frame_pose([0, 0, 0.2], "link3")[:3, 3].round(9).tolist()
    [0.8, 0.0, 0.3]
    """
    from robodyn.description.denavit_hartenberg import arm_of_table

    bodies = None if inertias is None else list(inertias)
    arm = arm_of_table(rows, convention, bodies, name)
    return load(arm, allow_unphysical=bodies is None or None in bodies)


def _start(mechanism: Mechanism) -> dict[str, tuple[float, ...]]:
    """Where the file draws joints of loops, which stay there if the loops can be closed."""
    own = {joint.name: joint.nq for joint in mechanism.joints if joint.mimic is None}
    looped = {name for loop in mechanism.loops for side in sides(mechanism, loop) for name in side}
    return {name: x for name, x in mechanism.start if name in looped and own.get(name) == len(x)}


def _check_start(robot: Robot, near: Mapping[str, ArrayLike]) -> None:
    """Check that ``near`` names joints that have coordinates, at positions within limits."""
    start = robot.start()
    for name, value in near.items():
        joint = robot.joints[name]
        if joint.q.start < joint.q.stop:
            at = joint.q
            _check_within(name, start[at], robot.lower_limits[at], robot.upper_limits[at])
            continue
        if not joint.cut or (joint.kind.nq, joint.kind.nv) != (1, 1):
            raise UnknownNameError(
                "joint with a coordinate of its own, or with one where it is cut",
                name,
                robot.joint_names,
                "near",
            )
        if np.size(value) != 1 or not np.isfinite(numbers("near", value)).all():
            raise ShapeError(f"near[{name!r}] is {value!r}, expected a finite number", name="near")
        if limits := joint.position_limits:
            x = np.ravel(numbers("near", value))
            x = nearest_turn(x, limits) if joint.kind.is_pin else x
            _check_within(name, x, *np.reshape(limits, (2, 1)))


def _check_within(name: str, start: Array, low: Array, high: Array) -> None:
    """Check that the start of a joint is within its limits."""
    for x, lower, upper in zip(start, low, high, strict=True):
        if not lower - PLACEMENT_OVER_LIMIT <= x <= upper + PLACEMENT_OVER_LIMIT:
            raise SettingsError(
                f"near[{name!r}] is {x:g}, beyond its limits {lower:g} to {upper:g}: no closed "
                "posture within limits has the joint there"
            )
