"""Models by name, and the payload of a request to a model."""
