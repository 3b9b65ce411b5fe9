"""Prelude functions that call back, as frames."""
