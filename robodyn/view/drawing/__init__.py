"""The robot as nodes of a viser scene: meshes, frames of loops, arrows of forces."""
