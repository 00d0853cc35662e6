"""Pictures by matplotlib (extra ``plot``), of plain arrays."""
