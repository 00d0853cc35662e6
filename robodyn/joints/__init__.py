"""Kinds of joints: coordinates, poses, motion subspaces."""
