"""Linkages that do not close, or cannot move, by more than rounding: what is told, what mends them.

A remedy is named only if loading with it was tried.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from robodyn.array_types import Array
from robodyn.caller import warn
from robodyn.closed_loops.assembly.loop_geometry import LoopGeometry
from robodyn.closed_loops.assembly.rounded_linkage import as_meant, nearest_linkage
from robodyn.description import Mechanism
from robodyn.errors import LoopWarning
from robodyn.model.model import Model, build_model
from robodyn.model.settings import Settings
from robodyn.tolerances import MISFIT

#: Parts of the largest displacements within which a linkage is looked for, a near one first.
PARTS = (0.06, 0.25, 1.0)


def linkage_as_meant(mechanism: Mechanism, settings: Settings) -> Model:
    """The model in tree coordinates of the linkage that a description with rounded numbers means.

    With one `LoopWarning` where more is changed than what sums and products of numbers of a file
    leave of zero, or where no joint of a loop can move.
    """
    settings = _of_tree(settings)
    found = as_meant(mechanism, settings)
    told = found.told
    if found.loops is not None and found.q is not None:
        told += _of_stiff_loops(found.loops, found.q, mechanism, settings)
    if told:
        text = ". Besides, ".join(told)
        warn(LoopWarning(text, file=mechanism.file, element=f"robot {mechanism.name!r}"))
    return found.model


def _of_tree(settings: Settings) -> Settings:
    if settings.coordinates != "tree" or settings.branches:
        return dataclasses.replace(settings, coordinates="tree", branches=())
    return settings


@dataclass(frozen=True)
class Remedy:
    """A `closure_tolerance` with which the loops of a linkage close, as was tried."""

    tolerance: float
    angle: float  # the largest turn [rad] and way [m] of a frame
    way: float
    dof: int
    stiff: bool  # no joint in some of the loops can move all the same
    far: bool  # they close far from where they are drawn
    more: Remedy | None = None  # a larger one, which leaves more degrees of freedom

    def __str__(self) -> str:
        leaving = f"leave {self.dof} degree{'s' * (self.dof != 1)} of freedom"
        more = f", by up to {self.more._moved} {self.more.dof}" if self.more else ""
        return (
            f"with frames of joints moved by up to {self._moved} they "
            f"close and {leaving}{', though some of them stay stiff' * self.stiff}{more}"
        )

    @property
    def _moved(self) -> str:
        return f"{self.angle:.2g} rad and {self.way:.2g} m"

    @property
    def option(self) -> str:
        """What to load with."""
        text = f"closure_tolerance={self.tolerance:.2g}"
        more = self.more
        return f"{text} ({more.option} for {more.dof} degrees of freedom)" if more else text


def remedy(mechanism: Mechanism, settings: Settings, below: float = math.inf) -> Remedy | None:
    """What lets the loops of a description close, with a rank that is below a given one.

    The first with which no loop stays stiff, if there is one, and what leaves more motion.
    """
    settings = dataclasses.replace(_of_tree(settings), rigid=False)
    model = build_model(mechanism, settings)
    if not model.setup.closures:
        return None
    letter = LoopGeometry(model)
    found = _remedy(mechanism, settings, letter, below)
    if found is None or found.stiff:
        return found
    more = _remedy(mechanism, settings, letter, letter.space.nv - found.dof)
    if more is None or more.stiff or more.far > found.far:
        return found
    return dataclasses.replace(found, more=more)


def _remedy(
    mechanism: Mechanism, settings: Settings, letter: LoopGeometry, below: float
) -> Remedy | None:
    """The first remedy with which no loop stays stiff, near where it is drawn, if there is one."""
    tried = dict[float, Remedy | None]()
    for part in PARTS:
        near = nearest_linkage(letter, part * MISFIT, below)
        for size in () if near is None else (1.1 * near.size, part * MISFIT):
            tolerance = float(f"{max(min(size, MISFIT), settings.closure_tolerance):.2g}")
            if tolerance not in tried:
                found = _with_tolerance(mechanism, settings, tolerance, below)
                if found is not None and not (found.stiff or found.far):
                    return found
                tried[tolerance] = found
    return min(filter(None, tried.values()), key=lambda x: (x.stiff, x.far), default=None)


def _with_tolerance(
    mechanism: Mechanism, settings: Settings, tolerance: float, below: float
) -> Remedy | None:
    """What loading with a `closure_tolerance` makes of a description, if its rank is below this."""
    moved = as_meant(mechanism, dataclasses.replace(settings, closure_tolerance=tolerance)).rounding
    if moved is None or moved.rank >= below:
        return None
    loops, q = moved.loops, moved.q
    dof, stiff = loops.space.nv - moved.rank, loops.stiff(q) is not None
    return Remedy(tolerance, moved.angle, moved.way, dof, stiff, loops.is_far(q))


def tell_of_stiff_loops(model: Model, q: Array) -> None:
    """Warn of loops in which no joint can move, if they were not seen to close when loaded."""
    loops = LoopGeometry(model)
    if model.settings.rigid or loops.is_closed(loops.nearest):
        return
    mechanism = model.mechanism.written or model.mechanism
    for text in _of_stiff_loops(loops, q, mechanism, model.settings):
        warn(LoopWarning(text, file=mechanism.file, element=f"robot {mechanism.name!r}"))


def _of_stiff_loops(
    loops: LoopGeometry, q: Array, mechanism: Mechanism, settings: Settings
) -> tuple[str, ...]:
    """What is to be told of loops in which no joint can move at a posture, if there are any."""
    stiff = loops.stiff(q) if loops.is_closed(q) else None
    if stiff is None:
        return ()
    several = len(stiff.names) > 1
    text = (
        f"no joint can move in the loop{'s' * several} that {', '.join(map(repr, stiff.names))} "
        f"close{'s' * (not several)}: the constraint rows have rank {stiff.rank} for as many "
        f"speeds, and a least singular value of {stiff.least:.2g} of the largest"
    )
    mended = remedy(mechanism, settings, below=loops.general_rank(q[None]))
    if mended is None:
        text += (
            f". No linkage that moves was found with all frames moved by less than {MISFIT:g} "
            "together (rad, or parts of the longest link)"
        )
    else:
        text += f"; {mended}: mend the numbers, or load with {mended.option} to have that done"
    to_letter = loops.model.mechanism is mechanism
    meant = "load with rigid=True" if to_letter else "there is nothing to mend"
    return (f"{text}. If {'they are' if several else 'it is'} meant to be stiff, {meant}",)
