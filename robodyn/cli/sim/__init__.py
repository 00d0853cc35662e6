"""``robodyn sim``: simulate a robot, print a summary and write files."""
