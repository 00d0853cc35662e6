"""The bundled table on three casters, with wheels that roll [Wittenburg 1977, example 5.4]."""

import numpy as np

import robodyn as rd

R, A, RADIUS = 0.4, 0.05, 0.08
GAMMA = 2 * np.pi / 3 * np.arange(3)
TURNS, ROLLS = [3, 5, 7], [4, 6, 8]


def rolling(k):
    """``g1``, ``g2`` of one wheel, in the speeds of the table's own axes."""

    def g(q, v):
        turn, (dx, dy, w, dturn, droll) = q[3], v
        c, s = rd.cos(turn + GAMMA[k]), rd.sin(turn + GAMMA[k])  # psi less the heading
        across = dx * s - dy * c - w * (R * rd.cos(turn) + A) - dturn * A
        along = dx * c + dy * s + w * R * rd.sin(turn) + droll * RADIUS
        return [across, along]

    joints = ("table_motion", f"caster{k + 1}", f"wheel{k + 1}_axle")
    return rd.Constraint(f"wheel{k + 1}", g, joints, kind="nonholonomic")


def caster_table(**options):
    return rd.load(
        "caster_table", passive=False, constraints=[rolling(k) for k in range(3)], **options
    )


def straight(table, speed):
    """All wheels trail behind the table, which goes along its x axis."""
    q = np.zeros(9)
    q[TURNS] = np.pi - GAMMA
    v = np.zeros(9)
    v[0], v[ROLLS] = speed, speed / RADIUS
    return q, v
