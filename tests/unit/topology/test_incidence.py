"""Directed trees: examples of Wittenburg 1977, sections 5.2.1 and 5.2.7, and their laws."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from robodyn.errors import TopologyError
from robodyn.topology.incidence import (
    children,
    inboard,
    incidence_matrix,
    loop_matrix,
    path_matrix,
    regular_labelling,
)

# Fig. 5.8, p. 85-90: seven bodies, irregular labels, arcs both ways.
SEVEN = ((0, 6, 6, 4, 2, 2, 3), (1, 7, 1, 1, 1, 5, 2))

# Columns of its path matrix: arc -> sign.
SEVEN_PATHS = {
    1: {1: -1},
    2: {1: -1, 5: 1},
    3: {1: -1, 5: 1, 7: 1},
    4: {1: -1, 4: 1},
    5: {1: -1, 5: 1, 6: -1},
    6: {1: -1, 3: 1},
    7: {1: -1, 2: -1, 3: 1},
}

# Fig. 5.33, p. 135-136: a branched arm, arcs away from the base.
FIVE = ((0, 1, 2, 1, 3), (1, 2, 3, 4, 5))


@st.composite
def trees(draw):
    """Functions of a random tree with shuffled labels and directions."""
    n = draw(st.integers(1, 12))
    parents = [draw(st.integers(0, k)) for k in range(n)]
    names = [0, *draw(st.permutations(range(1, n + 1)))]
    arcs = [(names[parent], names[k + 1]) for k, parent in enumerate(parents)]
    arcs = [arc[::-1] if draw(st.booleans()) else arc for arc in draw(st.permutations(arcs))]
    plus, minus = zip(*arcs, strict=True)
    return plus, minus


def test_incidence_matrix_of_the_seven_body_tree():
    S = incidence_matrix(*SEVEN)
    expected = np.zeros((8, 7), int)
    for a, (start, end) in enumerate(zip(*SEVEN, strict=True)):
        expected[start, a], expected[end, a] = 1, -1
    np.testing.assert_array_equal(S, expected)
    np.testing.assert_array_equal(S[0], [1, 0, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(S[2], [0, 0, 0, 0, 1, 1, -1])


def test_s10_path_matrix_of_the_seven_body_tree():
    T = path_matrix(*SEVEN)
    for i, arcs in SEVEN_PATHS.items():
        column = [arcs.get(a, 0) for a in range(1, 8)]
        np.testing.assert_array_equal(T[:, i - 1], column)


def subtrees(i_plus, i_minus):
    """Vertices of the subtree of each vertex, itself included (table NT of [W p. 137])."""
    T, (arcs, _) = path_matrix(i_plus, i_minus), inboard(i_plus, i_minus)
    return [[int(j) + 1 for j in np.flatnonzero(T[arc - 1])] for arc in arcs]


def test_inboard_arc_and_vertex_of_the_seven_body_tree():
    arcs, vertices = inboard(*SEVEN)
    assert (arcs[5], vertices[5]) == (3, 1)
    np.testing.assert_array_equal(arcs, [1, 5, 7, 4, 6, 3, 2])
    np.testing.assert_array_equal(vertices, [0, 1, 2, 1, 2, 1, 6])


def test_ordering_of_the_seven_body_tree():
    """Problem 5.1 of the book."""
    outboard = subtrees(*SEVEN)
    assert outboard[1] == [2, 3, 5]
    assert [i for i in range(1, 8) if 2 in outboard[i - 1]] == [1, 2]
    assert [i for i in range(1, 8) if i not in outboard[1]] == [1, 4, 6, 7]
    assert outboard[2] == [3]
    assert [i for i in range(1, 8) if 3 in outboard[i - 1]] == [1, 2, 3]


@pytest.mark.parametrize(
    ("i_plus", "i_minus"),
    [
        ((1, 3, 6, 5, 2, 2, 2), (0, 1, 4, 5, 3, 1, 0)),  # p. 86: the book's counter-example
        ((0, 2), (1, 2)),
        ((0, 3), (1, 1)),
        ((0,), (1, 2)),
        ((1, 2, 3), (2, 3, 1)),
    ],
)
def test_functions_that_are_no_tree_are_refused(i_plus, i_minus):
    with pytest.raises(TopologyError):
        path_matrix(i_plus, i_minus)


def test_regular_labelling_of_the_seven_body_tree():
    new = regular_labelling(*SEVEN)
    S, T = incidence_matrix(new.i_plus, new.i_minus)[1:], path_matrix(new.i_plus, new.i_minus)
    np.testing.assert_array_equal(np.tril(S, -1), 0)
    np.testing.assert_array_equal(np.tril(T, -1), 0)
    assert np.all(np.diag(S)) and np.all(np.diag(T))
    # The four ends (3, 4, 5, 7) have the highest numbers: their rows of T are empty but for the
    # diagonal.
    assert {new.vertices[end - 1] for end in (3, 4, 5, 7)} == {4, 5, 6, 7}
    np.testing.assert_array_equal(np.triu(T, 1)[3:], 0)


# Figs. 5.43-5.45, p. 167-172: seven bodies, three arcs that close loops, three on the base.
LOOPS = ((5, 6, 0, 1, 1, 3, 0, 4, 0, 5), (0, 4, 2, 2, 7, 2, 4, 3, 7, 6))


def test_a_graph_with_loops():
    S, T = incidence_matrix(*LOOPS), path_matrix(*LOOPS)
    assert S.shape == (8, 10)
    expected = np.zeros((7, 7), int)
    for arc, ends in {1: [5], 2: [6], 4: [1, 7], 6: [3]}.items():
        expected[arc - 1, np.subtract(ends, 1)] = 1
    for arc, ends in {3: [1, 2, 3, 7], 5: [7], 7: [4, 6]}.items():
        expected[arc - 1, np.subtract(ends, 1)] = -1
    np.testing.assert_array_equal(T, expected)
    np.testing.assert_array_equal(T @ S[1:, :7], np.eye(7))
    np.testing.assert_array_equal(T.T @ S[0, :7], -np.ones(7))  # [W 5.182]
    C = loop_matrix(*LOOPS)
    np.testing.assert_array_equal(S @ C.T, 0)
    np.testing.assert_array_equal(C[:, 7:], np.eye(3))
    around = {8: {7: 1, 3: -1, 6: 1}, 9: {3: -1, 4: 1, 5: -1}, 10: {1: -1, 7: -1, 2: 1}}
    for arc, others in around.items():
        np.testing.assert_array_equal(C[arc - 8, :7], [others.get(a, 0) for a in range(1, 8)])


def test_s37_regular_labelling_of_a_graph_with_loops():
    """Fig. 5.45: subsystems (1), (2, 3) and (4, 5, 6, 7)."""
    new = regular_labelling(*LOOPS)
    numbers = {old: new.vertices[old - 1] for old in range(1, 8)}
    assert numbers[5] == 1
    assert {numbers[4], numbers[6]} == {2, 3}
    assert {numbers[k] for k in (1, 2, 3, 7)} == {4, 5, 6, 7}
    T = path_matrix(new.i_plus, new.i_minus)
    np.testing.assert_array_equal(np.tril(T, -1), 0)
    assert np.all(np.diag(T))
    assert new.arcs[7:] == (8, 9, 10)
    S, old = incidence_matrix(new.i_plus, new.i_minus), incidence_matrix(*LOOPS)
    rows = [0, *new.vertices]
    np.testing.assert_array_equal(S[np.ix_(rows, np.subtract(new.arcs, 1))], old)


def test_tables_of_the_branched_arm():
    T = path_matrix(*FIVE)
    rows = [[1, 2, 3, 4, 5], [2, 3, 5], [3, 5], [4], [5]]
    expected = np.array([[-(j in row) for j in range(1, 6)] for row in rows])
    np.testing.assert_array_equal(T, expected)
    assert subtrees(*FIVE) == rows
    assert [len(row) for row in subtrees(*FIVE)] == [5, 3, 2, 1, 1]
    assert children(*FIVE) == [[2, 4], [3], [5], [], []]


@given(trees())
def test_path_matrix_inverts_incidence_matrix(tree):
    S, T = incidence_matrix(*tree), path_matrix(*tree)
    n = len(T)
    np.testing.assert_array_equal(T @ S[1:], np.eye(n))
    np.testing.assert_array_equal(S[1:] @ T, np.eye(n))
    np.testing.assert_array_equal(T.T @ S[0], -np.ones(n))


@given(trees())
def test_regular_labelling_orders_every_tree(tree):
    new = regular_labelling(*tree)
    n = len(new.vertices)
    assert sorted(new.vertices) == sorted(new.arcs) == list(range(1, n + 1))
    arcs, vertices = inboard(new.i_plus, new.i_minus)
    np.testing.assert_array_equal(arcs, np.arange(1, n + 1))
    assert np.all(vertices < np.arange(1, n + 1))
    # It is the same graph under other names.
    names = (0, *new.vertices)
    for a, (start, end) in enumerate(zip(*tree, strict=True)):
        k = new.arcs[a] - 1
        assert (new.i_plus[k], new.i_minus[k]) == (names[start], names[end])
