"""Types: their forms as JSON Schemas, and their definitions."""
