"""From an expression graph to code: machine code, C, CUDA, LaTeX."""
