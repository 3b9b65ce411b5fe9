"""What things are: frozen nouns that every room shares.

Law: nothing here does anything. Law: `terms` imports no room.
"""
