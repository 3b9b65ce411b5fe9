"""JSON Schemas as data, and the types that are written for them."""
