"""Lowering of special forms: a module for each family, and the table of shapes."""
