"""How far numbers may be from what was meant, by their digits."""

import math

import numpy as np
import pytest

from robodyn.description.written_digits import half_unit, rounding_of_text


@pytest.mark.parametrize(
    ("number", "half"),
    [
        ("0.1234", 5e-5),
        ("-1.571", 5e-4),
        ("12.3456", 5e-5),
        ("1.234e-3", 5e-7),
        ("0.25", 0.0),  # is meant as it stands
        ("0", 0.0),
        ("3.141592653589793", 0.0),  # has all digits
    ],
)
def test_half_a_unit_in_the_last_digit(number, half):
    assert half_unit(float(number)) == pytest.approx(half, rel=1e-12)


def test_single_precision_written_in_double():
    x = float(np.float32(math.pi / 2))
    assert half_unit(x) == pytest.approx(x * 2.0**-24)


def test_text_of_other_formats():
    lengths, angles = rounding_of_text(
        '<body pos="0.1234 0 1" quat="0.70711 0 0 0.70711"/><geom size="0.12"/>'
    )
    assert (lengths, angles) == pytest.approx((5e-5, 5e-6))
    lengths, angles = rounding_of_text("<pose>0.12345 0 0 0 0 1.5708</pose><xyz>0 0 1</xyz>")
    assert (lengths, angles) == pytest.approx((5e-6, 5e-5))
    assert rounding_of_text("<pose>nothing</pose>") == (0.0, 0.0)
