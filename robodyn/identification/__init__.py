"""Parameters of a robot from measured motions: excitation, estimates, error bars."""

from robodyn.identification.excitation import excitation
from robodyn.identification.fourier import Excitation
from robodyn.identification.identified import Identified
from robodyn.identification.identify import identify
from robodyn.identification.measurements import Measurements
from robodyn.identification.payload import Payload, identify_payload

__all__ = [
    "Excitation",
    "Identified",
    "Measurements",
    "Payload",
    "excitation",
    "identify",
    "identify_payload",
]
