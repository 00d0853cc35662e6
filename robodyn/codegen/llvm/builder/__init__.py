"""IR with loops and branches, written by running Python functions once."""
