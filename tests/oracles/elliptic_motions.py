"""Motions of single bodies in elliptic functions and integrals [Wittenburg 1977, chapter 4].

The time laws of the azimuth angles are integrals of the third kind, evaluated in Carlson's form.
"""

import numpy as np
from scipy.special import ellipj, ellipk, elliprf, elliprj


def third_kind(n, phi, m):
    """Integral of ``1 / ((1 - n sin^2 x) sqrt(1 - m sin^2 x))`` from 0 to any real ``phi``."""
    half_turns = np.floor(phi / np.pi + 0.5)
    rest = phi - half_turns * np.pi
    s, c = np.sin(rest), np.cos(rest)
    delta = 1 - m * s * s
    partial = s * elliprf(c * c, delta, 1)
    partial = partial + n / 3 * s**3 * elliprj(c * c, delta, 1, 1 - n * s * s)
    complete = elliprf(0, 1 - m, 1) + n / 3 * elliprj(0, 1 - m, 1, 1 - n)
    return partial + 2 * half_turns * complete


def torque_free(J, energy, D, t, s1=1, s3=1):
    """Torque-free motion of a body with ``J1 > J2 > J3`` that starts with ``w2 = 0`` [W 4.11-4.18].

    Parameters
    ----------
    J : (3,) [kg m^2]
    energy : float [J]
        Twice the kinetic energy.
    D : float [kg m^2]
        Square of the angular momentum over ``energy``; not J2.
    t : (n,) [s]
    s1, s3 : int
        Signs of w1 and w3.

    Returns
    -------
    w : (3, n) [rad/s]
        In principal axes.
    A : (n, 3, 3)
        Coordinates in principal axes from those in axes fixed in space, whose third is along the
        angular momentum.
    """
    J1, J2, J3 = J
    L, s2 = np.sqrt(D * energy), -s1 * s3
    A1 = np.sqrt(energy * (D - J3) / (J1 * (J1 - J3)))
    A3 = np.sqrt(energy * (J1 - D) / (J3 * (J1 - J3)))
    if D < J2:
        n = np.sqrt(energy * (J1 - D) * (J2 - J3) / (J1 * J2 * J3))
        m = (D - J3) * (J1 - J2) / ((J1 - D) * (J2 - J3))
        sn, cn, dn, am = ellipj(n * t, m)
        A2 = np.sqrt(energy * (D - J3) / (J2 * (J2 - J3)))
        w = np.array([s1 * A1 * cn, s2 * A2 * sn, s3 * A3 * dn])
        nu = -(J3 / J1) * (J1 - J2) / (J2 - J3)
        psi = L / J3 * t - L * (J1 - J3) / (J1 * J3 * n) * third_kind(nu, am, m)
        theta, phi = np.arccos(J3 * w[2] / L), np.arctan2(J1 * w[0], J2 * w[1])
        return w, body_from_fixed(psi, theta, phi)
    n = np.sqrt(energy * (J1 - J2) * (D - J3) / (J1 * J2 * J3))
    m = (J1 - D) * (J2 - J3) / ((D - J3) * (J1 - J2))
    sn, cn, dn, am = ellipj(n * t, m)
    A2 = np.sqrt(energy * (J1 - D) / (J2 * (J1 - J2)))
    w = np.array([s1 * A1 * dn, s2 * A2 * sn, s3 * A3 * cn])
    nu = -(J1 / J3) * (J2 - J3) / (J1 - J2)
    psi = L / J1 * t + L * (J1 - J3) / (J1 * J3 * n) * third_kind(nu, am, m)
    theta, phi = np.arccos(J1 * w[0] / L), np.arctan2(J2 * w[1], J3 * w[2])
    # the angles belong to the axes 2, 3, 1
    return w, body_from_fixed(psi, theta, phi)[:, [2, 0, 1]]


def separatrix(J, energy, t, s1=1, s3=1):
    """The motion between both families, ``D = J2`` [W 4.1.3]: w (3, n) [rad/s]."""
    J1, J2, J3 = J
    n = np.sqrt(energy * (J1 - J2) * (J2 - J3) / (J1 * J2 * J3))
    A1 = np.sqrt(energy * (J2 - J3) / (J1 * (J1 - J3)))
    A3 = np.sqrt(energy * (J1 - J2) / (J3 * (J1 - J3)))
    sech, tanh = 1 / np.cosh(n * t), np.tanh(n * t)
    return np.array([s1 * A1 * sech, -s1 * s3 * np.sqrt(energy / J2) * tanh, s3 * A3 * sech])


def body_from_fixed(psi, theta, phi):
    """Direction cosines of Euler's angles, sequence 3-1-3 [W 2.2]: shape (n, 3, 3)."""
    cp, sp, ct, st, cf, sf = (f(x) for x in (psi, theta, phi) for f in (np.cos, np.sin))
    rows = (
        (cp * cf - sp * ct * sf, sp * cf + cp * ct * sf, st * sf),
        (-cp * sf - sp * ct * cf, -sp * sf + cp * ct * cf, st * cf),
        (sp * st, -cp * st, ct),
    )
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def heavy_top(J1, J3, weight, theta0, precession, spin, t):
    """A symmetric top on a fixed point, ``theta' = psi = phi = 0`` at the start [W 4.43-4.47].

    Parameters
    ----------
    J1, J3 : float [kg m^2]
        About the support, across and along the axis of symmetry.
    weight : float [N m]
        Weight times distance of the centre of mass.
    theta0 : float [rad]
        Between the upward vertical and the axis.
    precession, spin : float [rad/s]
        ``psi'`` at the start, and the constant angular velocity about the axis.
    t : (n,) [s]

    Returns
    -------
    theta, psi, phi : (n,) [rad]
    """
    u0 = np.cos(theta0)
    L = J1 * precession * (1 - u0**2) + J3 * spin * u0
    k = J1 * (precession * np.sin(theta0)) ** 2 + 2 * weight * u0
    cubic = [
        2 * weight / J1,
        -k / J1 - (J3 * spin / J1) ** 2,
        -2 * weight / J1 + 2 * L * J3 * spin / J1**2,
        k / J1 - (L / J1) ** 2,
    ]
    u1, u2, u3 = np.sort(np.roots(cubic).real)
    n, m = np.sqrt(weight * (u3 - u1) / (2 * J1)), (u2 - u1) / (u3 - u1)
    start = 0.0 if abs(u0 - u1) < abs(u0 - u2) else ellipk(m)
    tau = n * np.asarray(t, float) + start
    a1 = (L - J3 * spin) / (2 * J1 * (1 - u1))
    a2 = (L + J3 * spin) / (2 * J1 * (1 + u1))
    n1, n2 = (u2 - u1) / (1 - u1), -(u2 - u1) / (1 + u1)

    def gained(sign):
        """What the integrals grow by since the start."""

        def integral(x):
            am = ellipj(x, m)[3]
            return (a1 * third_kind(n1, am, m) + sign * a2 * third_kind(n2, am, m)) / n

        return integral(tau) - integral(np.array(start))

    theta = np.arccos(u1 + (u2 - u1) * ellipj(tau, m)[0] ** 2)
    return theta, gained(1), spin * (1 - J3 / J1) * np.asarray(t) - gained(-1)
