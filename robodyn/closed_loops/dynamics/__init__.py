"""Dynamics and postures of closed linkages."""
