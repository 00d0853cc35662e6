"""Events of a motion: when they happen, what they change, and ready-made actions.

`impact`, `latch`, `grasp` and others return actions for `Event.then`; `stop` is itself an action.
"""

from robodyn.simulation.events.actions import (
    become,
    drive,
    drop,
    grasp,
    impact,
    jump,
    latch,
    release,
    switch,
)
from robodyn.simulation.events.event import Change, Event, State, stop
from robodyn.simulation.events.landing import landings

__all__ = [
    "Change",
    "Event",
    "State",
    "become",
    "drive",
    "drop",
    "grasp",
    "impact",
    "jump",
    "landings",
    "latch",
    "release",
    "stop",
    "switch",
]
