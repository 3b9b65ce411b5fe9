"""The layout of programs: what `fmt` writes."""
