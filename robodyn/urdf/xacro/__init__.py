"""Files of xacro: their arguments, their expansion, and what it leaves."""
