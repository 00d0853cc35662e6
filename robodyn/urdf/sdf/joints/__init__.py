"""Joints of SDF: those of the tree, those that close loops, and gearboxes."""
