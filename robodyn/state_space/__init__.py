"""Linear models: matrices with named signals, poles, modes, controllability."""

from robodyn.state_space.mode import Mode
from robodyn.state_space.model import StateSpace

__all__ = ["Mode", "StateSpace"]
