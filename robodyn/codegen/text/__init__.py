"""Programs as text: C99, CUDA, LaTeX."""
