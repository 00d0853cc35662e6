"""Motions in files: archives, tables, folders that grow while a motion runs."""
