"""Dynamics near a state: linear models, postures at rest and steady motions."""
