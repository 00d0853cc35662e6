"""The machine code that Python calls: from array objects to kernels and back."""
