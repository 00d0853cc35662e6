"""Forces of elements along joints and between links, and what motors and friction take."""
