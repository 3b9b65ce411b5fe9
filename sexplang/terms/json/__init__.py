"""JSON: a writer, a reader for programs, a strict reader for texts of models and people, and a
tagged form for all values."""
