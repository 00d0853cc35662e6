"""Speeds and postures that bring tasks about, by quadratic programs over limits."""
