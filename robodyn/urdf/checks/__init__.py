"""What is wrong with a description, and what is legal and rarely meant."""
