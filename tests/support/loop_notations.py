r"""One four-bar in every notation of closed loops, with angles written to as many digits as asked.

The linkage moves in the plane of x and z, and all axes are along y. Every frame is a quarter or
half turn away from the next, so that each file holds angles which are rounded where digits are few.

               C          A (0, 0, 0)      crank A-B, coupler B-C, rocker C-D
           ___/ \          B (0, 0, 0.2)    `drive` at A is the motor's joint
      B ---      \         C (0.4, 0, 0.3)
      |           \        D (0.5, 0, 0)
      A ---------- D
"""

import math
from collections.abc import Callable

import numpy as np

#: Writes an angle [rad].
Form = Callable[[float], str]


def exact(angle: float) -> str:
    """Write an angle with all its digits."""
    return repr(angle)


def digits(count: int) -> Form:
    """Writer of angles with so many significant digits: 5 gives ``1.5708``."""
    return lambda angle: f"{angle:.{count}g}"


def _turn(*quarters: tuple[int, int]) -> np.ndarray:
    """Product of turns about x, y or z (0, 1, 2) by quarters of a turn: exact integers."""
    R = np.eye(3, dtype=int)
    for axis, count in quarters:
        c, s = [(1, 0), (0, 1), (-1, 0), (0, -1)][count % 4]
        i, j = (axis + 1) % 3, (axis + 2) % 3
        step = np.eye(3, dtype=int)
        step[i, i], step[i, j], step[j, i], step[j, j] = c, -s, s, c
        R = R @ step
    return R


#: Frames at zero in the axes of the ground: orientation, origin. The z axis of each is along y.
FRAMES = {
    "ground": (_turn(), (0.0, 0.0, 0.0)),
    "crank": (_turn((0, -1)), (0.0, 0.0, 0.0)),
    "coupler": (_turn((0, -1), (2, 1)), (0.0, 0.0, 0.2)),
    "rocker": (_turn((0, -1), (2, 2)), (0.5, 0.0, 0.0)),
    "C": (_turn((0, -1), (2, -1)), (0.4, 0.0, 0.3)),
}
#: Mass [kg], centre of mass in the axes of the ground [m], moments of inertia in link axes.
BODIES = {
    "crank": (0.5, (0.0, 0.0, 0.1), (0.0017, 0.0018, 0.0001)),
    "coupler": (1.0, (0.2, 0.0, 0.25), (0.0002, 0.0133, 0.0134)),
    "rocker": (0.7, (0.45, 0.0, 0.15), (0.0053, 0.0054, 0.0003)),
}


#: What SDF gives a link that says nothing.
UNIT_INERTIA = (
    "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
)


def place(frame: str, link: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Origin [m] and roll, pitch, yaw [rad] of a frame in a link, at zero."""
    (R, p), (R_link, p_link) = FRAMES[frame], FRAMES[link]
    R, p = R_link.T @ R, R_link.T @ (np.array(p) - p_link)
    if abs(R[2, 0]) == 1:
        rpy = (0.0, math.asin(-R[2, 0]), math.atan2(-R[0, 1], R[1, 1]))
    else:
        rpy = (math.atan2(R[2, 1], R[2, 2]), 0.0, math.atan2(R[1, 0], R[0, 0]))
    return tuple(float(x) for x in p.round(12) + 0.0), rpy


def xyz_rpy(frame: str, link: str, form: Form) -> str:
    """The attributes of an ``<origin>``."""
    xyz, rpy = place(frame, link)
    return f'xyz="{" ".join(map(repr, xyz))}" rpy="{" ".join(map(form, rpy))}"'


def six(frame: str, link: str, form: Form) -> str:
    """The text of a ``<pose>``."""
    xyz, rpy = place(frame, link)
    return " ".join([*map(repr, xyz), *map(form, rpy)])


def _link(name: str) -> str:
    if name not in BODIES:
        return f'  <link name="{name}"/>\n'
    mass, center, (ixx, iyy, izz) = BODIES[name]
    R, p = FRAMES[name]
    x, y, z = (R.T @ (np.array(center) - p)).round(12) + 0.0
    return (
        f'  <link name="{name}"><inertial><origin xyz="{x} {y} {z}"/><mass value="{mass}"/>\n'
        f'    <inertia ixx="{ixx}" ixy="0" ixz="0" iyy="{iyy}" iyz="0" izz="{izz}"/></inertial>'
        "</link>\n"
    )


def _joint(name: str, parent: str, child: str, form: Form) -> str:
    return (
        f'  <joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>\n'
        f'    <origin {xyz_rpy(child, parent, form)}/><axis xyz="0 0 1"/></joint>\n'
    )


def tree(form: Form = exact) -> str:
    """Links and joints of the open four-bar, as the elements of a URDF."""
    joints = [("drive", "ground", "crank"), ("pin_b", "crank", "coupler")]
    joints.append(("pin_d", "ground", "rocker"))
    links = [frame for frame in FRAMES if frame != "C"]
    return "".join(map(_link, links)) + "".join(_joint(*joint, form) for joint in joints)


def four_bar(closure: str, form: Form = exact) -> str:
    """The URDF of the four-bar that an element closes."""
    return (
        '<robot name="four_bar" xmlns:drake="http://drake.mit.edu">\n'
        f'{tree(form)}  {closure}\n  <motor joint="drive"/>\n</robot>\n'
    )


def _helper(form: Form) -> str:
    return (
        '<link name="rocker_pin"/>\n'
        '  <joint name="weld" type="fixed"><parent link="rocker"/><child link="rocker_pin"/>'
        f"<origin {xyz_rpy('C', 'rocker', form)}/></joint>\n  "
    )


def _pin(form: Form, cut: str = "") -> str:
    return (
        _helper(form)
        + f'<joint name="pin_c" type="revolute"{cut}><parent link="coupler"/>'
        + f'<child link="rocker_pin"/><origin {xyz_rpy("C", "coupler", form)}/>'
        + '<axis xyz="0 0 1"/></joint>'
    )


def _loop(form: Form, kind: str = "revolute") -> str:
    return (
        f'<loop name="pin_c" type="{kind}"><axis xyz="0 0 1"/>'
        f'<predecessor link="coupler"><origin {xyz_rpy("C", "coupler", form)}/></predecessor>'
        f'<successor link="rocker"><origin {xyz_rpy("C", "rocker", form)}/></successor></loop>'
    )


def _constraint(form: Form, tag: str, kind: str, axis: str) -> str:
    axis = f'<{axis} xyz="0 0 1"/>' if axis else ""
    return (
        f'<{tag} name="pin_c" type="{kind}"><parent link="coupler"/><child link="rocker"/>'
        f"<parent_origin {xyz_rpy('C', 'coupler', form)}/>"
        f"<child_origin {xyz_rpy('C', 'rocker', form)}/>{axis}</{tag}>"
    )


def _links_one_and_two(form: Form, kind: str) -> str:
    axis = "" if kind == "spherical" else '<axis xyz="0 0 1"/>'
    return (
        f'<loop_joint name="pin_c" type="{kind}">{axis}'
        f'<link1 link="coupler" {xyz_rpy("C", "coupler", form)}/>'
        f'<link2 link="rocker" {xyz_rpy("C", "rocker", form)}/></loop_joint>'
    )


def _gazebo(pose: str, axis: str = "<xyz>0 0 1</xyz>", kind: str = "revolute") -> str:
    axis = f"<axis>{axis}</axis>" if axis else ""
    return (
        f'<gazebo><joint name="pin_c" type="{kind}"><parent>coupler</parent>'
        f"<child>rocker</child>{pose}{axis}</joint></gazebo>"
    )


def _quaternion(frame: str, link: str) -> str:
    """The text of a ``<pose>`` with a quaternion x, y, z, w."""
    xyz, rpy = place(frame, link)
    half = [0.5 * angle for angle in rpy]
    (sr, sp, sy), (cr, cp, cy) = map(math.sin, half), map(math.cos, half)
    xyzw = (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )
    return " ".join(map(repr, (*xyz, *xyzw)))


def _degrees(form: Form) -> Form:
    """Writer of angles in degrees, from the angle as the form writes it."""
    return lambda angle: repr(math.degrees(float(form(angle))))


def _sdf_link(name: str, pose: str) -> str:
    if name not in BODIES:
        return f'<link name="{name}">{pose}{UNIT_INERTIA}</link>\n'
    mass, center, moments = BODIES[name]
    R, p = FRAMES[name]
    x, y, z = (R.T @ (np.array(center) - p)).round(12) + 0.0
    inertia = "".join(
        f"<{tag}>{value}</{tag}>" for tag, value in zip(("ixx", "iyy", "izz"), moments, strict=True)
    )
    return (
        f'<link name="{name}">{pose}<inertial><pose>{x} {y} {z} 0 0 0</pose>'
        f"<mass>{mass}</mass><inertia>{inertia}</inertia></inertial></link>\n"
    )


def sdf(form: Form = exact, *, chained: bool = False, version: str = "1.9") -> str:
    """The four-bar as SDF.

    Poses are all in the model, or, ``chained``, each in another link or joint.
    """
    joints = [
        ("drive", "ground", "crank"),
        ("pin_b", "crank", "coupler"),
        ("pin_d", "ground", "rocker"),
        ("pin_c", "coupler", "rocker"),
    ]
    near = {"crank": "ground", "coupler": "crank", "rocker": "pin_d"}
    text = f'<sdf version="{version}"><model name="four_bar">\n'
    for link in ("ground", "crank", "coupler", "rocker"):
        pose = f"<pose>{six(link, 'ground', form)}</pose>"
        if chained and link in near:
            base = "rocker" if near[link] == "pin_d" else near[link]  # where the joint stands
            pose = f'<pose relative_to="{near[link]}">{six(link, base, form)}</pose>'
        text += _sdf_link(link, pose)
    for name, parent, child in joints:
        at = "C" if name == "pin_c" else child
        pose = f"<pose>{six(at, child, form)}</pose>" if name == "pin_c" else ""
        if chained:
            pose = f'<pose relative_to="{parent}">{six(at, parent, form)}</pose>'
        text += (
            f'<joint name="{name}" type="revolute"><parent>{parent}</parent>'
            f"<child>{child}</child>{pose}<axis><xyz>0 0 1</xyz></axis></joint>\n"
        )
    return text + "</model></sdf>"


def _drake() -> str:
    (p, _), (q, _) = place("C", "coupler"), place("C", "rocker")
    points = {"p_AP": p, "p_BQ": q}
    return (
        '<drake:ball_constraint name="pin_c">'
        '<drake:ball_constraint_body_A name="coupler"/>'
        '<drake:ball_constraint_body_B name="rocker"/>'
        + "".join(
            f'<drake:ball_constraint_{name} value="{" ".join(map(repr, point))}"/>'
            for name, point in points.items()
        )
        + "</drake:ball_constraint>"
    )


#: Notation -> writer of the URDF or SDF, with angles as the form writes them.
NOTATIONS: dict[str, Callable[[Form], str]] = {
    "second parent": lambda form: four_bar(_pin(form), form),
    "cut joint": lambda form: four_bar(_pin(form, ' cut="true"'), form),
    "loop": lambda form: four_bar(_loop(form), form),
    "loop of a ball": lambda form: four_bar(_loop(form, "spherical"), form),
    "constraint": lambda form: four_bar(
        _constraint(form, "constraint", "revolute", "parent_axis"), form
    ),
    "loop_joint of CAD": lambda form: four_bar(
        _constraint(form, "loop_joint", "revolute", "axis"), form
    ),
    "gazebo": lambda form: four_bar(_gazebo(f"<pose>{six('C', 'rocker', form)}</pose>"), form),
    "spherical_joint": lambda form: four_bar(
        _constraint(form, "constraint", "spherical_joint", ""), form
    ),
    "revolute_joint": lambda form: four_bar(
        _constraint(form, "constraint", "revolute_joint", "axis"), form
    ),
    "loop_joint of Drake": lambda form: four_bar(_links_one_and_two(form, "revolute"), form),
    "loop_joint of Isaac": lambda form: four_bar(_links_one_and_two(form, "spherical"), form),
    "gazebo, relative_to the other link": lambda form: four_bar(
        _gazebo(f'<pose relative_to="coupler">{six("C", "coupler", form)}</pose>'), form
    ),
    "gazebo, relative_to a joint": lambda form: four_bar(
        _gazebo(f'<pose relative_to="drive">{six("C", "crank", form)}</pose>'), form
    ),
    "gazebo, relative_to the model": lambda form: four_bar(
        _gazebo(f'<pose relative_to="__model__">{six("C", "ground", form)}</pose>'), form
    ),
    "gazebo, degrees": lambda form: four_bar(
        _gazebo(f'<pose degrees="true">{six("C", "rocker", _degrees(form))}</pose>'), form
    ),
    "gazebo, quaternion": lambda form: four_bar(
        _gazebo(f'<pose rotation_format="quat_xyzw">{_quaternion("C", "rocker")}</pose>'), form
    ),
    "gazebo, expressed_in the model": lambda form: four_bar(
        _gazebo(
            f"<pose>{six('C', 'rocker', form)}</pose>",
            '<xyz expressed_in="__model__">0 1 0</xyz>',
        ),
        form,
    ),
    "gazebo, use_parent_model_frame": lambda form: four_bar(
        _gazebo(
            f"<pose>{six('C', 'rocker', form)}</pose>",
            "<xyz>0 1 0</xyz><use_parent_model_frame>true</use_parent_model_frame>",
        ),
        form,
    ),
    "gazebo, ball": lambda form: four_bar(
        _gazebo(f"<pose>{six('C', 'rocker', form)}</pose>", "", "ball"), form
    ),
    "ball for Drake": lambda form: four_bar(_drake(), form),
    "SDF": sdf,
    "SDF, poses in each other": lambda form: sdf(form, chained=True),
}
#: Notations that close the loop by a ball: three rows, where a pin has five.
SPHERICAL = {
    "loop of a ball",
    "spherical_joint",
    "loop_joint of Isaac",
    "gazebo, ball",
    "ball for Drake",
}
