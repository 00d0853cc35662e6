"""Algorithms for trees of bodies: kinematics, mass matrix, inverse and forward dynamics."""
