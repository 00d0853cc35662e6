"""What was measured of a motion, and what follows from it: smooth states, independent joints."""
