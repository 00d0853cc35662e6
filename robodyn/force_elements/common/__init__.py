"""What the files of force elements are written with."""
