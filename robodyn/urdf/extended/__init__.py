"""Files beside a URDF: the YAML of an Extended URDF, and SRDF."""
