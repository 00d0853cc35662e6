"""Caches of what motions of one robot have in common, such as traced controllers."""
