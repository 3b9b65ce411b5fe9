"""The build of a program: sources, macros and templates to a Program."""
