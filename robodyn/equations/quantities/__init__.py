"""What is traced for each quantity whose equations are more than one call."""
