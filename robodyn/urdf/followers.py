"""``<follower>``: a joint that follows another by a polynomial or a table, or several linearly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from robodyn.description.traced_explicit_loop import (
    Curve,
    Linear,
    Polynomial,
    Table,
    TracedExplicitLoop,
)
from robodyn.errors import RobodynError, UnknownNameError, UrdfError
from robodyn.urdf.common.markup import child, element as written
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, line_of


def read_followers(
    reader: Reader, elements: Iterable[Element], joints: Mapping[str, object]
) -> tuple[TracedExplicitLoop, ...]:
    """Joints that follow others, of elements ``<follower>``."""
    found: dict[str, TracedExplicitLoop] = {}
    for element in elements:
        follower = _read(reader, element, joints)
        if follower is None:
            continue
        if follower.name in found:
            reader.problem(
                element,
                f"joint {follower.name!r} follows another already, in line "
                f"{found[follower.name].line}; keep one",
                leniently="the first is read",
            )
            continue
        found[follower.name] = follower
    return tuple(found.values())


def _read(
    reader: Reader, element: Element, joints: Mapping[str, object]
) -> TracedExplicitLoop | None:
    parts = element.findall("of")
    joint = reader.name(element, "joint")
    of = [reader.name(part, "joint") for part in parts] or [reader.name(element, "of")]
    curve = _linear(reader, element, parts) if parts else _curve(reader, element)
    if joint is None or curve is None:
        return None
    for name in (joint, *of):
        if name is None:
            return None
        if name not in joints:
            reader.problem(element, UnknownNameError("joint", name, joints))
            return None
    if len({*of}) < len(of):
        reader.problem(element, f"joint {joint!r} follows another joint twice; add the multipliers")
        return None
    return TracedExplicitLoop.of_curve(joint, [*filter(None, of)], curve, line_of(element))


def _linear(reader: Reader, element: Element, parts: Iterable[Element]) -> Linear:
    factors = tuple(reader.number(part, "multiplier", 1.0) for part in parts)
    return Linear(factors, reader.number(element, "offset", 0.0))


def _curve(reader: Reader, element: Element) -> Curve | None:
    given = [key for key in ("polynomial", "x", "y") if element.get(key) is not None]
    if given not in (["polynomial"], ["x", "y"]):
        reader.problem(
            element,
            f"<follower> has {' and '.join(given) or 'no law'}: give polynomial, its coefficients "
            "from the constant one on, or x and y, the points of a table",
        )
        return None
    unread = reader.unread
    first, *rest = (_numbers(reader, element, key) for key in given)
    monotone = bool(reader.flag(element, "monotone"))
    period, sines = (reader.not_negative(element, key) for key in ("period", "harmonics"))
    if sines != int(sines):
        reader.problem(element, f"harmonics={sines:g} is no number of sines")
    if reader.unread > unread:
        return None
    try:
        table = (monotone, period, int(sines))
        curve = Table(first, rest[0], *table) if rest else Polynomial(first)
        curve(0.0)
    except RobodynError as error:
        reader.problem(element, str(error))
        return None
    return curve


def _numbers(reader: Reader, element: Element, key: str) -> tuple[float, ...]:
    words = element.get(key, "").split()
    return tuple(reader.to_number(element, key, word) for word in words)


def follower_element(follower: TracedExplicitLoop) -> list[str]:
    """Lines of a ``<follower>``.

    Raises `UrdfError` if it follows by a function for which files have no notation.
    """
    curve = follower.curve
    if isinstance(curve, Linear):
        factors = zip(follower.independent, curve.coefficients, strict=True)
        inside = [child("of", joint=name, multiplier=factor) for name, factor in factors]
        return written("follower", {"joint": follower.name, "offset": curve.offset}, inside)
    values: dict[str, object] = {"joint": follower.name, "of": follower.independent[0]}
    if isinstance(curve, Polynomial):
        values["polynomial"] = curve.coefficients
    elif curve is not None:
        values |= {"x": curve.x, "y": curve.y, "monotone": "true" if curve.monotone else None}
        values |= {"period": curve.period or None, "harmonics": curve.harmonics or None}
    else:
        raise UrdfError(
            "cannot be written: files have a notation for polynomials and tables of one joint, "
            "and sums of several, and for no other functions by which joints follow others",
            element=f"follower {follower.name!r}",
        )
    return written("follower", values)
