"""What a simulation returns, and what can be computed of it."""
