"""Functions of plain texts: words, addresses, wildcards, spellings, near misses."""
