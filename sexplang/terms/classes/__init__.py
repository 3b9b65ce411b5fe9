"""The class maker: a subset of attrs with less cost at import."""
