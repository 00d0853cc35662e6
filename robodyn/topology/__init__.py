"""Spanning trees of described graphs, and the joints that are cut."""
