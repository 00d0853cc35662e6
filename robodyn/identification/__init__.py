"""Identification of inertial parameters and friction from measured motions."""

from robodyn.identification.data.measurements import Measurements
from robodyn.identification.estimation.identified import Identified
from robodyn.identification.estimation.identify import identify
from robodyn.identification.estimation.payload import Payload, identify_payload
from robodyn.identification.motions.excitation import excitation
from robodyn.identification.motions.fourier import Excitation

__all__ = [
    "Excitation",
    "Identified",
    "Measurements",
    "Payload",
    "excitation",
    "identify",
    "identify_payload",
]
