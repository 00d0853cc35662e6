"""A kick: an action of events that gives speeds a jump by generalised impulses."""

ACTIONS = "robodyn/simulation/events/actions.py"
PACKAGE = "robodyn/simulation/events/__init__.py"

LINES = [
    (ACTIONS, '"latch", ', '"kick", '),
    (
        ACTIONS,
        "@checked_arguments\ndef latch(",
        '''@checked_arguments
def kick(impulse: ArrayLike) -> Action:
    """Speeds jump by an impulse.

    Parameters
    ----------
    impulse : array_like, shape (nv,) [N m s, N s]
    """

    def kicked(state: State) -> Change:
        given = of_one_state("impulse", impulse, state.robot.nv)
        jump = np.linalg.solve(state.robot.at(state.t).mass_matrix(state.q), given)
        return Change(v=state.v + jump)

    return kicked


''',
    ),
    (PACKAGE, "    latch,\n", "    kick,\n"),
    (PACKAGE, '    "latch",\n', '    "kick",\n'),
]

USE = """
import numpy as np
import robodyn as rd
from robodyn.simulation.events import kick

robot = rd.load("double_pendulum", passive=False, gravity=(0, 0, 0))
event = rd.Event(lambda t, q, v: t - 0.05, then=kick([0.1, 0.0]), name="kick", direction=1)
run = rd.simulate(robot, q0=[0.3, 0.4], duration=0.1, events=[event])
(record,) = run.events
assert record.name == "kick" and abs(record.time - 0.05) < 1e-9
momentum = np.einsum("nij,nj->ni", robot.mass_matrix(run.q), run.v)
assert np.allclose(momentum[run.t < 0.049], 0.0)
after = momentum[run.t > 0.051]
assert np.allclose(after[0], [0.1, 0.0], atol=1e-3)
assert np.allclose(after[:, 0], 0.1, atol=1e-9)  # nothing else turns the whole arm
try:
    kick("hard")
except rd.ShapeError as error:
    assert error.name == "impulse"
else:
    raise AssertionError("text was taken for an impulse")
"""
