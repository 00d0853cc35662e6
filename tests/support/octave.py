"""Octave, where it is installed."""

import shutil
import subprocess

import numpy as np
import pytest


def octave(folder, script):
    """What Octave prints."""
    program = shutil.which("octave-cli")
    if program is None:
        pytest.skip("octave-cli is not installed")
    done = subprocess.run(
        [program, "--no-gui", "--norc", "--quiet", "--eval", script],
        cwd=folder, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    return done.stdout


def literal(x):
    """An array as Octave writes it, row vectors for those of one axis."""
    x = np.asarray(x, float)
    values = " ".join(map(repr, x.ravel(order="F").tolist()))
    return f"reshape([{values}], [{' '.join(map(str, (1, 1, *x.shape)[-max(2, x.ndim) :]))}])"
