"""Units of FMI 3.0 for co-simulation: variables, model description, C around a step, library."""
