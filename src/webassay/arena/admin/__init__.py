"""Chores in the back office, some of them with the shop beside it."""
