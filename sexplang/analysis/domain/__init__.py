"""The abstract domain: values, bounds, effect counts and the results of primitives."""
