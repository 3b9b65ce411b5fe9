"""JSON Schemas at work: checks in bounded time, and misfits by path."""
