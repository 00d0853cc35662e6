"""What code in C looks at before it says that all is well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from robodyn.codegen.text.assignments import literal
from robodyn.exporting.c_code.signature import Names

__all__ = ["checks", "helpers"]


def helpers(names: Names, loops: bool) -> Iterator[str]:
    """Functions that `checks` calls."""
    dtype = names.unit.dtype
    size = "fabs" if dtype == "double" else "fabsf"
    yield f"""
static int all_finite(const {dtype} *x, int n)
{{
    for (int i = 0; i < n; i++) {{
        if (!isfinite(x[i])) {{
            return 0;
        }}
    }}
    return 1;
}}
"""
    if loops:
        yield f"""
static int all_within(const {dtype} *x, int n, {dtype} most)
{{
    for (int i = 0; i < n; i++) {{
        if (!({size}(x[i]) <= most)) {{
            return 0;
        }}
    }}
    return 1;
}}
"""


def checks(
    arrays: Iterable[tuple[str, int]], residual: int, most: float, names: Names
) -> Iterator[str]:
    """Statements that return where arrays are not finite, or ``residual`` is too large.

    Parameters
    ----------
    arrays : iterable of (str, int)
        Names and sizes.
    residual : int
        How many numbers it has; none of a tree.
    most : float [m, rad]
        Gap that loops may have.
    names : Names
    """
    finite = " && ".join(f"all_finite({name}, {size})" for name, size in arrays)
    yield from (f"if (!({finite})) {{", f"    return {names.macro}_NOT_FINITE;", "}")
    if residual:
        within = f"all_within(residual, {residual}, {literal(most, names.unit.dtype)})"
        yield from (f"if (!{within}) {{", f"    return {names.macro}_OPEN;", "}")
