"""The reference of names: one index for the command `doc`, the REPL and editors."""
