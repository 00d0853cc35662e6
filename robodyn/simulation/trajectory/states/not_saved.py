"""What tables and bags do not hold of a motion: quantities that need it are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robodyn.errors import SettingsError

ROBOTS = "the robots that events made of it"
BASE = "the motion of the base"
WRENCHES = "external wrenches"
EVENTS = "events"
DRIVEN = "which joints are driven"
CONTROLLERS = "states of controllers"
FRICTION = "that joints stick"


def not_in_columns(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """What a motion has besides the columns of its joints, and a file of these does not hold."""
    acting, wrenches = fields["surroundings"], fields["surroundings"].wrenches
    had = {
        ROBOTS: fields["phases"], BASE: acting.base, WRENCHES: callable(wrenches) or wrenches,
        EVENTS: fields["events"], DRIVEN: fields["driven"], CONTROLLERS: fields["controller_state"],
        FRICTION: fields["friction"],
    }  # fmt: skip
    found = [name for name, x in had.items() if x is not None and x not in (False, (), {})]
    return tuple(dict.fromkeys((*fields["not_saved"], *found)))


def refuse_not_saved(run: Any, needed: tuple[str, ...]) -> None:
    """Refuse a quantity of a motion whose file did not hold all that it follows from."""
    lost = [name for name in needed if name in run.not_saved]
    if lost:
        raise SettingsError(
            f"the file of this motion does not hold {' and '.join(lost)}, on which this "
            "quantity depends: save the motion as .npz, which holds all"
        )
