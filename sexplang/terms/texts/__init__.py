"""Plain texts: words, addresses, wildcards, spellings, near misses."""
