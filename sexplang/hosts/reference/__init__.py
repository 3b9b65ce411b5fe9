"""The reference of names, which the command `doc`, the guide as JSON, the REPL and editors read."""
