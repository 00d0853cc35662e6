"""Steps of a simulation as machine code: many of them in one call."""
