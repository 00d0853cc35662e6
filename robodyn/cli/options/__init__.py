"""Options that commands share, and the values of options."""
