"""Adapters: one for each protocol or kind of model."""
