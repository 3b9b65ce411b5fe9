"""Special forms to core: a module for each family, and the table of shapes."""
