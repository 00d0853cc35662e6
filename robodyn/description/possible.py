"""Which masses and inertias a body can have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robodyn.tolerances import INERTIA_TRIANGLE

#: Numbers beyond this would overflow in the products that the dynamics form.
LARGEST = 1e50


def why_impossible(mass: float, inertia: NDArray[np.float64]) -> str | None:
    """Say why no rigid body has a mass and central inertia, or ``None`` if one can.

    Half the trace minus a principal moment is the integral of a squared distance over the mass, and
    not negative. An inertia without mass, the limit of a large light body, is accepted.

    mass [kg]
    inertia (3, 3) [kg m^2]: About the centre of mass.
    """
    if not (abs(mass) <= LARGEST and (np.abs(inertia) <= LARGEST).all()):
        return f"mass {mass:g} and inertia must be finite numbers, not beyond {LARGEST:g}"
    if mass < 0.0:
        return f"mass {mass:g} kg is negative"
    moments = np.linalg.eigvalsh(inertia)
    # A body of radius 1 um is a point: its moments are rounding errors of other numbers.
    scale = INERTIA_TRIANGLE * np.abs(moments).sum() + mass * 1e-12
    if moments[0] >= -scale and 0.5 * moments.sum() - moments[-1] >= -scale:
        return None
    shown = ", ".join(f"{moment:.4g}" for moment in moments)
    if moments[0] < -scale:
        return f"principal moments of inertia {shown} kg m^2: none can be negative"
    return (
        f"principal moments of inertia {shown} kg m^2: the largest exceeds the sum of the others, "
        "as no distribution of mass does; check units, signs and the order of axes"
    )
