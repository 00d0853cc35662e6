"""Functions of Modelica, read by a parser of the language and computed from what it reads."""

import math

import numpy as np
import pytest

OPERATORS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    "<": lambda a, b: a < b,
}


FUNCTIONS = ("sin", "cos", "sqrt", "exp", "log", "sinh", "cosh", "tanh", "floor", "atan2")


def parsed(text):
    """The package that a text is, as pymoca's tree of it."""
    parser = pytest.importorskip("pymoca.parser")
    tree = parser.parse(text)
    assert tree is not None, "the parser refuses the text"
    return list(tree.classes.values())[-1]  # after the types of the language


def call(package, name, *arguments):
    """Outputs of a function of the package; a failed assertion is a `ValueError`."""
    function = package.classes[name]
    assert function.type == "function"
    symbols = list(function.symbols.values())
    taken = [s for s in symbols if "input" in s.prefixes]
    given = [s for s in symbols if "output" in s.prefixes]
    values = {s.name: np.zeros(_shape(s)) for s in symbols}
    for symbol, argument in zip(taken, arguments, strict=True):
        values[symbol.name] = np.array(argument, float).reshape(_shape(symbol))
    for statement in function.statements:
        value = _value(package, statement.right, values)
        for left in statement.left:  # none where a function is called for what it does
            values[left.name][_index(left)] = value
    outputs = [values[s.name] for s in given]
    return outputs[0] if len(outputs) == 1 else outputs


def _shape(symbol):
    sizes = [getattr(d, "value", None) for level in symbol.dimensions for d in level]
    return tuple(int(n) for n in sizes if n is not None)


def _index(reference):
    indices = [i for level in reference.indices for i in level if i is not None]
    return tuple(int(i.value) - 1 for i in indices)


def _value(package, expression, values):
    if hasattr(expression, "operator"):
        operator, operands = str(expression.operator), expression.operands
        numbers = [_value(package, x, values) for x in operands]
        if operator == "-" and len(numbers) == 1:
            return -numbers[0]
        if operator in OPERATORS:
            return OPERATORS[operator](*numbers)
        if operator == "assert":
            if not numbers[0]:
                raise ValueError(numbers[1])
            return None
        if operator == "abs":
            return abs(*numbers)
        if operator in FUNCTIONS:
            return getattr(math, operator)(*numbers)
        return call(package, operator, *numbers)
    if hasattr(expression, "conditions"):
        holds = _value(package, expression.conditions[0], values)
        return _value(package, expression.expressions[0 if holds else 1], values)
    if hasattr(expression, "value"):
        return expression.value
    return values[expression.name][_index(expression)]
