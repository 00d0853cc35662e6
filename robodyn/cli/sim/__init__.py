"""``robodyn sim``: a robot moves for a while, and files say how."""
