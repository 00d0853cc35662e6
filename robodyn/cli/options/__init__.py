"""Options that several commands share, and parsing of their values."""
