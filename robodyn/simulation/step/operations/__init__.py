"""The text of a step, and the operations that it is run with: numbers and symbols."""
