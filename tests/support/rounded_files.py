"""Descriptions written with few digits, as URDF, SDF and MJCF.

Only what says where joints are is rounded: places, turns and axes. Masses and inertias have twelve
digits, as they change accelerations by their own digits, and what moves not at all.
"""

import itertools
from dataclasses import dataclass, field

import numpy as np
from oracles.described import inertia_matrix, pose_from
from oracles.joint_motion import origin
from scipy.spatial.transform import Rotation

#: Names of notations -> how loops are written, and which kinds may close them.
NOTATIONS = {
    "loop": ("revolute", "prismatic", "spherical", "universal", "cylindrical", "fixed"),
    "second parent": ("revolute", "prismatic", "spherical", "universal", "cylindrical", "fixed"),
    "cut joint": ("revolute", "prismatic", "spherical", "universal", "cylindrical", "fixed"),
    "sdf": ("revolute", "prismatic", "spherical", "fixed"),
    "mjcf": ("spherical", "fixed"),
    "mjcf sites": ("revolute", "spherical", "fixed"),
}

#: How far apart two points on the axis of a hinge are [m].
APART = 0.05


@dataclass
class Digits:
    """How numbers are written.

    Attributes
    ----------
    count : int
    style : {"g", "f", "float32"}
        Significant digits, decimals, or those of single precision.
    only : tuple of str
        Of "xyz", "rpy" and "axis": what is rounded. The others have 17 digits.
    unit : float [m, rad]
        The largest change that it made, filled in by writing.
    """

    count: int
    style: str = "g"
    only: tuple[str, ...] = ("xyz", "rpy", "axis")
    unit: float = field(default=0.0)

    @property
    def label(self):
        """Their number, for tables."""
        return "single" if self.style == "float32" else f"{self.count:2d}"

    def __call__(self, category, values):
        """The numbers of one attribute."""
        return " ".join(self._one(category, float(x)) for x in np.atleast_1d(values))

    def _one(self, category, x):
        if category not in self.only:
            return f"{x:.17g}"
        if self.style == "float32":
            x32 = np.float32(x)
            text = f"{x32:.9g}"
        else:
            text = f"{x:.{self.count}{self.style}}"
        self.unit = max(self.unit, abs(float(text) - x))
        return text

    def __str__(self):
        part = "" if len(self.only) == 3 else f" of {', '.join(self.only)}"
        if self.style == "float32":
            return f"single precision{part}"
        return f"{self.count} {'significant digits' if self.style == 'g' else 'decimals'}{part}"


def written(mechanism, notation, digits, floating=False):
    """A mechanism as the text of a file."""
    if notation == "sdf":
        return _sdf(mechanism, digits)
    if notation.startswith("mjcf"):
        return _mjcf(mechanism, digits, floating, sites=notation.endswith("sites"))
    return _urdf(mechanism, notation, digits)


# ---- URDF


def _urdf(mechanism, notation, digits):
    parts = [f'<robot name="{mechanism.name}">']
    for link in mechanism.links:
        parts.append(f'<link name="{link.name}">{_inertial(link.inertia)}</link>')
    for joint in mechanism.joints:
        parts.append(_urdf_joint(joint, joint.parent, joint.child, joint.origin, digits))
    for loop in mechanism.loops:
        if notation == "loop":
            parts.append(
                f'<loop name="{loop.name}" type="{loop.kind}">'
                f'<predecessor link="{loop.predecessor}">{_origin(loop.X_predecessor, digits)}'
                f'</predecessor><successor link="{loop.successor}">'
                f"{_origin(loop.X_successor, digits)}</successor>{_axes(loop, digits)}</loop>"
            )
            continue
        helper = f"{loop.name}_end"
        cut = ' cut="true"' if notation == "cut joint" else ""
        parts.append(
            f'<link name="{helper}"/><joint name="{helper}_fixed" type="fixed">'
            f'<parent link="{loop.successor}"/><child link="{helper}"/>'
            f"{_origin(loop.X_successor, digits)}</joint>"
        )
        parts.append(_urdf_joint(loop, loop.predecessor, helper, loop.X_predecessor, digits, cut))
    return "\n".join([*parts, "</robot>"])


def _urdf_joint(joint, parent, child, pose, digits, more=""):
    kind = "continuous" if joint.kind == "revolute" else joint.kind
    return (
        f'<joint name="{joint.name}" type="{kind}"{more}><parent link="{parent}"/>'
        f'<child link="{child}"/>{_origin(pose, digits)}{_axes(joint, digits)}'
        f"{_wide_limits(joint)}</joint>"
    )


def _wide_limits(joint):
    return '<limit lower="-9" upper="9"/>' if joint.kind == "prismatic" else ""


def _origin(pose, digits):
    return f'<origin xyz="{digits("xyz", pose.xyz)}" rpy="{digits("rpy", pose.rpy)}"/>'


def _axes(joint, digits):
    if joint.kind in ("spherical", "fixed"):
        return ""
    text = f'<axis xyz="{digits("axis", joint.axis)}"/>'
    if joint.kind == "universal":
        text += f'<axis2 xyz="{digits("axis", joint.axis2)}"/>'
    return text


#: Of an inertia tensor: name, row and column.
ENTRIES = [
    (f"i{a}{b}", "xyz".index(a), "xyz".index(b))
    for a, b in itertools.combinations_with_replacement("xyz", 2)
]


def _inertial(body):
    n = " ".join(f"{x:.12g}" for x in body.origin.xyz)
    J = inertia_matrix(body)
    tensor = " ".join(f'{name}="{J[i, j]:.12g}"' for name, i, j in ENTRIES)
    return (
        f'<inertial><origin xyz="{n}"/><mass value="{body.mass:.12g}"/>'
        f"<inertia {tensor}/></inertial>"
    )


# ---- SDF


def placed(mechanism):
    """Poses (4, 4) of all links at the zero position."""
    children = {joint.child for joint in mechanism.joints}
    X = {link.name: np.eye(4) for link in mechanism.links if link.name not in children}
    for joint in mechanism.joints:
        X[joint.child] = X[joint.parent] @ origin(joint.origin)
    return X


def _sdf(mechanism, digits):
    X = placed(mechanism)
    text = f'<sdf version="1.9"><model name="{mechanism.name}">\n'
    for link in mechanism.links:
        pose = _six(pose_from(X[link.name]), digits)
        text += f'<link name="{link.name}">{pose}{_sdf_body(link.inertia)}</link>\n'
    for joint in mechanism.joints:
        text += _sdf_joint(joint, joint.parent, joint.child, "", digits)
    for loop in mechanism.loops:
        pose = _six(loop.X_successor, digits)
        text += _sdf_joint(loop, loop.predecessor, loop.successor, pose, digits)
    return text + "</model></sdf>"


def _six(pose, digits):
    return f"<pose>{digits('xyz', pose.xyz)} {digits('rpy', pose.rpy)}</pose>"


def _sdf_joint(joint, parent, child, pose, digits):
    kind = {"spherical": "ball"}.get(joint.kind, joint.kind)
    kinds = {"revolute": "revolute", "prismatic": "prismatic"}
    axis = f"<axis><xyz>{digits('axis', joint.axis)}</xyz></axis>" if joint.kind in kinds else ""
    if joint.kind == "universal":
        axis = f"<axis><xyz>{digits('axis', joint.axis)}</xyz></axis>"
        axis += f"<axis2><xyz>{digits('axis', joint.axis2)}</xyz></axis2>"
    return (
        f'<joint name="{joint.name}" type="{kind}"><parent>{parent}</parent>'
        f"<child>{child}</child>{pose}{axis}</joint>\n"
    )


def _sdf_body(body):
    J = inertia_matrix(body)
    tensor = "".join(f"<{name}>{J[i, j]:.12g}</{name}>" for name, i, j in ENTRIES)
    at = " ".join(f"{x:.12g}" for x in body.origin.xyz)
    return (
        f"<inertial><pose>{at} 0 0 0</pose><mass>{body.mass:.12g}</mass>"
        f"<inertia>{tensor}</inertia></inertial>"
    )


# ---- MJCF


def _mjcf(mechanism, digits, floating, sites):
    children = {}
    for joint in mechanism.joints:
        children.setdefault(joint.parent, []).append(joint)
    bodies = {link.name: link.inertia for link in mechanism.links}
    points, equalities = {}, []
    for loop in mechanism.loops:
        _mjcf_loop(loop, points, equalities, digits, sites)

    def body(name, joint):
        placed = (
            f' pos="{digits("xyz", joint.origin.xyz)}" quat="{digits("rpy", _quat(joint.origin))}"'
            if joint
            else ""
        )
        text = f'<body name="{name}"{placed}>{_mjcf_body(bodies[name])}'
        if joint is None:
            text += '<freejoint name="float"/>' if floating else ""
        else:
            kind = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball"}[joint.kind]
            axis = f' axis="{digits("axis", joint.axis)}"' if kind != "ball" else ""
            text += f'<joint name="{joint.name}" type="{kind}"{axis}/>'
        text += "".join(points.get(name, []))
        text += "".join(body(j.child, j) for j in children.get(name, []))
        return text + "</body>\n"

    return (
        f'<mujoco model="{mechanism.name}"><compiler angle="radian"/>'
        f"<worldbody>{body(mechanism.links[0].name, None)}</worldbody>"
        f"<equality>{''.join(equalities)}</equality></mujoco>"
    )


def _mjcf_loop(loop, points, equalities, digits, sites):
    ends = ((loop.predecessor, loop.X_predecessor), (loop.successor, loop.X_successor))
    if not sites:
        X = loop.X_predecessor
        names = f'name="{loop.name}" body1="{loop.predecessor}" body2="{loop.successor}"'
        if loop.kind == "spherical":
            equalities.append(f'<connect {names} anchor="{digits("xyz", X.xyz)}"/>')
        else:
            equalities.append(f"<weld {names}/>")
        return
    ways = (0.0, APART) if loop.kind == "revolute" else (0.0,)
    for k, way in enumerate(ways):
        for side, (link, X) in enumerate(ends):
            at = np.array(X.xyz) + way * origin(X)[:3, :3] @ np.array(loop.axis)
            turn = f' quat="{digits("rpy", _quat(X))}"' if loop.kind == "fixed" else ""
            site = f"{loop.name}_{k}_{side}"
            points.setdefault(link, []).append(
                f'<site name="{site}" pos="{digits("xyz", at)}"{turn}/>'
            )
        kind = "weld" if loop.kind == "fixed" else "connect"
        pair = f'site1="{loop.name}_{k}_0" site2="{loop.name}_{k}_1"'
        name = loop.name if k == 0 else f"{loop.name}_{k}"
        equalities.append(f'<{kind} name="{name}" {pair}/>')


def _quat(pose):
    """As w x y z."""
    x, y, z, w = Rotation.from_matrix(origin(pose)[:3, :3]).as_quat()
    return np.array([w, x, y, z]) * (1.0 if w >= 0.0 else -1.0)


def _mjcf_body(body):
    J = inertia_matrix(body)
    six = " ".join(f"{J[i, j]:.12g}" for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    at = " ".join(f"{x:.12g}" for x in body.origin.xyz)
    return f'<inertial pos="{at}" mass="{body.mass:.12g}" fullinertia="{six}"/>'
