"""The abstract domain: values, bounds, effects, and what primitives give."""
