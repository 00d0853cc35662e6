"""What closes loops: constraint rows of cut joints, of couplings and of users, and their gaps."""
