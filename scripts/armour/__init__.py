"""Parts of `scripts/bench_armour.py`. Every module with a function `run(report)` is a section of it."""
