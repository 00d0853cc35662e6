"""What users give as functions: forces, and joints that follow others."""
