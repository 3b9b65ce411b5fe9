"""Slips that give a wrong value: `run` reports them, too."""
