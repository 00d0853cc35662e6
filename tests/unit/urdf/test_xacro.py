"""xacro as manufacturers write it: arguments, packages that find each other, places of errors."""

import os
from pathlib import Path

import numpy as np
import pytest
from support.processes import python
from support.xacro_packages import MODELS, SPACE, write_packages

import robodyn as rd
from robodyn.cli import main
from robodyn.errors import PackageError, UrdfWarning
from robodyn.urdf.common.packages import Packages

pytest.importorskip("xacro")

GIVEN = {"name": "arm", "model": "a5"}


@pytest.fixture(autouse=True)
def no_ros(monkeypatch):
    """No ROS around the tests."""
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def arm(tmp_path):
    return write_packages(tmp_path)


@pytest.fixture
def cell(arm, tmp_path):
    return tmp_path / "cell_ws" / "cell_description" / "urdf" / "cell.urdf.xacro"


def written(tmp_path, text, name="robot.urdf.xacro"):
    path = tmp_path / name
    path.write_text(text)
    return path


# -- arguments -------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_arguments_choose_the_model(arm, model):
    robot = rd.load(arm, xacro_args={"name": "mine", "model": model})
    values = MODELS[model]
    assert robot.name == "mine"
    assert robot.joint_names == ("joint_1", "joint_2")
    assert robot.total_mass == pytest.approx(1.5 * values["mass"])
    assert np.allclose(robot.upper_limits, values["upper"])
    tip = robot.frame_pose(robot.neutral(), "link_2")
    assert np.allclose(tip[:3, 3], [values["length"], 0, 0])


def test_values_may_be_paths(arm):
    assert rd.load(arm, xacro_args={**GIVEN, "prefix": Path("l_")}).joint_names[0] == "l_joint_1"


def test_values_may_be_texts_truth_values_and_numbers(arm):
    values = {"prefix": "l_", "gripper": True, "height": 1.25}
    of_numpy = {"prefix": "l_", "gripper": np.True_, "height": np.float64(1.25)}
    for given in (values, of_numpy):
        robot = rd.load(arm, xacro_args={**GIVEN, **given})
        assert robot.joint_names == ("l_joint_1", "l_joint_2", "l_finger")
        assert robot.frame_pose(robot.neutral(), "l_base")[2, 3] == 1.25
    assert rd.load(arm, xacro_args={**GIVEN, "gripper": False}).nv == 2
    assert rd.load(arm, xacro_args={**GIVEN, "gripper": "false", "height": 1}).nv == 2


@pytest.mark.parametrize("value", [None, [1], {"a": 1}, float("nan"), 1j, b"a5"])
def test_other_values_are_refused(arm, value):
    with pytest.raises(rd.ShapeError, match=r"xacro_args\['model'\]"):
        rd.load(arm, xacro_args={**GIVEN, "model": value})


def test_missing_arguments_are_named(arm):
    with pytest.raises(rd.UrdfError) as caught:
        rd.load(arm)
    error = caught.value
    assert (error.file, error.line, error.element) == (str(arm), 2, "<robot>")
    for words in ("needs the argument name", "name:=", 'model (default "a9")', "below its first"):
        assert words in str(error)


def test_all_missing_arguments_are_named_at_once(tmp_path):
    text = f'<robot name="$(arg a)" {SPACE}><link name="$(arg b)"/></robot>'
    with pytest.raises(rd.UrdfError, match=r"needs the arguments a, b: .*'a': \.\.\., 'b': \.\.\."):
        rd.load(text)
    assert rd.load(text, xacro_args={"a": "x", "b": "y"}).link_names == ("y",)


def test_unknown_arguments_are_refused_with_what_there_is(arm):
    with pytest.raises(rd.UrdfError) as caught:
        rd.load(arm, xacro_args={**GIVEN, "griper": True})
    assert caught.value.suggestion == "gripper"
    for words in ("no argument 'griper'", "did you mean 'gripper'", 'prefix (default "")'):
        assert words in str(caught.value)


def test_a_misspelt_argument_is_named_beside_what_it_causes(arm):
    with pytest.raises(rd.UrdfError, match=r"a9.physical\.yaml.*'modle', which it does not know"):
        rd.load(arm, xacro_args={"name": "arm", "modle": "a5"})


def test_a_wrong_value_is_told_with_the_arguments(arm):
    with pytest.raises(rd.UrdfError) as caught:
        rd.load(arm, xacro_args={**GIVEN, "model": "a7"})
    for words in ("a7/physical.yaml", "model (default \"a9\"), given 'a7'", "<xacro:arm>"):
        assert words in str(caught.value)


def test_arguments_of_included_files_are_known(tmp_path):
    part = f'<robot {SPACE}><xacro:arg name="mass" default="1"/><link name="$(arg mass)"/></robot>'
    written(tmp_path, part, "part.xacro")
    path = written(
        tmp_path, f'<robot name="a" {SPACE}><xacro:include filename="part.xacro"/></robot>'
    )
    assert rd.load(path, xacro_args={"mass": 2}).link_names == ("2",)


def test_what_is_no_xacro_takes_no_arguments(tmp_path):
    for source in ("puma560", '<robot name="a"><link name="b"/></robot>'):
        with pytest.raises(rd.SettingsError, match="xacro_args gives name"):
            rd.load(source, xacro_args={"name": "x"})


# -- packages --------------------------------------------------------------------------------------


def test_packages_are_found_beside_that_of_the_file(cell):
    robot = rd.load(cell)
    assert robot.joint_names == (
        "left_joint_1", "left_joint_2", "right_joint_1", "right_joint_2", "right_finger",
    )  # fmt: skip
    assert rd.load(cell, xacro_args={"two": False}).nv == 2


def other_arm(folder):
    """The same package elsewhere, with another mass."""
    path = write_packages(folder, "arm_copy").parents[1] / "config" / "a3" / "physical.yaml"
    path.write_text(path.read_text().replace("2.0", "4.0"))
    return path.parents[2]


def test_given_folders_go_before_the_environment_and_that_before_the_neighbours(
    cell, tmp_path_factory, monkeypatch
):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    copy = other_arm(elsewhere)
    masses = {"near": 3.0, "copy": 6.0}

    def mass(**options):
        return round(rd.load(cell, xacro_args={"two": False}, **options).total_mass, 9)

    assert mass() == masses["near"]
    named = {"arm_description": copy}
    for given in (named, copy, [copy], str(elsewhere), [*named.items()]):
        assert mass(package_dirs=given) == masses["copy"]
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{elsewhere}")
    assert mass() == masses["copy"]
    near = cell.parents[3] / "arm_ws"
    assert mass(package_dirs=near) == masses["near"]
    monkeypatch.delenv("ROS_PACKAGE_PATH")
    (elsewhere / "share").mkdir()
    (elsewhere / "share" / "arm_description").symlink_to(copy)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(elsewhere))
    assert mass() == masses["copy"]


def test_a_missing_package_is_named_with_where_it_was_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("AMENT_PREFIX_PATH", "/opt/mine")
    text = f'<robot name="a" {SPACE}>\n<xacro:include filename="$(find lost)/a.xacro"/></robot>'
    path = written(tmp_path, text)
    with pytest.raises(PackageError) as caught:
        rd.load(path, package_dirs={"other": tmp_path})
    error = caught.value
    assert (error.package, error.file, error.line) == ("lost", str(path), 2)
    for words in (str(tmp_path), "ROS_PACKAGE_PATH (not set)", "/opt/mine", "--package", str(path)):
        assert words in str(error)


def test_two_folders_of_one_package_are_told(arm, tmp_path):
    other_arm(tmp_path / "arm_ws" / "more")
    cell = tmp_path / "cell_ws" / "cell_description" / "urdf" / "cell.urdf.xacro"
    (tmp_path / "arm_ws" / "more" / "arm_copy").rename(tmp_path / "arm_ws" / "arm_copy")
    with pytest.raises(PackageError, match=r"2 folders are .* 'arm_description'.*say which"):
        rd.load(cell)
    assert rd.load(cell, package_dirs=tmp_path / "arm_ws" / "arm").nv == 5


@pytest.mark.parametrize("given", [3, [3], "nowhere", {"p": "nowhere"}, {"p": None}, ["nowhere"]])
def test_wrong_folders_are_refused(given):
    with pytest.raises(rd.ShapeError, match="package_dirs"):
        Packages(given)


def test_names_that_lead_out_of_folders_are_no_packages(tmp_path):
    for name in ("", ".", "..", "../up", "a/b"):
        with pytest.raises(PackageError):
            Packages(tmp_path).folder(name, [tmp_path / "robot.urdf"])


# -- content ---------------------------------------------------------------------------------------


def test_files_that_hold_macros_alone_say_so(arm):
    with pytest.raises(rd.UrdfError, match=r"arm_macro\.xacro: holds macros alone \(arm, .*rod\)"):
        rd.load(arm.with_name("arm_macro.xacro"))


def test_problems_of_what_it_stands_for_have_the_lines_of_the_file(arm, tmp_path):
    text = f"""<robot name="a" {SPACE}>
  <xacro:macro name="many" params="n"><link name="l${{n}}"/></xacro:macro>
  <xacro:many n="1"/>
  <xacro:many n="2"/>
  <joint name="j" type="revolut"><parent link="l1"/><child link="l2"/></joint>
</robot>"""
    with pytest.raises(rd.UrdfError) as caught:
        rd.load(written(tmp_path, text))
    assert (caught.value.line, caught.value.element) == (5, "joint 'j'")
    included = f'<robot {SPACE}><link name="a"><inertial/></link></robot>'
    written(tmp_path, included, "part.xacro")
    path = written(
        tmp_path, f'<robot name="a" {SPACE}>\n<xacro:include filename="part.xacro"/></robot>'
    )
    with pytest.raises(rd.UrdfError) as caught:
        rd.load(path)
    assert caught.value.line is None  # it stands in another file
    twice = (
        "<link name='a'/><joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>"
    )
    written(tmp_path, f"<robot {SPACE}>{twice}</robot>", "part.xacro")
    body = '<xacro:include filename="part.xacro"/><link name="b"/><link name="a"/>'
    with pytest.raises(rd.UrdfError, match=r"taken by the link in an included file; rename one"):
        rd.load(written(tmp_path, f'<robot name="a" {SPACE}>\n{body}</robot>'))


def test_errors_of_xacro_say_where_and_by_which_calls(tmp_path):
    part = f"""<robot {SPACE}>
  <xacro:macro name="inner" params="x">
    <link name="${{x + nothing}}"/>
  </xacro:macro>
</robot>"""
    part = written(tmp_path, part, "part.xacro")
    text = f"""<robot name="a" {SPACE}>
  <xacro:include filename="part.xacro"/>
  <xacro:macro name="outer" params="">
    <xacro:inner x="1"/>
  </xacro:macro>
  <xacro:outer/>
</robot>"""
    path = written(tmp_path, text)
    with pytest.raises(rd.UrdfError) as caught:
        rd.load(path)
    assert (caught.value.file, caught.value.line) == (str(part), 3)
    for words in ("'nothing' is not defined", f"<xacro:inner> in {path}:4", f"{path}:6"):
        assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ('<xacro:include filename="gone.xacro"/>', 2, "No such file or directory: .*gone.xacro"),
        ('<xacro:include filename="broken.xacro"/>', 3, "mismatch"),
        ("<xacro:call macro=\"gone\"/>", 2, "unknown macro name"),
        ('<link name="${1 +}"/>', 2, r"when evaluating expression .1 \+"),
        ('<link name="$(env ROBODYN_GONE)"/>', 2, "ROBODYN_GONE"),
        ('<link name="${xacro.load_yaml(\'gone.yaml\')}"/>', 2, "gone.yaml"),
    ],
)  # fmt: skip
def test_errors_of_xacro_have_a_place(tmp_path, body, line, words):
    written(tmp_path, f"<robot {SPACE}>\n<link>\n</robot>", "broken.xacro")
    path = written(tmp_path, f'<robot name="a" {SPACE}>\n{body}\n</robot>')
    with pytest.raises(rd.UrdfError, match=words) as caught:
        rd.load(path)
    assert caught.value.line == line


def test_includes_that_are_optional_may_be_missing(tmp_path):
    body = '<xacro:include filename="gone.xacro" optional="true"/><link name="b"/>'
    assert rd.load(f'<robot name="a" {SPACE}>{body}</robot>').link_names == ("b",)


def test_warnings_of_xacro_are_ours(tmp_path, capsys):
    body = '<xacro:property name="pi" value="3"/><link name="b${pi}"/>'
    with pytest.warns(UrdfWarning, match="redefining global symbol: pi"):
        rd.load(f'<robot name="a" {SPACE}>{body}</robot>')
    assert capsys.readouterr().err == ""


# -- files that are not trusted --------------------------------------------------------------------


SUM = f'<robot name="a" {SPACE}><link name="l${{1 + 2}}"/></robot>'


@pytest.mark.parametrize("name", ["robot.urdf", "robot.xml", "robot.sdf", "robot"])
def test_only_names_that_end_in_xacro_are_run_unasked(tmp_path, name, capsys):
    path = written(tmp_path, SUM, name)
    with pytest.raises(rd.UrdfError, match=r"looks like xacro.*xacro=True expands it") as caught:
        rd.load(path)
    assert caught.value.file == str(path)
    assert main(["check", str(path)]) == 2
    assert "--xacro expands it, and --no-xacro reads it" in capsys.readouterr().out
    assert rd.load(path, xacro=True).link_names == ("l3",)
    assert main(["check", str(path), "--xacro"]) == 0
    with pytest.warns(UrdfWarning, match="read as it is written"):
        assert rd.load(path, strict=False).link_names == ("l${1 + 2}",)
    with pytest.raises(rd.UrdfError, match="is xacro, not a value"):
        rd.load(path, xacro=False)


def test_arguments_ask_for_it(tmp_path):
    text = f'<robot name="a" {SPACE}><link name="$(arg tip)"/></robot>'
    path = written(tmp_path, text, "robot.urdf")
    assert rd.load(path, xacro_args={"tip": "hand"}).link_names == ("hand",)
    with pytest.raises(rd.SettingsError, match="is no xacro"):
        rd.load(path, xacro_args={"tip": "hand"}, xacro=False)


def test_what_is_called_xacro_can_be_left_alone(arm, tmp_path):
    with pytest.raises(rd.UrdfError, match="unexpanded xacro"):
        rd.load(arm, xacro=False)
    with pytest.raises(rd.UrdfError, match="is xacro, not a value"):
        rd.load(SUM, xacro=False)
    plain = written(tmp_path, '<robot name="a"><link name="b"/></robot>', "plain.urdf")
    for xacro in (True, False, "auto"):
        assert rd.load(plain, xacro=xacro).link_names == ("b",)


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        '<link name="${10**10**10}"/>',
        '<link name="${python.sum(python.range(10**14))}"/>',
        '<link name="${[x for x in python.range(10**14) if x &lt; 0]}"/>',
        "".join(
            f'<xacro:macro name="m{k + 1}"><xacro:m{k}/><xacro:m{k}/></xacro:macro>'
            for k in range(40)
        )
        + '<xacro:macro name="m0"><link name="l"/></xacro:macro><xacro:m40/>',
    ],
)
def test_what_never_ends_is_ended(tmp_path, body, monkeypatch):
    monkeypatch.setattr("robodyn.urdf.xacro.expansion.TIME", 2.0)
    path = written(tmp_path, f'<robot name="a" {SPACE}>{body}</robot>')
    with pytest.raises(rd.UrdfError, match="ended after 2 s") as caught:
        rd.load(path)
    assert caught.value.file == str(path)
    assert rd.load(SUM).link_names == ("l3",)


def test_what_calls_or_includes_itself_is_told(tmp_path):
    calls = '<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>'
    includes = '<xacro:include filename="robot.urdf.xacro"/>'
    for body in (calls, includes):
        path = written(tmp_path, f'<robot name="a" {SPACE}>{body}</robot>')
        with pytest.raises(rd.UrdfError, match="maximum recursion depth"):
            rd.load(path)


WAYS_OUT = {
    "include": '<xacro:include filename="{0}"/>',
    "pattern": '<xacro:include filename="{1}/*.xacro"/>',
    "yaml": "<link name=\"${{xacro.load_yaml('{0}')}}\"/>",
    "open": '<link name="${{(lambda: [c for c in ().__class__.__base__.__subclasses__() '
    "if c.__name__ == 'FileLoader'][0]('a', '{0}').get_data('{0}'))()}}\"/>",
    "python": '<link name="${{(lambda: [c for c in ().__class__.__base__.__subclasses__() '
    "if c.__name__ == '_wrap_close'][0].__init__.__globals__['system']('touch {1}/made'))()}}\"/>",
}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_files_outside_of_packages_are_out_of_reach(way, tmp_path):
    secret = tmp_path / "elsewhere" / "secret.xacro"
    secret.parent.mkdir()
    secret.write_text(f"<robot {SPACE}><link name='secret'/></robot>")
    (tmp_path / "mine").mkdir()
    body = WAYS_OUT[way].format(secret, secret.parent)
    path = written(tmp_path / "mine", f'<robot name="a" {SPACE}>{body}</robot>')
    with pytest.raises(rd.UrdfError, match=r"outside of the packages|may not (open|os\.system)"):
        rd.load(path)
    assert [*secret.parent.iterdir()] == [secret]
    link = path.with_name("link.xacro")
    link.symlink_to(secret)
    path.write_text(f'<robot name="a" {SPACE}><xacro:include filename="link.xacro"/></robot>')
    with pytest.raises(rd.UrdfError, match="outside of the packages") as caught:
        rd.load(path)
    assert (caught.value.line, caught.value.element) == (1, "<xacro:include>")
    assert rd.load(path, package_dirs=secret.parent).link_names == ("secret",)


def test_files_of_the_same_repository_and_of_packages_are_within_reach(arm, tmp_path):
    part = f"<robot {SPACE}><link name='part'/></robot>"
    (tmp_path / "models" / "urdf").mkdir(parents=True)
    written(tmp_path / "models", part, "part.xacro")
    body = '<xacro:include filename="../part.xacro"/>'
    path = written(tmp_path / "models" / "urdf", f'<robot name="a" {SPACE}>{body}</robot>')
    with pytest.raises(rd.UrdfError, match=r"package_dirs='[^']*/models'"):
        rd.load(path)
    (tmp_path / "models" / ".git").mkdir()
    assert rd.load(path).link_names == ("part",)
    common = arm.parent / "inc" / "common.xacro"  # of a package, by its absolute path
    body = f'<xacro:include filename="{common}"/><link name="b"/>'
    path.write_text(f'<robot name="a" {SPACE}>{body}</robot>')
    assert rd.load(path).link_names == ("b",)


@pytest.mark.slow
def test_xacro_runs_in_a_process_of_its_own(arm):
    code = "import sys, robodyn; robodyn.load(sys.argv[1]); print('xacro' in sys.modules)"
    path = written(arm.parent, SUM)
    found = python("-c", code, path, check=False)
    assert found.stdout.split() == ["False"]


@pytest.mark.slow
def test_a_process_that_ended_meanwhile_is_replaced():
    from robodyn.urdf.xacro import expansion

    for _ in range(2):
        assert rd.load(SUM).link_names == ("l3",)
        for waiting in expansion._WAITING:  # where systems have fork
            waiting._process.kill()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_copies_of_a_process_have_processes_of_their_own():
    code = f"""
import os, robodyn
def load():
    assert robodyn.load({SUM!r}).link_names == ("l3",)
load()
child = os.fork()
load()
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    python("-W", "ignore", "-c", code, timeout=60)


# -- the command line ------------------------------------------------------------------------------


def test_every_command_takes_arguments(arm, cell, capsys):
    assert main(["check", str(arm), "name:=ur", "model:=a5"]) == 0
    assert main(["info", "model:=a5", str(arm), "--base", "floating", "name:=ur"]) == 0
    assert "ur: floating base, 8 degrees" in capsys.readouterr().out
    assert main(["export", str(arm), "mass_matrix", "name:=ur", "model:=a3"]) == 0
    package = str(arm.parents[1])
    assert main(["info", str(cell), "--package", package, "two:=false"]) == 0
    assert main(["info", str(cell), "--package", f"arm_description={package}"]) == 0
    assert main(["check", str(arm)]) == 2
    assert "needs the argument name" in capsys.readouterr().out
