"""Files of motions: archives, tables, and folders that are written during the motion."""
