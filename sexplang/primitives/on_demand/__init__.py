"""Primitives whose modules are imported at the first call."""
