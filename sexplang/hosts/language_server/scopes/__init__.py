"""Scopes and meanings of the names in a document."""
