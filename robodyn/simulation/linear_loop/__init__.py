"""Linear models of robots under their controllers."""
