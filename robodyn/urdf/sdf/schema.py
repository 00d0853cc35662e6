"""The schema of SDF: elements and attributes that are read, and those that are ignored."""

from __future__ import annotations

import functools

from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.schema import DRAKE_IN_SDF, SDF_JOINT, SDF_POSE, Rule, rule
from robodyn.urdf.common.spelling import check_spelling
from robodyn.urdf.common.xml import Element

#: SDF has many elements beside those that are read: unknown ones are warned of.
_rule = functools.partial(rule, unknown="warning")

_TEXT = _rule(text=True)


def _texts(tags: str) -> dict[str, Rule]:
    return dict.fromkeys(tags.split(), _TEXT)


_INERTIAL = _rule(
    "auto",
    {
        "mass": _TEXT,
        "pose": SDF_POSE,
        "inertia": _rule(children=_texts("ixx ixy ixz iyy iyz izz"), unknown="error"),
        "density": _TEXT,
    },
    other_children="fluid_added_mass auto_inertia_params frame",
)
_LINK = _rule(
    "name",
    {
        "pose": SDF_POSE,
        "inertial": _INERTIAL,
        **_texts("gravity enable_wind kinematic"),
        "velocity_decay": _rule(children=_texts("linear angular")),
    },
    others="type",
    other_children="self_collide must_be_base_link visual collision sensor projector audio_sink "
    "audio_source battery light particle_emitter frame plugin damping",
)
_FRAME = _rule("name attached_to", {"pose": SDF_POSE})
_INCLUDE = _rule(
    "merge",
    {"pose": SDF_POSE, **_texts("uri name placement_frame static")},
    other_children="plugin namespace",
)
_PARTS = {
    "pose": SDF_POSE,
    "link": _LINK,
    "joint": SDF_JOINT,
    "frame": _FRAME,
    "include": _INCLUDE,
    **DRAKE_IN_SDF,
    **_texts("static enable_wind"),
}
_OTHERS_OF_MODEL = (
    "drake:joint self_collide allow_auto_disable plugin gripper link_state model_state state"
)


def _model(depth: int) -> Rule:
    """Rule of a model, with models in it."""
    inner = {"model": _model(depth - 1)} if depth else {}
    return _rule(
        "name canonical_link placement_frame",
        {**_PARTS, **inner},
        others="namespace",
        other_children=_OTHERS_OF_MODEL + ("" if depth else " model"),
    )


_MODEL = _model(8)
_WORLD = _rule(
    "name",
    {
        "include": _INCLUDE,
        "frame": _FRAME,
        "gravity": _TEXT,
        "joint": SDF_JOINT,
        "physics": _rule(
            children=_texts("gravity"), others="name type default", unknown="misspelt"
        ),
    },
    other_children="model light actor plugin scene gui state population audio wind atmosphere road "
    "spherical_coordinates magnetic_field",
)
_SDF = _rule("version", {"world": _WORLD}, other_children="model light actor plugin asset")


def check_sdf(reader: Reader, root: Element) -> None:
    """Report the unknown names of an SDF file, outside of its models, to the reader."""
    check_spelling(reader, root, _SDF)


def check_model(reader: Reader, element: Element) -> None:
    """Report the unknown names of a model, and of those in it, to the reader."""
    check_spelling(reader, element, _MODEL)
