"""Names to what they stand for."""
