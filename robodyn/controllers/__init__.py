"""Controllers: the package in the folder ``controllers`` at the root of the repository.

This file makes ``import robodyn.controllers`` work in a source tree and in an editable install. It
runs ``controllers/__init__.py`` as its own body and finds the modules of the package in that
folder, under names such as ``robodyn.controllers.laws.joint_pd``. Wheels do not have this file: the
folder itself is ``robodyn/controllers`` there.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from controllers import *  # noqa: F403 - type checkers read it as a package of its own
else:
    from importlib.machinery import SourceFileLoader
    from sys import modules

    __file__ = str(Path(__file__).parents[2] / "controllers" / "__init__.py")
    __path__ = [str(Path(__file__).parent)]
    SourceFileLoader(__name__, __file__).exec_module(modules[__name__])
