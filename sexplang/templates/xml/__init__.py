"""XML files to Template nodes, with diagnostics that have positions."""
