"""On a ship's deck: what does an arm gain from knowing how the deck moves?"""

import sys

import numpy as np
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn.controllers import ComputedTorque, JointPD, SCurve

ARM = rd.load("puma560", base="moving")
WORK = [np.zeros(6), [0.6, -0.5, 0.4, 0.0, 0.6, 0.0], [-0.4, -0.8, 0.8, 0.2, 0.3, 0.3]]  # [rad]
REFERENCE = SCurve([*WORK, WORK[0]], velocity=0.8, acceleration=2.0, jerk=20.0)


def deck(t: float | np.ndarray) -> rd.BaseMotion:
    """Heave of 1.2 m in 4 s and roll of 16 degrees in 5 s, from rest; one time or many."""
    ahead, up, outer = *np.eye(3)[::2], np.multiply.outer
    A, w, B, k = 0.6, 2 * np.pi / 4, np.radians(8), 2 * np.pi / 5
    return rd.BaseMotion.from_world(
        position=outer(A * (1 - np.cos(w * t)), up),
        quat_xyzw=Rotation.from_rotvec(outer(B * (1 - np.cos(k * t)), ahead)).as_quat(),
        linear_velocity=outer(A * w * np.sin(w * t), up),
        angular_velocity=outer(B * k * np.sin(k * t), ahead),
        linear_acceleration=outer(A * w**2 * np.cos(w * t), up),
        angular_acceleration=outer(B * k**2 * np.cos(k * t), ahead),
    )


def main() -> rd.Comparison:
    still = rd.BaseMotion.at_rest()
    gains = {"stiffness": 900.0, "damping": 60.0}  # an error dies out with 30/s
    K = 900.0 * np.diag(ARM.mass_matrix(WORK[0]))  # the same for each joint alone
    controllers = {
        "pd": JointPD(ARM, REFERENCE, K, 60.0 / 900.0 * K, base=still),
        "on land": ComputedTorque(ARM, REFERENCE, **gains, base=still),
        "on deck": ComputedTorque(ARM, REFERENCE, **gains, base=deck),
    }
    return rd.compare(
        ARM,
        controllers,
        reference=REFERENCE,
        base=rd.BasePath.from_function(deck),
        duration=REFERENCE.duration,
        step=2e-3,
        starts=6,
        spread=0.01,
        loads=["joint1", "joint2"],
    )


def check(found: rd.Comparison) -> None:
    assert not found.failures
    pd, land, knows = found["total_error_rms"]
    assert (knows < land).all() and (land < pd).all()
    # started where it should be, the one that knows the deck stays there; the others are pushed off
    worst = found["total_error_max"][:, 0]
    assert worst[2] < 5e-4 < 3e-3 < worst[1] < 1e-2 < worst[0]
    # from elsewhere the error dies out as (1 + 30 t) exp(-30 t) says
    late = np.searchsorted(found.t, 0.4)
    assert (found["error"][2, 1:, late] < 1e-3 + 1e-4 * found["error"][2, 1:, 0]).all()
    assert (found["torque_margin"] > 0.0).all() and (found["position_margin"] > 0.1).all()


def draw(found: rd.Comparison, path: str) -> None:
    found.plot(path)


if __name__ == "__main__":
    check(found := main())
    print(found)
    if sys.argv[1:]:
        draw(found, sys.argv[1])
