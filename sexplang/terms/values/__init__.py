"""Values of a program, and their text, size, equality and boundaries."""
