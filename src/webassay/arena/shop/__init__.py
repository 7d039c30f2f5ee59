"""Chores in the shop, one module a theme."""
