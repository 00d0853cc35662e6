"""Programs as text: C99, CUDA, Python, MATLAB, Modelica, LaTeX."""
