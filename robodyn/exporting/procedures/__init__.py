"""Procedures as text: one file a language."""
