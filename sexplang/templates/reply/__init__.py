"""The text of a reply to a value, under its output format."""
