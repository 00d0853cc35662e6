"""States of a motion: samples, what is between them, their energy, events among them."""
