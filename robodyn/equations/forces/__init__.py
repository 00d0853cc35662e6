"""Forces of elements along joints and between links, and of motors and friction."""
