"""The viewer: a robot in the browser, with posing, playback and forces (extra ``view``)."""

from robodyn.view.app import Viewer

__all__ = ["Viewer"]
