"""What motions of one robot have in common: it is computed once, and kept with the robot."""
