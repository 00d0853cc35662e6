"""What kinds of sensors share."""
