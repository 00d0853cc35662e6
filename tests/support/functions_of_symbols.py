"""Functions of two symbols, and the same of numpy."""

import itertools

import numpy as np

import robodyn as rd
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import edge_of, inputs

#: Of symbols; numpy's take arrays.
FUNCTIONS = {
    "less": (lambda x, y: rd.where(x < y, 1.0, y), lambda x, y: np.where(x < y, 1.0, y)),
    "less_equal": (lambda x, y: rd.where(x <= y, -x, 2.0), lambda x, y: np.where(x <= y, -x, 2.0)),
    "greater": (lambda x, y: np.where(x > 0.25, x, y), lambda x, y: np.where(x > 0.25, x, y)),
    "greater_equal": (
        lambda x, y: np.where(0.0 >= y, x, 3.0), lambda x, y: np.where(0.0 >= y, x, 3.0)
    ),
    "negative": (lambda x, y: -rd.where(x < -y, -x, y), lambda x, y: -np.where(x < -y, -x, y)),
    "and_": (
        lambda x, y: rd.where((x > 0.0) & (y > 0.0), 1.0, 2.0),
        lambda x, y: np.where((x > 0.0) & (y > 0.0), 1.0, 2.0),
    ),
    "or_": (
        lambda x, y: rd.where((x > 0.0) | ~(y > 0.0), 1.0, 2.0),
        lambda x, y: np.where((x > 0.0) | ~(y > 0.0), 1.0, 2.0),
    ),
    "maximum": (np.maximum, np.maximum),
    "minimum": (rd.minimum, np.minimum),
    "positive": (lambda x, y: rd.maximum(0.0, x), lambda x, y: np.maximum(0.0, x)),
    "sign": (lambda x, y: np.sign(x), lambda x, y: np.sign(x)),
    "abs": (lambda x, y: abs(x), lambda x, y: np.abs(x)),
    "sqrt": (lambda x, y: rd.sqrt(x), lambda x, y: np.sqrt(x)),
    "arctan": (lambda x, y: np.arctan(x), lambda x, y: np.arctan2(x, x.dtype.type(1.0))),
    "arctan2": (np.arctan2, np.arctan2),
    "exp": (lambda x, y: np.exp(x), lambda x, y: np.exp(x)),
    "log": (lambda x, y: rd.log(x), lambda x, y: np.log(x)),
    "sinh": (lambda x, y: rd.sinh(x), lambda x, y: np.sinh(x)),
    "cosh": (lambda x, y: rd.cosh(x), lambda x, y: np.cosh(x)),
    "floor": (lambda x, y: np.floor(x), lambda x, y: np.floor(x)),
    "tanh": (lambda x, y: np.tanh(x), lambda x, y: np.tanh(x)),
}  # fmt: skip

#: Numbers at which functions and comparisons are told apart.
EDGES = np.array([0.0, -0.0, 0.25, 1.0, -1.0, 5e-324, np.inf, -np.inf, np.nan])


def both():
    """Arguments x and y: all pairs of edges, and random ones."""
    edges = np.array([*itertools.product(EDGES, EDGES)])
    random = np.random.default_rng(0).normal(size=(60, 2)) * 3.0
    return np.concatenate([edges, random, random[:, :1].repeat(2, axis=1)]).T.copy()


def program_of(functions):
    """A program of x and y with the values of functions of symbols, shape (number of them,)."""
    graph = Graph()
    x, y = inputs(graph, 0, 2)
    edges = tuple(edge_of(graph, function(x, y)) for function, _ in functions.values())
    return Program("f", (Port("x", ()), Port("y", ())), (Port("z", (len(edges),)),), graph, edges)


def expected_of(functions, x, y):
    """The same by numpy, shape (..., number of them)."""
    with np.errstate(all="ignore"):
        return np.stack([function(x, y) for _, function in functions.values()], axis=-1)
