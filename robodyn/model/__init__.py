"""The model of a robot: its description, spanning tree, coordinates, limits and settings."""

from robodyn.model.model import Model, build_model
from robodyn.model.settings import Settings

__all__ = ["Model", "Settings", "build_model"]
