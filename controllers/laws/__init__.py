"""Control laws: from the state to torques."""
