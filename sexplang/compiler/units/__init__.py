"""Compilation of files to units: imports, exports, bodies, macros."""
