"""Conversations and programs of models on the stack."""
