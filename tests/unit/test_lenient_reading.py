"""`strict=False`: what the field's readers skip or accept is read, with one warning of it all."""

from __future__ import annotations

import warnings

import pytest

import robodyn as rd
from robodyn import urdf
from robodyn.errors import InertiaError, UrdfError, UrdfWarning

BODY = (
    '<inertial><origin xyz="0 0 0.5"/><mass value="1"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
)
ARM = f"""<robot name="r">
<link name="a"/>
<link name="b">{BODY}</link>
<link name="c"/>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/>
<origin xyz="0 0 1"/><axis xyz="0 1 0"/><limit lower="-1" upper="1"/></joint>
<joint name="k" type="fixed"><parent link="b"/><child link="c"/></joint>
</robot>"""


def leniently(text):
    """The mechanism of a text, and the only warning."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        mechanism = rd.load(text, strict=False).mechanism
    assert [one.category for one in heard] == [UrdfWarning]
    return mechanism, heard[0].message


def test_one_warning_lists_each_place_with_its_line_and_what_was_done():
    text = ARM.replace('ixx="1"', 'ixx="9"').replace('type="fixed"', 'type="revolute"')
    with pytest.raises(InertiaError) as caught:
        rd.load(text)
    assert "strict=False" in "".join(caught.value.__notes__)
    mechanism, warning = leniently(text)
    assert mechanism.links[1].inertia.ixx == 9.0
    assert [place.line for place in warning.places] == [3, 7]
    for place in warning.places:
        assert f"line {place.line}" in str(warning)
        assert place.leniently in str(warning)
    assert urdf.problems(text, strict=False) == []


def test_what_no_reader_could_read_is_an_error_in_any_case():
    with pytest.raises(UrdfError, match="is not XML"):
        rd.load(ARM.replace("</robot>", ""), strict=False)
