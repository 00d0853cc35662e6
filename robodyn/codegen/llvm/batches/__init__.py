"""Batches of states spread over threads that wait in machine code."""
