"""The start of a conversation: parameters, settings, the first request."""
