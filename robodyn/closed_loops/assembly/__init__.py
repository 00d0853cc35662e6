"""Closed postures: found near a guess, followed, and projected onto."""
