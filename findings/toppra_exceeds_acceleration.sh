#!/usr/bin/env bash
# TOPPRA's default parametrizer exceeds the limit of acceleration by a quarter on a straight line.
#
# Version: toppra 0.6.10, with scipy's splines.
# A joint goes 1 rad from rest to rest with at most 2 rad/s^2; the speed is far from its limit, so
# that the fastest motion brakes from the middle on and takes sqrt(2) s. The path is a straight line,
# and the algorithm finds speeds along it that keep the limit at all grid points. What the default
# parametrizer (ParametrizeSpline) makes of them has the right duration and accelerates by 2.53
# rad/s^2; ten times as many grid points do not lessen that, as a cubic spline overshoots beside
# the switch from full acceleration to full braking however near its knots are. ParametrizeConstAccel
# keeps the limit to all digits.
# Exit status 0: as described here; 1: something changed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q 'toppra==0.6.10'
cat >"$folder/look.py" <<'PYTHON'
import logging
import sys

import numpy as np
import toppra
from toppra.algorithm import TOPPRA
from toppra.constraint import JointAccelerationConstraint, JointVelocityConstraint

logging.disable(logging.CRITICAL)
SPEED, ACCELERATION = 10.0, 2.0


def largest_acceleration(points, parametrizer):
    path = toppra.SplineInterpolator([0.0, 0.5, 1.0], [[0.0], [0.5], [1.0]])
    limits = [
        JointVelocityConstraint([[-SPEED, SPEED]]),
        JointAccelerationConstraint([[-ACCELERATION, ACCELERATION]]),
    ]
    grid = np.linspace(0.0, 1.0, points)
    motion = TOPPRA(limits, path, grid, parametrizer=parametrizer).compute_trajectory()
    t = np.linspace(0.0, motion.duration, 100001)
    return motion.duration, np.abs(motion(t, 2)).max()


ratios = {}
for parametrizer in ("ParametrizeSpline", "ParametrizeConstAccel"):
    for points in (101, 1001):
        duration, most = largest_acceleration(points, parametrizer)
        ratios[parametrizer, points] = most / ACCELERATION
        print(f"{parametrizer}, {points} grid points: {duration:.4f} s,", end=" ")
        print(f"largest acceleration {most / ACCELERATION:.3f} of the limit")
over = [ratios["ParametrizeSpline", n] > 1.2 for n in (101, 1001)]
kept = [ratios["ParametrizeConstAccel", n] < 1.0 + 1e-9 for n in (101, 1001)]
sys.exit(0 if all(over + kept) else 1)
PYTHON
"$folder/venv/bin/python" "$folder/look.py"
# Output seen:
#   ParametrizeSpline, 101 grid points: 1.4142 s, largest acceleration 1.266 of the limit
#   ParametrizeSpline, 1001 grid points: 1.4142 s, largest acceleration 1.268 of the limit
#   ParametrizeConstAccel, 101 grid points: 1.4142 s, largest acceleration 1.000 of the limit
#   ParametrizeConstAccel, 1001 grid points: 1.4142 s, largest acceleration 1.000 of the limit
