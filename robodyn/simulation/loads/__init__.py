"""Loads on a robot in a motion: driven joints, the motion of its base, external wrenches."""
