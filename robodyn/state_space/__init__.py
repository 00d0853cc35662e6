"""Linear models: matrices with named signals, poles, modes, controllability."""

from robodyn.state_space.margins import Margins
from robodyn.state_space.mode import Mode
from robodyn.state_space.model import StateSpace

__all__ = ["Margins", "Mode", "StateSpace"]
