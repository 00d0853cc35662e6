"""Closed linkages: assembly, what their loops leave free, and their dynamics."""
