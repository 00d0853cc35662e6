"""Expression graphs, and the scalars, vectors and spatial quantities over them."""
