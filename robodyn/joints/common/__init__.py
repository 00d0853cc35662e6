"""What the files of joint kinds are written with: the type of a kind, helpers that several use."""
