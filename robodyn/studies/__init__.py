"""Studies of many motions: parameter sweeps, and comparisons of controllers."""
