"""Panels of the viewer: posture, motion, forces, legend, and pictures."""
