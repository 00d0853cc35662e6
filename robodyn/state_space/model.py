"""`StateSpace`: a linear model with named states, inputs and outputs, and its analysis."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import check_fields, checked_arguments
from robodyn.array_types import Array, FloatArray
from robodyn.arrays import checked, mismatch, number, wrong_shape
from robodyn.errors import ShapeError, UnknownNameError, optional
from robodyn.state_space.exponential import exponential
from robodyn.state_space.margins import NONE, Margins, frequencies, margins_of, response
from robodyn.state_space.mode import Mode, scaled
from robodyn.state_space.poles import balanced, damping_ratio, eigenvalues, order, untouched
from robodyn.tolerances import STILL_POLE

#: Time constants of the slowest pole, and instants, of a step response.
SETTLED, STEPS = 6.0, 400

#: Largest ratio of the units of states by which the model is balanced.
WIDEST = 1e4


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
        Acceleration of the independent speeds at the state where the model was made
        [rad/s^2, m/s^2]. It is zero at rest and in steady motion. Elsewhere the model describes
        deviations from the motion through that state, at that instant.

    Examples
    --------
    >>> import robodyn as rd
    >>> model = rd.load("double_pendulum").linearize([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    >>> model.A.shape, bool(abs(model.poles.real).max() < 1e-6)     # it swings, undamped
    ((4, 4), True)
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
        check_fields(self)
        A = checked("A", self.A, None, None)
        B, C = checked("B", self.B, None, None), checked("C", self.C, None, None)
        D = checked("D", self.D, None, None)
        n, m, p = A.shape[-1], B.shape[-1], C.shape[-2]
        for name, matrix, shape in (("A", A, (n, n)), ("B", B, (n, m)), ("C", C, (p, n))):
            _expect(name, matrix, shape)
        _expect("D", D, (p, m))
        own = _of_one_batch({"A": A, "B": B, "C": C, "D": D})
        own["acceleration"] = checked("acceleration", self.acceleration, None)
        if self.dt is not None and not number("dt", self.dt, "s") > 0.0:
            raise mismatch("dt", self.dt, "a positive number of seconds")
        for what, letter, count in (("states", "x", n), ("inputs", "u", m), ("outputs", "y", p)):
            names = tuple(getattr(self, what)) or tuple(f"{letter}[{k}]" for k in range(count))
            if len(names) != count or not all(isinstance(name, str) for name in names):
                raise ShapeError(
                    f"{what} has {len(names)} names, expected {count}: {names!r}",
                    name=what,
                    given=names,
                )
            object.__setattr__(self, what, names)
        for name, matrix in own.items():
            object.__setattr__(self, name, matrix)

    def like(self, A: Array, B: Array, acceleration: Array) -> StateSpace:
        """A model of the same states, inputs and outputs near another state; nothing is checked.

        Parameters
        ----------
        A, B : ndarray, shape (..., n, n), (..., n, m)
        acceleration : ndarray, shape (..., k)
        """
        batch = A.shape[:-2]
        first = (0,) * (self.A.ndim - 2)
        of_one = self.C[first], self.D[first]
        C, D = (np.broadcast_to(x, (*batch, *x.shape[-2:])).copy() for x in of_one)
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, A=A, B=B, C=C, D=D, acceleration=acceleration)
        return made

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
        """Eigenvalues of A, shape (..., n), the slowest first; conjugate pairs are adjacent."""
        values = np.linalg.eigvals(self.A).astype(complex)
        return np.asarray(np.take_along_axis(values, order(self._rates(values)), -1))

    @property
    def natural_frequencies(self) -> Array:
        """``|s|`` [rad/s] of each pole, shape (..., n); s is that of continuous time."""
        return np.abs(self._rates(self.poles))

    @property
    def damping_ratios(self) -> Array:
        """``-Re(s) / |s|`` of each pole, shape (..., n); 1 for a pole at zero."""
        return damping_ratio(self._rates(self.poles))

    @property
    def modes(self) -> tuple[Mode, ...]:
        """A mode for each pole, in the order of `poles`; one of each pair of complex poles."""
        self._one("modes")
        return self._modes(*np.linalg.eig(self.A))

    def _modes(self, values: Array, vectors: Array) -> tuple[Mode, ...]:
        """Modes with some eigenvalues and eigenvectors, one of each pair of complex ones."""
        rates = self._rates(values.astype(complex))
        return tuple(
            Mode(complex(rates[k]), scaled(vectors[:, k], self.states), self.states)
            for k in order(rates)
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
        values, errors = eigenvalues(self.A)
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
            return np.asarray(np.log(np.abs(poles)) / self.dt + 1j * (np.angle(poles) / self.dt))

    def plot(self, path: str | os.PathLike[str] | None = None, *, axes: Any = None) -> Any:
        """Draw the poles in the complex plane, with the name of the largest state of each mode.

        What decays lies on the left. Dotted rays have equal damping ratios, arcs equal natural
        frequencies. Where poles are far apart, axes are logarithmic away from zero. The poles of a
        sampled model lie within the unit circle if they decay. Of models along a motion the colour
        says of which.

        Parameters
        ----------
        path : path, optional
            Image file to write. Default: show it in a window, where there is a display.
        axes : matplotlib axes, optional
            To draw into.

        Returns
        -------
        figure : matplotlib.figure.Figure

        Raises
        ------
        MissingExtraError
            Without matplotlib (extra ``plot``).
        ShapeError, MissingFileError, FileError
            For no name of an image file, and where it cannot be written.

        Examples
        --------
        >>> import robodyn as rd
        >>> from matplotlib.figure import Figure
        >>> model = rd.load("double_pendulum").linearize([3.1, 0.0], [0.0, 0.0], [0.0, 0.0])
        >>> figure = model.plot(axes=Figure().subplots())
        """
        one = self.A.ndim == 2
        modes = self.modes if one else ()
        names = [(_place(mode, self.dt), mode.name.removeprefix("q:")) for mode in modes]
        title = f"poles: {self.stability}" if one else f"poles of {self.A[..., 0, 0].size} models"
        from robodyn.pictures.pole_map import draw_poles

        return draw_poles(
            path,
            self.poles.reshape(-1, len(self.states)),
            names=names,
            sampled=self.dt is not None,
            title=title,
            axes=axes,
        )

    # -- what inputs reach --------------------------------------------------------------------

    def uncontrollable_modes(self) -> tuple[Mode, ...]:
        """Modes that no input affects, with their left eigenvectors.

        Returns
        -------
        modes : tuple of Mode
            Empty if the model is controllable. ``shape`` is a left eigenvector ``w``: ``w x``
            follows ``exp(pole t)`` whatever the inputs; ``name`` is its largest state.

        Notes
        -----
        Staircase form by orthogonal transformations of the balanced model [Van Dooren 1981].
        """
        return self._uncontrollable(self.A, self.B)

    def unobservable_modes(self) -> tuple[Mode, ...]:
        """Modes that no output depends on; ``shape`` is the motion of the states."""
        swapped = np.swapaxes(self.A, -1, -2), np.swapaxes(self.C, -1, -2)
        return self._uncontrollable(*swapped)

    def _uncontrollable(self, A: Array, B: Array) -> tuple[Mode, ...]:
        self._one("controllability")
        scaled_A, units = balanced(A, WIDEST)
        rest = untouched(scaled_A, B / units[:, None])
        if not rest.shape[1]:
            return ()
        values, vectors = np.linalg.eig(rest.T @ scaled_A.T @ rest)
        return self._modes(values, (rest @ vectors) / units[:, None])

    # -- frequencies and steps ----------------------------------------------------------------

    @checked_arguments
    def frequency_response(self, frequencies: ArrayLike) -> Array:
        """Outputs over inputs that oscillate, as complex numbers, shape (k, p, m).

        Parameters
        ----------
        frequencies : array_like, shape (k,) [rad/s]
            Of a sampled model up to pi / dt.
        """
        self._one("a frequency response")
        w = checked("frequencies", frequencies, None)
        points = 1j * w if self.dt is None else np.exp(1j * w * self.dt)
        return response(self.A, self.B, self.C, self.D, points)

    def broken_at(self, name: str) -> StateSpace:
        """The loop of a closed loop that is broken where an input is added to an output.

        Parameters
        ----------
        name : str
            An input and an output: ``"tau:elbow"`` of `robodyn.closed_loop_model` is the torque of
            a controller; all other loops stay closed.

        Returns
        -------
        model : StateSpace
            The loop gain ``L`` from the torque that acts to minus the one that the controller asks
            for then, so that the closed loop is stable where ``1 + L`` has no zeros outside.

        Raises
        ------
        UnknownNameError
            If there is no such input and output.
        """
        self._one("a loop")
        known = [x for x in self.inputs if x in self.outputs]
        if name not in known:
            raise UnknownNameError("input that is an output", name, known)
        k, row = self.inputs.index(name), self.outputs.index(name)
        B, C, D = self.B[:, [k]], self.C[[row]], self.D[[row], [k]]
        if D.any():  # what is asked for depends on what is added at once
            C, D = C / (1.0 + D), D / (1.0 + D)
        opened = self.A - B @ C
        parts = {"B": B - B * D, "C": -C, "D": -D[:, None]}
        return replace(self, A=opened, **parts, inputs=(name,), outputs=(name,))

    def margins(self) -> dict[str, Margins]:
        """Margins of the loop broken at each input that is an output too, as each motor.

        Examples
        --------
        >>> import numpy as np
        >>> import robodyn as rd
        >>> from robodyn.controllers import LQR
        >>> robot = rd.load("double_pendulum", actuators={"elbow": rd.Actuator()})
        >>> up = np.array([np.pi, 0.0])
        >>> found = rd.closed_loop_model(robot, LQR(robot, up), up).margins()["tau:elbow"]
        >>> bool(found.phase > np.pi / 3), round(found.sensitivity, 6)     # as every LQR
        (True, 1.0)
        """
        self._one("margins")
        if self.stability == "unstable":
            return {x: NONE for x in self.inputs if x in self.outputs}
        last, found = np.inf if self.dt is None else np.pi / self.dt, dict[str, Margins]()
        for name in self.inputs:
            if name in self.outputs:
                loop = self.broken_at(name)
                w = frequencies(self._rates(np.concatenate([self.poles, loop.poles])), self.dt)
                asked = partial(_of_one_pair, loop)
                found[name] = margins_of(asked, w, last, float(loop.D[0, 0]))
        return found

    @checked_arguments
    def plot_bode(self, path: str | os.PathLike[str] | None = None, *, axes: Any = None) -> Any:
        """Draw magnitude and phase of each output over each input: see `frequency_response`.

        Parameters
        ----------
        path : path, optional
            Image file to write. Default: show it in a window, where there is a display.
        axes : sequence of two matplotlib axes, optional
            To draw into.

        Returns
        -------
        figure : matplotlib.figure.Figure

        Raises
        ------
        MissingExtraError
            Without matplotlib (extra ``plot``).
        ShapeError, MissingFileError, FileError
            For no name of an image file, and where it cannot be written.

        Examples
        --------
        >>> import robodyn as rd
        >>> from matplotlib.figure import Figure
        >>> robot = rd.load("double_pendulum")
        >>> model = robot.linearize([0.0, 0.0], [0.0, 0.0], None, outputs=["elbow"])
        >>> figure = model.plot_bode(axes=Figure().subplots(2))
        """
        from robodyn.pictures.pole_map import draw_bode

        w = frequencies(self._rates(self.poles), self.dt)
        curves = self._curves(self.frequency_response(w))
        last = None if self.dt is None else np.pi / self.dt
        return draw_bode(path, w, curves, last=last, axes=axes)

    @checked_arguments
    def plot_nyquist(self, path: str | os.PathLike[str] | None = None, *, axes: Any = None) -> Any:
        """Draw the loop broken at each input that is an output too, near -1: see `margins`.

        The dotted circle is where the sensitivity is 2.

        Parameters
        ----------
        path, axes
            As of `plot_bode`; one axes.

        Returns
        -------
        figure : matplotlib.figure.Figure

        Raises
        ------
        MissingExtraError, ShapeError, MissingFileError, FileError
            As `plot_bode`, and where no input is an output.
        """
        from robodyn.pictures.pole_map import draw_nyquist

        loops = [self.broken_at(x) for x in self.inputs if x in self.outputs]
        if not loops:
            raise ShapeError("no input is an output too: there is no loop to break", name="inputs")
        curves = []
        for loop in loops:
            w = frequencies(self._rates(np.concatenate([self.poles, loop.poles])), self.dt)
            curves.append((loop.inputs[0].removeprefix("tau:"), _of_one_pair(loop, w)))
        return draw_nyquist(path, curves, axes=axes)

    @checked_arguments
    def plot_step(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        duration: float | None = None,
        axes: Any = None,
    ) -> Any:
        """Draw the outputs after a unit step of each input: see `step_response`.

        Parameters
        ----------
        path, axes
            As of `plot_bode`; axes for each input.
        duration : float, optional [s]
            Default: some time constants of the slowest pole that decays.

        Returns
        -------
        figure : matplotlib.figure.Figure

        Raises
        ------
        MissingExtraError, ShapeError, MissingFileError, FileError
            As `plot_bode`.
        """
        from robodyn.pictures.curves import Panel, draw

        t, y = self.step_response(duration)
        of_forces = ("tau", "N m, N"), ("v", "rad/s, m/s")
        units = tuple(dict(of_forces).get(x.partition(":")[0], "rad, m") for x in self.outputs)
        panels = [
            Panel(f"step of {name}", y[:, :, k], units, self.outputs)
            for k, name in enumerate(self.inputs)
        ]
        return draw(path, t, panels, axes=axes)

    @checked_arguments
    def step_response(self, duration: float | None = None) -> tuple[FloatArray, FloatArray]:
        """Outputs after a unit step of each input, from zero.

        Parameters
        ----------
        duration : float, optional [s]
            Default: some time constants of the slowest pole that decays.

        Returns
        -------
        t : ndarray, shape (k,) [s]
        y : ndarray, shape (k, p, m)
        """
        self._one("a step response")
        slow = -self._rates(self.poles).real
        slow = slow[np.isfinite(slow) & (slow > STILL_POLE)]
        length = SETTLED / slow.min() if len(slow) else 1.0
        length = length if duration is None else float(duration)
        dt = length / STEPS if self.dt is None else self.dt
        own = self if self.dt is not None else self.sampled(dt)
        count = max(int(np.ceil(length / dt)), 1)
        x, found = np.zeros(self.B.shape), []
        for _ in range(count + 1):
            found.append(self.C @ x + self.D)
            x = own.A @ x + own.B
        return dt * np.arange(count + 1.0), np.array(found)

    def _curves(self, found: Array) -> list[tuple[str, Array]]:
        """A named curve for each output and input."""
        one = len(self.inputs) == 1
        return [
            (y if one else f"{y} / {u}", found[:, i, k])
            for k, u in enumerate(self.inputs)
            for i, y in enumerate(self.outputs)
        ]

    # -- other forms --------------------------------------------------------------------------

    @checked_arguments
    def sampled(self, dt: float) -> StateSpace:
        """The exact discrete-time model with sample time ``dt`` [s] and a zero-order hold.

        Raises
        ------
        ShapeError
            If it is sampled already, or dt is not positive.
        """
        if self.dt is not None:
            raise ShapeError(f"the model is sampled already, every {self.dt:g} s", name="dt")
        if not 0.0 < number("dt", dt, "s") < np.inf:
            raise mismatch("dt", dt, "a positive number of seconds")
        n, m = self.B.shape[-2:]
        whole = np.zeros((*self.A.shape[:-2], n + m, n + m))
        whole[..., :n, :n], whole[..., :n, n:] = self.A, self.B
        found = exponential(whole * float(dt))
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
            If it is not installed (extra ``control``).
        ShapeError
            Without inputs, which python-control does not know.
        """
        self._one("an object of python-control")
        if self.outputs and not self.inputs:
            raise ShapeError(
                "the model has no inputs, and python-control none of that sort: name joints with "
                "inputs=",
                name="inputs",
            )
        ss = optional("control", "control", "a model of python-control").ss
        names = {what: _plain(getattr(self, what)) for what in ("states", "inputs", "outputs")}
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
        """One model of a batch.

        Raises
        ------
        ShapeError
            If the batch has no such model.
        """
        batch = self.A.shape[:-2]
        try:
            np.empty(batch)[index]
        except IndexError:
            raise ShapeError(
                f"there is no model {index!r} in a batch of shape {batch}",
                name="index",
                given=index,
            ) from None
        parts = {name: getattr(self, name)[index] for name in ("A", "B", "C", "D")}
        known = self.acceleration
        whole = known.ndim > 1
        return replace(self, **parts, acceleration=known[index] if whole else known)


def _of_one_pair(model: StateSpace, frequencies: FloatArray) -> Array:
    """The response of the first output to the first input."""
    return np.asarray(model.frequency_response(frequencies)[:, 0, 0])


def _place(mode: Mode, dt: float | None) -> complex:
    """Where the pole of a mode is in the plane."""
    return mode.pole if dt is None else complex(np.exp(mode.pole * dt))


def _of_one_batch(matrices: dict[str, Array]) -> dict[str, Array]:
    """Matrices with the leading axes of all of them.

    Raises `ShapeError` if these do not fit.
    """
    axes = {name: x.shape[:-2] for name, x in matrices.items()}
    try:
        batch = np.broadcast_shapes(*axes.values())
    except ValueError:
        shown = ", ".join(f"{name} {shape}" for name, shape in axes.items())
        raise ShapeError(
            f"leading axes of {shown} do not fit together", name="A", given=axes
        ) from None
    return {
        name: x if x.shape[:-2] == batch else np.array(np.broadcast_to(x, batch + x.shape[-2:]))
        for name, x in matrices.items()
    }


def _expect(name: str, matrix: Array, shape: tuple[int, ...]) -> None:
    if matrix.shape[-2:] != shape:
        raise wrong_shape(name, matrix.shape, f"(..., {shape[0]}, {shape[1]})", shape)


def _plain(names: tuple[str, ...]) -> list[str]:
    """Names without dots, which signals of python-control must not have, and all different."""
    found: list[str] = []
    for name in names:
        plain, count = name.replace(".", "_"), 2
        while plain in found:
            plain, count = f"{name.replace('.', '_')}_{count}", count + 1
        found.append(plain)
    return found
