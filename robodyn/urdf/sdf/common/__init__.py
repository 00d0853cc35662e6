"""What readers of SDF share: its schema, values as text, frames by name, included files."""
