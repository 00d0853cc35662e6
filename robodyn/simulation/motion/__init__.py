"""The loop over the steps of a motion, its modes, and the record of samples."""
