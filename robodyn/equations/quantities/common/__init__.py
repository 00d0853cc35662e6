"""What the quantities share: the tracer, what a row says, and the equations of dynamics."""
