"""Parts of `scripts/bench_armor.py`. Every module with a function `run(report)` is a section of it."""
