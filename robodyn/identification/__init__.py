"""Identification of inertial parameters and friction from measured motions."""

from robodyn.identification.data.measurements import Measurements as Measurements
from robodyn.identification.estimation.identified import Identified as Identified
from robodyn.identification.estimation.identify import identify as identify
from robodyn.identification.estimation.payload import (
    Payload as Payload,
    identify_payload as identify_payload,
)
from robodyn.identification.motions.excitation import excitation as excitation
from robodyn.identification.motions.fourier import Excitation as Excitation
