"""JSON Schemas as data."""
