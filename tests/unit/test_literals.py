"""Words that options take are those that there are, and others are refused at run time."""

from typing import get_args

import pytest

import robodyn as rd
from robodyn import literals
from robodyn.codegen.llvm.programs.constrained_systems.system import METHODS
from robodyn.equations.catalogue import QUANTITIES
from robodyn.equations.loops.frame_functions import FRAME_KINDS
from robodyn.equations.quantities.common.quantity import OnLoops
from robodyn.equations.sensors.kinds import KINDS
from robodyn.equations.sensors.sensor import FUNCTION
from robodyn.exporting.targets import TARGETS
from robodyn.simulation.integrators import INTEGRATORS
from robodyn.view.drawing.arrows import KINDS as ARROWS

FOUND = {
    "IntegratorName": INTEGRATORS,
    "SensorKindName": {*KINDS} - {FUNCTION},
    "FrameConstraintKind": FRAME_KINDS,
    "ExportTarget": TARGETS,
    "ConstraintMethod": {"auto", *METHODS},
    "ArrowKind": ARROWS,
    "DynamicsName": [x.removesuffix("_derivatives") for x in QUANTITIES if "s_derivatives" in x],
}


@pytest.mark.parametrize("option", FOUND)
def test_words_are_what_the_folders_have(option):
    assert {*get_args(getattr(literals, option))} == {*FOUND[option]}


def test_a_word_that_there_is_not_is_refused_with_those_that_there_are():
    with pytest.raises(rd.UnknownNameError, match="'flying' in base=; did you mean 'floating'"):
        rd.load("pan_tilt", base="flying")
    robot = rd.load("pan_tilt")
    with pytest.raises(rd.UnknownNameError, match="in base="):
        robot.with_(base="flying")
    for call in (robot.function, lambda name, **axes: robot.frame_jacobian([0.0, 0.0], **axes)):
        with pytest.raises(rd.UnknownNameError, match="'wold' in axes=; did you mean 'world'"):
            call("frame_jacobian", frame="camera", axes="wold")
    with pytest.raises(rd.ShapeError, match="axes is 3, expected"):
        robot.frame_jacobian([0.0, 0.0], "camera", axes=3)


def test_functions_have_as_many_outputs_as_their_types_say(four_bar):
    told = {**dict.fromkeys(get_args(literals.ArrayFunction), True)}
    told |= dict.fromkeys(get_args(literals.TupleFunction), False)
    assert not told.keys() - QUANTITIES.keys()
    public = {x for x in QUANTITIES if hasattr(rd.Robot, x)}
    # of these it depends on the robot, or methods alone make something of them
    others = {"measure", "check_state", "mobility", "ground_contacts", "loop_gaps"}
    assert public - told.keys() == others
    for name, single in told.items():
        of = rd.load("pan_tilt") if QUANTITIES[name].closed is OnLoops.REFUSED else four_bar
        frame = {"frame": of.link_names[-1]} if "frame" in QUANTITIES[name].options else {}
        count = len(of.function(name, **frame).outputs)
        assert count == 1 if single else count > 1, name
