"""Programs of loops over rows and matrices, which no graph says, for rooms above."""
