r"""How numbers and the scalars of a program are written in LaTeX."""

from __future__ import annotations

import math
import re
from itertools import product

from robodyn.symbolic.graph import Port, Program

GREEK = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi "
    "psi omega".split()
)


def number(value: float) -> str:
    r"""A constant, positive or zero: ``9.81``, ``1.2\times 10^{-5}``; or NaN."""
    if not math.isfinite(value):
        return r"\infty" if value > 0.0 else r"\mathrm{NaN}"
    mantissa, _, exponent = f"{value:.12g}".partition("e")
    if not exponent:
        return mantissa
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa}\times {power}"


def symbols(program: Program) -> tuple[list[str], list[str]]:
    r"""Symbol of each scalar input and output, as in ``q_{1}``, ``\tau_{2}``, ``M_{1,2}``."""
    shapes = {port.name: port.shape for port in program.inputs}
    inputs = [text for port in program.inputs for text in _elements(port.name, port.shape)]
    outputs = [text for port in program.outputs for text in _port(port, shapes)]
    return inputs, outputs


def _port(port: Port, shapes: dict[str, tuple[int, ...]]) -> list[str]:
    """Elements of an output, which may be a derivative ``d y / d x`` of what may be one too."""
    above, slash, below = port.name.rpartition(" / d ")
    if not slash or not above.startswith("d ") or below not in shapes:
        return _elements(port.name, port.shape)
    size = math.prod(shapes[below])
    axes = port.shape[: len(port.shape) - len(shapes[below])]
    rows = _port(Port(above[2:], axes), shapes)
    columns = _elements(below, shapes[below])
    assert port.size == len(rows) * size
    return [rf"\frac{{\partial {y}}}{{\partial {x}}}" for y, x in product(rows, columns)]


def _elements(name: str, shape: tuple[int, ...]) -> list[str]:
    """Symbols of an array, indices counted from 1."""
    head, _, rest = re.sub(r"[:.]", "_", name).partition("_")
    if head in GREEK:
        head = f"\\{head}"
    elif len(head) != 1:
        head = _upright(head)
    subscript = [_upright(rest)] if rest else []
    if not rest and not shape and (numbered := re.fullmatch(r"([A-Za-z])(\d+)", name)):
        head, subscript = numbered[1], [numbered[2]]
    texts = []
    for index in product(*(range(1, n + 1) for n in shape)):
        inside = ",".join([*subscript, *map(str, index)])
        texts.append(f"{head}_{{{inside}}}" if inside else head)
    return texts


def _upright(words: str) -> str:
    r"""A name of several letters; what is no letter or digit is kept from being read as LaTeX."""
    text = re.sub(r"[{}\\^~$&]", "", words)
    text = re.sub(r"[_%#]", r"\\\g<0>", text).replace("-", "{-}").replace(" ", r"\ ")
    return rf"\mathrm{{{text}}}"
