"""Constraint rows of cut joints, of couplings and of users, and the gaps of loops."""
