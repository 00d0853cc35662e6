"""Pictures of plain arrays, drawn by matplotlib (extra ``plot``)."""
