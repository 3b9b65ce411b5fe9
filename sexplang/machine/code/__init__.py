"""Core to code: the makers of closures, by family of node."""
