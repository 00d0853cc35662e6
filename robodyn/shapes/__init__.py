"""Shapes of links, as files draw them, and their meshes."""
