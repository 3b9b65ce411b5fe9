"""Scopes and names."""
