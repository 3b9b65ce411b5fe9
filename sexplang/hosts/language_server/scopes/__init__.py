"""Scopes and meanings of the names in a text that an editor holds."""
