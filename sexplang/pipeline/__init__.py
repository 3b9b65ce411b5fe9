"""The pipeline: sources to a Program."""
