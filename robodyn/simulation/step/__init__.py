"""One step of a robot in time: with numbers, with symbols, and as machine code."""
