"""Measurements of a motion: filtering, and motions of the independent joints."""
