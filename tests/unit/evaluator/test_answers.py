"""From a quantity to its result: programs, fallbacks, and what further calls of a method go to."""

from dataclasses import dataclass

import numpy as np
import pytest

import robodyn as rd
from robodyn.equations.catalogue import QUANTITIES
from robodyn.evaluator import TreePrograms


@pytest.fixture(scope="module")
def robot():
    return rd.load("double_pendulum")


@dataclass
class Chosen(TreePrograms):
    """Programs of a tree, but for one quantity that has none."""

    evaluator: object
    without: str = ""

    def options(self, name, options):
        return None if name == self.without else super().options(name, options)


def answering(robot, without=""):
    """An evaluator with a fallback, and what this is asked."""
    asked = []

    def fallback(request):
        asked.append(request)
        return np.array([7.0, 8.0])

    evaluator = robot._parts.evaluator
    programs = Chosen(evaluator, without)
    return evaluator.answering(programs, {"forward_dynamics": fallback}), asked


def state(q=(0.1, 0.2)):
    return np.array(q), np.array([0.3, -0.4]), np.array([1.0, 2.0])


def test_a_program_that_holds_answers(robot):
    evaluator, asked = answering(robot)
    expected = robot.forward_dynamics(*state())
    np.testing.assert_array_equal(evaluator.call("forward_dynamics", state()), expected)
    assert not asked


def test_a_fallback_answers_where_there_is_no_program(robot):
    evaluator, asked = answering(robot, without="forward_dynamics")
    push = {"lower": np.ones(6)}
    out = np.empty(2)
    found = evaluator.call(
        "forward_dynamics", state(), wrenches=push, out=out, stabilization=(1.0, 2.0)
    )
    assert found is out
    np.testing.assert_array_equal(out, [7.0, 8.0])
    (request,) = asked
    assert request.wrenches == push
    assert request.options["stabilization"] == (1.0, 2.0)
    assert request.found is None


def test_results_are_made_of_what_a_fallback_gives(robot):
    evaluator, _ = answering(robot, without="forward_dynamics")
    given = state()
    made = evaluator.answer(
        "forward_dynamics", given, make=lambda found, *inputs: (found.sum(), *inputs),
        of_inputs=True,
    )  # fmt: skip
    assert made[0] == 15.0
    assert made[1] is given[0]
    nothing = evaluator.answer("forward_dynamics", given, make=len, fallback=lambda asked: None)
    assert nothing is None


def test_wrong_states_are_named_before_a_fallback_is_asked(robot):
    evaluator, asked = answering(robot)
    with pytest.raises(rd.ShapeError, match="q"):
        evaluator.call("forward_dynamics", state((np.nan, 0.0)))
    assert not asked


@pytest.mark.parametrize("name", [x for x, row in QUANTITIES.items() if row.options])
def test_options_that_a_function_needs_are_named(robot, name):
    measured = robot.with_(sensors=[rd.Sensor("momentum")])
    try:
        measured.function(name)
    except (rd.SettingsError, rd.UnknownNameError) as error:
        assert f"function '{name}'" in str(error)
