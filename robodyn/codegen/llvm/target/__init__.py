"""The machine that code is generated for: its instructions, its compiler, its libraries."""
