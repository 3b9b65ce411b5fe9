"""The formatter of programs, as `fmt` uses it."""
