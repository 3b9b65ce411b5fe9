"""The shared terms: immutable data types that every package uses.

Law: terms have no effects. Law: `terms` imports no other package of sexplang.
"""
