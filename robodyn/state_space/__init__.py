"""Linear models: matrices with names, their poles and modes, and what inputs can reach."""

from robodyn.state_space.mode import Mode
from robodyn.state_space.model import StateSpace

__all__ = ["Mode", "StateSpace"]
