"""The pseudo-inverse of a positive semidefinite 3x3 matrix, whatever its rank."""

from __future__ import annotations

from robodyn.equations.tree.composite_body import Matrix
from robodyn.symbolic.scalar import Number, dot, is_zero, where
from robodyn.symbolic.vector import Vec3
from robodyn.tolerances import SECOND_MOBILITY, THIRD_MOBILITY


class PseudoInverse:
    """The least solution of ``W x = b``, for b in the range of W.

    With the sums ``e1``, ``e2``, ``e3`` of products of one, two and three eigenvalues it is
    ``W b / e1^2`` for rank 1; for rank 2, with the projection ``P = (e1 W - W^2) / e2`` onto the
    range, ``(e1 P - W) b / e2`` [Cayley and Hamilton]; for rank 3 that of elimination.

    W: Symmetric, not negative, not zero.
    """

    def __init__(self, W: Matrix) -> None:
        self._W = W
        #: Sum of the eigenvalues.
        self.trace = sum((W[k][k] for k in range(3)), 0.0)
        minors = [_minor(W, i, j) for i, j in ((0, 1), (0, 2), (1, 2))]
        self._e2 = sum(minors, 0.0)
        e3 = (
            W[0][0] * minors[2]
            - W[0][1] * (W[0][1] * W[2][2] - W[1][2] * W[0][2])
            + W[0][2] * (W[0][1] * W[1][2] - W[1][1] * W[0][2])
        )
        square, product = self.trace * self.trace, self.trace * self._e2
        second, third = (
            [x - size * part for part in parts]
            for x, size, parts in (
                (self._e2, square, SECOND_MOBILITY),
                (e3, product, THIRD_MOBILITY),
            )
        )
        self._one, self._three = second[0] < 0.0, third[1] > 0.0
        none = e3 + product * THIRD_MOBILITY[0]
        #: Numbers of which one is negative if the rank is in doubt.
        self.tests = [
            second[0] * second[1],
            where(self._one, 0.0, third[0] * third[1] * none),
        ]

    def times(self, b: Vec3) -> Vec3:
        """The solution."""
        Wb, e1, e2 = self._of(b), self.trace, self._e2
        inverse = 1.0 / e2 if not is_zero(e2) else 0.0
        of_two = ((Wb * e1 - self._of(Wb)) * (inverse * e1) - Wb) * inverse
        of_one, of_three = Wb * (1.0 / (e1 * e1)), self._eliminated(b)
        ways = zip(of_one, of_two, of_three, strict=True)
        return Vec3(*(where(self._one, x, where(self._three, z, y)) for x, y, z in ways))

    def _of(self, x: Vec3) -> Vec3:
        return Vec3(*(dot(row, list(x)) for row in self._W))

    def _eliminated(self, b: Vec3) -> Vec3:
        """The solution by elimination, of rank 3."""
        W, x = [list(row) for row in self._W], list(b)
        for k in range(3):
            for i in range(k + 1, 3):
                known = not (is_zero(W[i][k]) or is_zero(W[k][k]))
                factor = W[i][k] / W[k][k] if known else 0.0
                for j in range(k + 1, 3):
                    W[i][j] = W[i][j] - factor * W[k][j]
                x[i] = x[i] - factor * x[k]
        for k in (2, 1, 0):
            rest = dot(W[k][k + 1 :], x[k + 1 :])
            x[k] = (x[k] - rest) / W[k][k] if not is_zero(W[k][k]) else 0.0
        return Vec3(*x)


def _minor(W: Matrix, i: int, j: int) -> Number:
    return W[i][i] * W[j][j] - W[i][j] * W[i][j]
