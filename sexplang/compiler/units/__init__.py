"""Files to units: imports, exports, bodies, macros."""
