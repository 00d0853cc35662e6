"""Derivatives of steps and motions."""
