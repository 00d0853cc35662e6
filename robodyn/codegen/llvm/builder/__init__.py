"""Functions of LLVM IR, written by running Python functions once."""
