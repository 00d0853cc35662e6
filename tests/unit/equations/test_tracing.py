"""Tracing: what a row of the catalogue promises is what its equations give."""

from dataclasses import replace

import pytest

from robodyn.equations.catalogue import QUANTITIES
from robodyn.equations.quantities.common.quantity import traced


def test_a_row_that_promises_another_shape_is_an_error(double):
    """A matrix by rows of another length is never taken for one of the right size."""
    row = QUANTITIES["mass_matrix"]
    with pytest.raises(ValueError, match="4 numbers for 'M'"):
        wrong = replace(row, outputs=(replace(row.outputs[0], shape=("nv", 3)),))
        traced("mass_matrix", wrong, row.trace, double.model.setup, {})
