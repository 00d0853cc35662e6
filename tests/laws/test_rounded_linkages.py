"""Linkages in files with few digits do what their exact geometry does.

`fuzz_rounded.py` judges many of them; here are some of each kind.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.linkage_shapes import LINKAGES, STRUCTURES
from support.rounded_judge import GOOD, case, verdict
from support.rounded_linkages import CLOSINGS, FRAMES, linkage

EVERYTHING = ("xyz", "rpy", "axis")

#: What each of the quick ones has beside its digits.
PLAIN = {
    "role": "linkage", "frames": "anyhow", "arm": False, "base": "fixed", "style": "g",
    "only": EVERYTHING, "deep": False,
}  # fmt: skip

#: Shape, closing joint, notation, digits.
SELECTION = [
    ("four_bar", "spherical", "loop", 9),
    ("four_bar", "as drawn", "second parent", 6),
    ("five_bar", "as drawn", "sdf", 7),
    ("five_bar", "weld", "loop", 5),
    ("crank_slider", "slide", "cut joint", 8),
    ("parallelogram", "universal", "loop", 10),
    ("spherical_four_bar", "cylindrical", "loop", 12),
    ("bennett_ring", "as drawn", "mjcf sites", 8),
    ("sarrus", "weld", "second parent", 16),
    ("rssr", "as drawn", "loop", 4),
]


def judged(number, **chosen):
    """The first case from a number on that there is, and its verdict."""
    for k in range(number, number + 1000, 7):
        made = case(k, **chosen)
        if made is not None:
            return made, verdict(made)
    raise AssertionError("no such case")


def right(number, **chosen):
    made, found = judged(number, **chosen)
    assert found.fate in GOOD, f"case {made.number}, {made.what}: {found.fate}: {found.told}"


@pytest.mark.parametrize("name", [*LINKAGES, *STRUCTURES])
def test_shapes_are_closed_and_have_their_mobility(name):
    """By counting, against the rank of all constraints of the exact geometry."""
    rng = np.random.default_rng(1)
    for closing in CLOSINGS:
        made = linkage(rng, name, closing, str(rng.choice(FRAMES)))
        if made is None:
            continue
        exact = made.exact((0.0, 0.0, -9.81), "fixed", [])
        q = np.zeros(exact.nq)
        for edge in exact.oracle.edges:
            if edge.joint.kind == "spherical":
                q[edge.q.stop - 1] = 1.0
        assert exact.gap(q) < 1e-12
        N, _ = exact.tangents(q)
        q = exact.closed(exact.advanced(q, N @ (0.1 * rng.normal(size=N.shape[1]))))
        assert exact.gap(q) < 1e-11
        assert exact.oracle.mobility(q) == made.dof


@pytest.mark.parametrize(("name", "closing", "notation", "count"), SELECTION)
def test_they_move_as_meant(name, closing, notation, count):
    right(0, **PLAIN | {"name": name, "closing": closing, "notation": notation, "count": count})


@pytest.mark.parametrize("name", STRUCTURES)
def test_structures_stay_stiff(name):
    chosen = {"role": "structure", "name": name, "notation": "loop", "closing": "as drawn"}
    right(1, **PLAIN | chosen | {"count": 7})


@pytest.mark.parametrize("name", ["four_bar", "sarrus", "wrist"])
def test_misfits_are_told_with_a_remedy_that_works(name):
    chosen = {"role": "misfit", "name": name, "notation": "loop", "closing": "as drawn"}
    right(2, **PLAIN | chosen | {"count": 10})


def test_a_hinge_with_opposite_axes_that_stands_anyhow():
    """Rows of both directions across its axis are open."""
    chosen = {"role": "linkage", "name": "sarrus", "notation": "cut joint", "flipped": True}
    right(4, **PLAIN | chosen | {"closing": "as drawn", "count": 9})


@pytest.mark.parametrize("number", [115, 3034])
def test_misfits_that_are_stiff_are_told(number):
    """They close, where they are drawn or elsewhere, and no joint of their loops can move."""
    _, found = judged(number, role="misfit")
    assert found.fate == "misfit told", found
    assert "closure_tolerance" in found.told


@pytest.mark.slow
@pytest.mark.parametrize("only", ["xyz", "rpy", "axis"])
@pytest.mark.parametrize("name", ["four_bar", "crank_slider", "wrist"])
def test_noise_of_one_kind(name, only):
    chosen = {"name": name, "notation": "loop", "closing": "as drawn", "only": (only,)}
    for count in (5, 8, 11):
        right(3, **PLAIN | chosen | {"count": count})


@pytest.mark.slow
@pytest.mark.parametrize("count", range(4, 17))
def test_any_number_of_digits(count):
    """Of any kind, with motions, linear models and minimal coordinates."""
    for k in range(5):
        right(1000 * count + 100 * k, role="linkage", count=count, deep=True)
