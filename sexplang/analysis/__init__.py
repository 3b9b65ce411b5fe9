"""A program to what is known of it before it runs: findings, effects, model calls."""
