"""Budgets and deadlines while they are on the stack."""
