"""Requests for another task: CONTINUATION, the catalogue, the match."""
