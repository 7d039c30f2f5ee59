"""What holds against agents, pages and files that mean no good, and what it costs.

    python -m scripts.bench_armour [SECTION …]

Without a name every section of scripts/armour/ is run, in the order of their names.
"""

import importlib
import pkgutil
import sys
import time

from scripts import armour


def main(wanted: list[str]) -> None:
    names = [info.name for info in pkgutil.iter_modules(armour.__path__) if not info.name.startswith("_")]
    unknown = set(wanted) - set(names)
    if unknown:
        sys.exit(f"There is no section {', '.join(sorted(unknown))}. Sections: {', '.join(names)}.")
    for name in wanted or sorted(names):
        section = importlib.import_module(f"scripts.armour.{name}")
        print(f"\n{name}: {(section.__doc__ or '').strip().splitlines()[0]}", flush=True)
        started = time.monotonic()
        section.run(lambda line: print(f"  {line}", flush=True))
        print(f"  ({time.monotonic() - started:.0f} s)", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
