"""Elements of xacro that remain in a URDF: definitions give a warning, macro calls an error."""

from __future__ import annotations

from robodyn.urdf.common.reader import EXPAND, Reader
from robodyn.urdf.common.xml import Element, local_name

__all__ = ["check_leftovers"]

#: Elements that only define something.
_DEFINITIONS = frozenset({"xacro:property", "xacro:macro", "xacro:arg"})

#: Elements whose content belongs to other tools.
_OTHERS = frozenset({"visual", "collision", "gazebo", "material"})


def check_leftovers(reader: Reader, root: Element) -> None:
    """Report elements of xacro to the reader."""
    pending = list(root)[::-1]
    while pending:
        element = pending.pop()
        name = local_name(element)
        if not name.startswith("xacro:"):
            pending += [] if name in _OTHERS else list(element)[::-1]
        elif name in _DEFINITIONS:
            reader.warn(element, f"<{name}> is left of xacro; it defines something and is not read")
        else:
            problem = f"<{name}> is unexpanded xacro: {EXPAND}"
            reader.omit(element, problem, lost=True)
