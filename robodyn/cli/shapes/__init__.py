"""Masses and inertias of links beside the shapes that the file draws for them."""
