"""Pictures of system graphs: every body and joint is there, nothing lies on anything else."""

import re
from xml.etree import ElementTree

import pytest

import robodyn as rd
from robodyn.cli import main
from robodyn.description import Joint, Link, Mechanism

NAME = "{http://www.w3.org/2000/svg}"


def read(text):
    """Boxes (label, x, y, width, height), curves and labels of arcs by kind."""
    boxes, curves, labels = [], [], []
    for group in ElementTree.fromstring(text).findall(f"{NAME}g"):
        kind = group.get("class")
        if (rect := group.find(f"{NAME}rect")) is not None:
            sizes = [float(rect.get(x)) for x in ("x", "y", "width", "height")]
            boxes.append((group.find(f"{NAME}text").text, *sizes))
        elif (path := group.find(f"{NAME}path")) is not None:
            curves.append((kind, [float(x) for x in re.findall(r"-?[\d.]+", path.get("d"))]))
        else:
            labels.append((kind, group.findall(f"{NAME}text")[-1]))
    return boxes, curves, labels


@pytest.mark.parametrize("name", ["arm7", "four_bar", "stewart", "dual_arm", "satellite"])
def test_every_body_and_joint_is_drawn_once(name):
    graph = rd.load(name).graph
    boxes, curves, labels = read(graph.svg())
    n = len(graph.vertices) - 1
    assert [box[0] for box in boxes] == [f"{k} {x}" for k, x in enumerate(graph.vertices)]
    assert [label.text for _, label in labels] == [f"{k} {x}" for k, x in enumerate(graph.arcs, 1)]
    kinds = ["joint"] * n + ["cut"] * (len(graph.arcs) - n)
    assert [kind for kind, _ in curves] == kinds
    assert [kind for kind, _ in labels] == [f"{kind} label" for kind in kinds]
    for k, (_, points) in enumerate(curves):  # arrows lead from box to box
        for place, vertex in ((points[:2], graph.i_plus[k]), (points[-2:], graph.i_minus[k])):
            _, x, y, width, height = boxes[vertex]
            assert x - 0.1 <= place[0] <= x + width + 0.1
            assert y - 0.1 <= place[1] <= y + height + 0.1


def apart(one, other):
    (x0, y0, w0, h0), (x1, y1, w1, h1) = one, other
    return x0 + w0 <= x1 or x1 + w1 <= x0 or y0 + h0 <= y1 or y1 + h1 <= y0


@pytest.mark.parametrize("name", ["puma560", "stewart", "dual_arm", "satellite"])
def test_neither_boxes_nor_names_of_tree_joints_lie_on_one_another(name):
    svg = ElementTree.fromstring(rd.load(name).graph.svg())
    boxes, _, labels = read(rd.load(name).graph.svg())
    places = [box[1:] for box in boxes]
    for kind, label in labels:
        if kind == "joint label":  # as wide as letters of 6 pixels
            x, y = float(label.get("x")), float(label.get("y"))
            places.append((x - 3 * len(label.text), y - 6, 6 * len(label.text), 12))
    assert all(apart(x, y) for k, x in enumerate(places) for y in places[:k])
    left, top, width, height = (float(x) for x in svg.get("viewBox").split())
    for x, y, wide, high in places:
        assert left <= x and x + wide <= left + width
        assert top <= y and y + high <= top + height


def test_names_with_signs_of_xml_and_a_base_alone():
    joint = Joint('a<b & "c"', "revolute", "<base>", "x&y", axis=(0, 0, 1))
    links = Link("<base>"), Link("x&y", rd.Inertia(1.0))
    graph = rd.load(Mechanism("signs", links, (joint,)), allow_unphysical=True).graph
    boxes, _, labels = read(graph.svg())
    assert [boxes[0][0], boxes[1][0]] == ["0 <base>", "1 x&y"]
    assert labels[0][1].text == '1 a<b & "c"'
    alone = rd.load('<robot name="stone"><link name="stone"/></robot>').graph.svg()
    assert [box[0] for box in read(alone)[0]] == ["0 stone"]


def test_the_command_writes_it(tmp_path, capsys):
    file = tmp_path / "graph.svg"
    assert main(["info", "four_bar", "--graph", str(file)]) == 0
    assert file.read_text() == rd.load("four_bar").graph.svg()
    assert f"wrote {file}" in capsys.readouterr().out
    assert main(["info", "four_bar", "--graph", str(tmp_path / "no" / "graph.svg")]) == 2
    assert "no such folder" in capsys.readouterr().err
