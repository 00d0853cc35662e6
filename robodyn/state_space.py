"""Linear models: matrices with names, their poles and modes, and what inputs can reach."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.arrays import checked, number
from robodyn.errors import MissingExtraError, ShapeError

__all__ = ["Mode", "StateSpace"]

#: Relative error of matrices from derivatives, and the largest error of a pole, over their norm.
ROUNDING, WORST = 1e-13, 1e-3

#: What is this small, over the largest number of balanced matrices, is rounding.
UNREACHED = 1e-10


@dataclass(frozen=True, eq=False)
class Mode:
    """One free motion of a linear model: ``x(t) = Re(shape exp(pole t))``.

    Attributes
    ----------
    pole : complex [1/s]
        Of the model in continuous time, also where the model itself is sampled.
    shape : ndarray of complex, shape (n,)
        Eigenvector; its largest number is 1.
    states : tuple of str
        Names of these numbers.
    """

    pole: complex
    shape: Array
    states: tuple[str, ...]

    @property
    def natural_frequency(self) -> float:
        """``|pole|`` [rad/s]."""
        return abs(self.pole)

    @property
    def damping_ratio(self) -> float:
        """``-Re(pole) / |pole|``; 1 for a pole at zero."""
        return float(_damping_ratio(np.array(self.pole)))

    @property
    def name(self) -> str:
        """The state that takes the largest part in it."""
        return self.states[int(np.abs(self.shape).argmax())]

    def __repr__(self) -> str:
        return (
            f"<Mode {self.name!r}: pole {self.pole:.4g}, {self.natural_frequency:.4g} rad/s, "
            f"damping ratio {self.damping_ratio:.3g}>"
        )


@dataclass(frozen=True, eq=False, repr=False)
class StateSpace:
    """A linear model ``dx/dt = A x + B u``, ``y = C x + D u``, or ``x+ = A x + B u`` if sampled.

    Matrices may have leading axes, for the models along a motion; what looks at one model takes
    them without.

    Parameters
    ----------
    A, B, C, D : array_like, shape (..., n, n), (..., n, m), (..., p, n), (..., p, m)
    dt : float, optional [s]
        Time step of a sampled model.
    states, inputs, outputs : tuple of str, optional
        Names. Default: ``"x[0]"``, ``"u[0]"``, ``"y[0]"``, ...
    acceleration : array_like, shape (..., k), optional
        Of the independent speeds where the model was made [rad/s^2, m/s^2]. It is zero at rest and
        in steady motion; elsewhere the model is that of deviations from the motion that passes
        there, at that instant.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    dt: float | None = None
    states: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    acceleration: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        A = checked("A", self.A, None, None)
        B, C = checked("B", self.B, None, None), checked("C", self.C, None, None)
        D = checked("D", self.D, None, None)
        n, m, p = A.shape[-1], B.shape[-1], C.shape[-2]
        for name, matrix, shape in (("A", A, (n, n)), ("B", B, (n, m)), ("C", C, (p, n))):
            _expect(name, matrix, shape)
        _expect("D", D, (p, m))
        own = {"A": A, "B": B, "C": C, "D": D}
        own["acceleration"] = checked("acceleration", self.acceleration, None)
        if self.dt is not None and not number("dt", self.dt, "s") > 0.0:
            raise ShapeError(f"dt is {self.dt!r}, expected a positive number of seconds", name="dt")
        for what, letter, count in (("states", "x", n), ("inputs", "u", m), ("outputs", "y", p)):
            names = tuple(getattr(self, what)) or tuple(f"{letter}[{k}]" for k in range(count))
            if len(names) != count:
                raise ShapeError(
                    f"{what} has {len(names)} names, expected {count}", name=what, given=names
                )
            object.__setattr__(self, what, names)
        for name, matrix in own.items():
            object.__setattr__(self, name, matrix)

    def __repr__(self) -> str:
        sampled = "" if self.dt is None else f", every {self.dt:g} s"
        batch = self.A.shape[:-2]
        many = f" at {batch} states" if batch else ""
        return (
            f"<StateSpace{many}: {len(self.states)} states, {len(self.inputs)} inputs, "
            f"{len(self.outputs)} outputs{sampled}>"
        )

    # -- poles and modes ----------------------------------------------------------------------

    @property
    def poles(self) -> Array:
        """Eigenvalues of A, shape (..., n), the slowest first; a pair stands together."""
        values = np.linalg.eigvals(self.A).astype(complex)
        return np.asarray(np.take_along_axis(values, _order(self._rates(values)), -1))

    @property
    def natural_frequencies(self) -> Array:
        """``|s|`` [rad/s] of each pole, shape (..., n); s is that of continuous time."""
        return np.abs(self._rates(self.poles))

    @property
    def damping_ratios(self) -> Array:
        """``-Re(s) / |s|`` of each pole, shape (..., n); 1 for a pole at zero."""
        return _damping_ratio(self._rates(self.poles))

    @property
    def modes(self) -> tuple[Mode, ...]:
        """A mode for each pole, in the order of `poles`; one of each pair of complex poles."""
        self._one("modes")
        values, vectors = np.linalg.eig(self.A)
        rates = self._rates(values.astype(complex))
        return tuple(
            Mode(complex(rates[k]), _scaled(vectors[:, k]), self.states)
            for k in _order(rates)
            if values[k].imag >= 0.0
        )

    @property
    def stability(self) -> str:
        """``"stable"``, ``"unstable"`` or ``"marginal"``, as far as a linear model tells.

        Stable: all poles have negative real parts, so deviations decay. Unstable: one has a
        positive real part. Marginal: neither, and the linear model does not decide; poles lie on
        the imaginary axis up to rounding, as they do without damping.
        """
        self._one("stability")
        values, errors = _eigenvalues(self.A)
        growth = values.real
        if self.dt is not None:
            size = np.maximum(np.abs(values), np.finfo(float).tiny)
            growth, errors = np.log(size) / self.dt, errors / (np.maximum(size, errors) * self.dt)
        if (growth > errors).any():
            return "unstable"
        return "stable" if (growth < -errors).all() else "marginal"

    def _rates(self, poles: Array) -> Array:
        """Poles in continuous time."""
        if self.dt is None:
            return poles
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(poles) / self.dt)

    # -- what inputs reach --------------------------------------------------------------------

    def uncontrollable_modes(self) -> tuple[Mode, ...]:
        """Modes that no input changes, each with the combination of states that keeps to itself.

        Returns
        -------
        modes : tuple of Mode
            None if the model is controllable. ``shape`` is a left eigenvector ``w``: ``w x`` goes
            as ``exp(pole t)`` whatever the inputs do; ``name`` is the state that it is about.

        Notes
        -----
        Staircase form by orthogonal transformations of the balanced model [Van Dooren 1981].
        """
        return self._unreached(self.A, self.B)

    def unobservable_modes(self) -> tuple[Mode, ...]:
        """Modes that no output shows; ``shape`` is the motion of the states that stays unseen."""
        swapped = np.swapaxes(self.A, -1, -2), np.swapaxes(self.C, -1, -2)
        return self._unreached(*swapped)

    def _unreached(self, A: Array, B: Array) -> tuple[Mode, ...]:
        from scipy.linalg import matrix_balance

        self._one("controllability")
        balanced, scale = matrix_balance(A, permute=False)
        units = np.diagonal(scale)
        rest = _untouched(balanced, B / units[:, None])
        if not rest.shape[1]:
            return ()
        values, vectors = np.linalg.eig(rest.T @ balanced.T @ rest)
        left = (rest @ vectors) / units[:, None]
        rates = self._rates(values.astype(complex))
        return tuple(
            Mode(complex(rates[k]), _scaled(left[:, k]), self.states)
            for k in _order(rates)
            if values[k].imag >= 0.0
        )

    # -- other forms --------------------------------------------------------------------------

    def sampled(self, dt: float) -> StateSpace:
        """The model at times ``dt`` [s] apart, with inputs held between them: exactly.

        Raises
        ------
        ShapeError
            If it is sampled already, or dt is not positive.
        """
        from scipy.linalg import expm

        if self.dt is not None:
            raise ShapeError(f"the model is sampled already, every {self.dt:g} s", name="dt")
        if not number("dt", dt, "s") > 0.0:
            raise ShapeError(f"dt is {dt!r}, expected a positive number of seconds", name="dt")
        n, m = self.B.shape[-2:]
        whole = np.zeros((*self.A.shape[:-2], n + m, n + m))
        whole[..., :n, :n], whole[..., :n, n:] = self.A, self.B
        found = np.asarray(expm(whole * dt))
        return replace(self, A=found[..., :n, :n], B=found[..., :n, n:], dt=float(dt))

    def to_scipy(self) -> Any:
        """The same as a `scipy.signal.StateSpace`."""
        from scipy.signal import StateSpace as Other

        self._one("an object of scipy")
        given = {} if self.dt is None else {"dt": self.dt}
        return Other(self.A, self.B, self.C, self.D, **given)

    def to_control(self) -> Any:
        """The same as a `control.StateSpace` of python-control, names included.

        Raises
        ------
        MissingExtraError
            If it is not installed: ``pip install 'robodyn[control]'``.
        """
        self._one("an object of python-control")
        try:
            from control import ss
        except ImportError:
            raise MissingExtraError("control", "control", "a model of python-control") from None
        # names of signals must not have dots and the like there
        names = {
            what: [_plain(x) for x in getattr(self, what)]
            for what in ("states", "inputs", "outputs")
        }
        return ss(self.A, self.B, self.C, self.D, 0 if self.dt is None else self.dt, **names)

    def _one(self, what: str) -> None:
        if self.A.ndim != 2:
            raise ShapeError(
                f"{what} is of one model, and this is a batch of shape {self.A.shape[:-2]}: take "
                "one with model.at(k)",
                name="A",
                given=self.A.shape,
            )

    def at(self, index: int | tuple[int, ...]) -> StateSpace:
        """One model of a batch."""
        parts = {name: getattr(self, name)[index] for name in ("A", "B", "C", "D")}
        known = self.acceleration
        whole = known.ndim > 1
        return replace(self, **parts, acceleration=known[index] if whole else known)


def _expect(name: str, matrix: Array, shape: tuple[int, ...]) -> None:
    if matrix.shape[-2:] != shape:
        raise ShapeError(
            f"{name} has shape {matrix.shape}, expected (..., {shape[0]}, {shape[1]})",
            name=name,
            given=matrix.shape,
            expected=shape,
        )


def _order(rates: Array) -> Array:
    """Slow before fast, decaying before growing, upper half plane first."""
    size = np.abs(rates)
    scale = size.max(axis=-1, keepdims=True, initial=0.0)
    step = np.where(scale > 0.0, 1e-9 * scale, 1.0)
    keys = -rates.imag, np.round(rates.real / step), np.round(size / step)
    return np.lexsort(keys, axis=-1)


def _damping_ratio(rates: Array) -> Array:
    size = np.abs(rates)
    return np.asarray(np.where(size > 0.0, -rates.real / np.where(size > 0.0, size, 1.0), 1.0))


def _scaled(vector: Array) -> Array:
    """A vector turned and scaled so that its largest number is 1."""
    return np.asarray(vector / vector[int(np.abs(vector).argmax())], complex)


def _eigenvalues(A: Array) -> tuple[Array, Array]:
    """Eigenvalues, and how far rounding may have moved each of them.

    By the angle between left and right eigenvectors; where a pole is there several times they are
    nearly at right angles, and it is found the less exactly.
    """
    from scipy.linalg import eig, matrix_balance

    if not len(A):
        return np.zeros(0, complex), np.zeros(0)
    balanced, _ = matrix_balance(A, permute=False)
    values, left, right = eig(balanced, left=True)
    norm = float(np.linalg.norm(balanced, 2))
    angle = np.abs(np.einsum("ik,ik->k", left.conj(), right))
    with np.errstate(divide="ignore"):
        errors = np.minimum(ROUNDING / angle, WORST) * norm
    return values, errors


def _untouched(A: Array, B: Array) -> Array:
    """Orthonormal basis W, shape (n, k), of what inputs do not touch: ``W^T B = 0``.

    ``W^T A`` is a combination of the rows of ``W^T``.
    """
    n = len(A)
    size = np.abs(B).max(initial=0.0)
    reached = np.zeros((n, 0))
    fresh = B / size if size > 0.0 else B
    left = np.eye(n)
    largest = 1.0
    for _ in range(n):
        values, rank = _range(left.T @ fresh, UNREACHED * largest)
        if not rank:
            break
        new = left @ values[:, :rank]
        left = left @ values[:, rank:]
        reached = np.concatenate([reached, new], axis=1)
        fresh, largest = A @ new, float(np.abs(A).max(initial=0.0))
        if not left.shape[1]:
            break
    return left


def _range(x: Array, least: float) -> tuple[Array, int]:
    """Orthonormal basis whose first vectors span the columns of a matrix, and how many do."""
    U, sizes, _ = np.linalg.svd(x, full_matrices=True)
    return U, int((sizes > least * max(1.0, x.shape[0])).sum())


def _plain(name: str) -> str:
    return name.replace(".", "_")
