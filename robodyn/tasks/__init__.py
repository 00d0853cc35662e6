"""Speeds, postures, accelerations and forces for tasks and contacts, by quadratic programs."""
