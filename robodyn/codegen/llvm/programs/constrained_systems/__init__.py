"""Four ways to solve one quadratic programme: Gauss's principle of least constraint [Mufti 1983].

Each takes a system of n speeds with ``rank`` orthonormal constraints,

    M a = force + Y^T mu,    Y a = -right                                   [Mufti (10)]

with M of unit diagonal, finds ``a`` and ``mu``, and says what became of the system.

| method         | unknowns            | factorisation                                        |
|----------------|---------------------|------------------------------------------------------|
| `kkt`          | both at once        | symmetric indefinite, of the bordered mass matrix    |
| `schur`        | forces first        | Cholesky of the mass matrix, QR of the constraints   |
| `nullspace`    | motions that remain | Cholesky of the mass matrix on the null space        |
| `partition`    | independent speeds  | pivoted QR of the constraints, Cholesky on the rest  |
"""
