#!/usr/bin/env bash
# python-control's disk margins of an unstable closed loop read like those of a robust one.
#
# Version: control 0.10.2, numpy and scipy, without slycot.
# Disk margins say how much gain and phase of a loop may change before the closed loop is unstable;
# of a loop that is unstable already they are zero. `disk_margins` takes the peak of (S - T) / 2 over
# the frequencies it is given and does not look at poles: L = 100 / (s + 1)^3, which is unstable from
# a gain of 8 on, has "margins" of 9.0 dB and 51 degrees, more than the 3.3 dB and 21 degrees of the
# stable 4 / (s + 1)^3, and they grow with the gain. There is no warning. `margin` shows it by a
# gain margin below one and a negative phase margin.
# Exit status 0: as described here; 1: something changed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q 'control==0.10.2'
cat >"$folder/look.py" <<'PYTHON'
import sys
import warnings

import control
import numpy as np

s, frequencies = control.tf("s"), np.logspace(-3, 3, 20001)
phase, told = {}, 0
for gain in (4.0, 12.0, 100.0):
    loop = gain / (s + 1) ** 3
    slowest = max(control.poles(control.feedback(loop, 1)).real)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _, decibels, phase[gain] = control.disk_margins(loop, frequencies)
    told += len(caught)
    print(f"gain {gain:5.1f}: largest real part of the closed loop's poles {slowest:6.3f},", end=" ")
    print(f"disk margins {decibels:.2f} dB and {phase[gain]:.1f} degrees,", end=" ")
    print(f"phase margin {control.margin(loop)[1]:.1f} degrees")
sys.exit(0 if 0.0 < phase[12.0] < phase[4.0] < phase[100.0] and not told else 1)
PYTHON
"$folder/venv/bin/python" "$folder/look.py"
# Output seen:
#   gain   4.0: largest real part of the closed loop's poles -0.206, disk margins 3.32 dB and 21.4 degrees, phase margin 27.1 degrees
#   gain  12.0: largest real part of the closed loop's poles  0.145, disk margins 1.68 dB and 11.0 degrees, phase margin -12.3 degrees
#   gain 100.0: largest real part of the closed loop's poles  1.321, disk margins 8.97 dB and 50.8 degrees, phase margin -52.7 degrees
