"""Motions of least cost by direct collocation (extra ``plan``)."""
