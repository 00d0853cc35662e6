"""Limits of joints and motors: where a motion leaves them, and efforts cut to them."""
