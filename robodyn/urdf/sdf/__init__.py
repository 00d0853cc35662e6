"""SDF: frames, models, joints and loops by its specification."""
