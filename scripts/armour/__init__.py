"""The sections of `make bench-armour`: each module has `run(report)`, which is given a function that prints a line."""
