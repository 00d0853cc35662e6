"""From IR to machine code in memory: a first tier at once, the full code in the background."""
