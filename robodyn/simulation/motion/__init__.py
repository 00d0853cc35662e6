"""A motion: the loop over its steps, its phases, events and record."""
