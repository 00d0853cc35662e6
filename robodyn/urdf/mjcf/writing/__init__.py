"""Writing a description as MJCF."""
