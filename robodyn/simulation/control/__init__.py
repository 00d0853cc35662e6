"""Controllers: what a simulation asks of them, and how they become machine code."""
