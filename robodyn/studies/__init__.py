"""Many motions or computations over sets of values: sweeps, and controllers compared."""
