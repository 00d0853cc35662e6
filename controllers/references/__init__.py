"""Reference motions of joints and frames."""
