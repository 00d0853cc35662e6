"""Bundled robots, each loaded once a process: robots do not change."""

import functools

import robodyn as rd


@functools.cache
def bundled(name):
    """The robot of this name; for tests to which it makes no difference who has called it."""
    return rd.load(name)
