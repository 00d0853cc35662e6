"""The algorithm of a step, and the operations it is run with: numbers and symbols."""
