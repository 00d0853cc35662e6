"""What a person says about a mechanism: links, joints, loops, motors.

Values are kept as they were written (origins as ``xyz`` and ``rpy``, inertias in their own frame),
so that a file written from a description reads back equal. Nothing here knows of trees or
algorithms. Lengths in m, masses in kg, angles in rad.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "JOINT_KINDS",
    "Actuator",
    "Coupling",
    "Inertia",
    "Joint",
    "Limits",
    "Link",
    "Loop",
    "Mechanism",
    "Mimic",
    "PointSpring",
    "Pose",
    "Rotor",
]

Vector = tuple[float, float, float]

#: Joint kind -> (nq, nv), in the order of ``docs/conventions``.
JOINT_KINDS: dict[str, tuple[int, int]] = {
    "fixed": (0, 0),
    "revolute": (1, 1),
    "continuous": (1, 1),
    "prismatic": (1, 1),
    "helical": (1, 1),
    "cylindrical": (2, 2),
    "universal": (2, 2),
    "planar": (3, 3),
    "spherical": (4, 3),
    "floating": (7, 6),
}


def rotation_from_rpy(rpy: Vector) -> NDArray[np.float64]:
    """Rotation matrix of fixed-axis roll, pitch, yaw angles.

    Parameters
    ----------
    rpy : (3,) [rad]
        Angles about x, y, z of the fixed frame, applied in this order (URDF).

    Returns
    -------
    R : ndarray, shape (3, 3)
        Maps coordinates in the turned frame to coordinates in the fixed frame.
    """
    (sr, sp, sy), (cr, cp, cy) = map(math.sin, rpy), map(math.cos, rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_from_rotation(R: ArrayLike) -> Vector:
    """Roll, pitch, yaw [rad] of a rotation matrix, shape (3, 3); roll is 0 at the singularity."""
    R = np.asarray(R, float)
    pitch = math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0]))
    if math.hypot(R[0, 0], R[1, 0]) < 1e-12:
        return 0.0, pitch, math.atan2(-R[0, 1], R[1, 1])
    return math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])


@dataclass(frozen=True)
class Pose:
    """Pose of a frame B in a frame A as URDF writes it.

    Attributes
    ----------
    xyz : (3,) [m]
        Origin of B in A.
    rpy : (3,) [rad]
        Roll, pitch, yaw of B about the fixed axes of A.
    """

    xyz: Vector = (0.0, 0.0, 0.0)
    rpy: Vector = (0.0, 0.0, 0.0)

    @property
    def matrix(self) -> NDArray[np.float64]:
        """Homogeneous matrix ``X_AB``, shape (4, 4) [1, m]."""
        X = np.eye(4)
        X[:3, :3] = rotation_from_rpy(self.rpy)
        X[:3, 3] = self.xyz
        return X

    @classmethod
    def from_matrix(cls, X: ArrayLike) -> Pose:
        """Pose of a homogeneous matrix, shape (4, 4) [1, m]."""
        X = np.asarray(X, float)
        x, y, z = (float(c) for c in X[:3, 3])
        return cls((x, y, z), rpy_from_rotation(X[:3, :3]))


@dataclass(frozen=True)
class Inertia:
    """Mass, centre of mass and inertia of a rigid body.

    Attributes
    ----------
    mass : float [kg]
    origin : Pose
        Frame at the centre of mass, in the link frame; the inertia is given in its axes.
    ixx, ixy, ixz, iyy, iyz, izz : float [kg m^2]
        About the centre of mass (``ixy`` is the matrix element, as in URDF).
    """

    mass: float
    origin: Pose = Pose()
    ixx: float = 0.0
    ixy: float = 0.0
    ixz: float = 0.0
    iyy: float = 0.0
    iyz: float = 0.0
    izz: float = 0.0

    @property
    def matrix(self) -> NDArray[np.float64]:
        """Inertia about the centre of mass in the axes of ``origin``, shape (3, 3) [kg m^2]."""
        return np.array(
            [
                [self.ixx, self.ixy, self.ixz],
                [self.ixy, self.iyy, self.iyz],
                [self.ixz, self.iyz, self.izz],
            ]
        )

    @classmethod
    def from_matrix(cls, mass: float, com: ArrayLike, inertia: ArrayLike) -> Inertia:
        """Inertia of a body from arrays in link axes.

        Parameters
        ----------
        mass : float [kg]
        com : array_like, shape (3,) [m]
            Centre of mass in the link frame.
        inertia : array_like, shape (3, 3) [kg m^2]
            About the centre of mass, in link axes.
        """
        x, y, z = (float(c) for c in np.asarray(com, float))
        J = np.asarray(inertia, float)
        return cls(
            float(mass),
            Pose((x, y, z)),
            *(float(J[i, j]) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))),
        )


@dataclass(frozen=True)
class Link:
    """A rigid body of the mechanism.

    Attributes
    ----------
    name : str
    inertia : Inertia or None
        ``None``: the file gives none; the link is massless.
    extras : tuple of str
        Elements that robodyn does not interpret (visual, collision, ...), as XML text.
    line : int or None
        Where it stands in the file; not part of equality.
    """

    name: str
    inertia: Inertia | None = None
    extras: tuple[str, ...] = ()
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Limits:
    """Limits of a 1-dof joint: position [rad or m], velocity, effort [N m or N]."""

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf


@dataclass(frozen=True)
class Mimic:
    """``q = multiplier * q_joint + offset``."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Joint:
    """A joint between two links.

    Attributes
    ----------
    name : str
    kind : str
        A key of ``JOINT_KINDS``, or ``"map"``.
    parent, child : str
        Link names. The child link frame coincides with the joint frame.
    origin : Pose
        Joint frame in the parent link frame, at zero position.
    axis : (3,)
        Unit vector in joint axes (the normal of the plane for ``planar``).
    axis2 : (3,)
        Second axis of a ``universal`` joint, fixed in the child.
    pitch : float [m/rad]
        Advance of a ``helical`` joint.
    limits : Limits or None
    damping, friction : float
        Viscous [N m s/rad or N s/m] and dry [N m or N].
    mimic : Mimic or None
    independent : bool or None
        URDF+ ``joint@independent``; ``None`` where not written.
    extras : tuple of str
        Elements that robodyn does not interpret, as XML text.
    line : int or None
        Where it stands in the file; not part of equality.
    stiffness, rest : float
        Of a spring in a joint with one freedom [N m/rad or N/m], and where it is relaxed [rad, m].
    map : robodyn.JointMap or None
        Of a joint of kind ``"map"``.
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: Pose = Pose()
    axis: Vector = (1.0, 0.0, 0.0)
    axis2: Vector = (0.0, 1.0, 0.0)
    pitch: float = 0.0
    limits: Limits | None = None
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None
    independent: bool | None = None
    extras: tuple[str, ...] = ()
    line: int | None = field(default=None, compare=False)
    stiffness: float = 0.0
    rest: float = 0.0
    map: Any = None

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return int(self.map.n) if self.map is not None else JOINT_KINDS[self.kind][0]

    @property
    def nv(self) -> int:
        """Number of speeds."""
        return int(self.map.n) if self.map is not None else JOINT_KINDS[self.kind][1]


@dataclass(frozen=True)
class Rotor:
    """A rotor that spins freely on a link: a reaction wheel, a gyroscope, a fan.

    It is a joint of its own (continuous), called by its name. The inertia of the link counts it as
    if it did not turn.

    Attributes
    ----------
    name, link : str
    axis : (3,)
        Unit vector in link axes.
    inertia : float [kg m^2]
        About the axis.
    """

    name: str
    link: str
    axis: Vector
    inertia: float


@dataclass(frozen=True)
class PointSpring:
    """A spring and damper between a point of one link and a point of another.

    Pulls them together with ``stiffness (distance - rest_length) + damping d(distance)/dt``.

    Attributes
    ----------
    link1, link2 : str
        ``"world"`` is the ground.
    point1, point2 : (3,) [m]
        In link axes.
    stiffness : float [N/m]
    rest_length : float [m]
    damping : float [N s/m]
    name : str
    """

    link1: str
    point1: Vector
    link2: str
    point2: Vector
    stiffness: float = 0.0
    rest_length: float = 0.0
    damping: float = 0.0
    name: str = ""


@dataclass(frozen=True)
class Loop:
    """A joint that closes a loop: a frame on one link is joined to a frame on another.

    Attributes
    ----------
    name, kind : str
        The kind is a key of ``JOINT_KINDS`` or ``"distance"``.
    predecessor, successor : str
        Link names.
    X_predecessor, X_successor : Pose
        The loop frame on each side, in the link frame.
    axis, axis2 : (3,)
        In loop axes.
    distance : float [m]
        For kind ``"distance"``.
    damping, friction : float
        As of a joint.
    """

    name: str
    kind: str
    predecessor: str
    successor: str
    X_predecessor: Pose = Pose()
    X_successor: Pose = Pose()
    axis: Vector = (1.0, 0.0, 0.0)
    axis2: Vector = (0.0, 1.0, 0.0)
    pitch: float = 0.0
    distance: float = 0.0
    line: int | None = field(default=None, compare=False)
    damping: float = 0.0
    friction: float = 0.0


@dataclass(frozen=True)
class Coupling:
    """URDF+ coupling: successor speed over predecessor speed is ``ratio``."""

    name: str
    predecessor: str
    successor: str
    ratio: float = 1.0
    offset: float = 0.0
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Actuator:
    """A motor that drives a joint.

    Attributes
    ----------
    gear_ratio : float
        Motor speed over joint speed.
    rotor_inertia : float [kg m^2]
        About the rotor axis.
    axis : (3,) or None
        Rotor axis in the axes of ``mounted_on``; ``None``: the joint axis.
    mounted_on : str or None
        Link that carries the stator; ``None``: the joint's parent link.
    viscous, coulomb : float [N m s/rad], [N m]
        Friction on the motor side.
    torque_limit : float [N m]
        On the motor side.
    name : str
        As in the file.
    """

    gear_ratio: float = 1.0
    rotor_inertia: float = 0.0
    axis: Vector | None = None
    mounted_on: str | None = None
    viscous: float = 0.0
    coulomb: float = 0.0
    torque_limit: float = math.inf
    name: str = ""


@dataclass(frozen=True)
class Mechanism:
    """A whole mechanism as described: a graph, not a tree.

    Attributes
    ----------
    name : str
    links, joints, loops, couplings : tuple
        In the order of the file.
    actuators : tuple of (joint name, Actuator)
    extras : tuple of str
        Children of ``<robot>`` that robodyn does not interpret, as XML text (transmissions and
        ``ros2_control`` included, so that writing loses nothing).
    file : str or None
        Where it was read from; not part of equality.
    springs : tuple of PointSpring
    rotors : tuple of Rotor
    constraints : tuple of TracedConstraint
        Given as functions to `robodyn.load`.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...] = ()
    loops: tuple[Loop, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    actuators: tuple[tuple[str, Actuator], ...] = ()
    extras: tuple[str, ...] = ()
    file: str | None = field(default=None, compare=False)
    springs: tuple[PointSpring, ...] = ()
    rotors: tuple[Rotor, ...] = ()
    constraints: tuple[Any, ...] = ()

    def where(self, item: Any) -> dict[str, Any]:
        """Place of a link, joint or loop, as keyword arguments of the located errors."""
        kind = type(item).__name__.lower()
        return {"file": self.file, "line": item.line, "element": f"{kind} {item.name!r}"}
