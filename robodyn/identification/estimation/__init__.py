"""Parameters from measurements: linear equations, least squares, results and error bars."""
