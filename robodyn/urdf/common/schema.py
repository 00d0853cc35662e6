"""The schema of URDF: elements and attributes that are read, and those of other tools.

`ROOT` is the rule of ``<robot>``; each rule names the rules of the elements in it. A name in no
rule is misspelt, misplaced, or belongs to an unknown tool: `robodyn.urdf.common.spelling` decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from typing import Any

from robodyn.description import Actuator, Elastic, Motor, Rotor, Winding
from robodyn.force_elements import LINK_ELEMENTS
from robodyn.quick_dataclass import dataclass
from robodyn.urdf.common.joint_values import LOOP_WORDS, TREE_WORDS, constant_tags


@dataclass(frozen=True)
class Rule:
    """Attributes and children that an element may have.

    attributes: Those that are read.
    children: Elements that are read, and what they may hold.
    other_attributes, other_children: Names that other tools read. They are accepted, and their
        content is not checked.
    unknown {"error", "warning", "misplaced", "misspelt"}: How names that are not listed are
        reported. ``"warning"``: tools extend this element. ``"misplaced"``: an element of other
        tools, where nothing is read; only what is read elsewhere is an error there. ``"misspelt"``:
        tools put anything there; only a misspelling of what is read is an error.
    text: The text in the element is its value.
    """

    attributes: frozenset[str]
    children: Mapping[str, Rule] = field(default_factory=dict)
    other_attributes: frozenset[str] = frozenset()
    other_children: frozenset[str] = frozenset()
    unknown: str = "error"
    text: bool = False


def rule(
    attributes: str = "",
    children: Mapping[str, Rule] | None = None,
    *,
    others: str = "",
    other_children: str = "",
    unknown: str = "error",
    text: bool = False,
) -> Rule:
    """Rule of attributes and tags separated by blanks; arguments are those of `Rule`."""
    return Rule(
        frozenset(attributes.split()),
        children or {},
        frozenset(others.split()),
        frozenset(other_children.split()),
        unknown,
        text,
    )


_LINK = rule("link")
_NAMED_LINK = rule("link name")  # CAD exporters name the link so
_VALUE = rule("value")
_TEXT = rule(text=True)
_POSE = rule("xyz rpy quat_xyzw")
_AXIS = rule("xyz", others="rpy")


def _each(tags: str, rule: Rule) -> dict[str, Rule]:
    """Elements that have one rule in common."""
    return dict.fromkeys(tags.split(), rule)


def _only_of_kind() -> dict[str, tuple[str, ...]]:
    """Elements that only joints and loops of some kinds have, and the words for these kinds."""
    found: dict[str, dict[str, None]] = {}
    for word, kind in (TREE_WORDS | LOOP_WORDS).items():
        for tag in (*kind.axes[1:], *sorted(constant_tags(kind))):
            found.setdefault(tag, {})[word] = None
    return {tag: tuple(words) for tag, words in found.items()}


#: Elements that only joints and loops of some kinds have.
ONLY_OF_KIND = _only_of_kind()

_OF_KINDS = {tag: _AXIS if tag.startswith("axis") else _VALUE for tag in ONLY_OF_KIND}
_MIMIC = rule("joint multiplier offset")
_DYNAMICS = rule(
    "damping friction spring_stiffness spring_reference armature",
    others="mu_coulomb mu_viscous K D",
    unknown="warning",
)
_LIMIT = rule(
    "lower upper velocity effort",
    others="acceleration deceleration jerk current gear_velocity command_effort twist "
    "has_acceleration_limits has_jerk_limits max_acceleration max_jerk",
    unknown="warning",
)
_SHAPE = rule(
    children={"origin": rule("xyz rpy quat_xyzw", unknown="misplaced")}, unknown="misplaced"
)
_UNREAD = rule(unknown="misplaced")
_JOINT = rule(
    "name type independent cut",
    {
        **_each("parent child", _LINK),
        "origin": _POSE,
        "axis": _AXIS,
        "limit": _LIMIT,
        "dynamics": _DYNAMICS,
        "mimic": _MIMIC,
        **_OF_KINDS,
        **_each("safety_controller calibration", _UNREAD),
    },
    others="dont_collapse",
    other_children="joint_properties hardwareInterface "
    "hardware_interface sensor gazebo material visual collision preserveFixedJoint "
    "disableFixedJointLumping",
    unknown="warning",
)
_INERTIAL = rule(
    children={"origin": _POSE, "mass": _VALUE, "inertia": rule("ixx ixy ixz iyy iyz izz")},
)
_LINK_ELEMENT = rule(
    "name",
    {"inertial": _INERTIAL, "visual": _SHAPE, "collision": _SHAPE},
    others="type concave kinematic",
    other_children="contact surface material sensor gazebo gravity kinematic "
    "self_collide self_filter collision_checking selfCollide velocity_decay "
    "stiffness damping must_be_base_link turnGravityOff",
    unknown="warning",
)

# ---- closures of loops
# a mimic is refused where it is read
_AS_A_JOINT = {"limit": _LIMIT, "dynamics": _DYNAMICS, "mimic": _MIMIC}
_SIDE = rule("link name", {"origin": _POSE})
_LOOP = rule(
    "name type",
    {
        **_each("predecessor successor sucessor", _SIDE),
        "axis": _AXIS,
        **_OF_KINDS,
        **_AS_A_JOINT,
    },
)
_CONSTRAINT = rule(
    "name type",
    {
        **_each("parent child", _NAMED_LINK),
        **_each("parent_origin child_origin", _POSE),
        **_each("parent_axis child_axis axis", _AXIS),
        **_AS_A_JOINT,
    },
)
_FRAME_ON_LINK = rule("link xyz rpy quat_xyzw")
_LOOP_JOINT = rule(
    "name type",
    {
        **_CONSTRAINT.children,
        "axis": rule("xyz frame", others="rpy"),
        **_each("link1 link2", _FRAME_ON_LINK),
    },
)
_COUPLING = rule(
    "name",
    {
        **_each("predecessor successor sucessor", _NAMED_LINK),
        **_each("ratio offset", _VALUE),
    },
    others="type independent",
)


def _drake(tag: str, *, text: bool = False) -> Rule:
    """Rule of a constraint of Drake, whose parts have attributes, or text in SDF."""
    body = _TEXT if text else rule("name")
    value = _TEXT if text else _VALUE
    parts = {"body_A": body, "body_B": body, "p_AP": value, "p_BQ": value}
    others = ""
    if tag == "distance_constraint":
        parts |= {"distance": value, "stiffness": value}
        others = f"drake:{tag}_damping"
    children = {f"drake:{tag}_{part}": rule for part, rule in parts.items()}
    return rule("name", children, other_children=others)


#: Constraints of Drake, in URDF and in SDF.
DRAKE, DRAKE_IN_SDF = (
    {f"drake:{tag}": _drake(tag, text=text) for tag in ("ball_constraint", "distance_constraint")}
    for text in (False, True)
)
#: ``<pose>`` of SDF.
SDF_POSE = rule("relative_to frame degrees rotation_format", text=True)
_SDF_AXIS = rule(
    children={
        "xyz": rule("expressed_in", text=True),
        "use_parent_model_frame": _TEXT,
        "limit": rule(
            children=_each("lower upper velocity effort", _TEXT),
            other_children="stiffness dissipation drake:acceleration drake:jerk",
        ),
        "dynamics": rule(
            children=_each("damping friction spring_stiffness spring_reference", _TEXT)
        ),
        "mimic": rule("joint axis", _each("multiplier offset reference", _TEXT)),
        "initial_position": _TEXT,
    },
)
#: ``<joint>`` of SDF, in a model or in ``<gazebo>``.
SDF_JOINT = rule(
    "name type",
    {
        "pose": SDF_POSE,
        **_each("axis axis2", _SDF_AXIS),
        **_each("parent child screw_thread_pitch thread_pitch gearbox_ratio", _TEXT),
        **_each("gearbox_reference_body drake:gear_ratio drake:rotor_inertia", _TEXT),
        "drake:mimic": _MIMIC,
    },
    other_children="physics sensor plugin",
    unknown="warning",
)

# ---- motors
_HARDWARE = _each(
    "hardwareInterface hardware_interface role offset type plugin param compensator motorScale "
    "saturationLower saturationUpper deadBandLower deadBandUpper motorTorqueConstant "
    "ignoreTransmissionAbsoluteEncoder encoderResolution modelName state_interface",
    _UNREAD,
)
_GEAR = {
    **_each("mechanicalReduction mechanical_reduction", _TEXT),
    **_each("drake:gear_ratio drake:rotor_inertia", _VALUE),
}
_DRIVE = rule("name", {**_GEAR, **_HARDWARE}, others="role", unknown="warning")
_TRANSMISSION = rule(
    "name",
    {**_each("joint actuator", _DRIVE), "matrix": _TEXT, **_GEAR, **_HARDWARE},
    others="type",
    other_children="leftActuator rightActuator flexJoint rollJoint gap_joint passive_joint "
    "use_simulated_gripper_joint simulated_actuated_joint",
    unknown="warning",
)
_ROS2_CONTROL = rule(
    "name",
    {
        "joint": rule(
            "name",
            {
                "command_interface": rule(
                    "name",
                    others="data_type size",
                    other_children="param limits",
                    unknown="warning",
                )
            },
            others="mimic role",
            other_children="state_interface param properties limits",
            unknown="warning",
        ),
        "transmission": _TRANSMISSION,
    },
    others="type rw_rate is_async thread_priority async",
    other_children="hardware sensor gpio safety_controller properties async",
    unknown="warning",
)


def _fields(cls: Any, without: str = "") -> str:
    return " ".join(field.name for field in fields(cls) if field.name not in without.split())


# ---- the robot
ROOT = rule(
    "name",
    {
        "link": _LINK_ELEMENT,
        **_each("joint drake:joint", _JOINT),
        "loop": _LOOP,
        "coupling": _COUPLING,
        "constraint": _CONSTRAINT,
        "loop_joint": _LOOP_JOINT,
        **DRAKE,
        "transmission": _TRANSMISSION,
        "ros2_control": _ROS2_CONTROL,
        "motor": rule(
            f"joint {_fields(Actuator, without='motor elastic')}",
            {
                "electric": rule(
                    _fields(Motor, without="thermal"), {"winding": rule(_fields(Winding))}
                ),
                "elastic": rule(_fields(Elastic)),
            },
        ),
        **{tag: rule(_fields(cls)) for tag, cls in LINK_ELEMENTS.items()},
        "rotor": rule(_fields(Rotor)),
        "follower": rule(
            "joint of polynomial x y monotone period harmonics offset",
            {"of": rule("joint multiplier")},
        ),
        "gazebo": rule(
            "reference", {"joint": SDF_JOINT}, unknown="misspelt"
        ),  # with a reference it is not looked into
    },
    others="version verbose author",
    other_children="material gazebo sensor mujoco deformable disable_collisions disable_collision "
    "disable_default_collisions group group_state end_effector virtual_joint passive_joint "
    "self_collision_checking collision_filter_group frame plugin verbose capability "
    "link_sphere_approximation compiler option size rotor_params allow_collision visualize "
    "drake:linear_bushing_rpy drake:collision_filter_group",
    unknown="warning",
)

#: Attributes that other tools use in many places with meanings of their own.
GENERAL = frozenset("name type link joint value axis reference".split())


def _owners() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """For each tag and each attribute that is read, the elements that it belongs to."""
    tags: dict[str, dict[str, None]] = {}
    attributes: dict[str, dict[str, None]] = {}
    pending = [("robot", ROOT)]
    while pending:
        name, rule = pending.pop(0)
        if rule.unknown != "misplaced":
            for attribute in sorted(rule.attributes):
                attributes.setdefault(attribute, {})[name] = None
            for tag, inner in rule.children.items():
                if inner.unknown != "misplaced" and ":" not in name:
                    tags.setdefault(tag, {})[name] = None
                pending.append((tag, inner))
    return (
        {tag: tuple(names) for tag, names in tags.items()},
        {attribute: tuple(names) for attribute, names in attributes.items()},
    )


_OWNERS_OF_TAGS, _OWNERS_OF_ATTRIBUTES = _owners()


def owners(name: str, *, attribute: bool = False) -> tuple[str, ...]:
    """Elements that a tag or an attribute belongs to; empty if it is read nowhere."""
    return (_OWNERS_OF_ATTRIBUTES if attribute else _OWNERS_OF_TAGS).get(name, ())
