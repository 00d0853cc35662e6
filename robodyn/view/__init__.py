"""A robot in the browser (extra ``view``): geometry, posing, playback, forces."""

from robodyn.view.app import Viewer

__all__ = ["Viewer"]
