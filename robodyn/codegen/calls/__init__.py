"""What calls of functions are given, and what they give back."""
