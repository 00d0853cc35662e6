"""Operations of nodes of expression graphs, by number."""

CONST, INPUT, ADD, MUL, DIV, SQRT, SIN, COS = range(8)

#: ``SELECT`` of a comparison and of ``SIDES``: the first side where the comparison holds, else the
#: second one, so also where one of its numbers is NaN. Neither operand of it is a number itself.
LESS, LESS_EQUAL, SIDES, SELECT = range(10, 14)

#: The absolute value, and functions that the C library computes.
ABS, ARCTAN2, EXP, LOG, TANH, SINH, COSH, FLOOR = range(14, 22)

#: Operations of two operands.
OF_TWO = frozenset((ADD, MUL, DIV, LESS, LESS_EQUAL, SIDES, SELECT, ARCTAN2))

#: Names of functions, as numpy has them.
FUNCTIONS = {SQRT: "sqrt", SIN: "sin", COS: "cos", ABS: "abs", ARCTAN2: "arctan2"} | {
    EXP: "exp", LOG: "log", TANH: "tanh", SINH: "sinh", COSH: "cosh", FLOOR: "floor"
}  # fmt: skip
