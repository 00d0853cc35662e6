"""Parts shared by quantities: the tracer, rows of the catalogue, equations of dynamics."""
