"""Messages repeat no more of a file than a line, whatever stands in it."""

import warnings

import pytest

import robodyn as rd

INERTIAL = (
    '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    "</inertial>"
)
JOINT = '<joint name="j" type="{}"><parent link="{}"/><child link="b"/>{}</joint>'


def robot(body):
    return f'<robot name="r" version="1.1"><link name="a"/><link name="b">{INERTIAL}</link>{body}'


PLACES = {
    "a number": robot(JOINT).replace('mass value="1"', 'mass value="{0}"'),
    "a kind": robot(JOINT.format("{0}", "a", "")),
    "a link": robot(JOINT.format("fixed", "{0}", "")),
    "an axis": robot(JOINT.format("revolute", "a", '<axis xyz="{0}"/>')),
    "an attribute": robot(JOINT.format("revolute", "a", '<axis xyz="1 0 0" foo="{0}"/>')),
    "a quaternion": robot(JOINT.format("revolute", "a", '<origin quat_xyzw="{0}"/>')),
    "a flag": robot(JOINT.format("revolute", "a", "")).replace("<joint", '<joint cut="{0}"'),
    "a name": robot(JOINT.format("wobbly", "a", "")).replace('"j"', '"{0}"'),
    "text": robot("{0}"),
    "a motor": robot(JOINT.format("revolute", "a", "") + '<motor joint="{0}"/>'),
    "known names": '<robot name="r"><link name="{0}"/><link name="b"/>'
    + JOINT.format("fixed", "z", ""),
    "SDF": '<sdf version="1.7"><model name="m"><link name="a"><pose>{0}</pose></link></model>'
    "</sdf>",
    "a version": '<sdf version="{0}"><model name="m"><link name="a"/></model></sdf>',
    "no XML": "{0}",
}


@pytest.mark.parametrize("text", ["1" * 10**5, "1 " * 10**5, "a'b" * 10**5, "x\n" * 10**4])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("strict", [True, False])
def test_no_message_is_longer_than_a_few_lines(place, text, strict):
    source = PLACES[place].replace("{0}", text)
    source += "</robot>" if source.startswith("<robot") else ""
    with warnings.catch_warnings(record=True, action="always") as caught:
        said = []
        try:
            rd.load(source, strict=strict)
        except rd.RobodynError as error:
            said = [str(error), *getattr(error, "__notes__", ())]
    said += [str(warning.message) for warning in caught]
    assert said
    assert max(map(len, said)) < 3000
