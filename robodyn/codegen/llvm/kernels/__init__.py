"""Straight-line code of a program as LLVM IR, for one state and for vectors of states."""
