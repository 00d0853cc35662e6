"""Object code on disk: its keys, its files, and the sources of the generators that made it."""
